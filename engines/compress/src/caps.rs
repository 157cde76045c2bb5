//! What a device's compression engine can do.

use softdpu_card::{EngineKind, Feature, Function};
use softdpu_status::{Code, Error, Result};

/// The kinds of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Plain data into one raw DEFLATE stream.
    CompressDeflate = 0,
    /// One raw DEFLATE stream into plain data.
    DecompressDeflate = 1,
    /// The data blocks of an LZ4 frame into plain data.
    DecompressLz4Stream = 2,
    /// One bare LZ4 block into plain data.
    DecompressLz4Block = 3,
}

impl Kind {
    /// All of them, by number.
    pub const ALL: [Kind; 4] =
        [Kind::CompressDeflate, Kind::DecompressDeflate, Kind::DecompressLz4Stream, Kind::DecompressLz4Block];

    /// Names, by number.
    pub(crate) const NAMES: &[&str] =
        &["compress_deflate", "decompress_deflate", "decompress_lz4_stream", "decompress_lz4_block"];

    /// Name as in plans, tables and messages.
    pub const fn name(self) -> &'static str {
        Kind::NAMES[self as usize]
    }

    /// The feature that a device needs for it.
    pub const fn feature(self) -> Feature {
        match self {
            Kind::CompressDeflate => Feature::CompressDeflate,
            Kind::DecompressDeflate => Feature::DecompressDeflate,
            Kind::DecompressLz4Stream => Feature::DecompressLz4Stream,
            Kind::DecompressLz4Block => Feature::DecompressLz4Block,
        }
    }
}

/// Limits of the compression engine of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Most bytes of data in a source list, and most bytes of room in a destination list.
    pub max_buf_size: u64,
    /// Most elements of a source or destination list.
    pub max_buf_list_len: u32,
    /// Most tasks of one context, all kinds together.
    pub max_num_tasks: u32,
    kinds: [bool; 4],
}

impl Caps {
    /// Of this function.
    ///
    /// # Errors
    /// NotSupported when its card has no compression engine at all.
    pub fn of(function: &Function) -> Result<Caps> {
        if !function.supports(EngineKind::Compress) {
            return Err(Error::new(Code::NotSupported, "the device has no compression engine"));
        }
        let limits = &function.limits().compress;
        Ok(Caps {
            max_buf_size: limits.max_buf_size,
            max_buf_list_len: limits.max_buf_list_len,
            max_num_tasks: limits.max_num_tasks,
            kinds: Kind::ALL.map(|kind| function.has(kind.feature())),
        })
    }

    /// Can the device do this kind of task? (BlueField-2 has no LZ4, BlueField-3 does not compress.)
    pub const fn supports(&self, kind: Kind) -> bool {
        self.kinds[kind as usize]
    }
}
