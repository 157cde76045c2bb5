//! Names and sizes of the hash functions.

use core::fmt;
use softdpu_card::Feature;

/// A hash function.
// As wide as a register: tasks are moved field by field, and a load waits long for a store narrower than itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(usize)]
pub enum Algorithm {
    /// SHA-1. Broken for signatures; for old formats only.
    Sha1 = 0,
    /// SHA-256.
    Sha256 = 1,
    /// SHA-512.
    Sha512 = 2,
}

impl Algorithm {
    /// All, in the order of their numbers.
    pub const ALL: [Algorithm; 3] = [Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512];

    /// By the number that the C face has for it.
    pub const fn from_number(n: u32) -> Option<Algorithm> {
        match n {
            0 => Some(Algorithm::Sha1),
            1 => Some(Algorithm::Sha256),
            2 => Some(Algorithm::Sha512),
            _ => None,
        }
    }

    /// Bytes of the digest: what a destination must have room for.
    pub const fn digest_len(self) -> usize {
        match self {
            Algorithm::Sha1 => 20,
            Algorithm::Sha256 => 32,
            Algorithm::Sha512 => 64,
        }
    }

    /// Bytes of a block: every piece of a hash but the last is a multiple.
    pub const fn block_len(self) -> usize {
        match self {
            Algorithm::Sha1 | Algorithm::Sha256 => 64,
            Algorithm::Sha512 => 128,
        }
    }

    /// What a card must have for it, in one piece and over several tasks.
    pub(crate) const fn features(self) -> (Feature, Feature) {
        match self {
            Algorithm::Sha1 => (Feature::Sha1, Feature::Sha1Partial),
            Algorithm::Sha256 => (Feature::Sha256, Feature::Sha256Partial),
            Algorithm::Sha512 => (Feature::Sha512, Feature::Sha512Partial),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::Sha1 => "SHA-1",
            Algorithm::Sha256 => "SHA-256",
            Algorithm::Sha512 => "SHA-512",
        })
    }
}
