//! The codecs without an engine around them, for measurements that compare with them. Not part of the interface.

use crate::codec::{deflate_sums, lz4_sums};
use crate::ffi::{self, Deflater, Inflater};
use crate::hardware::Level;
use softdpu_status::Result;

/// libdeflate, compressing.
#[derive(Debug)]
pub struct Deflate(Deflater);

impl Deflate {
    /// # Errors
    /// NoMemory.
    pub fn new(level: Level) -> Result<Deflate> {
        Deflater::new(level.get()).map(Deflate)
    }

    /// Bytes written and checksums, as a task reports them; `None` when the stream does not fit.
    pub fn run(&mut self, from: &[u8], to: &mut [u8]) -> Option<(usize, u64)> {
        self.0.deflate(from, to).map(|n| (n, deflate_sums(from)))
    }
}

/// libdeflate, decompressing.
#[derive(Debug)]
pub struct Inflate(Inflater);

impl Inflate {
    /// # Errors
    /// NoMemory.
    pub fn new() -> Result<Inflate> {
        Inflater::new().map(Inflate)
    }

    /// As [`Deflate::run`].
    pub fn run(&mut self, from: &[u8], to: &mut [u8]) -> Option<(usize, u64)> {
        self.0.inflate(from, to).ok().map(|n| (n, deflate_sums(&to[..n])))
    }
}

/// lz4, decompressing a block; as [`Deflate::run`].
pub fn lz4_block(from: &[u8], to: &mut [u8]) -> Option<(usize, u64)> {
    ffi::lz4_block(from, to, 0, false).map(|n| (n, lz4_sums(&to[..n])))
}

/// lz4, compressing: how samples for measurements are made. `None` when the block does not fit.
pub fn lz4_compress(from: &[u8], to: &mut [u8]) -> Option<usize> {
    ffi::lz4_compress(from, to)
}
