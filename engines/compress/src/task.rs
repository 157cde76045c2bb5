//! The tasks, and the job they become in a slot.

use crate::caps::Kind;
use crate::hardware::Compress;
use softdpu_memory::buf::{Buf, Lend as _};
use softdpu_memory::node::Lent;
use softdpu_room::task::Task;

/// Compresses the data of `src` (and of what is chained to it) into one raw DEFLATE stream (RFC 1951: no zlib or gzip
/// wrapper), written behind the data of `dst`, whose data grows by that.
///
/// A stream of incompressible data is a little longer than the data: 5 bytes per 65535 and a few more. A destination
/// without that much room fails the task with IoFailed when the stream does not fit.
#[derive(Debug)]
pub struct CompressDeflate {
    /// The plain data.
    pub src: Buf,
    /// Where the stream goes: into the room behind its data.
    pub dst: Buf,
}

/// Decompresses one complete raw DEFLATE stream. Bytes of `src` behind the end of the stream are ignored.
///
/// A damaged or cut stream, and one whose data does not fit the room of `dst`, fail the task with IoFailed; `dst` then
/// keeps its data length, while the bytes of its room are undefined.
#[derive(Debug)]
pub struct DecompressDeflate {
    /// The stream.
    pub src: Buf,
    /// Where the plain data goes: into the room behind its data.
    pub dst: Buf,
}

/// Decompresses the data blocks of an LZ4 frame: without magic number, descriptor and content checksum. An end mark
/// (a block size of 0) may close them.
///
/// Fails as [`DecompressDeflate`] does, and for wrong block checksums.
#[derive(Debug)]
pub struct DecompressLz4Stream {
    /// The blocks: each a little-endian size word (highest bit: stored plain), then its bytes.
    pub src: Buf,
    /// Where the plain data goes: into the room behind its data.
    pub dst: Buf,
    /// Is every block followed by the XXH32 of its bytes?
    pub has_block_checksum: bool,
    /// Is every block complete in itself? Otherwise blocks may refer to the 64 KiB before them.
    pub are_blocks_independent: bool,
}

/// Decompresses one bare LZ4 block. Fails as [`DecompressDeflate`] does.
#[derive(Debug)]
pub struct DecompressLz4Block {
    /// The block, nothing before or behind it.
    pub src: Buf,
    /// Where the plain data goes: into the room behind its data.
    pub dst: Buf,
}

/// Checksums of the plain data of a DEFLATE task: of the source when compressing, of the result when decompressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeflateSums {
    /// CRC-32 as in zlib, gzip and PNG.
    pub crc32: u32,
    /// Adler-32 as in zlib.
    pub adler32: u32,
}

/// Checksums of the plain data of an LZ4 task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lz4Sums {
    /// CRC-32 as in zlib, gzip and PNG.
    pub crc32: u32,
    /// XXH32 with seed 0, as in LZ4 frames.
    pub xxh32: u32,
}

/// A task in a slot. Both faces fill `src` and `dst`; Rust's buffers travel in `owned`.
#[derive(Debug)]
pub struct Job {
    pub(crate) kind: Kind,
    pub(crate) block_checksums: u8,
    pub(crate) independent_blocks: u8,
    pub(crate) src: Lent,
    pub(crate) dst: Lent,
    pub(crate) owned: Option<(Buf, Buf)>,
}

impl Job {
    /// What is to be done.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where the data comes from.
    pub fn src(&self) -> Lent {
        self.src
    }

    /// Where it goes.
    pub fn dst(&self) -> Lent {
        self.dst
    }

    /// For [`Kind::DecompressLz4Stream`]: are there block checksums, are blocks independent? As C says it.
    pub fn lz4_flags(&self) -> (u8, u8) {
        (self.block_checksums, self.independent_blocks)
    }

    fn owning(kind: Kind, flags: (bool, bool), src: Buf, dst: Buf) -> Job {
        Job {
            kind,
            block_checksums: flags.0.into(),
            independent_blocks: flags.1.into(),
            src: src.lend(),
            dst: dst.lend(),
            owned: Some((src, dst)),
        }
    }

    #[expect(clippy::expect_used, reason = "jobs of the Rust face are made by `owning` alone")]
    fn bufs(self) -> (Buf, Buf) {
        self.owned.expect("a job of the Rust face owns its buffers")
    }
}

/// A job's result, as a slot carries it: CRC-32 in the low half, Adler-32 or XXH32 in the high half.
pub fn sums(crc: u32, other: u32) -> u64 {
    pack(crc, other)
}

/// See [`sums`].
pub(crate) fn pack(crc: u32, other: u32) -> u64 {
    u64::from(other) << 32 | u64::from(crc)
}

/// See [`pack`].
pub(crate) fn unpack(raw: u64) -> (u32, u32) {
    (raw as u32, (raw >> 32) as u32)
}

fn deflate_sums(raw: u64) -> DeflateSums {
    let (crc32, adler32) = unpack(raw);
    DeflateSums { crc32, adler32 }
}

fn lz4_sums(raw: u64) -> Lz4Sums {
    let (crc32, xxh32) = unpack(raw);
    Lz4Sums { crc32, xxh32 }
}

macro_rules! task {
    ($task:ident, $output:ty, $unpacked:ident) => {
        impl Task for $task {
            type Engine = Compress;
            type Output = $output;

            fn into_job(self) -> Job {
                Job::owning(Kind::$task, (false, false), self.src, self.dst)
            }

            fn from_job(job: Job) -> $task {
                let (src, dst) = job.bufs();
                $task { src, dst }
            }

            fn output(raw: u64) -> $output {
                $unpacked(raw)
            }
        }
    };
}

task!(CompressDeflate, DeflateSums, deflate_sums);
task!(DecompressDeflate, DeflateSums, deflate_sums);
task!(DecompressLz4Block, Lz4Sums, lz4_sums);

impl Task for DecompressLz4Stream {
    type Engine = Compress;
    type Output = Lz4Sums;

    fn into_job(self) -> Job {
        let flags = (self.has_block_checksum, self.are_blocks_independent);
        Job::owning(Kind::DecompressLz4Stream, flags, self.src, self.dst)
    }

    fn from_job(job: Job) -> DecompressLz4Stream {
        let (has_block_checksum, are_blocks_independent) =
            (job.block_checksums != 0, job.independent_blocks != 0);
        let (src, dst) = job.bufs();
        DecompressLz4Stream { src, dst, has_block_checksum, are_blocks_independent }
    }

    fn output(raw: u64) -> Lz4Sums {
        lz4_sums(raw)
    }
}
