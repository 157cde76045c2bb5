//! The C entry points of servers, clients, their connections and streams.
//!
//! `struct doca_comch_server`, `_client`, `_producer` and `_consumer` are contexts, every task is its slot, a connection
//! is a [`Handle`]. Thread rule: a context and its tasks belong to one thread at a time.
//!
//! | file | what |
//! |---|---|
//! | `face.rs` | callbacks of servers and clients, and the handles of their connections |
//! | `ends.rs` | servers and clients |
//! | `tasks.rs` | what both have twice: settings, callbacks, the send task |
//! | `connection.rs` | connections |
//! | `streams.rs`, `stream_tasks.rs` | producers and consumers, and their tasks |
//! | `msgq.rs` | message queues inside a process |
//! | `caps.rs` | capabilities |
#![expect(unsafe_code, reason = "C entry points")]

mod caps;
mod connection;
mod ends;
mod face;
mod msgq;
mod stream_tasks;
mod streams;
mod tasks;

pub use caps::*;
pub use connection::*;
pub use ends::*;
pub use face::{ConsumerCallback, MessageCallback, StatusCallback};
pub use msgq::*;
pub use stream_tasks::*;
pub use streams::*;
pub use tasks::*;

use crate::lent::Handle;
use softdpu_room::context::Core;
use softdpu_room::entry;
use softdpu_room::entry::context_of as context;
use softdpu_status::{Code, Error, Result};
use std::fmt::Arguments;

/// Key of the context's setting that holds the address of its [`Part`](face) or the like.
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
/// InUse unless idle.
///
/// # Safety
/// As [`part`].
unsafe fn destroy<T>(core: &'static Core) -> Result<()> {
    let part = core.setting(PART).unwrap_or_default() as *mut T;
    core.destroy()?;
    // SAFETY: the context is gone, nobody else has it.
    drop(unsafe { Box::from_raw(part) });
    Ok(())
}

/// The context of a connection's handle, as a pointer for C.
fn owner(handle: &Handle) -> *const Core {
    handle.owner() as *const Core
}
