//! Profiles: which card is imitated; modes: who runs it.
//!
//! A faithful profile refuses what the real card refuses, so that a program fails at the capability call here
//! as it would there. The profile `all` has every engine on every function.

use crate::engine_kind::{EngineKind, EngineSet};
use crate::feature::{Feature, FeatureSet};
use crate::function::Side;
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// Which card is imitated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Every engine, generous limits.
    #[default]
    All,
    /// BlueField-2: SHA and deflate both ways; no AES-GCM, erasure coding or LZ4.
    Bf2,
    /// BlueField-3: AES-GCM, erasure coding, LZ4; no SHA, decompression only.
    Bf3,
    /// ConnectX-7: RDMA and Ethernet on host functions, no card side.
    Cx7,
}

/// Who runs the card.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The card's own cores control it: representors, comch.
    Dpu,
    /// The card behaves as a network card of the host.
    Nic,
}

/// Engines that sit in the card's own chip; a host reaches them through the card in mode `dpu`.
const OFFLOAD: EngineSet = EngineSet::of(&[
    EngineKind::Dma,
    EngineKind::Sha,
    EngineKind::Compress,
    EngineKind::AesGcm,
    EngineKind::ErasureCoding,
]);

impl Profile {
    /// Every profile.
    pub const ALL: &[Profile] = &[Profile::All, Profile::Bf2, Profile::Bf3, Profile::Cx7];

    /// `all`, `bf2`, `bf3` or `cx7`.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::All => "all",
            Profile::Bf2 => "bf2",
            Profile::Bf3 => "bf3",
            Profile::Cx7 => "cx7",
        }
    }

    /// Model generation as the primer reports it: 2, 3, or 0 for a software card and for a plain NIC.
    pub const fn model(self) -> u32 {
        match self {
            Profile::Bf2 => 2,
            Profile::Bf3 => 3,
            Profile::All | Profile::Cx7 => 0,
        }
    }

    /// Whether the card has cores of its own, and so functions on side `dpu`.
    pub const fn has_card_side(self) -> bool {
        !matches!(self, Profile::Cx7)
    }

    /// The mode when none is named.
    pub const fn default_mode(self) -> Mode {
        if self.has_card_side() { Mode::Dpu } else { Mode::Nic }
    }

    /// Rate of a port in bits per second.
    pub const fn port_rate(self) -> u64 {
        match self {
            Profile::Bf2 => 200_000_000_000,
            Profile::All | Profile::Bf3 | Profile::Cx7 => 400_000_000_000,
        }
    }

    /// What the chip can do, before mode and side are looked at.
    fn chip(self) -> FeatureSet {
        let only = |engines: &[EngineKind]| {
            FeatureSet::EVERYTHING.without(FeatureSet::of_engines(EngineSet::of(engines)))
        };
        match self {
            Profile::All => FeatureSet::EVERYTHING,
            Profile::Bf2 => only(&[EngineKind::AesGcm, EngineKind::ErasureCoding])
                .without(FeatureSet::of(&[Feature::DecompressLz4Stream, Feature::DecompressLz4Block])),
            Profile::Bf3 => only(&[EngineKind::Sha]).without(FeatureSet::of(&[Feature::CompressDeflate])),
            Profile::Cx7 => FeatureSet::of_engines(EngineSet::of(&[
                EngineKind::Rdma,
                EngineKind::EthRxq,
                EngineKind::EthTxq,
            ]))
            .union(FeatureSet::of(&[Feature::SyncEventNet])),
        }
    }

    /// What a function of such a card can do.
    ///
    /// Comch needs mode `dpu`; servers live on the card, clients on the host. On the faithful profiles a host
    /// reaches the offload engines only through a card in mode `dpu`; the profile `all` does not mind.
    pub fn features(self, mode: Mode, side: Side) -> FeatureSet {
        let mut set = self.chip().without(match side {
            Side::Dpu => FeatureSet::of(&[Feature::ComchClient]),
            Side::Host => FeatureSet::of(&[Feature::ComchServer]),
        });
        if mode == Mode::Nic {
            set = set.without(FeatureSet::of_engines(EngineSet::of(&[EngineKind::Comch])));
            if self != Profile::All && side == Side::Host {
                set = set.without(FeatureSet::of_engines(OFFLOAD));
            }
        }
        set
    }

    /// Whether memory maps can be exported across PCI from a function.
    pub const fn can_export_pci(self) -> bool {
        self.has_card_side()
    }

    /// Whether maps exported across PCI can be imported on a function of this side. (What was exported by the
    /// process itself can always be imported on a function that can export; that is the memory crate's rule.)
    pub const fn can_import_pci(self, side: Side) -> bool {
        match self {
            Profile::All => true,
            Profile::Bf2 | Profile::Bf3 => matches!(side, Side::Dpu),
            Profile::Cx7 => false,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Profile, String> {
        Profile::ALL.iter().copied().find(|profile| profile.name() == text).ok_or_else(|| {
            let names: Vec<_> = Profile::ALL.iter().map(|profile| profile.name()).collect();
            format!("unknown profile `{text}`; allowed: {}", names.join(", "))
        })
    }
}

impl Mode {
    /// `dpu` or `nic`.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Dpu => "dpu",
            Mode::Nic => "nic",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The engine table, row by row: feature, then all, bf2, bf3, cx7 (host side, default mode).
    #[test]
    fn the_profiles_differ_as_the_cards_do() {
        let rows = [
            (Feature::DmaMemcpy, [true, true, true, false]),
            (Feature::RdmaWrite, [true, true, true, true]),
            (Feature::CompressDeflate, [true, true, false, false]),
            (Feature::DecompressDeflate, [true, true, true, false]),
            (Feature::DecompressLz4Stream, [true, false, true, false]),
            (Feature::DecompressLz4Block, [true, false, true, false]),
            (Feature::Sha256, [true, true, false, false]),
            (Feature::Sha1Partial, [true, true, false, false]),
            (Feature::AesGcmEncrypt, [true, false, true, false]),
            (Feature::AesGcmDecrypt, [true, false, true, false]),
            (Feature::EcRecover, [true, false, true, false]),
            (Feature::ComchClient, [true, true, true, false]),
            (Feature::ComchProducer, [true, true, true, false]),
            (Feature::EthRxqManaged, [true, true, true, true]),
            (Feature::EthTxqLso, [true, true, true, true]),
            (Feature::SyncEventLocal, [true, true, true, false]),
            (Feature::SyncEventNet, [true, true, true, true]),
        ];
        for (feature, expected) in rows {
            for (profile, expected) in Profile::ALL.iter().zip(expected) {
                let features = profile.features(profile.default_mode(), Side::Host);
                assert_eq!(features.contains(feature), expected, "{profile} {}", feature.name());
            }
        }
    }

    #[test]
    fn comch_follows_side_and_mode() {
        for profile in [Profile::All, Profile::Bf2, Profile::Bf3] {
            let card = profile.features(Mode::Dpu, Side::Dpu);
            assert!(card.contains(Feature::ComchServer) && !card.contains(Feature::ComchClient));
            let host = profile.features(Mode::Dpu, Side::Host);
            assert!(host.contains(Feature::ComchClient) && !host.contains(Feature::ComchServer));
            for side in [Side::Dpu, Side::Host] {
                assert!(!profile.features(Mode::Nic, side).engines().contains(EngineKind::Comch));
            }
        }
    }

    #[test]
    fn in_nic_mode_a_faithful_host_loses_the_offload_engines() {
        let engines = |profile: Profile, side| profile.features(Mode::Nic, side).engines();
        assert!(!engines(Profile::Bf3, Side::Host).contains(EngineKind::Dma));
        assert!(engines(Profile::Bf3, Side::Host).contains(EngineKind::Rdma));
        assert!(engines(Profile::Bf3, Side::Dpu).contains(EngineKind::Dma));
        assert!(engines(Profile::All, Side::Host).contains(EngineKind::Dma));
    }

    #[test]
    fn pci_sharing_follows_the_profile() {
        assert!(Profile::All.can_import_pci(Side::Host) && Profile::All.can_import_pci(Side::Dpu));
        for profile in [Profile::Bf2, Profile::Bf3] {
            assert!(profile.can_export_pci());
            assert!(profile.can_import_pci(Side::Dpu) && !profile.can_import_pci(Side::Host));
        }
        assert!(!Profile::Cx7.can_export_pci() && !Profile::Cx7.can_import_pci(Side::Host));
    }

    #[test]
    fn names_are_read_back_and_a_wrong_one_lists_the_right_ones() {
        for &profile in Profile::ALL {
            assert_eq!(profile.name().parse(), Ok(profile));
        }
        let text = "bf9".parse::<Profile>().unwrap_err();
        assert!(text.contains("bf9") && text.contains("all, bf2, bf3, cx7"), "{text}");
    }
}
