//! The C entry points of the AES-GCM engine.
//!
//! `struct doca_aes_gcm` is the context, both task types are the task's slot, a key is a [`KeyObject`]. Thread rule: a
//! context, its tasks and its keys belong to one thread at a time.
//!
//! The vector is copied where it is given (`alloc_init`, `set_iv`), since programs change or leave theirs before the task
//! flies; the getter gives the program's pointer back.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_aes_gcm.h"
)]

use crate::caps::Caps;
use crate::config::Handlers;
use crate::hardware::AesGcm;
use crate::key::Iv;
use crate::lent::{KeyObject, LentKey};
use crate::task::{Direction, Job, Kind, Lending, Parts, TagLen};
use core::ptr::{NonNull, null};
use softdpu_memory::handle::{DEAD_BIT, DeviceRecord, Head, OpenDevice, Slab, checked, explain, kind, live};
use softdpu_memory::node::{Lent, Node};
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry::context_of;
use softdpu_room::entry::{self, guard, guard_unforked, guard_value, number};
use softdpu_room::life::Equipment;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// Keys of the context's settings: tasks of each direction (by its number), and keys alive.
const KEYS: u32 = 2;

static KEY_SLAB: Slab<KeyObject> = Slab::new();

unsafe fn context<'a>(aes_gcm: *const Core, call: &str) -> Result<&'a Core> {
    // SAFETY: handles of this library, as the contract demands.
    unsafe { context_of(aes_gcm, AesGcm::INFO, call) }
}

fn null_argument<T>(call: &str, what: &str) -> Result<T> {
    entry::null("softdpu::aes_gcm", call, what)
}

fn invalid<T>(what: &'static str, line: core::fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: "softdpu::aes_gcm", "{line}");
    Err(Error::new(Code::InvalidValue, what))
}

/// Stores a result through an out parameter.
unsafe fn give<T>(to: *mut T, value: impl FnOnce() -> Result<T>, call: &str, name: &str) -> Result<()> {
    if to.is_null() {
        return null_argument(call, name);
    }
    let value = value()?;
    // SAFETY: a non-NULL out parameter of the program.
    unsafe { to.write(value) };
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_aes_gcm_create(dev: *const OpenDevice, aes_gcm: *mut *const Core) -> i32 {
    const CALL: &str = "doca_aes_gcm_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device();
        let make = || Core::create(AesGcm::INFO, Arc::clone(device), softdpu_room::board::of_process());
        // SAFETY: an out parameter, or NULL.
        unsafe { give(aes_gcm, || Ok(core::ptr::from_ref(make()?)), CALL, "aes_gcm") }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_aes_gcm_destroy(aes_gcm: *const Core) -> i32 {
    const CALL: &str = "doca_aes_gcm_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(aes_gcm, CALL)? }.as_static();
        core.require(State::Idle, CALL)?;
        let keys = core.setting(KEYS).unwrap_or(0);
        if keys != 0 {
            log::error!(target: "softdpu::aes_gcm", "{CALL}: context {aes_gcm:p} has {keys} keys; destroy them first");
            return Err(Error::new(Code::InUse, "keys are left"));
        }
        core.destroy()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_aes_gcm_as_ctx(aes_gcm: *const Core) -> *const Core {
    // SAFETY: a handle, or NULL.
    guard_value(null(), || match unsafe { context(aes_gcm, "doca_aes_gcm_as_ctx") } {
        Ok(core) => core,
        Err(_) => null(),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_aes_gcm_cap_get_max_num_tasks(
    aes_gcm: *const Core,
    max_num_tasks: *mut u32,
) -> i32 {
    const CALL: &str = "doca_aes_gcm_cap_get_max_num_tasks";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(aes_gcm, CALL)? };
        let limit = || Ok(Caps::of(core.device().function())?.max_num_tasks);
        // SAFETY: an out parameter, or NULL.
        unsafe { give(max_num_tasks, limit, CALL, "max_num_tasks") }
    })
}

/// Bits of a key type.
fn key_bits(key_type: u32, call: &str) -> Result<u32> {
    match key_type {
        1 => Ok(128),
        2 => Ok(256),
        _ => invalid(
            "unknown key type",
            format_args!("{call}: key type {key_type} is neither 1 (128 bits) nor 2 (256)"),
        ),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_aes_gcm_key_create(
    aes_gcm: *const Core,
    raw_key: *const u8,
    raw_key_type: u32,
    key: *mut *const KeyObject,
) -> i32 {
    const CALL: &str = "doca_aes_gcm_key_create";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(aes_gcm, CALL)? };
        if raw_key.is_null() {
            return null_argument(CALL, "raw_key");
        }
        let bits = key_bits(raw_key_type, CALL)?;
        let make = || {
            let function = core.device().function();
            if !Caps::of(function)?.takes_key(bits) {
                log::error!(target: "softdpu::aes_gcm", "{CALL}: device {} takes no keys of {bits} bits", function.pci());
                return Err(Error::new(Code::NotSupported, "the device lacks this key size"));
            }
            // SAFETY: as many bytes as the key type says, by contract.
            let raw = unsafe { core::slice::from_raw_parts(raw_key, bits as usize / 8) };
            let made = KEY_SLAB.make(KeyObject::new(raw, core::ptr::from_ref(core) as usize)?)?;
            core.set(KEYS, core.setting(KEYS).unwrap_or(0) + 1);
            Ok(made.as_ptr().cast_const())
        };
        // SAFETY: an out parameter, or NULL.
        unsafe { give(key, make, CALL, "key") }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_aes_gcm_key_destroy(key: *const KeyObject) -> i32 {
    const CALL: &str = "doca_aes_gcm_key_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let owner = unsafe { checked(key, CALL)? }.owner() as *const Core;
        // SAFETY: contexts are type-stable, and one with keys is not destroyed.
        let core = unsafe { context(owner, CALL)? };
        // SAFETY: slots of this context hold its jobs; the key's place is written by the program alone, and not in flight.
        if core.any_in_flight(|slot| unsafe { uses(slot, key) }) {
            log::error!(target: "softdpu::aes_gcm", "{CALL}: a task in flight uses key {key:p}");
            return Err(Error::new(Code::InUse, "a task in flight uses the key"));
        }
        if let Some(object) = NonNull::new(key.cast_mut()) {
            // SAFETY: alive, from this slab, and no task in flight refers to it; others look whether it lives.
            unsafe { KEY_SLAB.retire(object) };
            core.set(KEYS, core.setting(KEYS).unwrap_or(1) - 1);
        }
        Ok(())
    })
}

unsafe fn caps(devinfo: *const DeviceRecord, call: &str) -> Result<Caps> {
    // SAFETY: a handle, or NULL.
    Caps::of(unsafe { checked(devinfo, call)? }.function())
}

fn supported(yes: bool) -> Result<()> {
    if yes { Ok(()) } else { Err(Error::new(Code::NotSupported, "the device cannot do it")) }
}

unsafe fn set_conf(
    aes_gcm: *const Core,
    direction: Direction,
    callbacks: [Option<Completion>; 2],
    tasks: u32,
    call: &str,
) -> Result<()> {
    // SAFETY: a handle, or NULL.
    let core = unsafe { context(aes_gcm, call)? }.as_static();
    let [Some(success), Some(error)] = callbacks else { return null_argument(call, "a callback") };
    core.require(State::Idle, call)?;
    let caps = Caps::of(core.device().function())?;
    supported(caps.goes(direction))?;
    let other = core.setting(1 - direction as u32).unwrap_or(0);
    let limit = u64::from(caps.max_num_tasks) - other;
    if tasks == 0 || u64::from(tasks) > limit {
        let line = format_args!(
            "{call}: {tasks} tasks asked for, allowed 1 to {limit} (the other type has {other})"
        );
        return invalid("number of tasks out of range", line);
    }
    core.set_callbacks(direction as usize, success, error);
    core.set(direction as u32, tasks.into());
    core.set_starter(start);
    Ok(())
}

fn start(core: &'static Core) -> Result<Equipment> {
    let pools = [Direction::Encrypt, Direction::Decrypt]
        .map(|direction| (direction as u8, core.setting(direction as u32).unwrap_or(0) as u32));
    let pools = pools.into_iter().filter(|(_, tasks)| *tasks > 0).collect();
    let engine = AesGcm::on(core.device())?.of_context(core::ptr::from_ref(core) as usize);
    Ok((engine.work(Handlers::default()), pools))
}

/// What a task is made of.
struct Given {
    src: *const Node,
    dst: *const Node,
    key: *const KeyObject,
    iv: *const u8,
    iv_len: u32,
    tag_len: u32,
    aad_len: u32,
}

#[inline]
unsafe fn alloc_init(
    aes_gcm: *const Core,
    direction: Direction,
    given: &Given,
    user: u64,
    task: *mut *const Slot,
    call: &str,
) -> Result<()> {
    // SAFETY: handles, or NULL.
    let (core, key) = unsafe { (context(aes_gcm, call)?.as_static(), checked(given.key, call)?) };
    if given.src.is_null() || given.dst.is_null() || task.is_null() {
        return null_argument(call, "a buffer or task");
    }
    if given.iv.is_null() && given.iv_len > 0 {
        return null_argument(call, "iv");
    }
    if key.owner() != aes_gcm as usize {
        return invalid(
            "the key belongs to another context",
            format_args!("{call}: the key belongs to another context"),
        );
    }
    if given.iv_len as usize > Iv::MAX {
        let line = format_args!("{call}: initialisation vector of {} bytes, limit {}", given.iv_len, Iv::MAX);
        return invalid("the initialisation vector is too long", line);
    }
    if TagLen::from_len(given.tag_len).is_none() {
        let line = format_args!("{call}: tag of {} bytes, allowed 12 and 16", given.tag_len);
        return invalid("the tag's length is not supported", line);
    }
    let slot = core.allocate_checked(direction as usize, user, call)?;
    // SAFETY: the slot is the program's until it is submitted; its context is of this engine. Buffers are only noted, the
    // vector is as long as said.
    unsafe {
        let (src, dst) = (Lent::from_handle(given.src), Lent::from_handle(given.dst));
        let parts = Parts {
            src,
            dst,
            key: LentKey::from_handle(given.key),
            iv: copy_iv(given.iv, given.iv_len),
            aad_len: given.aad_len,
            tag_len: given.tag_len,
            direction,
            in_place: false,
        };
        slot.job::<Job>().write(Job(Kind::Lent(Lending { parts, iv_at: given.iv as usize })));
        task.write(slot);
    }
    Ok(())
}

/// Copies the vector; one that is too long or missing is only noted, to be refused at submit.
#[inline]
unsafe fn copy_iv(iv: *const u8, len: u32) -> Iv {
    let mut bytes = [0; Iv::MAX];
    if len == Iv::MAX as u32 && !iv.is_null() {
        // SAFETY: the program's vector is as long as it says.
        bytes = unsafe { iv.cast::<[u8; Iv::MAX]>().read() };
    } else if let Some(place) = bytes.get_mut(..len as usize)
        && !iv.is_null()
    {
        // SAFETY: as above.
        unsafe { core::ptr::copy_nonoverlapping(iv, place.as_mut_ptr(), len as usize) };
    } else if len > 0 {
        return Iv::noted(bytes, len.max(Iv::MAX as u32 + 1));
    }
    Iv::noted(bytes, len)
}

/// Does the task of a context of ours use the key?
unsafe fn uses(slot: &Slot, key: *const KeyObject) -> bool {
    // SAFETY: the slot holds a job; the place of its key is written by the program alone.
    matches!(unsafe { &(*slot.job::<Job>()).0 }, Kind::Lent(job) if job.parts.key.handle() == key)
}

/// The job of a task handle. Getters also work on a task that was just freed, whose memory stays while its context does.
#[inline]
unsafe fn job(task: *const Slot, call: &str, stale: bool) -> Option<*mut Lending> {
    // SAFETY: a handle, or NULL; slots and contexts are never given back to the system. The slot of a living context of
    // this engine holds a job since it was first allocated.
    unsafe {
        let slot = match live(task) {
            Some(slot) => slot,
            None if stale && !task.is_null() && (*task.cast::<Head>()).is(kind::TASK | DEAD_BIT) => &*task,
            None => {
                explain(task, call);
                return None;
            }
        };
        let core = live(slot.context_of_stale().cast_const());
        if core.is_none_or(|core| core.info().kind != AesGcm::INFO.kind) {
            log::error!(target: "softdpu::handle", "{call}: {task:p} is no task of an aes_gcm context");
            return None;
        }
        match &mut (*slot.job::<Job>()).0 {
            Kind::Lent(lending) => Some(lending),
            _ => None,
        }
    }
}

macro_rules! capability {
    ($($name:ident($out:ident: $type:ty) = $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(devinfo: *const DeviceRecord, $out: *mut $type) -> i32 {
            const CALL: &str = stringify!($name);
            let value: fn(&Caps) -> Option<$type> = $value;
            let lacking = Error::new(Code::NotSupported, "the device cannot do it");
            // SAFETY: a handle and an out parameter, or NULL.
            guard(|| unsafe {
                let record = checked(devinfo, CALL)?;
                give($out, || value(&Caps::of(record.function())?).ok_or(lacking), CALL, stringify!($out))
            })
        }
    )*};
}

macro_rules! ability {
    ($($name:ident = $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(devinfo: *const DeviceRecord) -> i32 {
            let value: fn(&Caps) -> bool = $value;
            // SAFETY: a handle, or NULL.
            guard(|| supported(value(&unsafe { caps(devinfo, stringify!($name)) }?)))
        }
    )*};
}

macro_rules! field {
    ($($get:ident, $set:ident: $type:ty, $none:expr, |$job:ident| $read:expr, |$value:ident| $write:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(task: *const Slot) -> $type {
            // SAFETY: a handle, or NULL; the slot holds a job since it was allocated.
            unsafe { job(task, stringify!($get), true).map_or($none, |$job| $read) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(task: *const Slot, $value: $type) {
            // SAFETY: the program owns the task while it is not in flight.
            unsafe {
                if let Some($job) = job(task, stringify!($set), false) {
                    $write;
                }
            }
        }
    )*};
}

mod tasks;
pub use tasks::*;
