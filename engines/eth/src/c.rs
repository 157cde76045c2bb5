//! The C entry points of receive and send queues.
//!
//! `struct doca_eth_rxq` and `struct doca_eth_txq` are contexts, every task is its slot, a batch a [`Batch`](crate::batch),
//! an event a report. Thread rule: a queue, its tasks, batches and packets belong to one thread at a time.
//!
//! | file | what |
//! |---|---|
//! | `caps.rs` | capabilities |
//! | `rx_setup.rs`, `rx_start.rs` | receive queues: settings, and what they become |
//! | `rx_tasks.rs`, `rx_events.rs` | their tasks and events |
//! | `tx_setup.rs`, `tx_start.rs` | send queues: settings, and what they become |
//! | `tx_tasks.rs`, `tx_batches.rs` | their tasks, and how batches of them are filled |
//! | `batches.rs` | `doca_task_batch_*` |
#![expect(unsafe_code, reason = "C entry points")]

mod batches;
mod caps;
mod rx_events;
mod rx_setup;
mod rx_start;
mod rx_tasks;
mod tx_batches;
mod tx_setup;
mod tx_start;
mod tx_tasks;

pub use crate::batch::Batch;
pub use batches::*;
pub use caps::*;
pub use rx_events::*;
pub use rx_setup::*;
pub use rx_tasks::*;
pub use tx_batches::*;
pub use tx_setup::*;
pub use tx_tasks::*;

use softdpu_memory::handle::{DEAD_BIT, Head, explain, kind, live};
use softdpu_room::context::{Core, State};
use softdpu_room::engine::EngineInfo;
use softdpu_room::entry;
use softdpu_room::entry::context_of as context;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::fmt::Arguments;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Key of the context's setting that holds the address of its part.
const PART: u32 = 0;

#[cold]
fn null<T>(call: &str, what: &str) -> Result<T> {
    entry::null(crate::LOG, call, what)
}

#[cold]
fn refuse<T>(code: Code, what: &'static str, line: Arguments<'_>) -> Result<T> {
    log::error!(target: crate::LOG, "{line}");
    Err(Error::new(code, what))
}

/// Stores a result through an out parameter.
unsafe fn put<T>(call: &str, name: &str, to: *mut T, value: T) -> Result<()> {
    // SAFETY: an out parameter of the program, or NULL.
    unsafe { entry::put(crate::LOG, call, name, to, value) }
}

/// Refuses a value outside `from..=to`.
fn within(call: &str, what: &str, value: u64, from: u64, to: u64) -> Result<()> {
    if (from..=to).contains(&value) {
        return Ok(());
    }
    refuse(Code::InvalidValue, "out of range", format_args!("{call}: {what} {value}, allowed {from} to {to}"))
}

/// Refuses what the queue was not set up for.
fn asked(wanted: bool, call: &str, what: &'static str) -> Result<()> {
    if wanted {
        return Ok(());
    }
    refuse(Code::InvalidValue, what, format_args!("{call}: {what}: the queue was not set up for it"))
}

/// Gives a context its part, which goes with it.
fn set_part<T>(core: &Core, part: T) {
    core.set(PART, Box::into_raw(Box::new(part)) as u64);
}

/// The part of a context.
///
/// # Safety
/// The context was given one of this type.
unsafe fn part<T>(core: &Core) -> &T {
    // SAFETY: set once when the context was made, and dropped with it.
    unsafe { &*(core.setting(PART).unwrap_or_default() as *const T) }
}

/// Ends an idle context together with its part.
///
/// # Errors
/// BadState unless idle.
///
/// # Safety
/// As [`part`].
unsafe fn destroy<T>(core: &'static Core, call: &str) -> Result<()> {
    core.require(State::Idle, call)?;
    let part = core.setting(PART).unwrap_or_default() as *mut T;
    core.destroy()?;
    // SAFETY: the context is gone, nobody else has it.
    drop(unsafe { Box::from_raw(part) });
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The job of a task handle. Getters also work on a task that was just freed, whose memory stays.
unsafe fn job<J>(
    task: *const Slot,
    info: &EngineInfo,
    op: Option<usize>,
    call: &str,
    stale: bool,
) -> Result<*mut J> {
    let wrong = || Error::new(Code::InvalidValue, "not such a task");
    // SAFETY: a handle, or NULL; slots are never given back to the system.
    unsafe {
        match live(task) {
            Some(slot) if slot.context().is_of(info) && op.is_none_or(|op| slot.op() == op) => {
                Ok(slot.job::<J>())
            }
            Some(slot) => {
                let name = slot.context().info();
                log::error!(target: "softdpu::handle", "{call}: task {task:p} is a {} task of {}",
                    name.tasks.get(slot.op()).unwrap_or(&"strange"), name.name);
                Err(wrong())
            }
            None if stale && !task.is_null() && (*task.cast::<Head>()).is(kind::TASK | DEAD_BIT) => {
                Ok((*task).job::<J>())
            }
            None => Err(explain(task, call)),
        }
    }
}

/// The job of a task that is not in flight.
unsafe fn resting<J>(task: *const Slot, info: &EngineInfo, op: usize, call: &str) -> Result<*mut J> {
    // SAFETY: a handle, or NULL.
    unsafe {
        let job = job::<J>(task, info, Some(op), call, false)?;
        if (*task).is_in_flight() {
            log::error!(target: "softdpu::task", "{call}: task {task:p} is in flight");
            return Err(Error::new(Code::BadState, "the task is in flight"));
        }
        Ok(job)
    }
}
