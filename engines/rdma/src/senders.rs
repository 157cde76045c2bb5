//! Who may send to a context: each sender has a number, an index with a count of how often it was given out.
//!
//! Ends of connections are noticed on several threads, some of them late: a number that was given back already, or is of
//! an earlier start of the context, must not free the index of somebody else. So the counts go on over all starts.

use crate::conn::Conn;
use crate::control::{Control, lock};
use crate::inbox::INDEX_BITS;
use std::sync::Mutex;

/// Of a count: its index is given out.
const TAKEN: u16 = 1 << 15;

/// The numbers of a context.
#[derive(Debug, Default)]
pub(crate) struct Senders(Mutex<Numbers>);

#[derive(Debug, Default)]
struct Numbers {
    /// By index.
    counts: Vec<u16>,
    free: Vec<u32>,
}

impl Senders {
    /// The context starts, with so many: all are free.
    pub(crate) fn start(&self, count: u32) {
        let mut numbers = lock(&self.0);
        numbers.counts.resize(count as usize, 0);
        numbers.counts.iter_mut().for_each(|count| *count &= !TAKEN);
        numbers.free = (0..count).rev().collect();
    }

    /// A number for one more.
    pub(crate) fn take(&self) -> Option<u32> {
        let numbers = &mut *lock(&self.0);
        let index = numbers.free.pop()?;
        let count = numbers.counts.get_mut(index as usize)?;
        // No number is 0.
        let next = ((*count + 1) & !TAKEN).max(1);
        *count = next | TAKEN;
        Some(u32::from(next) << INDEX_BITS | index)
    }

    /// One is gone.
    pub(crate) fn give(&self, sender: u32) {
        let numbers = &mut *lock(&self.0);
        let index = sender & ((1 << INDEX_BITS) - 1);
        let Some(count) = numbers.counts.get_mut(index as usize) else { return };
        if u32::from(*count) == sender >> INDEX_BITS | u32::from(TAKEN) {
            *count &= !TAKEN;
            numbers.free.push(index);
        }
    }
}

impl Control {
    /// A number for one more sender to us.
    pub(crate) fn take_sender(&self) -> Option<u32> {
        self.senders.take()
    }

    /// A sender is gone.
    pub(crate) fn give_sender(&self, sender: u32) {
        self.senders.give(sender);
    }

    /// An attempt to connect is over: nothing of it stays.
    pub(crate) fn release(&self, conn: &Conn) {
        if let Some(sender) = conn.abandon() {
            self.give_sender(sender);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_given_out_once() {
        let senders = Senders::default();
        senders.start(2);
        let (a, b) = (senders.take().unwrap(), senders.take().unwrap());
        assert!(a != b && senders.take().is_none());
        senders.give(a);
        senders.give(a);
        let c = senders.take().unwrap();
        assert!(c != a && c & 0xffff == a & 0xffff && senders.take().is_none());
        // Late words: of somebody who had the index before, of nobody, of an earlier start.
        senders.give(a);
        senders.give(77);
        assert!(senders.take().is_none());
        senders.start(2);
        senders.give(b);
        senders.give(c);
        let all = [senders.take().unwrap(), senders.take().unwrap()];
        assert!(senders.take().is_none() && !all.contains(&b) && !all.contains(&c));
        senders.give(b);
        senders.give(c);
        assert!(senders.take().is_none());
    }
}
