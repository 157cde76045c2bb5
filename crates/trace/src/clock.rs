//! From the cycle counter to nanoseconds of the machine's monotonic clock, which all its processes share.
//!
//! Reading the counter costs a third of asking the clock. Both are read together again and again, and what the counter
//! says in between goes by straight lines that meet, so that a later count is never an earlier time.

use rustix::time::{ClockId, clock_gettime};

/// How the counter is read.
pub(crate) type Counter = fn() -> u64;

/// Nanoseconds between two corrections: more and more, as the rate becomes known better.
const SHORTEST: f64 = 1e6;
const LONGEST: f64 = 1e8;
/// Lines that are remembered: events older than these are long written.
const LINES: usize = 64;

/// A straight line: from this count on, at this time, with this many nanoseconds per count.
#[derive(Clone, Copy, Debug)]
struct Line {
    from: u64,
    at: f64,
    rate: f64,
}

impl Line {
    fn time(&self, count: u64) -> f64 {
        let counts =
            if count >= self.from { (count - self.from) as f64 } else { -((self.from - count) as f64) };
        self.at + counts * self.rate
    }
}

/// The clock of a trace.
#[derive(Debug)]
pub(crate) struct Clock {
    counter: Counter,
    /// When it was made, for the rate over all of its time.
    begin: (u64, u64),
    /// Times are counted from here, so that they fit into a float to the nanosecond.
    zero: u64,
    lines: Vec<Line>,
}

/// Nanoseconds of the monotonic clock.
pub(crate) fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

impl Clock {
    /// A clock; takes a moment, to learn how fast the counter is.
    pub(crate) fn new(counter: Counter) -> Clock {
        let (begin, rate) = learn(counter);
        Clock { counter, begin, zero: begin.1, lines: vec![Line { from: begin.0, at: 0.0, rate }] }
    }

    /// The count that many nanoseconds ago.
    pub(crate) fn count_before(&self, nanos: u64) -> u64 {
        let last = self.lines[self.lines.len() - 1];
        (self.counter)().saturating_sub((nanos as f64 / last.rate) as u64)
    }

    /// Nanoseconds of the monotonic clock when the counter stood there.
    pub(crate) fn nanos(&self, count: u64) -> u64 {
        let line = self.lines.iter().rev().find(|line| line.from <= count).unwrap_or(&self.lines[0]);
        let since = line.time(count);
        if since >= 0.0 { self.zero + since as u64 } else { self.zero.saturating_sub(-since as u64) }
    }

    /// Compares with the monotonic clock, where the last time is a while ago. Counts before the present must have been
    /// asked for with what was known then, or be asked for within the next seconds.
    pub(crate) fn correct(&mut self) {
        let now = pair(self.counter);
        let last = self.lines[self.lines.len() - 1];
        let here = last.time(now.0);
        let straight = last.at.clamp(SHORTEST, LONGEST);
        if now.0 <= last.from || here - last.at < straight {
            return;
        }
        // Goes on where the last line is, and meets the truth some lines from now.
        let rate = rate(self.begin, now);
        let off = (now.1 - self.zero) as f64 - here;
        let rate = rate * (1.0 + off / (10.0 * straight)).clamp(0.5, 2.0);
        if self.lines.len() == LINES {
            self.lines.remove(0);
        }
        self.lines.push(Line { from: now.0, at: here, rate });
    }
}

/// Nanoseconds of a count; takes a moment.
pub(crate) fn rate_of(counter: Counter) -> f64 {
    learn(counter).1
}

/// Where the counter is, and how fast.
fn learn(counter: Counter) -> ((u64, u64), f64) {
    let begin = pair(counter);
    let mut now = pair(counter);
    while now.1 - begin.1 < 500_000 || now.0 == begin.0 {
        core::hint::spin_loop();
        now = pair(counter);
    }
    (begin, rate(begin, now))
}

fn rate(from: (u64, u64), to: (u64, u64)) -> f64 {
    (to.1 - from.1) as f64 / (to.0 - from.0).max(1) as f64
}

/// Count and time of one moment: the narrowest of a few tries.
fn pair(counter: Counter) -> (u64, u64) {
    let mut best = (u64::MAX, (0, 0));
    for _ in 0..5 {
        let before = counter();
        let time = monotonic();
        let after = counter();
        let gap = after.saturating_sub(before);
        if gap < best.0 {
            best = (gap, (before + gap / 2, time));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter of 3 counts per nanosecond.
    fn fast() -> u64 {
        monotonic().wrapping_mul(3)
    }

    #[test]
    fn counts_become_times() {
        let mut clock = Clock::new(fast);
        let mut last = 0;
        for round in 0..200_000u64 {
            let (count, now) = (fast(), monotonic());
            let time = clock.nanos(count);
            assert!(time >= last, "never back");
            last = time;
            // The thread may have been interrupted between the two, but not longer than the watchdog waits.
            if now - count / 3 < 1000 {
                assert!(time.abs_diff(now) < 500_000, "{time} {now}");
            }
            if round % 10_000 == 0 {
                clock.correct();
            }
        }
    }

    #[test]
    fn lines_meet() {
        let mut clock = Clock::new(fast);
        let first = clock.lines[0];
        // As if it had gone wrong by a thousandth.
        clock.lines[0] = Line { rate: first.rate * 1.001, ..first };
        std::thread::sleep(core::time::Duration::from_millis(150));
        clock.correct();
        assert_eq!(clock.lines.len(), 2);
        let at = clock.lines[1].from;
        assert!(clock.nanos(at).abs_diff(clock.nanos(at - 1)) <= 1);
        assert!(clock.nanos(at - 3_000_000) < clock.nanos(at));
    }
}
