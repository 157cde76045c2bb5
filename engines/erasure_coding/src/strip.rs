//! A strip: the same range of bytes of every block of a job, computed in one go.
//!
//! Where every block of the strip lies in one piece of private memory, the kernel reads and writes it there. Otherwise
//! (shared memory, elements that end inside a block, a destination that lies over the source) it goes tile by tile, and
//! only the pieces of the tile that need it pass through a scratch. Each tile is read completely before anything of it
//! is written, so a destination block may lie exactly over a source block.

use crate::matrix::Matrix;
use softdpu_memory::copy::Gate;
use softdpu_memory::node::Node;
use softdpu_memory::view::{Hold, Sources};
use softdpu_status::{Code, Error, Result};

/// Blocks whose places are noted without allocating.
const FEW: usize = 32;
/// Most bytes of a tile's scratch, and most bytes of a block in it.
const SCRATCH: usize = 256 << 10;
const TILE: usize = 4096;

/// Bytes `[from, to)` of every block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strip {
    /// Bytes of a block.
    pub(crate) block: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Strip {
    fn len(self) -> usize {
        (self.to - self.from) as usize
    }

    /// Where in the stream of blocks the strip of block `n` begins.
    fn at(self, n: usize) -> u64 {
        self.block * n as u64 + self.from
    }

    /// Computes it.
    ///
    /// # Errors
    /// InvalidValue, NotPermitted: a right is missing or a map was stopped. NoMemory.
    pub(crate) fn compute(self, matrix: &Matrix, src: &Node, dst: &Node, gate: &Gate) -> Result<()> {
        if self.from >= self.to {
            return Ok(());
        }
        let mut hold = Hold::both(src, dst, gate)?;
        if self.is_whole() && self.in_one_piece(matrix, &mut hold) {
            return Ok(());
        }
        if self.in_place(matrix, &mut hold)? {
            return Ok(());
        }
        let mut scratch = Vec::new();
        let blocks = matrix.inputs() + matrix.outputs();
        let tile = (SCRATCH / blocks / 64 * 64).clamp(64, TILE) as u64;
        let mut from = self.from;
        while from < self.to {
            let to = self.to.min(from + tile);
            Strip { from, to, ..self }.by_tile(matrix, &mut hold, &mut scratch)?;
            from = to;
        }
        Ok(())
    }

    fn is_whole(self) -> bool {
        self.from == 0 && self.to == self.block
    }

    /// The short way: whole blocks, few of them, all inputs in one piece and all outputs in one piece.
    fn in_one_piece(self, matrix: &Matrix, hold: &mut Hold<'_>) -> bool {
        let (inputs, outputs, len) = (matrix.inputs(), matrix.outputs(), self.len());
        if inputs > FEW || outputs > FEW {
            return false;
        }
        let (sources, mut sink) = hold.split();
        let Some(from) = sources.slice(0, inputs * len) else { return false };
        let Some(to) = sink.slice(outputs * len).filter(|to| to.len() == outputs * len) else { return false };
        let mut ins = [&[][..]; FEW];
        ins.iter_mut().zip(from.chunks_exact(len)).for_each(|(place, block)| *place = block);
        let mut outs: [&mut [u8]; FEW] = core::array::from_fn(|_| Default::default());
        outs.iter_mut().zip(to.chunks_exact_mut(len)).for_each(|(place, block)| *place = block);
        matrix.table().multiply(&ins[..inputs], &mut outs[..outputs]);
        true
    }

    /// Every piece where it lies; false when one cannot be.
    fn in_place(self, matrix: &Matrix, hold: &mut Hold<'_>) -> Result<bool> {
        let (sources, sink) = hold.split();
        let mut ins = list(matrix.inputs())?;
        for n in 0..matrix.inputs() {
            match sources.slice(self.at(n), self.len()) {
                Some(piece) => ins.push(piece),
                None => return Ok(false),
            }
        }
        match sink.slices(&self.ranges(matrix.outputs())?) {
            Some(mut outs) => matrix.table().multiply(&ins, &mut outs),
            None => return Ok(false),
        }
        Ok(true)
    }

    fn ranges(self, outputs: usize) -> Result<Vec<(u64, usize)>> {
        let mut ranges = list(outputs)?;
        ranges.extend((0..outputs).map(|n| (self.at(n), self.len())));
        Ok(ranges)
    }

    /// A short strip; what cannot be reached where it lies goes through `scratch`.
    fn by_tile(self, matrix: &Matrix, hold: &mut Hold<'_>, scratch: &mut Vec<u8>) -> Result<()> {
        let (inputs, outputs, len) = (matrix.inputs(), matrix.outputs(), self.len());
        let need = (inputs + outputs) * len;
        if scratch.len() < need {
            scratch.try_reserve_exact(need - scratch.len()).map_err(no_memory)?;
            scratch.resize(need, 0);
        }
        let (copies, results) = scratch.split_at_mut(inputs * len);
        let (sources, sink) = hold.split();
        let ins = self.inputs(sources, copies, inputs)?;
        if let Some(mut outs) = sink.slices(&self.ranges(outputs)?) {
            matrix.table().multiply(&ins, &mut outs);
            return Ok(());
        }
        let mut outs = list(outputs)?;
        outs.extend(results.chunks_exact_mut(len).take(outputs));
        matrix.table().multiply(&ins, &mut outs);
        for (n, result) in results.chunks_exact(len).take(outputs).enumerate() {
            let mut sink = hold.split().1;
            sink.advance(self.at(n));
            sink.write(result);
        }
        Ok(())
    }

    /// The strip of every input: where it lies, or copied.
    fn inputs<'a>(self, sources: Sources<'a>, copies: &'a mut [u8], inputs: usize) -> Result<Vec<&'a [u8]>> {
        let mut ins = list(inputs)?;
        for (n, copy) in copies.chunks_exact_mut(self.len()).enumerate() {
            ins.push(match sources.slice(self.at(n), self.len()) {
                Some(piece) => piece,
                None => {
                    sources.read(self.at(n), copy);
                    copy
                }
            });
        }
        Ok(ins)
    }
}

fn no_memory(_: std::collections::TryReserveError) -> Error {
    Error::new(Code::NoMemory, "no memory for a task's working space")
}

fn list<T>(n: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(n).map_err(no_memory)?;
    Ok(list)
}
