//! What a device's erasure coding engine can do.

use softdpu_card::{EngineKind, Feature, Function};
use softdpu_status::{Code, Error, Result};

/// The kinds of tasks, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Multiplies by any matrix.
    GaloisMul = 0,
    /// Computes redundancy.
    Create = 1,
    /// Computes new redundancy after data changed.
    Update = 2,
    /// Computes lost blocks.
    Recover = 3,
}

impl Kind {
    /// All, by number.
    pub const ALL: [Kind; 4] = [Kind::GaloisMul, Kind::Create, Kind::Update, Kind::Recover];

    /// Name as in tables and messages.
    pub const fn name(self) -> &'static str {
        ["galois_mul", "create", "update", "recover"][self as usize]
    }

    const fn feature(self) -> Feature {
        [Feature::EcGaloisMul, Feature::EcCreate, Feature::EcUpdate, Feature::EcRecover][self as usize]
    }
}

/// Limits of the erasure coding engine of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Largest single block in bytes.
    pub max_block_size: u64,
    /// Blocks are multiples of this many bytes, and at least that long.
    pub block_alignment: u32,
    /// Most elements of source and destination list together.
    pub max_buf_list_len: u32,
    /// Most data blocks of a coding matrix.
    pub max_data_blocks: u32,
    /// Most redundancy blocks of a coding matrix.
    pub max_rdnc_blocks: u32,
    /// Most tasks in flight of one context.
    pub max_num_tasks: u32,
    tasks: [bool; 4],
}

impl Caps {
    /// Of this function.
    ///
    /// # Errors
    /// NotSupported when its card has no erasure coding engine.
    pub fn of(function: &Function) -> Result<Caps> {
        if !function.supports(EngineKind::ErasureCoding) {
            return Err(Error::new(Code::NotSupported, "the device has no erasure coding engine"));
        }
        let limits = &function.limits().erasure_coding;
        Ok(Caps {
            max_block_size: limits.max_block_size,
            block_alignment: limits.block_alignment,
            max_buf_list_len: limits.max_buf_list_len,
            max_data_blocks: limits.max_data_blocks,
            max_rdnc_blocks: limits.max_rdnc_blocks,
            max_num_tasks: limits.max_num_tasks,
            tasks: Kind::ALL.map(|kind| function.has(kind.feature())),
        })
    }

    /// Can the device run this kind of task?
    pub const fn supports(&self, kind: Kind) -> bool {
        self.tasks[kind as usize]
    }

    /// Refuses a coding matrix of this size when the device does not take it.
    ///
    /// # Errors
    /// InvalidValue, with one log line.
    pub(crate) fn admit(&self, data: usize, rdnc: usize) -> Result<()> {
        if data <= self.max_data_blocks as usize && rdnc <= self.max_rdnc_blocks as usize {
            return Ok(());
        }
        log::error!(target: "softdpu::erasure_coding",
            "coding matrix of {data} data and {rdnc} redundancy blocks, limits of the device {} and {}",
            self.max_data_blocks, self.max_rdnc_blocks);
        Err(Error::new(Code::InvalidValue, "more blocks than the device takes"))
    }
}
