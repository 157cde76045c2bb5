//! What a forked child may still do.
//!
//! Before the first device is opened the library has no thread, so a fork copies all there is of it. Afterwards the child
//! lacks the workers, and locks may be held by threads it does not have; then every call that makes, starts or changes an
//! object answers BAD_STATE instead of hanging. A child that calls exec starts anew.

use crate::sync::{AtomicU32, Ordering::Relaxed};
use softdpu_status::{Code, Error, Result};

/// Set in a child that was forked after a device had been opened.
static FORKED: AtomicU32 = AtomicU32::new(0);
static SAID: AtomicU32 = AtomicU32::new(0);

/// This process is such a child. Only stores to a static, which is allowed between fork and exec.
pub fn mark() {
    FORKED.store(1, Relaxed);
}

/// Whether this process is such a child. One load.
#[inline]
pub fn is_forked_child() -> bool {
    FORKED.load(Relaxed) != 0
}

/// Refuses the call in such a child; the reason is logged once.
///
/// # Errors
/// BadState.
pub fn check(call: &str) -> Result<()> {
    if !is_forked_child() {
        return Ok(());
    }
    if SAID.swap(1, Relaxed) == 0 {
        log::error!(target: "softdpu::device",
            "{call}: this process was forked after a device had been opened; fork before the first doca_dev_open, or \
             call exec in the child");
    }
    Err(Error::new(Code::BadState, "forked after a device had been opened"))
}
