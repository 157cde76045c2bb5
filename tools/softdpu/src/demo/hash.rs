//! A hash of everything that comes by, piece by piece.

use std::ops::Range;

use softdpu::memory::{Buf, Memory};
use softdpu::sha::{Algorithm, Finish, HashState, Sha, Update};
use softdpu::{Context, ProgressEngine};

use super::slot::window;
use super::tally::Step;

/// Bytes of a SHA-256 digest.
pub(crate) const DIGEST: usize = 32;

/// A hash of everything, piece by piece.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) step: Step,
    state: HashState,
    pub(crate) digest: Vec<u8>,
    /// Where the digest goes.
    place: Range<usize>,
}

impl Running {
    /// At the start, its digest to be put at byte `from` of the memory.
    pub(crate) fn new(step: Step, from: usize) -> Self {
        let state = HashState::new(Algorithm::Sha256);
        Self { step, state, digest: Vec::new(), place: from..from + DIGEST }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.state.is_finished()
    }

    /// The digest as programs print it.
    pub(crate) fn text(&self) -> String {
        hex(&self.digest)
    }

    /// Hashes a piece. Only the last one is no multiple of a block, or empty.
    pub(crate) fn add(
        &mut self,
        sha: &mut Context<Sha>,
        pe: &mut ProgressEngine,
        memory: &Memory,
        src: Buf,
    ) -> Result<(), String> {
        let len = src.data_len();
        let hash = self.state.clone();
        if len > 0 && len.is_multiple_of(Algorithm::Sha256.block_len()) {
            let flight = sha.submit(Update { hash, src }).map_err(|refused| text(refused.error))?;
            let done = pe.run(flight);
            done.result.map_err(text)?;
            self.state = done.task.hash;
        } else {
            let dst = window(memory, self.place.clone(), 0)?;
            let flight = sha.submit(Finish { hash, src, dst }).map_err(|refused| text(refused.error))?;
            let done = pe.run(flight);
            done.result.map_err(text)?;
            self.state = done.task.hash;
            self.digest = done.task.dst.to_vec();
        }
        Ok(())
    }
}

/// A digest as programs print it.
pub(crate) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(error: softdpu::Error) -> String {
    error.to_string()
}
