//! Where a piece lies while it goes through the pipeline: windows on one memory, made for each task and dropped after it.

use std::ops::Range;

use softdpu::memory::{Buf, Memory};

use super::engines::{BLOCKS, DATA, RDNC, stream_room};

/// What nobody expects to find, put where results are to appear and where blocks are lost.
const JUNK: u8 = 0xa5;
const JUNK_PAGE: [u8; 4096] = [JUNK; 4096];

/// Sizes of the regions of a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    piece: usize,
    stream: usize,
    block: usize,
    align: usize,
}

impl Layout {
    pub(crate) fn new(piece: usize, align: usize) -> Self {
        let stream = stream_room(piece);
        Self { piece, stream, block: stream.div_ceil(DATA).next_multiple_of(align), align }
    }

    /// Bytes of a slot.
    pub(crate) fn len(&self) -> usize {
        2 * self.piece + 2 * self.stream + BLOCKS * self.block
    }
}

/// A piece under way.
#[derive(Debug)]
pub(crate) struct Slot {
    layout: Layout,
    start: usize,
    /// Bytes of the piece so far.
    pub(crate) filled: usize,
    /// Where the piece is now, as the last step left it.
    pub(crate) now: Range<usize>,
    /// Bytes of a block, once it was cut into blocks.
    block: usize,
    /// The blocks that it loses, ascending.
    pub(crate) lost: [u32; RDNC],
}

impl Slot {
    pub(crate) fn new(layout: Layout, at: usize) -> Self {
        let start = at * layout.len();
        Self { layout, start, filled: 0, now: start..start, block: 0, lost: [0; RDNC] }
    }

    fn region(&self, from: usize, len: usize) -> Range<usize> {
        self.start + from..self.start + from + len
    }

    /// The piece as it was read: the first bytes of the slot.
    pub(crate) fn plain(&self) -> Range<usize> {
        self.region(0, self.filled)
    }

    /// Room for its stream.
    pub(crate) fn packed(&self) -> Range<usize> {
        self.region(self.layout.piece, self.layout.stream)
    }

    /// Room for what was decrypted.
    pub(crate) fn opened(&self) -> Range<usize> {
        self.region(self.layout.piece + self.layout.stream, self.layout.stream)
    }

    /// Room for what was inflated.
    pub(crate) fn inflated(&self) -> Range<usize> {
        self.region(self.layout.piece + 2 * self.layout.stream, self.layout.piece)
    }

    /// Room for data and redundancy blocks.
    pub(crate) fn strip(&self) -> Range<usize> {
        self.region(2 * self.layout.piece + 2 * self.layout.stream, BLOCKS * self.layout.block)
    }

    /// Room for a sealed stream: the data blocks, which a code may then be made of without copying.
    pub(crate) fn sealed(&self) -> Range<usize> {
        let strip = self.strip();
        strip.start..strip.start + self.layout.stream
    }

    /// Bytes still missing in the piece.
    pub(crate) fn room(&self) -> usize {
        self.layout.piece - self.filled
    }

    /// Adds bytes to the piece.
    pub(crate) fn fill(&mut self, memory: &Memory, bytes: &[u8]) -> Result<(), String> {
        let from = self.start + self.filled;
        put(memory, from..from + bytes.len(), bytes)?;
        self.filled += bytes.len();
        Ok(())
    }

    /// Sets out: the piece as it was read, nothing of an earlier one in the places of results.
    pub(crate) fn set_out(&mut self, memory: &Memory, number: u64) -> Result<(), String> {
        self.now = self.plain();
        self.lost = lost(number);
        spoil(memory, self.opened())?;
        spoil(memory, self.inflated())
    }

    /// Brings the piece into shape for the code: in the strip, the last block filled up with zeros.
    pub(crate) fn cut(&mut self, memory: &Memory) -> Result<(), String> {
        let (strip, len) = (self.strip().start, self.now.len());
        if self.now.start != strip {
            let bytes = window(memory, self.now.clone(), len)?.to_vec();
            put(memory, strip..strip + len, &bytes)?;
            self.now = strip..strip + len;
        }
        self.block = len.div_ceil(DATA).next_multiple_of(self.layout.align);
        let padding = DATA * self.block - len;
        put(memory, strip + len..strip + len + padding, &vec![0; padding])
    }

    fn blocks(&self, blocks: Range<usize>) -> Range<usize> {
        let strip = self.strip().start;
        strip + blocks.start * self.block..strip + blocks.end * self.block
    }

    /// All data blocks, and room for the redundancy blocks behind them.
    pub(crate) fn for_create(&self, memory: &Memory) -> Result<(Buf, Buf), String> {
        let data = window(memory, self.blocks(0..DATA), DATA * self.block)?;
        Ok((data, window(memory, self.blocks(DATA..BLOCKS), 0)?))
    }

    fn is_lost(&self, block: usize) -> bool {
        self.lost.contains(&(block as u32))
    }

    /// Overwrites the blocks that are to be lost.
    pub(crate) fn lose(&self, memory: &Memory) -> Result<(), String> {
        (0..BLOCKS).filter(|b| self.is_lost(*b)).try_for_each(|b| spoil(memory, self.blocks(b..b + 1)))
    }

    /// A list of the first blocks that are left, and one of the places of the lost ones.
    pub(crate) fn for_recover(&self, memory: &Memory) -> Result<(Buf, Buf), String> {
        let left = (0..BLOCKS).filter(|b| !self.is_lost(*b)).take(DATA);
        let available = list(left.map(|b| window(memory, self.blocks(b..b + 1), self.block)))?;
        let lost = (0..BLOCKS).filter(|b| self.is_lost(*b));
        Ok((available, list(lost.map(|b| window(memory, self.blocks(b..b + 1), 0)))?))
    }
}

/// A window, of which the first bytes are data.
pub(crate) fn window(memory: &Memory, range: Range<usize>, data: usize) -> Result<Buf, String> {
    let mut buf = memory.buf(range).map_err(|e| e.to_string())?;
    buf.set_data(..data).map_err(|e| e.to_string())?;
    Ok(buf)
}

fn put(memory: &Memory, range: Range<usize>, bytes: &[u8]) -> Result<(), String> {
    if bytes.is_empty() {
        return Ok(());
    }
    window(memory, range, 0)?.push_slice(bytes).map_err(|e| e.to_string())
}

fn spoil(memory: &Memory, range: Range<usize>) -> Result<(), String> {
    let mut buf = window(memory, range.clone(), 0)?;
    for from in (0..range.len()).step_by(JUNK_PAGE.len()) {
        let n = JUNK_PAGE.len().min(range.len() - from);
        buf.push_slice(&JUNK_PAGE[..n]).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// The windows as one list.
fn list(windows: impl Iterator<Item = Result<Buf, String>>) -> Result<Buf, String> {
    let mut all: Option<Buf> = None;
    for next in windows {
        let next = next?;
        match &mut all {
            Some(head) => head.chain(next),
            None => all = Some(next),
        }
    }
    all.ok_or_else(|| "a list of no windows".to_owned())
}

/// Which blocks of a piece are lost: every piece in turn loses others.
pub(crate) fn lost(number: u64) -> [u32; RDNC] {
    let first = (number % BLOCKS as u64) as u32;
    let mut lost = [0, 2, 5, 9].map(|k| (first + k) % BLOCKS as u32);
    lost.sort_unstable();
    lost
}
