//! A hash under way.

use crate::algorithm::Algorithm;
use softdpu_kernels::sha::{self, Word as _};

/// What is known of a message after some of its blocks. It travels inside [`Update`](crate::Update) and
/// [`Finish`](crate::Finish) tasks and comes back with them. A copy goes on by itself, so that messages with a common
/// beginning hash it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashState {
    /// Its number among [`Algorithm::ALL`].
    number: u8,
    /// A task that failed, or was given back by a stopping context, left it between two blocks.
    pub(crate) broken: bool,
    /// The digest was made.
    pub(crate) finished: bool,
    /// C: the next piece is the last.
    pub(crate) last: bool,
    /// Other hardware has it under way: `words` hold its ticket there, and nothing else.
    pub(crate) elsewhere: bool,
    /// Bytes hashed.
    pub(crate) done: u64,
    words: [u64; 8],
}

impl HashState {
    /// At the start of a message.
    pub const fn new(algorithm: Algorithm) -> HashState {
        HashState {
            number: algorithm as u8,
            broken: false,
            finished: false,
            last: false,
            elsewhere: false,
            done: 0,
            words: [0; 8],
        }
    }

    /// Its hash function.
    #[inline]
    pub const fn algorithm(&self) -> Algorithm {
        match self.number {
            0 => Algorithm::Sha1,
            1 => Algorithm::Sha256,
            _ => Algorithm::Sha512,
        }
    }

    /// Of a hash at its start.
    #[cfg(feature = "capi")]
    pub(crate) fn set_algorithm(&mut self, algorithm: Algorithm) {
        self.number = algorithm as u8;
    }

    /// Bytes hashed so far.
    pub const fn hashed(&self) -> u64 {
        self.done
    }

    /// Did a task fail, or come back from a stopping context, after it had hashed a part of its piece? Tasks with such a
    /// state are refused until [`HashState::reset`].
    pub const fn is_broken(&self) -> bool {
        self.broken
    }

    /// Was the digest made? Tasks with such a state are refused until [`HashState::reset`].
    pub const fn is_finished(&self) -> bool {
        self.finished
    }

    /// Back to the start of a message, with the same hash function.
    pub fn reset(&mut self) {
        *self = HashState::new(self.algorithm());
    }

    /// Has it left the start?
    #[cfg(feature = "capi")]
    pub(crate) fn is_under_way(&self) -> bool {
        self.done > 0 || self.finished || self.broken
    }

    /// The ticket of other hardware that has it under way.
    pub(crate) fn ticket(&self) -> Option<u64> {
        self.elsewhere.then_some(self.words[0])
    }

    /// Other hardware has hashed `bytes` of it, and knows it by a ticket.
    pub(crate) fn set_ticket(&mut self, ticket: u64, bytes: u64) {
        self.elsewhere = true;
        self.words = [0; 8];
        self.words[0] = ticket;
        self.done = bytes;
    }

    /// The words of the state, which at the start of a message are the standard's.
    #[inline]
    pub(crate) fn words<A: sha::Algorithm>(&self) -> [A::Word; 8] {
        if self.done == 0 { A::START } else { self.words_inside::<A>() }
    }

    /// The words between two steps of one task.
    #[inline]
    pub(crate) fn words_inside<A: sha::Algorithm>(&self) -> [A::Word; 8] {
        self.words.map(A::Word::narrow)
    }

    #[inline]
    pub(crate) fn set_words<A: sha::Algorithm>(&mut self, words: [A::Word; 8]) {
        self.words = words.map(|w| w.widen());
    }
}
