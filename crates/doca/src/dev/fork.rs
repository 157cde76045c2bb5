//! Notices forks that happen after the first device was opened; see [`softdpu_room::fork`].
#![expect(unsafe_code, reason = "registers a handler with the C library")]

pub(crate) use softdpu_room::fork::{check, is_forked_child};
use std::sync::Once;

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
    softdpu_room::fork::mark();
}
