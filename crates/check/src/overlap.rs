//! Which tasks in flight use the same memory: a filter that says "none" at once nearly always, so that the comparison
//! with every one of them is rare.

use crate::task::{Range, Task};

/// Memory is counted in lines of this many bytes (as a power of two).
const LINE: u32 = 6;
/// Lines up to which a range is counted line by line.
const LINES: usize = 16;
/// Counters; lines share them by their number.
const COUNTERS: usize = 4096;

/// What a reader adds to a counter, and what a writer adds: the upper half counts those who write.
const READER: u32 = 1;
const WRITER: u32 = 0x1_0001;
/// Where the counter of writers begins.
const WRITERS: u32 = 0x1_0000;

/// How many tasks in flight touch each line, and how many write it.
#[derive(Debug)]
pub(crate) struct Filter {
    lines: [u32; COUNTERS],
    /// Tasks whose ranges are too long to be counted, and all others.
    long: u32,
    counted: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Filter { lines: [0; COUNTERS], long: 0, counted: 0 }
    }
}

/// The first line of a range and how many they are; none of one that is empty.
#[inline(always)]
fn lines(range: Range) -> (usize, usize) {
    let first = range.begin >> LINE;
    let empty = range.begin >= range.end;
    (first, if empty { 0 } else { (range.end.wrapping_sub(1) >> LINE) - first + 1 })
}

/// The lines of two ranges that lie in one line each, not in the same.
pub(crate) fn one_line_each(reads: Range, writes: Range) -> Option<[u16; 2]> {
    let (from, to) = (lines(reads), lines(writes));
    let (one, other) = (from.0 % COUNTERS, to.0 % COUNTERS);
    (from.1 == 1 && to.1 == 1 && one != other).then_some([one as u16, other as u16])
}

impl Filter {
    /// A task that reads one line and writes another takes off, if that can meet no task in flight.
    #[inline(always)]
    pub(crate) fn add_lines(&mut self, [from, to]: [u16; 2]) -> bool {
        let (from, to) = (usize::from(from) % COUNTERS, usize::from(to) % COUNTERS);
        if self.lines[from] >= WRITERS || self.lines[to] > 0 || self.long > 0 {
            return false;
        }
        self.lines[from] += READER;
        self.lines[to] += WRITER;
        self.counted += 1;
        true
    }

    /// It has landed.
    #[inline(always)]
    pub(crate) fn remove_lines(&mut self, [from, to]: [u16; 2]) {
        let (from, to) = (usize::from(from) % COUNTERS, usize::from(to) % COUNTERS);
        self.lines[from] = self.lines[from].wrapping_sub(READER);
        self.lines[to] = self.lines[to].wrapping_sub(WRITER);
        self.counted = self.counted.wrapping_sub(1);
    }

    /// A task has landed.
    #[inline(always)]
    pub(crate) fn land(&mut self, task: &Task) {
        if task.planned {
            self.remove_lines(task.plan.lines);
        } else {
            self.remove(task.reads, task.writes);
        }
    }

    /// A task takes off; whether it may meet one in flight. "No" is certain.
    pub(crate) fn add(&mut self, reads: Range, writes: Range) -> bool {
        let (from, to) = (lines(reads), lines(writes));
        if from.1 > LINES || to.1 > LINES {
            self.long += 1;
            return self.long + self.counted > 1;
        }
        self.counted += 1;
        let mut met = self.long > 0;
        for line in from.0..from.0 + from.1 {
            let count = &mut self.lines[line % COUNTERS];
            met |= *count >= WRITERS;
            *count = count.wrapping_add(READER);
        }
        for line in to.0..to.0 + to.1 {
            let count = &mut self.lines[line % COUNTERS];
            met |= *count > 0;
            *count = count.wrapping_add(WRITER);
        }
        met && self.met_others(reads, writes)
    }

    /// The same without what the task itself was just counted for: it may write what it reads.
    #[cold]
    fn met_others(&mut self, reads: Range, writes: Range) -> bool {
        self.remove(reads, writes);
        let (from, to) = (lines(reads), lines(writes));
        let met = self.long > 0
            || (from.0..from.0 + from.1).any(|line| self.lines[line % COUNTERS] >= WRITERS)
            || (to.0..to.0 + to.1).any(|line| self.lines[line % COUNTERS] > 0);
        self.counted += 1;
        for line in from.0..from.0 + from.1 {
            let count = &mut self.lines[line % COUNTERS];
            *count = count.wrapping_add(READER);
        }
        for line in to.0..to.0 + to.1 {
            let count = &mut self.lines[line % COUNTERS];
            *count = count.wrapping_add(WRITER);
        }
        met
    }

    /// The ranges of a task that has landed.
    pub(crate) fn remove(&mut self, reads: Range, writes: Range) {
        let (from, to) = (lines(reads), lines(writes));
        if from.1 > LINES || to.1 > LINES {
            self.long = self.long.saturating_sub(1);
            return;
        }
        self.counted = self.counted.saturating_sub(1);
        for line in from.0..from.0 + from.1 {
            let count = &mut self.lines[line % COUNTERS];
            *count = count.wrapping_sub(READER);
        }
        for line in to.0..to.0 + to.1 {
            let count = &mut self.lines[line % COUNTERS];
            *count = count.wrapping_sub(WRITER);
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
            let mut flying: Vec<(Range, Range)> = Vec::new();
            for _ in 0..dice(9) {
                let (reads, writes) = (range(dice(20_000), dice(2000)), range(dice(20_000), dice(2000)));
                let meets =
                    flying.iter().any(|(r, w)| writes.meets(*w) || writes.meets(*r) || reads.meets(*w));
                assert!(filter.add(reads, writes) || !meets);
                flying.push((reads, writes));
            }
            flying.iter().for_each(|(r, w)| filter.remove(*r, *w));
            assert!(!filter.add(range(0, 64), range(640, 64)), "everything has landed");
        }
    }

    #[test]
    fn neighbours_are_not_suspected() {
        let mut filter = Filter::default();
        assert!(!filter.add(range(0, 64), range(1024, 64)));
        assert!(!filter.add(range(0, 64), range(1088, 64)), "both read the same");
        assert!(filter.add(range(1024, 1), range(4096, 64)));
        assert!(filter.add(range(512, 1), range(63, 1)));
    }

    #[test]
    fn empty_ranges_meet_nothing() {
        let mut filter = Filter::default();
        assert!(!filter.add(range(0, 0), range(0, 0)));
        assert!(!filter.add(range(0, 64), range(64, 0)));
        assert!(!filter.add(range(64, 0), range(64, 64)));
    }
}
