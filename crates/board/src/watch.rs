//! When a worker had better not help: its processor is wanted by others.
//!
//! Whoever claims a part of a task and then loses its processor makes the whole task wait until it is back, which may take
//! many times as long as the task. A worker that was kept waiting therefore leaves parts alone for a while, longer each
//! time it comes back to the same.

use std::time::{Duration, Instant};

/// Waiting that counts: longer than interrupts take.
const LOST: Duration = Duration::from_millis(1);
/// First and longest time of standing back.
const BACK: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// What a worker knows of its processor.
#[derive(Debug)]
pub(crate) struct Watch {
    /// When it looked last.
    wall: Instant,
    /// Time it was ready to run and did not, up to the last time that was asked for.
    queued: Duration,
    /// It helps from then on.
    until: Instant,
    back: Duration,
}

impl Watch {
    /// For the calling thread.
    pub(crate) fn new() -> Watch {
        let now = Instant::now();
        Watch { wall: now, queued: queued(), until: now, back: BACK[0] }
    }

    /// May parts be claimed?
    pub(crate) fn helps(&self) -> bool {
        self.until <= self.wall || self.until <= Instant::now()
    }

    /// Time counts from now on: the thread waited of its own will.
    pub(crate) fn reset(&mut self) {
        self.wall = Instant::now();
    }

    /// After work: was it kept waiting since it looked last?
    pub(crate) fn look(&mut self) {
        let now = Instant::now();
        let took = now - std::mem::replace(&mut self.wall, now);
        // Work may be long. The kernel knows, but has to be asked at length.
        if took >= LOST {
            let queued = queued();
            let lost = queued.saturating_sub(std::mem::replace(&mut self.queued, queued));
            self.note(now, lost);
        }
    }

    fn note(&mut self, now: Instant, lost: Duration) {
        if lost < LOST {
            return;
        }
        // Soon after the last time: the others are still there.
        let again = now.saturating_duration_since(self.until) < self.back;
        self.back = if again { (self.back * 2).min(BACK[1]) } else { BACK[0] };
        self.until = now + self.back;
    }
}

/// Time that the calling thread was ready to run and did not; zero where the kernel does not tell.
fn queued() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let second = text.split_ascii_whitespace().nth(1).and_then(|ns| ns.parse().ok());
    Duration::from_nanos(second.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_kept_waiting_stands_back_longer_each_time() {
        let mut watch = Watch::new();
        let start = watch.until + Duration::from_secs(1000);
        watch.note(start, LOST - Duration::from_nanos(1));
        assert!(watch.helps());
        watch.note(start, LOST);
        assert!(!watch.helps());
        assert_eq!(watch.until, start + BACK[0]);
        watch.note(watch.until + Duration::from_millis(1), LOST);
        assert_eq!(watch.back, 2 * BACK[0]);
        for _ in 0..20 {
            watch.note(watch.until, LOST);
        }
        assert_eq!(watch.back, BACK[1]);
        // Later it is forgiven.
        watch.note(watch.until + Duration::from_secs(2), LOST);
        assert_eq!(watch.back, BACK[0]);
    }

    #[test]
    fn waiting_for_something_else_is_not_held_against_it() {
        // Others may want the processor of this test, too.
        let calm = (0..100).any(|_| {
            let mut watch = Watch::new();
            std::thread::sleep(2 * LOST);
            watch.look();
            watch.helps()
        });
        assert!(calm);
    }
}
