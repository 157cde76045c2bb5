//! The synchronous mode: start, stop, and the direct calls.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_sync_event.h"
)]

use super::object::{EventObject, Mode, bad_state};
use super::{give, object};
use crate::condition::Condition;
use crate::live::Live;
use softdpu_room::entry::{guard, guard_unforked};
use softdpu_status::Result;
use std::sync::Arc;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_start(event: *const EventObject) -> i32 {
    const CALL: &str = "doca_sync_event_start";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let object = unsafe { object(event, CALL)? };
        let mut state = object.state();
        match state.mode {
            Mode::Context => return bad_state(CALL, object, "is used as a context"),
            Mode::Direct { running: true } => return bad_state(CALL, object, "was started already"),
            Mode::Fresh | Mode::Direct { running: false } => (),
        }
        state.live = Some(object.begin(&mut state, CALL)?);
        state.mode = Mode::Direct { running: true };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_stop(event: *const EventObject) -> i32 {
    const CALL: &str = "doca_sync_event_stop";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let object = unsafe { object(event, CALL)? };
        let mut state = object.state();
        if state.mode != (Mode::Direct { running: true }) {
            return bad_state(CALL, object, "does not run synchronously");
        }
        state.mode = Mode::Direct { running: false };
        if let Some(live) = state.live.take().filter(|_| !object.is_imported()) {
            live.end();
        }
        Ok(())
    })
}

/// Runs `f` on the value of an event that runs synchronously.
unsafe fn direct<R>(
    event: *const EventObject,
    call: &str,
    f: impl FnOnce(&Arc<Live>) -> Result<R>,
) -> Result<R> {
    // SAFETY: a handle, or NULL.
    let object = unsafe { object(event, call)? };
    let state = object.state();
    match &state.live {
        Some(live) if state.mode == (Mode::Direct { running: true }) => f(live),
        _ => bad_state(call, object, "does not run synchronously"),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_get(event: *const EventObject, value: *mut u64) -> i32 {
    const CALL: &str = "doca_sync_event_get";
    // SAFETY: a handle and an out parameter, or NULL.
    guard(|| unsafe { give(value, CALL, "value", || direct(event, CALL, |live| live.cell().get())) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_update_set(event: *const EventObject, value: u64) -> i32 {
    const CALL: &str = "doca_sync_event_update_set";
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { direct(event, CALL, |live| live.cell().set(value)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_update_add(
    event: *const EventObject,
    value: u64,
    fetched: *mut u64,
) -> i32 {
    const CALL: &str = "doca_sync_event_update_add";
    // SAFETY: a handle and an out parameter, or NULL.
    guard(|| unsafe { give(fetched, CALL, "fetched", || direct(event, CALL, |live| live.cell().add(value))) })
}

/// Blocks the calling thread. The object is not locked meanwhile.
unsafe fn wait(event: *const EventObject, call: &str, condition: Condition, pause: fn()) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let live = unsafe { direct(event, call, |live| Ok(live.clone()))? };
        let seen = live.cell().wait(condition, || {
            pause();
            Ok(())
        });
        seen.map(|_| ())
    })
}

macro_rules! waits {
    ($($name:ident: $condition:ident, $pause:path;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(event: *const EventObject, value: u64, mask: u64) -> i32 {
            // SAFETY: a handle, or NULL.
            unsafe { wait(event, stringify!($name), Condition::$condition(value).masked(mask), $pause) }
        }
    )*};
}

waits! {
    doca_sync_event_wait_gt: greater, core::hint::spin_loop;
    doca_sync_event_wait_eq: equal, core::hint::spin_loop;
    doca_sync_event_wait_neq: not_equal, core::hint::spin_loop;
    doca_sync_event_wait_gt_yield: greater, std::thread::yield_now;
    doca_sync_event_wait_eq_yield: equal, std::thread::yield_now;
    doca_sync_event_wait_neq_yield: not_equal, std::thread::yield_now;
}
