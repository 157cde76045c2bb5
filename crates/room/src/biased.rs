//! A value that one thread uses nearly all the time, and others now and then.
//!
//! The first thread that uses it ([`Biased::with`]) becomes its owner and from then on goes in with plain accesses, as
//! the progressing thread does with a lane ([`LaneLock`]); the others stand in line and pay for a barrier on all threads.
//! Where that happens often, the bias is given up for good, and everybody pays for a mutex alike.
#![expect(unsafe_code, reason = "the value belongs to whoever the lock let in")]

use crate::lock::LaneLock;
use crate::sync::{AtomicU32, AtomicUsize, Mutex, Ordering, ProtocolCell, stand_back, this_thread};
use std::sync::PoisonError;

/// Visits of others, with few of the owner in between, after which the bias is given up.
#[cfg(not(loom))]
const PATIENCE: u32 = 64;
#[cfg(loom)]
const PATIENCE: u32 = 1;

/// See the module.
///
/// # Threads
/// Any; one at a time is inside. Going in again from inside is a mistake that stops the caller (a panic, or a wait
/// without end where the bias was given up).
#[derive(Debug)]
pub struct Biased<T> {
    lock: LaneLock,
    /// Who goes in for nothing; 0: not known yet.
    owner: AtomicUsize,
    /// Twice the owner's visits; odd while it is inside. Written by the owner alone.
    visits: AtomicU32,
    line: Mutex<Line>,
    value: ProtocolCell<T>,
}

/// What those know who stand in line.
#[derive(Debug)]
struct Line {
    strangers: u32,
    visits: u32,
    plain: bool,
}

// SAFETY: the value is reached by one thread at a time, see `go_in`.
unsafe impl<T: Send> Sync for Biased<T> {}

impl<T> Biased<T> {
    /// Nobody's yet.
    pub fn new(value: T) -> Biased<T> {
        Biased {
            lock: LaneLock::new(),
            owner: AtomicUsize::new(0),
            visits: AtomicU32::new(0),
            line: Mutex::new(Line { strangers: 0, visits: 0, plain: false }),
            value: ProtocolCell::new(value),
        }
    }

    /// Runs `f` on the value. Who is the first to do so becomes its owner.
    ///
    /// # Panics
    /// When the owner is inside already, and as `f` does.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.go_in(true, f)
    }

    /// As [`Biased::with`], for those who come seldom: they do not become its owner.
    ///
    /// # Panics
    /// As there.
    #[inline(always)]
    pub fn visit<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.go_in(false, f)
    }

    #[inline(always)]
    fn go_in<R>(&self, own: bool, f: impl FnOnce(&mut T) -> R) -> R {
        if self.owner.load(Ordering::Relaxed) == this_thread() {
            let visits = self.visits.load(Ordering::Relaxed);
            assert!(visits & 1 == 0, "a value is used from inside its use");
            if self.lock.enter() {
                self.visits.store(visits.wrapping_add(1), Ordering::Relaxed);
                let _leave = Leave { of: self, visits };
                // SAFETY: the owner is inside, for the first time, and a stranger gets the lock only when it has left.
                return self.value.with(|value| f(unsafe { &mut *value }));
            }
        }
        self.go_in_slowly(own, f)
    }

    #[cold]
    #[inline(never)]
    fn go_in_slowly<R>(&self, own: bool, f: impl FnOnce(&mut T) -> R) -> R {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let _give = if line.plain {
            None
        } else {
            while !self.lock.take() {
                stand_back();
            }
            line.plain = self.is_crowded(&mut line, own);
            (!line.plain).then(|| Give(self))
        };
        // SAFETY: alone in the line, and the owner is kept out: by the lock, which is given back behind this, or never once
        // the bias was given up.
        self.value.with(|value| f(unsafe { &mut *value }))
    }

    /// Holding the lock: should the bias be given up?
    fn is_crowded(&self, line: &mut Line, own: bool) -> bool {
        let (me, owner) = (this_thread(), self.owner.load(Ordering::Relaxed));
        if owner == 0 && own {
            self.owner.store(me, Ordering::Relaxed);
        }
        if owner == 0 || owner == me {
            return false;
        }
        let visits = self.visits.load(Ordering::Relaxed);
        let often = visits.wrapping_sub(line.visits) / 2 < PATIENCE;
        line.strangers = if often { line.strangers + 1 } else { 1 };
        line.visits = visits;
        line.strangers >= PATIENCE
    }
}

/// The owner goes out, also by a panic.
struct Leave<'a, T> {
    of: &'a Biased<T>,
    visits: u32,
}

impl<T> Drop for Leave<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.of.visits.store(self.visits.wrapping_add(2), Ordering::Relaxed);
        self.of.lock.leave();
    }
}

/// A stranger goes out, also by a panic.
struct Give<'a, T>(&'a Biased<T>);

impl<T> Drop for Give<'_, T> {
    fn drop(&mut self) {
        self.0.lock.give();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_is_inside_whoever_owns_it() {
        const EACH: u64 = 2_000;
        let value = Biased::new(0u64);
        let bump = || value.with(|n| *n = core::hint::black_box(*n) + 1);
        bump();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..EACH / 10).for_each(|_| bump()));
            }
            (0..EACH).for_each(|_| bump());
        });
        assert_eq!(value.with(|n| *n), 1 + EACH + EACH / 5);
    }

    #[test]
    fn where_others_come_often_nobody_is_preferred() {
        let value = Biased::new(());
        value.with(|()| ());
        let others = |n| {
            std::thread::scope(|scope| {
                scope.spawn(|| (0..n).for_each(|_| value.with(|()| ())));
            });
        };
        let is_plain = || value.line.lock().unwrap().plain;
        others(PATIENCE - 1);
        assert!(!is_plain());
        (0..PATIENCE).for_each(|_| value.with(|()| ()));
        others(PATIENCE - 1);
        assert!(!is_plain());
        others(1);
        assert!(is_plain());
        value.with(|()| ());
        others(3);
    }

    #[test]
    fn a_panic_inside_lets_the_next_one_in() {
        let value = Biased::new(1);
        for _ in 0..3 {
            let inside = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
                value.with(|_| panic!("on purpose"));
            }));
            assert!(inside.is_err());
        }
        let twice = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            value.with(|_| value.with(|n| *n += 1));
        }));
        assert!(twice.is_err());
        assert_eq!(value.with(|n| *n), 1);
    }
}
