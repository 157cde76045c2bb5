//! How often to look for what a peer in another process sends.
//!
//! Whoever looks at a cache line takes it from the one who writes it, which then waits to get it back; a reader that keeps
//! up with a stream does that for every message. So who finds something again and again, with hardly a look in vain in
//! between, leaves the writer alone for a moment and then finds many at once. Whoever says something itself in between is
//! asked and answers, and finds everything at once.

use core::time::Duration;
use std::time::Instant;

/// Less looks in vain than this between two finds make a stream.
const CLOSE: u32 = 4;
/// How long to leave the writer alone.
const REST: Duration = Duration::from_nanos(500);

/// See the module.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Nobody waits for a line where both are one process.
    rests: bool,
    in_vain: u32,
    said: u32,
    until: Option<Instant>,
}

impl Pace {
    /// For what a process sends.
    pub(crate) fn to(process: u32) -> Pace {
        Pace { rests: process != std::process::id(), in_vain: CLOSE, said: 0, until: None }
    }

    /// Is it time to look?
    #[inline]
    pub(crate) fn may_look(&mut self) -> bool {
        match self.until {
            None => true,
            Some(until) => self.wake(until),
        }
    }

    fn wake(&mut self, until: Instant) -> bool {
        if Instant::now() < until {
            // The writer may be the other half of this core.
            core::hint::spin_loop();
            return false;
        }
        self.until = None;
        true
    }

    /// What a look came to, and how much this end has said so far.
    #[inline]
    pub(crate) fn looked(&mut self, found: bool, said: u32) {
        if !found {
            self.in_vain = self.in_vain.saturating_add(1);
        } else if self.rests {
            if self.in_vain < CLOSE && said == self.said {
                self.until = Some(Instant::now() + REST);
            }
            (self.in_vain, self.said) = (0, said);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_left_alone_for_a_moment_and_answers_are_not() {
        let mut pace = Pace::to(0);
        for _ in 0..3 {
            (0..CLOSE).for_each(|_| pace.looked(false, 0));
            pace.looked(true, 0);
            assert!(pace.may_look() && pace.until.is_none());
        }
        for said in 1..9 {
            pace.looked(true, said);
            assert!(pace.until.is_none());
        }
        pace.looked(true, 8);
        assert!(pace.until.is_some());
        while !pace.may_look() {
            core::hint::spin_loop();
        }
        assert!(pace.until.is_none());
        let mut own = Pace::to(std::process::id());
        (0..9).for_each(|_| own.looked(true, 0));
        assert!(own.may_look() && own.until.is_none());
    }
}
