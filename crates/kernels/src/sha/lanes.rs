//! Several messages side by side.

use super::{Algorithm, Kernel, LANES};

/// The states of several messages, word by word.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Lanes<A: Algorithm> {
    words: [[A::Word; LANES]; 8],
}

impl<A: Algorithm> Lanes<A> {
    /// All at the start of a message.
    #[inline]
    pub fn start() -> Lanes<A> {
        Lanes { words: A::START.map(|w| [w; LANES]) }
    }

    /// Sets the state of one lane.
    #[inline]
    pub fn set(&mut self, lane: usize, state: &[A::Word; 8]) {
        for (row, &word) in self.words.iter_mut().zip(state) {
            row[lane] = word;
        }
    }

    /// The state of one lane.
    #[inline]
    pub fn get(&self, lane: usize) -> [A::Word; 8] {
        core::array::from_fn(|q| self.words[q][lane])
    }

    /// Takes the first lanes through whole blocks, the same number each: lane `i` through `data[i]`. The lanes behind
    /// those may be spoilt.
    ///
    /// # Panics
    /// When there are more than [`LANES`], or lengths differ or are no whole blocks.
    pub fn advance(&mut self, data: &[&[u8]]) {
        self.advance_by(data, A::choose);
    }

    /// Takes the first `count` lanes, messages of one block that were advanced by it, through their padding.
    ///
    /// # Panics
    /// When there are more than [`LANES`].
    pub fn advance_padding(&mut self, count: usize) {
        self.advance_padding_by(count, A::choose);
    }

    /// As [`Lanes::advance_padding`], by one kernel. False, and nothing is done, where there is no such kernel.
    ///
    /// # Panics
    /// As [`Lanes::advance_padding`].
    pub fn advance_padding_with(&mut self, kernel: Kernel, count: usize) -> bool {
        let usable = kernel.is_available() && A::width(kernel) > 0;
        if usable {
            self.advance_padding_by(count, |_| kernel);
        }
        usable
    }

    fn advance_padding_by(&mut self, count: usize, choose: impl Fn(usize) -> Kernel) {
        assert!(count <= LANES);
        let mut at = 0;
        while at < count {
            let kernel = choose(count - at);
            let end = count.min(at + A::width(kernel));
            A::launch_padding(kernel, &mut self.words, at, end - at);
            at = end;
        }
    }

    /// As [`Lanes::advance`], by one kernel. False, and nothing is done, where there is no such kernel.
    ///
    /// # Panics
    /// As [`Lanes::advance`].
    pub fn advance_with(&mut self, kernel: Kernel, data: &[&[u8]]) -> bool {
        let usable = kernel.is_available() && A::width(kernel) > 0;
        if usable {
            self.advance_by(data, |_| kernel);
        }
        usable
    }

    fn advance_by(&mut self, data: &[&[u8]], choose: impl Fn(usize) -> Kernel) {
        let len = data.first().map_or(0, |d| d.len());
        assert!(data.len() <= LANES && len.is_multiple_of(A::BLOCK) && data.iter().all(|d| d.len() == len));
        let mut at = 0;
        while at < data.len() {
            let kernel = choose(data.len() - at);
            let end = data.len().min(at + A::width(kernel));
            A::launch(kernel, &mut self.words, at, &data[at..end]);
            at = end;
        }
    }
}
