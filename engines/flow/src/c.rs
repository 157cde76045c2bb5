//! The C entry points of `doca_flow.h`.
//!
//! Ports and pipes are handles with a number each; what they are stands in the book. Any thread, one at a time.
//!
//! | file | what |
//! |---|---|
//! | `layout.rs` | the structures that programs fill in |
//! | `objects.rs` | the handles |
//! | `library.rs` | init and destroy, and the configuration of the former |
//! | `ports.rs`, `pipes.rs` | ports; pipes and entries |
#![expect(unsafe_code, reason = "C entry points")]

mod layout;
mod library;
mod objects;
mod pipes;
mod ports;

pub use library::*;
pub use pipes::*;
pub use ports::*;

use crate::book::{Book, open, refuse};
use softdpu_status::{Code, Error, Result};

#[cold]
fn null<T>(call: &str, what: &str) -> Result<T> {
    log::error!(target: crate::LOG, "{call}: {what} is NULL");
    Err(Error::new(Code::InvalidValue, "argument is NULL"))
}

/// Runs `f` on the started library.
fn started<R>(call: &str, f: impl FnOnce(&mut Book) -> Result<R>) -> Result<R> {
    match &mut *open() {
        Some(book) => f(book),
        None => {
            refuse(Code::BadState, "not initialised", format_args!("{call}: doca_flow_init was not called"))
        }
    }
}
