//! `doca_primer.h`: the names of the textbook's two program skeletons, on top of the contract's calls.
//!
//! | file | what |
//! |---|---|
//! | `session.rs` | sessions: the list of devices, who waits for what, the end |
//! | `device.rs` | opening and closing, with what a session left behind |
//! | `memory.rs` | registered memory and the buffers in it |
//! | `reader.rs` | the submit of two arguments: a device reads a buffer |
//! | `list.rs` | lists of devices as objects, capabilities |
//! | `map.rs` | maps without devices, keys, descriptors |
//! | `hugepage.rs` | memory on huge pages |
//! | `channel.rs` | event channels and the RDMA contexts behind them |
//! | `write.rs` | the RDMA write by address |
//! | `backoff.rs` | the wait between two tries |
//!
//! Everything a program does here goes through the engines as any other program's work does. A session and what hangs
//! on it, and a channel with its progress engine, belong to one thread at a time.

mod backoff;
mod channel;
mod device;
mod hugepage;
mod list;
mod map;
mod memory;
mod reader;
mod session;
mod write;

pub use backoff::*;
pub use channel::*;
pub use device::*;
pub use hugepage::*;
pub use list::*;
pub use map::*;
pub use memory::*;
pub use session::*;
pub use write::*;

use softdpu_status::{Code, Error, Result};

/// The log target of this family.
const LOG: &str = "softdpu::primer";

/// A refusal with its line.
#[cold]
fn refuse(code: Code, what: &'static str, line: std::fmt::Arguments<'_>) -> Error {
    log::error!(target: LOG, "{line}");
    Error::new(code, what)
}

/// What a call of the contract answered.
fn answer(number: i32) -> Result<()> {
    match number {
        0 => Ok(()),
        n => Err(Code::from_number(n).unwrap_or(Code::Unexpected).into()),
    }
}
