//! The ring of one thread: the thread puts events in, the writer takes them out.
//!
//! Bounded. What finds it full is counted and left out; and because a task of which half is known is worth little, the
//! thread goes on leaving out until half of the ring is free again, so that what is missing is missing in one piece.

use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// Events that a ring holds: 2 MiB of them.
pub const CAPACITY: u64 = 1 << 16;

/// On a cache line that the other side does not write.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Side {
    /// How many events this side has put in or taken out, ever.
    count: AtomicU64,
    /// The other side's count when this one looked last.
    seen: AtomicU64,
    /// The thread's: events left out, and whether it is leaving out.
    lost: AtomicU64,
    skipping: AtomicBool,
}

/// The ring of a thread.
#[derive(Debug)]
pub struct Ring {
    thread: Side,
    writer: Side,
    cells: Box<[[AtomicU64; 4]]>,
    /// The thread has ended.
    closed: AtomicBool,
    tid: u32,
    name: String,
}

impl Ring {
    /// A ring for the thread with this number and name; `None` without memory for it.
    #[must_use]
    pub fn new(tid: u32, name: String) -> Option<Ring> {
        let mut cells = Vec::new();
        cells.try_reserve_exact(CAPACITY as usize).ok()?;
        cells.resize_with(CAPACITY as usize, Default::default);
        Some(Ring {
            thread: Side::default(),
            writer: Side::default(),
            cells: cells.into_boxed_slice(),
            closed: AtomicBool::new(false),
            tid,
            name,
        })
    }

    /// The thread's number, as the kernel has it.
    #[must_use]
    pub fn tid(&self) -> u32 {
        self.tid
    }

    /// The thread's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Puts an event in. For the thread whose ring it is.
    #[inline(always)]
    pub fn push(&self, words: [u64; 4]) {
        let count = self.thread.count.load(Ordering::Relaxed);
        if count.wrapping_sub(self.thread.seen.load(Ordering::Relaxed)) >= CAPACITY && !self.has_room(count) {
            return;
        }
        let cell = &self.cells[(count % CAPACITY) as usize];
        for (place, word) in cell.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.thread.count.store(count.wrapping_add(1), Ordering::Release);
    }

    /// Looks how far the writer is; counts the event as lost where that is not far enough.
    #[cold]
    #[inline(never)]
    fn has_room(&self, count: u64) -> bool {
        // Acquire: what the writer has read may be written over.
        let taken = self.writer.count.load(Ordering::Acquire);
        let used = count.wrapping_sub(taken);
        let skipping = self.thread.skipping.load(Ordering::Relaxed);
        if used >= CAPACITY || skipping && used > CAPACITY / 2 {
            self.thread.skipping.store(true, Ordering::Relaxed);
            let lost = self.thread.lost.load(Ordering::Relaxed);
            self.thread.lost.store(lost + 1, Ordering::Relaxed);
            return false;
        }
        self.thread.skipping.store(false, Ordering::Relaxed);
        self.thread.seen.store(taken, Ordering::Relaxed);
        true
    }

    /// Takes everything out that is in. For the writer alone.
    pub fn drain(&self, mut to: impl FnMut([u64; 4])) {
        let mut taken = self.writer.count.load(Ordering::Relaxed);
        let end = self.thread.count.load(Ordering::Acquire);
        while taken != end {
            let cell = &self.cells[(taken % CAPACITY) as usize];
            to([0, 1, 2, 3].map(|i| cell[i].load(Ordering::Relaxed)));
            taken = taken.wrapping_add(1);
        }
        self.writer.count.store(taken, Ordering::Release);
    }

    /// Is anything in?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writer.count.load(Ordering::Relaxed) == self.thread.count.load(Ordering::Acquire)
    }

    /// Events left out so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.thread.lost.load(Ordering::Relaxed)
    }

    /// The thread ends.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Has the thread ended? Ask before draining, so that its last events are not missed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn ring() -> Ring {
        Ring::new(1, "test".to_owned()).unwrap()
    }

    #[test]
    fn what_goes_in_comes_out_in_order() {
        let ring = ring();
        let mut next = 0;
        for round in 0..50u64 {
            for i in 0..(round * 997) % CAPACITY {
                ring.push([i, round, 0, 0]);
            }
            let mut expected = 0;
            ring.drain(|[i, r, ..]| {
                assert_eq!((i, r), (expected, round));
                expected += 1;
            });
            next += expected;
            assert!(ring.is_empty());
        }
        assert!(next > CAPACITY, "it went round");
        assert_eq!(ring.lost(), 0);
    }

    #[test]
    fn a_full_ring_loses_in_one_piece_and_counts() {
        let ring = ring();
        for i in 0..CAPACITY + 10 {
            ring.push([i, 0, 0, 0]);
        }
        assert_eq!(ring.lost(), 10);
        let mut first = Vec::new();
        ring.drain(|[i, ..]| first.push(i));
        assert_eq!(first, (0..CAPACITY).collect::<Vec<_>>());
        ring.push([7, 0, 0, 0]);
        let mut then = Vec::new();
        ring.drain(|[i, ..]| then.push(i));
        assert_eq!((then, ring.lost()), (vec![7], 10));
    }

    /// A thread that is faster than the writer: every event arrives, in order, or is counted.
    #[test]
    fn nothing_is_lost_uncounted_between_threads() {
        const EVENTS: u64 = if cfg!(miri) { 100_000 } else { 3_000_000 };
        let ring = Arc::new(ring());
        let its = ring.clone();
        let thread = std::thread::spawn(move || {
            (0..EVENTS).for_each(|i| its.push([i, !i, i ^ 5, i << 1]));
            its.close();
        });
        let (mut seen, mut last) = (0, None);
        loop {
            let closed = ring.is_closed();
            ring.drain(|[a, b, c, d]| {
                assert_eq!((b, c, d), (!a, a ^ 5, a << 1), "an event is whole");
                assert!(last.is_none_or(|last| last < a));
                last = Some(a);
                seen += 1;
            });
            if closed {
                break;
            }
        }
        thread.join().unwrap();
        assert_eq!(seen + ring.lost(), EVENTS);
    }
}
