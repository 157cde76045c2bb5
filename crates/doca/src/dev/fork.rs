//! What a forked child may still do.
//!
//! Before the first device is opened the library has no thread, so a fork copies all there is of it. Afterwards
//! the child lacks the workers, and locks may be held by threads it does not have; then every call answers
//! BAD_STATE instead of hanging. A child that calls exec starts anew.
#![expect(unsafe_code, reason = "registers a handler with the C library")]

use softdpu_status::{Code, Error, Result};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Set in a child that was forked after a device had been opened.
static FORKED: AtomicBool = AtomicBool::new(false);
static SAID: AtomicBool = AtomicBool::new(false);
static WATCH: Once = Once::new();

/// From now on forked children are refused. Called when the first device is opened.
pub(super) fn watch() {
    WATCH.call_once(|| {
        // SAFETY: the handler only stores to a static, which is allowed between fork and exec.
        let result = unsafe { libc::pthread_atfork(None, None, Some(mark_child)) };
        if result != 0 {
            log::warn!(
                target: "softdpu::device",
                "pthread_atfork failed with {result}: calls in a forked child may hang instead of being refused"
            );
        }
    });
}

unsafe extern "C" fn mark_child() {
    FORKED.store(true, Relaxed);
}

/// Whether this process is such a child. One load.
#[inline]
pub(crate) fn is_forked_child() -> bool {
    FORKED.load(Relaxed)
}

/// Refuses the call in such a child; the reason is logged once.
pub(crate) fn check(call: &str) -> Result<()> {
    if !is_forked_child() {
        return Ok(());
    }
    if !SAID.swap(true, Relaxed) {
        log::error!(
            target: "softdpu::device",
            "{call}: this process was forked after a device had been opened; fork before the first \
             doca_dev_open, or call exec in the child"
        );
    }
    Err(Error::new(Code::BadState, "forked after a device had been opened"))
}
