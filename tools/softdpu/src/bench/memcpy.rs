//! The yardstick of copies: the C library's memcpy, on as many pairs of buffers as the engine uses.

use std::hint::black_box;

use softdpu::dma::Memcpy;

use super::measure::Lane;

/// From this size on the yardstick works on the same kind of memory as the engine, since the kind of page begins
/// to count; below it on vectors, since taking slices of a window would.
const SAME_MEMORY_FROM: usize = 64 << 10;

/// Pairs of source and destination, used in turn.
#[derive(Debug)]
pub(crate) struct Yardstick {
    pairs: Vec<Pair>,
    next: usize,
}

#[derive(Debug)]
enum Pair {
    Vectors(Vec<u8>, Vec<u8>),
    Windows(Memcpy),
}

impl Yardstick {
    /// With the windows of these tasks.
    pub(crate) fn new(tasks: Vec<Memcpy>) -> Result<Self, String> {
        let pair = |mut task: Memcpy| {
            let source = task.src.as_slice().ok_or("the memory is not private")?;
            if source.len() < SAME_MEMORY_FROM {
                return Ok(Pair::Vectors(source.to_vec(), vec![0xff; source.len()]));
            }
            task.dst.set_data(..).map_err(|e| e.to_string())?;
            Ok(Pair::Windows(task))
        };
        Ok(Self { pairs: tasks.into_iter().map(pair).collect::<Result<_, String>>()?, next: 0 })
    }

    fn copy(&mut self) {
        match &mut self.pairs[self.next] {
            Pair::Vectors(source, destination) => copy(source, destination),
            Pair::Windows(task) => {
                if let (Some(source), Some(destination)) = (task.src.as_slice(), task.dst.as_mut_slice()) {
                    copy(source, destination);
                }
            }
        }
        self.next = if self.next + 1 == self.pairs.len() { 0 } else { self.next + 1 };
    }
}

fn copy(source: &[u8], destination: &mut [u8]) {
    black_box(&mut *destination).copy_from_slice(black_box(source));
    black_box(destination);
}

impl Lane for Yardstick {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        (0..tasks).for_each(|_| self.copy());
        Ok(())
    }
}
