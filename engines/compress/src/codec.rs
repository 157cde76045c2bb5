//! One job on plain slices: the codec, and the checksums of the plain data.

use crate::caps::Kind;
use crate::ffi::{self, Trouble};
use crate::lz4;
use crate::task::pack;
use crate::tools::Codecs;
use softdpu_status::Error;
use twox_hash::XxHash32;

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) kind: Kind,
    pub(crate) block_checksums: bool,
    pub(crate) independent_blocks: bool,
    /// Of compression.
    pub(crate) level: u8,
}

/// Why it failed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    /// The input is damaged, or ends early.
    Damaged,
    /// A block of an LZ4 stream is not what its checksum says.
    Checksum,
    /// The result does not fit.
    TooLong,
    /// The codec could not be made.
    Codec(Error),
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Failure {
        match trouble {
            Trouble::Damaged => Failure::Damaged,
            Trouble::TooLong => Failure::TooLong,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Codec(error)
    }
}

/// The level that another compressor may stand in for.
const FASTEST: u8 = 1;
/// From how many bytes on it does: below, its start takes up what it gains.
const FAST_FROM: usize = 8 << 10;

/// Checksums of data that does not fit the first cache are made in pieces that do.
const PIECE: usize = 16 << 10;

impl Recipe {
    /// Most bytes that `len` bytes can become: what the output never exceeds, however much room there is.
    pub(crate) fn bound(self, len: usize) -> usize {
        match self.kind {
            Kind::CompressDeflate => ffi::deflate_bound(len),
            // Two bits of a stream stand for at most 258 bytes; the first bytes describe the code.
            Kind::DecompressDeflate => len.saturating_mul(1032),
            // A byte of a block stands for at most 255, stored blocks for themselves.
            Kind::DecompressLz4Stream | Kind::DecompressLz4Block => len.saturating_mul(255),
        }
    }

    /// Carries it out. Gives the bytes written and the checksums (see [`pack`]).
    ///
    /// # Errors
    /// What `to` holds is undefined then.
    pub(crate) fn run(
        self,
        codecs: &mut Codecs,
        from: &[u8],
        to: &mut [u8],
    ) -> Result<(usize, u64), Failure> {
        match self.kind {
            Kind::CompressDeflate => Ok((self.deflate(codecs, from, to)?, deflate_sums(from))),
            Kind::DecompressDeflate => {
                let n = codecs.inflater()?.inflate(from, to)?;
                Ok((n, deflate_sums(&to[..n])))
            }
            Kind::DecompressLz4Stream => {
                let n = lz4::stream(from, to, self.block_checksums, self.independent_blocks)?;
                Ok((n, lz4_sums(&to[..n])))
            }
            Kind::DecompressLz4Block => {
                // The decoder does not tell damage from lack of room.
                let n = ffi::lz4_block(from, to, 0, false).ok_or(Failure::Damaged)?;
                Ok((n, lz4_sums(&to[..n])))
            }
        }
    }
}

impl Recipe {
    /// What the fast compressor cannot fit, the other may.
    fn deflate(self, codecs: &mut Codecs, from: &[u8], to: &mut [u8]) -> Result<usize, Failure> {
        if self.level == FASTEST
            && from.len() >= FAST_FROM
            && let Some(fast) = codecs.fast()?
            && let Some(n) = fast.deflate(from, to)?
        {
            return Ok(n);
        }
        codecs.deflater(self.level)?.deflate(from, to).ok_or(Failure::TooLong)
    }
}

pub(crate) fn deflate_sums(plain: &[u8]) -> u64 {
    let sums = plain
        .chunks(PIECE)
        .fold((0, 1), |(crc, adler), piece| (ffi::crc32(crc, piece), ffi::adler32(adler, piece)));
    pack(sums.0, sums.1)
}

pub(crate) fn lz4_sums(plain: &[u8]) -> u64 {
    pack(ffi::crc32(0, plain), xxh32(plain))
}

/// XXH32 with seed 0.
pub(crate) fn xxh32(bytes: &[u8]) -> u32 {
    XxHash32::oneshot(0, bytes)
}
