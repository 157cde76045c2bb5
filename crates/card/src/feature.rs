//! What exactly an engine of a card can do, where cards differ.

use crate::engine_kind::{EngineKind, EngineSet};
use std::fmt;

/// Declares the features once: variant, engine, name, meaning.
macro_rules! features {
    ($($(#[$doc:meta])* $variant:ident = $engine:ident, $name:literal;)*) => {
        /// One thing that an engine of a function can do; what capability calls answer.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Feature { $($(#[$doc])* $variant,)* }

        impl Feature {
            /// Every feature, engine by engine.
            pub const ALL: &[Feature] = &[$(Feature::$variant,)*];

            /// Name in tables and topology files, e.g. `compress_deflate`.
            pub const fn name(self) -> &'static str {
                match self { $(Feature::$variant => $name,)* }
            }

            /// The engine that does it.
            pub const fn engine(self) -> EngineKind {
                match self { $(Feature::$variant => EngineKind::$engine,)* }
            }
        }
    };
}

features! {
    /// Copy tasks.
    DmaMemcpy = Dma, "dma_memcpy";
    /// SHA-1 in one piece.
    Sha1 = Sha, "sha1";
    /// SHA-256 in one piece.
    Sha256 = Sha, "sha256";
    /// SHA-512 in one piece.
    Sha512 = Sha, "sha512";
    /// SHA-1 over several tasks.
    Sha1Partial = Sha, "sha1_partial";
    /// SHA-256 over several tasks.
    Sha256Partial = Sha, "sha256_partial";
    /// SHA-512 over several tasks.
    Sha512Partial = Sha, "sha512_partial";
    /// Deflate, compressing.
    CompressDeflate = Compress, "compress_deflate";
    /// Deflate, decompressing.
    DecompressDeflate = Compress, "decompress_deflate";
    /// LZ4 frames without header and trailer, decompressing.
    DecompressLz4Stream = Compress, "decompress_lz4_stream";
    /// Single LZ4 blocks, decompressing.
    DecompressLz4Block = Compress, "decompress_lz4_block";
    /// AES-GCM, encrypting.
    AesGcmEncrypt = AesGcm, "aes_gcm_encrypt";
    /// AES-GCM, decrypting.
    AesGcmDecrypt = AesGcm, "aes_gcm_decrypt";
    /// 128-bit AES keys.
    AesGcmKey128 = AesGcm, "aes_gcm_key_128";
    /// 256-bit AES keys.
    AesGcmKey256 = AesGcm, "aes_gcm_key_256";
    /// 12-byte authentication tags.
    AesGcmTag96 = AesGcm, "aes_gcm_tag_96";
    /// 16-byte authentication tags.
    AesGcmTag128 = AesGcm, "aes_gcm_tag_128";
    /// Multiplication by a matrix over the Galois field.
    EcGaloisMul = ErasureCoding, "ec_galois_mul";
    /// Making redundancy blocks.
    EcCreate = ErasureCoding, "ec_create";
    /// Updating redundancy after one block changed.
    EcUpdate = ErasureCoding, "ec_update";
    /// Recovering lost blocks.
    EcRecover = ErasureCoding, "ec_recover";
    /// Messages: send and receive.
    RdmaSend = Rdma, "rdma_send";
    /// One-sided reads.
    RdmaRead = Rdma, "rdma_read";
    /// One-sided writes.
    RdmaWrite = Rdma, "rdma_write";
    /// Immediate data with send or write.
    RdmaImmediate = Rdma, "rdma_immediate";
    /// Compare-and-swap, fetch-and-add.
    RdmaAtomic = Rdma, "rdma_atomic";
    /// Reading and notifying sync events of a peer.
    RdmaSyncEvent = Rdma, "rdma_sync_event";
    /// Reliable connections.
    RdmaTransportRc = Rdma, "rdma_transport_rc";
    /// Dynamic connections.
    RdmaTransportDc = Rdma, "rdma_transport_dc";
    /// Waiting for clients (card side).
    ComchServer = Comch, "comch_server";
    /// Connecting to a server (host side).
    ComchClient = Comch, "comch_client";
    /// Streams out.
    ComchProducer = Comch, "comch_producer";
    /// Streams in.
    ComchConsumer = Comch, "comch_consumer";
    /// Receive queue whose buffers the program posts.
    EthRxqRegular = EthRxq, "eth_rxq_regular";
    /// Receive queue with a packet pool of its own.
    EthRxqManaged = EthRxq, "eth_rxq_managed";
    /// Send queue.
    EthTxqRegular = EthTxq, "eth_txq_regular";
    /// Cutting large segments.
    EthTxqLso = EthTxq, "eth_txq_lso";
    /// Filling IPv4 header checksums.
    EthTxqL3Checksum = EthTxq, "eth_txq_l3_checksum";
    /// Filling TCP and UDP checksums.
    EthTxqL4Checksum = EthTxq, "eth_txq_l4_checksum";
    /// Events set, added to and waited for by this side.
    SyncEventLocal = SyncEvent, "sync_event_local";
    /// Events shared across PCI.
    SyncEventPci = SyncEvent, "sync_event_pci";
    /// Events shared with a network peer.
    SyncEventNet = SyncEvent, "sync_event_net";
}

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FeatureSet(u64);

impl FeatureSet {
    /// No feature.
    pub const EMPTY: FeatureSet = FeatureSet(0);

    /// Every feature there is.
    pub const EVERYTHING: FeatureSet = FeatureSet((1 << Feature::ALL.len()) - 1);

    /// The set of these features.
    pub const fn of(features: &[Feature]) -> FeatureSet {
        let mut bits = 0;
        let mut at = 0;
        while at < features.len() {
            bits |= 1 << features[at] as u64;
            at += 1;
        }
        FeatureSet(bits)
    }

    /// All features of these engines.
    pub fn of_engines(engines: EngineSet) -> FeatureSet {
        Feature::ALL
            .iter()
            .filter(|feature| engines.contains(feature.engine()))
            .fold(FeatureSet::EMPTY, |set, &feature| set.union(FeatureSet::of(&[feature])))
    }

    /// The features that the name of an engine, of an alias or of a feature stands for.
    pub fn from_name(text: &str) -> Option<FeatureSet> {
        if let Ok(engines) = EngineSet::from_name(text) {
            return Some(FeatureSet::of_engines(engines));
        }
        let feature = Feature::ALL.iter().find(|feature| feature.name() == text)?;
        Some(FeatureSet::of(&[*feature]))
    }

    /// Whether the feature is in the set.
    pub const fn contains(self, feature: Feature) -> bool {
        self.0 & 1 << feature as u64 != 0
    }

    /// Features that are in either set.
    #[must_use]
    pub const fn union(self, other: FeatureSet) -> FeatureSet {
        FeatureSet(self.0 | other.0)
    }

    /// Features of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: FeatureSet) -> FeatureSet {
        FeatureSet(self.0 & !other.0)
    }

    /// Engines that have at least one feature in the set.
    pub fn engines(self) -> EngineSet {
        self.iter().fold(EngineSet::EMPTY, |set, feature| set.with(feature.engine()))
    }

    /// The features, engine by engine.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |feature| self.contains(*feature))
    }

    /// A number that is equal exactly for equal sets.
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_features_and_every_name_is_unique() {
        assert_eq!(FeatureSet::EVERYTHING.engines(), EngineSet::of(EngineKind::ALL));
        assert_eq!(FeatureSet::of_engines(EngineSet::of(EngineKind::ALL)), FeatureSet::EVERYTHING);
        for (at, feature) in Feature::ALL.iter().enumerate() {
            assert!(!Feature::ALL[..at].iter().any(|other| other.name() == feature.name()), "{feature:?}");
            assert_eq!(FeatureSet::from_name(feature.name()), Some(FeatureSet::of(&[*feature])));
        }
    }

    #[test]
    fn an_engine_name_stands_for_all_its_features() {
        let ec = FeatureSet::from_name("ec").unwrap();
        assert_eq!(ec.engines(), EngineSet::of(&[EngineKind::ErasureCoding]));
        assert!(ec.contains(Feature::EcRecover) && !ec.contains(Feature::Sha1));
        assert_eq!(FeatureSet::from_name("quantum"), None);
        assert!(!FeatureSet::EVERYTHING.without(ec).engines().contains(EngineKind::ErasureCoding));
    }
}
