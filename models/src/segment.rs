//! Shared memory, as far as the ring of messages looks at it: words that are atomics, and payloads, which the two ends
//! must never touch at the same time.

use crate::sync::{AtomicU32, AtomicU64, ProtocolCell};

/// See the module. The ring's data begins at byte 128; every eight bytes of it are a word and a cell. Before that are two
/// words of indices, and in the place of the first, where there is none, flags.
#[derive(Debug)]
pub(crate) struct Segment {
    tail: AtomicU64,
    head: AtomicU64,
    flags: [AtomicU32; 3],
    words: Vec<AtomicU64>,
    cells: Vec<ProtocolCell<[u8; 8]>>,
}

const DATA: usize = 128;

impl Segment {
    /// Room for a ring with this much data.
    pub(crate) fn new(data: usize) -> Segment {
        Segment {
            tail: AtomicU64::new(0),
            head: AtomicU64::new(0),
            flags: [0, 0, 0].map(AtomicU32::new),
            words: (0..data / 8).map(|_| AtomicU64::new(0)).collect(),
            cells: (0..data / 8).map(|_| ProtocolCell::new([0; 8])).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        DATA + 8 * self.words.len()
    }

    pub(crate) fn word64(&self, at: usize) -> &AtomicU64 {
        match at {
            0 => &self.tail,
            64 => &self.head,
            _ => &self.words[(at - DATA) / 8],
        }
    }

    pub(crate) fn word32(&self, at: usize) -> &AtomicU32 {
        &self.flags[at / 4]
    }

    /// Hints mean nothing here.
    pub(crate) fn expect(&self, _: usize) {}
    pub(crate) fn expect_all(&self, _: usize, _: usize) {}

    /// As [`Segment::expect`].
    pub(crate) fn expect_own(&self, _: usize) {}

    pub(crate) fn put(&self, at: usize, bytes: &[u8]) {
        assert_eq!(at % 8, 0, "the models write whole words");
        for (n, piece) in bytes.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.cells[(at - DATA) / 8 + n].update(|_| word);
        }
    }

    pub(crate) fn get(&self, at: usize, into: &mut [u8]) {
        for (n, piece) in into.chunks_mut(8).enumerate() {
            let word = self.cells[(at - DATA) / 8 + n].get();
            piece.copy_from_slice(&word[..piece.len()]);
        }
    }
}
