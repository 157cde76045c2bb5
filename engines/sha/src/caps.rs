//! What a device's SHA engine can do.

use crate::algorithm::Algorithm;
use softdpu_card::{EngineKind, Function};
use softdpu_status::{Code, Error, Result};

/// Limits of the SHA engine of a device, and what it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Most source bytes of one task (its whole list).
    pub max_src_buf_size: u64,
    /// Most elements of a source list.
    pub max_buf_list_len: u32,
    /// Most tasks in flight of one context and kind.
    pub max_num_tasks: u32,
    whole: [bool; 3],
    partial: [bool; 3],
}

impl Caps {
    /// Of this function.
    ///
    /// # Errors
    /// NotSupported when its card has no SHA engine.
    pub fn of(function: &Function) -> Result<Caps> {
        if !function.supports(EngineKind::Sha) {
            return Err(Error::new(Code::NotSupported, "the device has no SHA engine"));
        }
        let limits = &function.limits().sha;
        Ok(Caps {
            max_src_buf_size: limits.max_src_buf_size,
            max_buf_list_len: limits.max_buf_list_len,
            max_num_tasks: limits.max_num_tasks,
            whole: Algorithm::ALL.map(|a| function.has(a.features().0)),
            partial: Algorithm::ALL.map(|a| function.has(a.features().1)),
        })
    }

    /// Does it hash whole messages with this function?
    #[inline]
    pub fn hashes(&self, algorithm: Algorithm) -> bool {
        self.whole[algorithm as usize]
    }

    /// Does it hash messages piece by piece with this function?
    pub fn hashes_pieces(&self, algorithm: Algorithm) -> bool {
        self.partial[algorithm as usize]
    }
}
