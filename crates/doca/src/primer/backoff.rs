//! The wait between two tries of a call: longer each time, while the progress engine goes on.
#![expect(unsafe_code, reason = "C entry points")]

use crate::entry::guard_value;
use softdpu_memory::handle::checked;
use softdpu_room::pe::Pe;
use std::time::{Duration, Instant};

/// Longest wait.
const LONGEST: Duration = Duration::from_millis(10);
/// How long the thread sleeps at most while nothing happens.
const NAP: Duration = Duration::from_micros(100);

/// The wait after try number `attempt`, counted from 0.
fn wait(attempt: u32) -> Duration {
    Duration::from_micros(1 << attempt.min(20)).min(LONGEST)
}

/// Waits 1 microsecond, doubled `attempt` times, at most 10 ms; `pe` makes progress meanwhile, unless it is NULL.
/// Returns how many callbacks and changes of state there were.
///
/// # Safety
/// NULL or a handle of this library that belongs to the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_backoff(pe: *const Pe, attempt: u32) -> u32 {
    let end = Instant::now() + wait(attempt);
    // SAFETY: the caller's promise.
    let engine = guard_value(None, || match pe.is_null() {
        true => None,
        // SAFETY: as above.
        false => unsafe { checked(pe, "doca_retry") }.ok().map(Pe::as_static),
    });
    let mut moved = 0;
    loop {
        if engine.is_some_and(Pe::step) {
            moved += 1;
        } else {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return moved;
            }
            if left > NAP { std::thread::sleep(NAP) } else { std::thread::yield_now() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound() {
        assert_eq!(wait(0), Duration::from_micros(1));
        assert_eq!(wait(5), Duration::from_micros(32));
        assert_eq!((wait(14), wait(u32::MAX)), (LONGEST, LONGEST));
    }
}
