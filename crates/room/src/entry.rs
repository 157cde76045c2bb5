//! The panic border of cold C entry points, shared by the C face and the engines' C glue.
//!
//! Hot entry points (submit, progress, buffer getters) do without it: an `extern "C"` function aborts on unwind by
//! itself, which costs nothing while nobody panics.

pub use crate::handle::{context_of, put};

use softdpu_status::{Code, Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `DOCA_SUCCESS`.
pub const SUCCESS: i32 = 0;

/// Runs the body of a cold entry point: success is 0, an error its number, a panic `UNEXPECTED`.
pub fn guard(f: impl FnOnce() -> Result<()>) -> i32 {
    guard_value(Code::Unexpected.number(), || number(f()))
}

/// As [`guard`], for calls that a forked child may not make.
pub fn guard_unforked(call: &str, f: impl FnOnce() -> Result<()>) -> i32 {
    guard(|| crate::fork::check(call).and_then(|()| f()))
}

/// Runs the body of a cold entry point without status (getters, void setters); a panic gives `fallback`.
pub fn guard_value<T>(fallback: T, f: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        log::error!(target: "softdpu", "a panic was caught at the C border; please report it");
        fallback
    })
}

/// The number of a result: 0 or the code's.
#[inline(always)]
pub fn number(result: Result<()>) -> i32 {
    match result {
        Ok(()) => SUCCESS,
        Err(error) => error.code().number(),
    }
}

/// Refuses a NULL argument; `log` is the log target of the engine.
///
/// # Errors
/// Always: InvalidValue.
#[cold]
pub fn null<T>(log: &str, call: &str, what: &str) -> Result<T> {
    log::error!(target: log, "{call}: {what} is NULL");
    Err(Error::new(Code::InvalidValue, "argument is NULL"))
}
