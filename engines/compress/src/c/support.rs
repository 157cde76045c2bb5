//! What the entry points have in common: one function for each group of four.
#![expect(unsafe_code, reason = "C entry points")]

use crate::caps::{Caps, Kind};
use crate::hardware::{Compress, Config, Level};
use crate::task::{Job, unpack};
use softdpu_memory::handle::{DEAD_BIT, DeviceRecord, Head, checked, explain, kind, live};
use softdpu_memory::node::{Lent, Node};
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry;
use softdpu_room::entry::context_of;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};

/// The context behind a handle, if it is one of this engine.
pub(super) unsafe fn context<'a>(compress: *const Core, call: &str) -> Result<&'a Core> {
    // SAFETY: handles of this library, as the contract demands.
    unsafe { context_of(compress, Compress::INFO, call) }
}

/// Refuses a NULL argument.
pub(super) fn null<T>(call: &str, what: &str) -> Result<T> {
    entry::null("softdpu::compress", call, what)
}

/// Stores a result.
pub(super) unsafe fn put<T>(to: *mut T, value: T, call: &str) -> Result<()> {
    if to.is_null() {
        return null(call, "the result pointer");
    }
    // SAFETY: a non-NULL out parameter.
    unsafe { to.write(value) };
    Ok(())
}

/// The engine of the device behind a record, if it can do this kind of task. Programs scan devices with this, so that it
/// cannot is an ordinary answer.
pub(super) unsafe fn caps_for(devinfo: *const DeviceRecord, kind: Kind, call: &str) -> Result<Caps> {
    // SAFETY: a handle, or NULL.
    let function = unsafe { checked(devinfo, call)? }.function();
    let caps = Caps::of(function).ok().filter(|caps| caps.supports(kind));
    caps.ok_or_else(|| {
        log::debug!(target: "softdpu::compress", "{call}: device {} has no {} (profile {})",
            function.pci(), kind.name(), function.card().profile());
        Error::new(Code::NotSupported, "the device lacks this task")
    })
}

/// Turns a kind on: callbacks and pool.
pub(super) unsafe fn set_conf(
    compress: *const Core,
    calls: [Option<Completion>; 2],
    tasks: u32,
    kind: Kind,
    call: &str,
) -> Result<()> {
    // SAFETY: a handle, or NULL.
    let core = unsafe { context(compress, call)? }.as_static();
    let [Some(success), Some(error)] = calls else { return null(call, "a callback") };
    core.require(State::Idle, call)?;
    let caps = Caps::of(core.device().function())?;
    if !caps.supports(kind) {
        log::error!(target: "softdpu::compress", "{call}: device {} has no {}", core.device().function().pci(), kind.name());
        return Err(Error::new(Code::NotSupported, "the device lacks this task"));
    }
    let others: u64 = Kind::ALL.iter().filter(|k| **k != kind).filter_map(|k| core.setting(*k as u32)).sum();
    if tasks == 0 || others + u64::from(tasks) > caps.max_num_tasks.into() {
        log::error!(target: "softdpu::compress",
            "{call}: {tasks} tasks asked for, with {others} of other kinds; allowed 1 to {} together", caps.max_num_tasks);
        return Err(Error::new(Code::InvalidValue, "number of tasks out of range"));
    }
    core.set_callbacks(kind as usize, success, error);
    core.set(kind as u32, tasks.into());
    core.set_starter(start);
    Ok(())
}

fn start(core: &'static Core) -> Result<softdpu_room::life::Equipment> {
    let pool = |kind: Kind| core.setting(kind as u32).map(|tasks| (kind as u8, tasks as u32));
    let pools = Kind::ALL.into_iter().filter_map(pool).collect();
    Ok((Compress::on(core.device(), Level::default())?.work(Config::default()), pools))
}

/// Takes a task of a kind from its pool.
pub(super) unsafe fn alloc(
    compress: *const Core,
    (kind, flags): (Kind, [u8; 2]),
    bufs: [*const Node; 2],
    user: u64,
    task: *mut *const Slot,
    call: &str,
) -> Result<()> {
    // SAFETY: a handle, or NULL.
    let core = unsafe { context(compress, call)? }.as_static();
    if task.is_null() {
        return null(call, "task");
    }
    for buf in bufs {
        // SAFETY: a handle, or NULL.
        unsafe { checked(buf, call)? };
    }
    let slot = core.allocate_checked(kind as usize, user, call)?;
    // SAFETY: the slot is the program's until it is submitted; its context is of this engine. Buffers are only noted.
    unsafe {
        let (src, dst) = (Lent::from_handle(bufs[0]), Lent::from_handle(bufs[1]));
        let job =
            Job { kind, block_checksums: flags[0], independent_blocks: flags[1], src, dst, owned: None };
        slot.job::<Job>().write(job);
        task.write(slot);
    }
    Ok(())
}

/// The slot of a task of this kind. Getters also work on a task that was just freed (`stale`), whose memory stays.
pub(super) unsafe fn slot<'a>(task: *const Slot, wanted: Kind, call: &str, stale: bool) -> Option<&'a Slot> {
    // SAFETY: a handle, or NULL; slots are never given back to the system.
    let found = unsafe {
        match live(task) {
            Some(slot) => Some(slot),
            None if stale && !task.is_null() && (*task.cast::<Head>()).is(kind::TASK | DEAD_BIT) => {
                Some(&*task)
            }
            None => {
                explain(task, call);
                None
            }
        }
    }?;
    // A slot that never had a context holds no job.
    let fits = !found.context_of_stale().is_null()
        && found.context().info().kind == Compress::INFO.kind
        && found.op() == wanted as usize;
    if !fits {
        log::error!(target: "softdpu::compress", "{call}: task {task:p} is no {} task", wanted.name());
    }
    fits.then_some(found)
}

/// Reads a task's job.
pub(super) unsafe fn read<T>(
    task: *const Slot,
    kind: Kind,
    call: &str,
    look: impl FnOnce(&Job) -> T,
) -> Option<T> {
    // SAFETY: a handle, or NULL; a slot of this kind holds a job since it was allocated.
    unsafe { slot(task, kind, call, true).map(|slot| look(&*slot.job::<Job>())) }
}

/// Changes a task's job.
pub(super) unsafe fn change(task: *const Slot, kind: Kind, call: &str, make: impl FnOnce(&mut Job)) {
    // SAFETY: as in `read`; the program owns the task while it is not in flight.
    unsafe {
        if let Some(slot) = slot(task, kind, call, false) {
            make(&mut *slot.job::<Job>());
        }
    }
}

/// CRC-32 and the other checksum of a task that succeeded.
pub(super) unsafe fn sums(task: *const Slot, kind: Kind, call: &str) -> (u32, u32) {
    // SAFETY: a handle, or NULL.
    unsafe { slot(task, kind, call, true) }.map_or((0, 0), |slot| unpack(slot.output()))
}
