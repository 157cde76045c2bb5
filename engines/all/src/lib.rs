//! One line per engine: the list that boards, tables and the C face are built from.

pub use softdpu_dma as dma;
use softdpu_room::engine::{Engine, EngineInfo};

/// The engines that exist.
pub const ENGINES: &[&EngineInfo] = &[dma::Dma::INFO];
