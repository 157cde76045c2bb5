//! The yardstick of copies: the C library's memcpy, on as many pairs of buffers as the engine uses.

use std::hint::black_box;
use std::time::Instant;

use super::measure::Lane;

/// Pairs of source and destination, used in turn.
#[derive(Debug)]
pub(crate) struct Memcpy {
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
    next: usize,
}

impl Memcpy {
    pub(crate) fn new(size: usize, pairs: u32) -> Self {
        // Sources are written once: untouched pages would all be the one zero page.
        let pair = |i: u32| (vec![i as u8 | 1; size], vec![0xff; size]);
        Self { pairs: (0..pairs.max(1)).map(pair).collect(), next: 0 }
    }

    fn copy(&mut self) {
        let (source, destination) = &mut self.pairs[self.next];
        black_box(&mut *destination).copy_from_slice(black_box(&*source));
        black_box(destination);
        self.next = if self.next + 1 == self.pairs.len() { 0 } else { self.next + 1 };
    }
}

impl Lane for Memcpy {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        (0..tasks).for_each(|_| self.copy());
        Ok(())
    }

    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        for _ in 0..tasks {
            let start = Instant::now();
            self.copy();
            latencies.push(start.elapsed().as_nanos() as u64);
        }
        Ok(())
    }
}
