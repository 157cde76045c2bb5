#![doc = include_str!("lib.md")]

mod retry;
mod session;

pub mod manual;

pub use retry::Retry;
pub use session::{Board, Device, DeviceInfo, Session, SessionBuilder};
pub use softdpu_memory::{
    Access, Buf, BufPool, Element, ElementMut, HugePage, Memory, MemoryBuilder, PageSize, WindowError,
};
pub use softdpu_room::batch::Batch;
pub use softdpu_room::context::State;
pub use softdpu_room::engine::Engine;
pub use softdpu_room::inflight::InFlight;
pub use softdpu_room::job::Outbox;
pub use softdpu_room::pump::ProgressEngine;
pub use softdpu_room::task::{Done, Handler, Next, Rejected, Task};
pub use softdpu_room::typed::{Context, Ready, Starting, Stopping};
pub use softdpu_status::{Class, Code, Error, Result};

/// The cards: machines, functions, profiles, limits. Pure data.
pub mod card {
    pub use softdpu_card::{
        AesGcmLimits, CardInfo, ComchLimits, CompressLimits, ConfigError, DmaLimits, EngineKind, EngineSet,
        ErasureCodingLimits, EthRxqLimits, EthTxqLimits, Feature, FeatureSet, FindError, Function,
        FunctionKind, Limits, Machine, MachineBuilder, Mode, ParsePciError, PciAddr, Plane, Profile,
        RdmaLimits, Representor, Settings, ShaLimits, Side, SyncEventLimits, View,
    };
}

/// Memory and buffers; the same items as in the crate's root.
pub mod memory {
    pub use softdpu_memory::{
        Access, Buf, BufPool, Element, ElementMut, HugePage, Memory, MemoryBuilder, PageSize, WindowError,
    };
}

/// The DMA engine: copies lists of buffers into lists of buffers.
///
/// A copy reads the *data* of its source list and appends it behind the data of its destination list; both lists may be
/// cut differently. A failed copy stops its context.
///
/// ```
/// use softdpu::dma::{Config, Dma, Memcpy};
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
/// let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
///
/// // Gather two pieces into one buffer.
/// let (mut src, mut tail) = (memory.buf(0..100)?, memory.buf(1000..1100)?);
/// src.push_slice(b"gathered ")?;
/// tail.push_slice(b"bytes")?;
/// src.chain(tail);
/// let done = pe.run(dma.submit(Memcpy { src, dst: memory.buf(2000..)? })?);
/// assert_eq!(done.task.dst.as_slice(), Some(&b"gathered bytes"[..]));
/// # Ok(()) }
/// ```
pub mod dma {
    pub use softdpu_engines::dma::{Caps, Config, Dma, Memcpy};
}

/// The SHA engine: hashes of messages, whole or in pieces.
pub mod sha {
    pub use softdpu_engines::sha::{Algorithm, Caps, Config, Finish, Handlers, Hash, HashState, Sha, Update};
}

/// The compression engine: deflate both ways, LZ4 back.
pub mod compress {
    pub use softdpu_engines::compress::{
        Caps, Compress, CompressDeflate, Config, DecompressDeflate, DecompressLz4Block, DecompressLz4Stream,
        DeflateSums, Kind, Level, Lz4Sums,
    };
}

/// The AES-GCM engine: authenticated encryption.
pub mod aes_gcm {
    pub use softdpu_engines::aes_gcm::{AesGcm, Caps, Config, Decrypt, Direction, Encrypt, Iv, Key, TagLen};
}

/// The erasure-coding engine: redundancy blocks, and blocks back from them.
pub mod erasure_coding {
    pub use softdpu_engines::erasure_coding::{
        Caps, Config, Create, ErasureCoding, GaloisMul, Kind, Matrix, Recover, Update,
    };
}

/// Cache advice for memory that a device is about to use.
pub mod mmap_advise {
    pub use softdpu_engines::mmap_advise::{Caps, Config, InvalidateCache, MmapAdvise};
}

/// What nearly every program needs.
///
/// ```
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// let session = Session::builder().board(Board::inline()).open()?;
/// # let _ = session;
/// # Ok(()) }
/// ```
pub mod prelude {
    pub use crate::{
        Access, Board, Buf, BufPool, Class, Code, Context, Device, DeviceInfo, Done, Error, Handler,
        HugePage, InFlight, Memory, Next, Outbox, PageSize, ProgressEngine, Rejected, Retry, Session, State,
        Task, WindowError,
    };
    pub use softdpu_card::EngineKind;
}
