//! Which tasks in flight use the same memory: a filter that says "none" at once nearly always, so that the comparison
//! with every one of them is rare.

use crate::shadow::Range;

/// Memory is counted in lines of this many bytes (as a power of two).
const LINE: u32 = 6;
/// Lines up to which a range is counted line by line.
const LINES: usize = 16;
/// Counters; lines share them by their number.
const COUNTERS: usize = 4096;

/// How many tasks in flight touch each line, and how many write it.
#[derive(Debug)]
pub(crate) struct Filter {
    touched: Box<[u16; COUNTERS]>,
    written: Box<[u16; COUNTERS]>,
    /// Ranges that are too long to be counted.
    long: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Filter { touched: Box::new([0; COUNTERS]), written: Box::new([0; COUNTERS]), long: 0 }
    }
}

/// The counters of a range; none of one that is empty, nothing at all of one that is long.
fn counters(range: Range) -> Option<impl Iterator<Item = usize>> {
    let empty = range.begin >= range.end;
    let (first, last) = (range.begin >> LINE, range.end.saturating_sub(1) >> LINE);
    if !empty && last - first >= LINES {
        return None;
    }
    let count = if empty { 0 } else { last - first + 1 };
    Some((first..first + count).map(|line| line % COUNTERS))
}

impl Filter {
    /// Whether a task with these ranges may meet one in flight. "No" is certain.
    pub(crate) fn suspects(&self, reads: Range, writes: Range) -> bool {
        if self.long > 0 {
            return true;
        }
        match (counters(reads), counters(writes)) {
            (Some(mut reads), Some(mut writes)) => {
                reads.any(|at| self.written[at] > 0) || writes.any(|at| self.touched[at] > 0)
            }
            _ => self.touched.iter().any(|count| *count > 0),
        }
    }

    /// A task takes off.
    pub(crate) fn add(&mut self, reads: Range, writes: Range) {
        self.change(reads, writes, |count| *count = count.saturating_add(1), 1);
    }

    /// A task has landed.
    pub(crate) fn remove(&mut self, reads: Range, writes: Range) {
        self.change(reads, writes, |count| *count = count.saturating_sub(1), -1);
    }

    fn change(&mut self, reads: Range, writes: Range, step: impl Fn(&mut u16), long: i32) {
        match (counters(reads), counters(writes)) {
            (Some(reads), Some(writes)) => {
                reads.for_each(|at| step(&mut self.touched[at]));
                for at in writes {
                    step(&mut self.touched[at]);
                    step(&mut self.written[at]);
                }
            }
            _ => self.long = self.long.saturating_add_signed(long),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(begin: usize, len: usize) -> Range {
        Range { begin, end: begin + len }
    }

    #[test]
    fn whatever_meets_is_suspected() {
        let mut seed = 7u32;
        let mut dice = |n: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed as usize / 65_536 % n
        };
        for _ in 0..2000 {
            let mut filter = Filter::default();
            let mut flying = Vec::new();
            for _ in 0..dice(8) {
                let task = (range(dice(20_000), dice(2000)), range(dice(20_000), dice(2000)));
                filter.add(task.0, task.1);
                flying.push(task);
            }
            let (reads, writes) = (range(dice(20_000), dice(2000)), range(dice(20_000), dice(2000)));
            let meets = flying.iter().any(|(r, w)| writes.meets(*w) || writes.meets(*r) || reads.meets(*w));
            assert!(!meets || filter.suspects(reads, writes));
            flying.iter().for_each(|(r, w)| filter.remove(*r, *w));
            assert!(!filter.suspects(reads, writes), "everything has landed");
        }
    }

    #[test]
    fn neighbours_are_not_suspected() {
        let mut filter = Filter::default();
        filter.add(range(0, 64), range(1024, 64));
        assert!(!filter.suspects(range(0, 64), range(1088, 64)), "both read the same");
        assert!(filter.suspects(range(1024, 1), range(4096, 64)));
        assert!(filter.suspects(range(512, 1), range(63, 1)));
    }
}
