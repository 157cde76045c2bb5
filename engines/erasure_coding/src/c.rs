//! The C entry points of the erasure coding engine.
//!
//! `struct doca_ec` is the context, `struct doca_ec_matrix` a [`Held`], and each task its slot. Thread rule: a context,
//! its tasks and matrices belong to one thread at a time.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_erasure_coding.h"
)]

pub mod matrix;

use crate::caps::{Caps, Kind};
use crate::hardware::{Config, ErasureCoding};
pub use crate::held::Held;
use crate::task::{Factor, Job};
use softdpu_memory::handle::{DEAD_BIT, DeviceRecord, Head, OpenDevice, checked, explain, kind, live};
use softdpu_memory::node::{Lent, Node};
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry::context_of;
use softdpu_room::entry::{self, guard, guard_unforked, guard_value};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

fn null<T>(call: &str, name: &str) -> Result<T> {
    entry::null("softdpu::erasure_coding", call, name)
}

unsafe fn put<T>(call: &str, name: &str, to: *mut T, value: T) -> Result<()> {
    // SAFETY: an out parameter of the program, or NULL.
    unsafe { entry::put("softdpu::erasure_coding", call, name, to, value) }
}

unsafe fn context(ec: *const Core, call: &str) -> Result<&'static Core> {
    // SAFETY: handles of this library, as the contract demands.
    unsafe { context_of(ec, ErasureCoding::INFO, call) }
}

unsafe fn caps(devinfo: *const DeviceRecord, call: &str) -> Result<Caps> {
    // SAFETY: handles of this library, as the contract demands.
    Caps::of(unsafe { checked(devinfo, call)? }.function())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ec_create(dev: *const OpenDevice, ec: *mut *const Core) -> i32 {
    const CALL: &str = "doca_ec_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device();
        if ec.is_null() {
            return null(CALL, "ec");
        }
        let core = Core::create(ErasureCoding::INFO, Arc::clone(device), softdpu_room::board::of_process())?;
        // SAFETY: checked above.
        unsafe { put(CALL, "ec", ec, core) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ec_destroy(ec: *const Core) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(ec, "doca_ec_destroy")? };
        // The contract of this engine has its own code for it.
        core.destroy()
            .map_err(|e| if e.code() == Code::InUse { Error::new(Code::BadState, e.what()) } else { e })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ec_as_ctx(ec: *const Core) -> *const Core {
    // SAFETY: a handle, or NULL.
    guard_value(core::ptr::null(), || match unsafe { context(ec, "doca_ec_as_ctx") } {
        Ok(core) => core,
        Err(_) => core::ptr::null(),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ec_cap_get_max_block_size(
    devinfo: *const DeviceRecord,
    max_block_size: *mut u64,
) -> i32 {
    const CALL: &str = "doca_ec_cap_get_max_block_size";
    // SAFETY: handles and out parameters of the contract.
    guard(|| unsafe { put(CALL, "max_block_size", max_block_size, caps(devinfo, CALL)?.max_block_size) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ec_cap_get_max_buf_list_len(
    devinfo: *const DeviceRecord,
    max_buf_list_len: *mut u32,
) -> i32 {
    const CALL: &str = "doca_ec_cap_get_max_buf_list_len";
    // SAFETY: handles and out parameters of the contract.
    guard(|| unsafe {
        put(CALL, "max_buf_list_len", max_buf_list_len, caps(devinfo, CALL)?.max_buf_list_len)
    })
}

unsafe fn set_conf(
    call: &'static str,
    kind: Kind,
    ec: *const Core,
    callbacks: (Option<Completion>, Option<Completion>),
    num_tasks: u32,
) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(ec, call)? };
        let (Some(success), Some(error)) = callbacks else {
            return null(call, "a callback");
        };
        core.require(State::Idle, call)?;
        let caps = Caps::of(core.device().function())?;
        if !caps.supports(kind) {
            log::error!(target: "softdpu::erasure_coding", "{call}: the device does not run {} tasks", kind.name());
            return Err(Error::new(Code::NotSupported, "the device does not run this kind of task"));
        }
        let limit = caps.max_num_tasks;
        if num_tasks == 0 || num_tasks > limit {
            log::error!(target: "softdpu::erasure_coding", "{call}: {num_tasks} tasks asked for, allowed 1 to {limit}");
            return Err(Error::new(Code::InvalidValue, "number of tasks out of range"));
        }
        core.set_callbacks(kind as usize, success, error);
        core.set(kind as u32, num_tasks.into());
        core.set_starter(start);
        Ok(())
    })
}

fn start(core: &'static Core) -> Result<softdpu_room::life::Equipment> {
    let pools = Kind::ALL.iter().filter_map(|&kind| Some((kind as u8, core.setting(kind as u32)? as u32)));
    Ok((ErasureCoding::on(core.device())?.work(Config::default()), pools.collect()))
}

/// The matrix behind a handle; what is none in use stands for none.
unsafe fn lent(matrix: *const Held) -> Factor {
    // SAFETY: a handle, or NULL. Places are never given back to the system.
    Factor::Lent(unsafe { live::<Held>(matrix) })
}

unsafe fn allocate(
    call: &'static str,
    kind: Kind,
    ec: *const Core,
    (matrix, src, dst): (*const Held, *const Node, *const Node),
    user_data: u64,
    task: *mut *const Slot,
) -> i32 {
    guard(|| {
        // SAFETY: handles, or NULL.
        let core = unsafe { context(ec, call)? };
        if task.is_null() {
            return null(call, "task");
        }
        // SAFETY: handles, or NULL.
        unsafe {
            checked(matrix, call)?;
            checked(src, call)?;
            checked(dst, call)?;
        }
        let slot = core.allocate_checked(kind as usize, user_data, call)?;
        // SAFETY: the slot is the program's until it is submitted; its context is of this engine. Buffers and matrix are
        // only noted.
        unsafe {
            let (src, dst) = (Lent::from_handle(src), Lent::from_handle(dst));
            slot.job::<Job>().write(Job { kind, src, dst, factor: lent(matrix), owned: None });
            task.write(slot);
        }
        Ok(())
    })
}

/// The job of a task handle of this kind. Getters also work on a task that was just freed, whose memory stays.
unsafe fn job(task: *const Slot, kind: Kind, call: &str, stale: bool) -> Option<*mut Job> {
    // SAFETY: a handle, or NULL; slots are never given back to the system, and contexts are type-stable.
    unsafe {
        let slot = match live(task) {
            Some(slot) => slot,
            None if stale && !task.is_null() && (*task.cast::<Head>()).is(kind::TASK | DEAD_BIT) => &*task,
            None => {
                explain(task, call);
                return None;
            }
        };
        let info = slot.context().info();
        if info.kind != ErasureCoding::INFO.kind || slot.op() != kind as usize {
            let name = info.tasks.get(slot.op()).copied().unwrap_or("");
            log::error!(target: "softdpu::handle", "{call}: {task:p} is a {} {name} task, not an erasure_coding {} task",
                info.name, kind.name());
            return None;
        }
        Some(slot.job::<Job>())
    }
}

/// The entry points that every kind of task has, under the contract's names.
macro_rules! entry_points {
    ($kind:expr, $supported:ident, $conf:ident, $allocate:ident, $as_task:ident,
     $set_matrix:ident, $get_matrix:ident, $set_src:ident, $get_src:ident, $set_dst:ident, $get_dst:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $supported(devinfo: *const DeviceRecord) -> i32 {
            // SAFETY: a handle, or NULL.
            guard(|| match unsafe { caps(devinfo, stringify!($supported))? }.supports($kind) {
                true => Ok(()),
                false => Err(Error::new(Code::NotSupported, "the device does not run this kind of task")),
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $conf(
            ec: *const Core,
            successful_task_completion_cb: Option<Completion>,
            error_task_completion_cb: Option<Completion>,
            num_tasks: u32,
        ) -> i32 {
            let callbacks = (successful_task_completion_cb, error_task_completion_cb);
            // SAFETY: a handle, or NULL.
            unsafe { set_conf(stringify!($conf), $kind, ec, callbacks, num_tasks) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $allocate(
            ec: *const Core,
            matrix: *const Held,
            src: *const Node,
            dst: *const Node,
            user_data: u64,
            task: *mut *const Slot,
        ) -> i32 {
            // SAFETY: handles and out parameters of the contract.
            unsafe { allocate(stringify!($allocate), $kind, ec, (matrix, src, dst), user_data, task) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $as_task(task: *const Slot) -> *const Slot {
            task
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_matrix(task: *const Slot, matrix: *const Held) {
            // SAFETY: the program owns the task while it is not in flight.
            unsafe {
                if let Some(job) = job(task, $kind, stringify!($set_matrix), false) {
                    (*job).factor = lent(matrix);
                }
            }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get_matrix(task: *const Slot) -> *const Held {
            // SAFETY: a handle, or NULL; the slot holds a job since it was allocated.
            match unsafe { job(task, $kind, stringify!($get_matrix), true).map(|job| &(*job).factor) } {
                Some(Factor::Lent(Some(held))) => *held,
                _ => core::ptr::null(),
            }
        }

        entry_points!(buffer $kind, $set_src, $get_src, src);
        entry_points!(buffer $kind, $set_dst, $get_dst, dst);
    };
    (buffer $kind:expr, $set:ident, $get:ident, $field:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(task: *const Slot, buf: *const Node) {
            // SAFETY: the program owns the task while it is not in flight.
            unsafe {
                if let Some(job) = job(task, $kind, stringify!($set), false) {
                    (*job).$field = Lent::from_handle(buf);
                }
            }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(task: *const Slot) -> *const Node {
            // SAFETY: a handle, or NULL.
            unsafe { job(task, $kind, stringify!($get), true) }
                // SAFETY: the slot holds a job since it was allocated.
                .map_or(core::ptr::null(), |job| unsafe { (*job).$field.handle() })
        }
    };
}

entry_points!(
    Kind::GaloisMul,
    doca_ec_cap_task_galois_mul_is_supported,
    doca_ec_task_galois_mul_set_conf,
    doca_ec_task_galois_mul_allocate_init,
    doca_ec_task_galois_mul_as_task,
    doca_ec_task_galois_mul_set_coding_matrix,
    doca_ec_task_galois_mul_get_coding_matrix,
    doca_ec_task_galois_mul_set_src_buf,
    doca_ec_task_galois_mul_get_src_buf,
    doca_ec_task_galois_mul_set_dst_buf,
    doca_ec_task_galois_mul_get_dst_buf
);
entry_points!(
    Kind::Create,
    doca_ec_cap_task_create_is_supported,
    doca_ec_task_create_set_conf,
    doca_ec_task_create_allocate_init,
    doca_ec_task_create_as_task,
    doca_ec_task_create_set_coding_matrix,
    doca_ec_task_create_get_coding_matrix,
    doca_ec_task_create_set_original_data_blocks,
    doca_ec_task_create_get_original_data_blocks,
    doca_ec_task_create_set_rdnc_blocks,
    doca_ec_task_create_get_rdnc_blocks
);
entry_points!(
    Kind::Update,
    doca_ec_cap_task_update_is_supported,
    doca_ec_task_update_set_conf,
    doca_ec_task_update_allocate_init,
    doca_ec_task_update_as_task,
    doca_ec_task_update_set_update_matrix,
    doca_ec_task_update_get_update_matrix,
    doca_ec_task_update_set_original_updated_and_rdnc_blocks,
    doca_ec_task_update_get_original_updated_and_rdnc_blocks,
    doca_ec_task_update_set_updated_rdnc_blocks,
    doca_ec_task_update_get_updated_rdnc_blocks
);
entry_points!(
    Kind::Recover,
    doca_ec_cap_task_recover_is_supported,
    doca_ec_task_recover_set_conf,
    doca_ec_task_recover_allocate_init,
    doca_ec_task_recover_as_task,
    doca_ec_task_recover_set_recover_matrix,
    doca_ec_task_recover_get_recover_matrix,
    doca_ec_task_recover_set_available_blocks,
    doca_ec_task_recover_get_available_blocks,
    doca_ec_task_recover_set_recovered_data_blocks,
    doca_ec_task_recover_get_recovered_data
);
