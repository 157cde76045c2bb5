//! The shape of a topology file: which keys there are and of which type. What they mean is in `config.rs`.
//!
//! Every value keeps its place in the text, so that a refusal can name line and column.

use crate::function::{FunctionKind, Side};
use crate::profile::{Mode, Profile};
use crate::reach::Reach;
use crate::steer::SteerEntry;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::Spanned;

/// `[limits.ENGINE] NAME = VALUE`, as written.
pub(crate) type LimitTable = BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<u64>>>;

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct File {
    pub(crate) strict: bool,
    pub(crate) memlock: Option<u64>,
    pub(crate) trust_shm: bool,
    pub(crate) reach: Option<Reach>,
    pub(crate) fabric: Fabric,
    pub(crate) card: Vec<Spanned<Card>>,
}

/// `[fabric]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Fabric {
    pub(crate) provider: Option<Spanned<String>>,
}

/// `[[card]]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Card {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) profile: Option<Profile>,
    pub(crate) mode: Option<Spanned<Mode>>,
    pub(crate) without: Vec<Spanned<String>>,
    pub(crate) limits: LimitTable,
    pub(crate) function: Vec<Spanned<Entry>>,
    pub(crate) bond: Vec<Spanned<Bond>>,
}

/// `[[card.function]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) side: Side,
    pub(crate) pci: Spanned<String>,
    #[serde(default)]
    pub(crate) kind: FunctionKind,
    pub(crate) sf_index: Option<Spanned<u32>>,
    pub(crate) ibdev: Option<Spanned<String>>,
    pub(crate) iface: Option<Spanned<String>>,
    pub(crate) real_iface: Option<Spanned<String>>,
    pub(crate) ipv4: Option<Spanned<String>>,
    pub(crate) ipv6: Option<Spanned<String>>,
    pub(crate) mac: Option<Spanned<String>>,
    pub(crate) rate_gbps: Option<Spanned<u64>>,
    pub(crate) backend: Option<Spanned<String>>,
    pub(crate) interface: Option<Spanned<String>>,
    pub(crate) pcap_read: Option<PathBuf>,
    pub(crate) pcap_write: Option<PathBuf>,
    pub(crate) wire: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) steer: Vec<Spanned<SteerEntry>>,
    #[serde(default)]
    pub(crate) without: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) limits: LimitTable,
    pub(crate) represented_on: Option<Spanned<String>>,
    pub(crate) representor: Option<Spanned<String>>,
}

/// `[[card.bond]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bond {
    pub(crate) members: Spanned<Vec<Spanned<String>>>,
    pub(crate) ibdev: Spanned<String>,
    pub(crate) iface: Spanned<String>,
    pub(crate) ipv4: Option<Spanned<String>>,
}
