//! A function and a representor, as programs see them: facts that do not change while the machine lives.

use crate::engine_kind::{EngineKind, EngineSet};
use crate::feature::{Feature, FeatureSet};
use crate::limits::Limits;
use crate::machine::Settings;
use crate::pci::PciAddr;
use crate::port::{Backend, Plug};
use crate::profile::{Mode, Profile};
use crate::steer::SteerRule;
use serde::Deserialize;
use std::fmt;
use std::sync::Arc;

/// Which end of the PCI bus a function is seen from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The card's own cores.
    Dpu,
    /// The host the card sits in.
    Host,
}

impl Side {
    /// `dpu` or `host`.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Dpu => "dpu",
            Side::Host => "host",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Kind of PCI function. The numbers are those of the C face.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(i32)]
pub enum FunctionKind {
    /// Physical function.
    #[default]
    Pf = 0,
    /// Virtual function.
    Vf = 1,
    /// Scalable function; it shares the PCI address of its parent.
    Sf = 2,
}

impl FunctionKind {
    /// `pf`, `vf` or `sf`.
    pub const fn name(self) -> &'static str {
        match self {
            FunctionKind::Pf => "pf",
            FunctionKind::Vf => "vf",
            FunctionKind::Sf => "sf",
        }
    }
}

impl fmt::Display for FunctionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What all functions of one card share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CardInfo {
    pub(crate) name: String,
    pub(crate) profile: Profile,
    pub(crate) mode: Mode,
    pub(crate) topology_hash: u64,
    pub(crate) is_real: bool,
}

impl CardInfo {
    /// Name of the card, unique in the machine.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which card is imitated.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Who runs the card.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Number over everything that defines the card. Two processes that name the same card but disagree about
    /// this number were started with different topologies. The side a process sees does not enter.
    pub fn topology_hash(&self) -> u64 {
        self.topology_hash
    }

    /// Is it a real card, which a bridge drives? What is given away and what is waited for goes through the bridge then.
    #[doc(hidden)]
    pub fn is_real(&self) -> bool {
        self.is_real
    }
}

/// One PCI function of a card.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    pub(crate) card: Arc<CardInfo>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) pci: PciAddr,
    pub(crate) side: Side,
    pub(crate) kind: FunctionKind,
    pub(crate) sf_index: Option<u32>,
    pub(crate) ibdev: String,
    pub(crate) iface: String,
    pub(crate) iface_index: u32,
    pub(crate) real_interface: bool,
    pub(crate) ipv4: Option<[u8; 4]>,
    pub(crate) ipv6: [u8; 16],
    pub(crate) mac: [u8; 6],
    pub(crate) gid: [u8; 16],
    pub(crate) vhca_id: u16,
    pub(crate) active_rate: u64,
    pub(crate) backend: Backend,
    pub(crate) wired_to: Plug,
    pub(crate) steering: Vec<SteerRule>,
    pub(crate) features: FeatureSet,
    pub(crate) limits: Limits,
    pub(crate) representors: Vec<Arc<Representor>>,
    pub(crate) bond: Vec<BondMember>,
}

/// A port that a bonded function stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BondMember {
    pub(crate) pci: PciAddr,
    pub(crate) ibdev: String,
    pub(crate) iface: String,
}

impl Function {
    /// The card it belongs to.
    pub fn card(&self) -> &CardInfo {
        &self.card
    }

    /// Settings of the machine: strict mode, trust, fabric.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// PCI address.
    pub fn pci(&self) -> PciAddr {
        self.pci
    }

    /// Side it is seen from.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Physical, virtual or scalable.
    pub fn kind(&self) -> FunctionKind {
        self.kind
    }

    /// Number of a scalable function; `None` for the other kinds.
    pub fn sf_index(&self) -> Option<u32> {
        self.sf_index
    }

    /// Name of the RDMA device, e.g. `mlx5_0`. At most 63 bytes.
    pub fn ibdev(&self) -> &str {
        &self.ibdev
    }

    /// Name of the network interface, e.g. `p0`. At most 15 bytes.
    pub fn iface(&self) -> &str {
        &self.iface
    }

    /// Index of the network interface; that of the operating system when the interface is a real one.
    pub fn iface_index(&self) -> u32 {
        self.iface_index
    }

    /// Whether the topology ties this function to an interface of the operating system.
    pub fn has_real_interface(&self) -> bool {
        self.real_interface
    }

    /// IPv4 address in network order; `None` when the function has none.
    pub fn ipv4(&self) -> Option<[u8; 4]> {
        self.ipv4
    }

    /// IPv6 address in network order.
    pub fn ipv6(&self) -> [u8; 16] {
        self.ipv6
    }

    /// Ethernet address.
    pub fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// Global identifier: the IPv4-mapped address, or the IPv6 address when there is no IPv4.
    pub fn gid(&self) -> [u8; 16] {
        self.gid
    }

    /// Number of the function in the machine, unique; also for functions that this process does not see.
    pub fn vhca_id(&self) -> u16 {
        self.vhca_id
    }

    /// Rate of the port in bits per second.
    pub fn active_rate(&self) -> u64 {
        self.active_rate
    }

    /// What is behind its network port.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// The other end of the wire at its port; counts while the backend is [`Backend::Loop`].
    pub fn wired_to(&self) -> Plug {
        self.wired_to
    }

    /// Which queues of its port get which frames, while a program has said nothing itself.
    pub fn steering(&self) -> &[SteerRule] {
        &self.steering
    }

    /// Engines of the function.
    pub fn engines(&self) -> EngineSet {
        self.features.engines()
    }

    /// Whether it has the engine.
    pub fn supports(&self, kind: EngineKind) -> bool {
        self.engines().contains(kind)
    }

    /// What the engines can do.
    pub fn features(&self) -> FeatureSet {
        self.features
    }

    /// Whether an engine of the function can do this.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(feature)
    }

    /// Limits of the engines.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Representors of host functions that this card function manages; empty on the host side, in mode `nic`,
    /// and on card functions that no host function is represented on.
    pub fn representors(&self) -> &[Arc<Representor>] {
        &self.representors
    }

    /// Whether representors of network functions can be asked for, even if there are none.
    pub fn shows_representors(&self) -> bool {
        self.side == Side::Dpu
    }

    /// Whether memory maps can be exported across PCI.
    pub fn can_export_pci(&self) -> bool {
        self.card.profile.can_export_pci()
    }

    /// Whether memory maps exported across PCI can be imported.
    pub fn can_import_pci(&self) -> bool {
        self.card.profile.can_import_pci(self.side)
    }

    /// PCI addresses of the ports that a bonded function stands for; empty for other functions.
    pub fn bond_members(&self) -> impl Iterator<Item = PciAddr> {
        self.bond.iter().map(|member| member.pci)
    }
}

/// `0000:03:00.0 (dpu, mlx5_0, p0)`: how messages name a function.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}, {})", self.pci, self.side, self.ibdev, self.iface)
    }
}

/// A host function as its card shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Representor {
    pub(crate) pci: PciAddr,
    pub(crate) iface: String,
    pub(crate) vuid: String,
    pub(crate) kind: FunctionKind,
    pub(crate) vhca_id: u16,
    pub(crate) wired_to: Plug,
}

impl Representor {
    /// Address of the function as the host sees it.
    pub fn pci(&self) -> PciAddr {
        self.pci
    }

    /// Name of the representor's interface on the card, e.g. `pf0hpf`. At most 15 bytes.
    pub fn iface(&self) -> &str {
        &self.iface
    }

    /// Stable identifier of the represented function, at most 127 bytes.
    pub fn vuid(&self) -> &str {
        &self.vuid
    }

    /// Kind of the represented function.
    pub fn kind(&self) -> FunctionKind {
        self.kind
    }

    /// Number of the represented function in the machine, see [`Function::vhca_id`].
    pub fn vhca_id(&self) -> u16 {
        self.vhca_id
    }

    /// The other end of its wire.
    pub fn wired_to(&self) -> Plug {
        self.wired_to
    }

    /// Whether the represented function can be plugged in and out; software cards have none of those.
    pub fn is_hotplug(&self) -> bool {
        false
    }
}
