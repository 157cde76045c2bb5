//! One line per engine: the list that boards, tables and the C face are built from.

pub use softdpu_aes_gcm as aes_gcm;
pub use softdpu_comch as comch;
pub use softdpu_compress as compress;
pub use softdpu_dma as dma;
pub use softdpu_erasure_coding as erasure_coding;
pub use softdpu_eth as eth;
pub use softdpu_flow as flow;
pub use softdpu_mmap_advise as mmap_advise;
pub use softdpu_rdma as rdma;
use softdpu_room::engine::{Engine, EngineInfo};
pub use softdpu_sha as sha;
pub use softdpu_sync_event as sync_event;

/// The engines that exist.
pub const ENGINES: &[&EngineInfo] = &[
    aes_gcm::AesGcm::INFO,
    comch::COMCH,
    compress::Compress::INFO,
    dma::Dma::INFO,
    erasure_coding::ErasureCoding::INFO,
    eth::rxq::EthRxq::INFO,
    eth::txq::EthTxq::INFO,
    mmap_advise::MmapAdvise::INFO,
    rdma::Rdma::INFO,
    sha::Sha::INFO,
    sync_event::SyncEvents::INFO,
];
