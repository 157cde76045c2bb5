//! The engines a card may have, their names, and sets of them.

use std::fmt;
use std::str::FromStr;

/// One kind of engine. The name is the one used in JSON, plans and commands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
#[repr(u8)]
pub enum EngineKind {
    /// Copies between host and card memory.
    Dma,
    /// Hashes.
    Sha,
    /// Deflate and LZ4.
    Compress,
    /// Authenticated encryption.
    AesGcm,
    /// Reed-Solomon style redundancy.
    ErasureCoding,
    /// One-sided and two-sided remote access.
    Rdma,
    /// Messages and streams between host and card.
    Comch,
    /// Ethernet receive queues.
    EthRxq,
    /// Ethernet send queues.
    EthTxq,
    /// Counters that one side sets and another waits for.
    SyncEvent,
}

impl EngineKind {
    /// Every engine, in the order of tables.
    pub const ALL: &[EngineKind] = &[
        EngineKind::Dma,
        EngineKind::Sha,
        EngineKind::Compress,
        EngineKind::AesGcm,
        EngineKind::ErasureCoding,
        EngineKind::Rdma,
        EngineKind::Comch,
        EngineKind::EthRxq,
        EngineKind::EthTxq,
        EngineKind::SyncEvent,
    ];

    /// Name in JSON, plans, topology files and commands.
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Dma => "dma",
            EngineKind::Sha => "sha",
            EngineKind::Compress => "compress",
            EngineKind::AesGcm => "aes_gcm",
            EngineKind::ErasureCoding => "erasure_coding",
            EngineKind::Rdma => "rdma",
            EngineKind::Comch => "comch",
            EngineKind::EthRxq => "eth_rxq",
            EngineKind::EthTxq => "eth_txq",
            EngineKind::SyncEvent => "sync_event",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reads a name or the alias `ec`. The alias `eth` means two engines, see [`EngineSet::from_name`].
impl FromStr for EngineKind {
    type Err = UnknownEngine;

    fn from_str(text: &str) -> Result<EngineKind, UnknownEngine> {
        if text == "ec" {
            return Ok(EngineKind::ErasureCoding);
        }
        EngineKind::ALL.iter().copied().find(|kind| kind.name() == text).ok_or(UnknownEngine)
    }
}

/// No engine has this name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownEngine;

impl fmt::Display for UnknownEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown engine; allowed:")?;
        for kind in EngineKind::ALL {
            write!(f, " {kind}")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownEngine {}

/// A set of engines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct EngineSet(u16);

impl EngineSet {
    /// No engine.
    pub const EMPTY: EngineSet = EngineSet(0);

    /// The set of these engines.
    pub const fn of(kinds: &[EngineKind]) -> EngineSet {
        let mut bits = 0;
        let mut at = 0;
        while at < kinds.len() {
            bits |= 1 << kinds[at] as u16;
            at += 1;
        }
        EngineSet(bits)
    }

    /// The engines that a name or an alias (`ec`, `eth`) stands for.
    pub fn from_name(text: &str) -> Result<EngineSet, UnknownEngine> {
        if text == "eth" {
            return Ok(EngineSet::of(&[EngineKind::EthRxq, EngineKind::EthTxq]));
        }
        text.parse().map(|kind| EngineSet::of(&[kind]))
    }

    /// Whether the engine is in the set.
    pub const fn contains(self, kind: EngineKind) -> bool {
        self.0 & 1 << kind as u16 != 0
    }

    /// The set with this engine added.
    #[must_use]
    pub const fn with(self, kind: EngineKind) -> EngineSet {
        EngineSet(self.0 | 1 << kind as u16)
    }

    /// Engines that are in either set.
    #[must_use]
    pub const fn union(self, other: EngineSet) -> EngineSet {
        EngineSet(self.0 | other.0)
    }

    /// Engines that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: EngineSet) -> EngineSet {
        EngineSet(self.0 & other.0)
    }

    /// Number of engines in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The engines, in the order of tables.
    pub fn iter(self) -> impl Iterator<Item = EngineKind> {
        EngineKind::ALL.iter().copied().filter(move |kind| self.contains(*kind))
    }
}

impl fmt::Debug for EngineSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_aliases_are_known() {
        for &kind in EngineKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(EngineSet::from_name(kind.name()), Ok(EngineSet::of(&[kind])));
        }
        assert_eq!("ec".parse(), Ok(EngineKind::ErasureCoding));
        let eth = EngineSet::from_name("eth").unwrap();
        assert_eq!(eth.iter().collect::<Vec<_>>(), [EngineKind::EthRxq, EngineKind::EthTxq]);
        let text = "crypto".parse::<EngineKind>().unwrap_err().to_string();
        assert!(text.contains("dma") && text.contains("sync_event"), "{text}");
    }

    #[test]
    fn sets_behave_like_sets() {
        let some = EngineSet::of(&[EngineKind::Dma, EngineKind::SyncEvent]);
        assert_eq!(some.len(), 2);
        assert!(some.contains(EngineKind::Dma) && !some.contains(EngineKind::Sha));
        assert_eq!(some.intersection(EngineSet::EMPTY), EngineSet::EMPTY);
        assert_eq!(EngineSet::EMPTY.with(EngineKind::Dma).with(EngineKind::SyncEvent), some);
        assert_eq!(EngineSet::of(EngineKind::ALL).len(), EngineKind::ALL.len());
        assert!(EngineSet::EMPTY.is_empty());
    }
}
