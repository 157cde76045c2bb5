//! Children of a program that has opened a device: the library refuses them, and says so in codes alone.

#![expect(unsafe_code, reason = "a call of the other end")]

use crate::place::Place;
use crate::report::say;
use crate::rules;
use crate::sys;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

unsafe extern "C" {
    /// The number that `shim.c` has of this thread.
    fn softdpu_check_renew();
}

/// Where the first device was opened. From then on the library refuses a forked child.
static OPENED: OnceLock<Place> = OnceLock::new();
/// This is such a child, in which there is nothing else to check: the state behind the lock is the parent's.
static CHILD: AtomicBool = AtomicBool::new(false);
/// What was found in it.
static FOUND: Mutex<Option<String>> = Mutex::new(None);

/// A device is open.
pub(super) fn opened(place: Place) {
    let _ = OPENED.set(place);
}

/// Runs in every child.
pub(super) extern "C" fn forked() {
    sys::renew();
    // SAFETY: writes this thread's own number.
    unsafe { softdpu_check_renew() };
    if OPENED.get().is_some() {
        CHILD.store(true, Ordering::Relaxed);
    }
}

/// Whether this is a child that the library refuses.
#[inline(always)]
pub(super) fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}

/// A call of such a child was refused. Said once.
pub(super) fn in_child(call: &str, place: Place) {
    let mut found = FOUND.lock().unwrap_or_else(|e| e.into_inner());
    let (None, Some(opened)) = (&*found, OPENED.get()) else { return };
    let rule = &rules::FORK_AFTER_OPEN;
    let me = std::process::id();
    let text = format!(
        "device (device 1, made at {opened}): {}: {call} at {place}, in process {me}: {}",
        rule.says, rule.todo
    );
    say(&format!("{}: {text}", rule.id));
    *found = Some(text);
}

/// The report of such a child, if there is something to report.
pub(super) fn report() -> Option<serde_json::Value> {
    let found = FOUND.lock().unwrap_or_else(|e| e.into_inner());
    let finding = serde_json::json!({"rule": rules::FORK_AFTER_OPEN.id, "text": found.as_ref()?, "times": 1});
    Some(serde_json::json!({"findings": [finding]}))
}
