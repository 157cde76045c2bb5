//! Rows of a context: tasks in flight, side by side, in as few rows as that takes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rows of one context, numbered from 0.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    free: BinaryHeap<Reverse<u32>>,
    /// When the last span of each row ended.
    ends: Vec<u64>,
}

impl Rows {
    /// The first free row and the earliest time at which a span may begin there; `true` when it is a new one.
    pub(crate) fn take(&mut self) -> (u32, u64, bool) {
        if let Some(Reverse(row)) = self.free.pop() {
            return (row, self.ends[row as usize], false);
        }
        self.ends.push(0);
        (self.ends.len() as u32 - 1, 0, true)
    }

    /// The span in this row has ended.
    pub(crate) fn give(&mut self, row: u32, end: u64) {
        self.ends[row as usize] = end;
        self.free.push(Reverse(row));
    }
}
