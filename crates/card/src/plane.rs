//! Planes: what a device handle was opened for.
//!
//! One card is used for several things at once. A handle may be opened for one plane; then only the engines
//! of that plane can be created on it. A handle without a plane may do everything the function can.

use crate::engine_kind::{EngineKind, EngineSet};
use std::fmt;

/// A group of engines that serve one purpose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Plane {
    /// Packets and messages: `comch`, `eth_rxq`, `eth_txq`.
    Network,
    /// Remote memory access: `rdma`.
    Rdma,
    /// Work on stored or moving data: `dma`, `sha`, `compress`, `aes_gcm`, `erasure_coding`.
    Storage,
}

impl Plane {
    /// Every plane.
    pub const ALL: &[Plane] = &[Plane::Network, Plane::Rdma, Plane::Storage];

    /// `network`, `rdma` or `storage`.
    pub const fn name(self) -> &'static str {
        match self {
            Plane::Network => "network",
            Plane::Rdma => "rdma",
            Plane::Storage => "storage",
        }
    }

    /// The engines of the plane. Sync events order work of every kind, so they belong to all planes.
    pub const fn engines(self) -> EngineSet {
        match self {
            Plane::Network => EngineSet::of(&[
                EngineKind::Comch,
                EngineKind::EthRxq,
                EngineKind::EthTxq,
                EngineKind::SyncEvent,
            ]),
            Plane::Rdma => EngineSet::of(&[EngineKind::Rdma, EngineKind::SyncEvent]),
            Plane::Storage => EngineSet::of(&[
                EngineKind::Dma,
                EngineKind::Sha,
                EngineKind::Compress,
                EngineKind::AesGcm,
                EngineKind::ErasureCoding,
                EngineKind::SyncEvent,
            ]),
        }
    }

    /// Whether a handle of this plane may be used for the engine.
    pub const fn covers(self, kind: EngineKind) -> bool {
        self.engines().contains(kind)
    }
}

impl fmt::Display for Plane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_planes_cover_all_engines_and_share_only_sync_events() {
        let mut seen = EngineSet::EMPTY;
        for plane in Plane::ALL {
            let shared = seen.intersection(plane.engines());
            assert!(
                shared.is_empty() || shared == EngineSet::of(&[EngineKind::SyncEvent]),
                "{plane}: {shared:?}"
            );
            seen = seen.union(plane.engines());
        }
        assert_eq!(seen, EngineSet::of(EngineKind::ALL));
        assert!(Plane::Storage.covers(EngineKind::Dma) && !Plane::Rdma.covers(EngineKind::Dma));
    }
}
