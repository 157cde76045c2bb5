//! The plan of a machine: what is known before it is built; and the default plan.
//!
//! The default table holds the addresses that programs use when they are given none, so that unchanged
//! programs run without arguments.

use crate::feature::FeatureSet;
use crate::function::{BondMember, FunctionKind, Side};
use crate::limits::{Given, Limits};
use crate::machine::Settings;
use crate::pci::PciAddr;
use crate::port::Backend;
use crate::profile::{Mode, Profile};
use crate::steer::SteerRule;

/// Most functions a machine can have, over all cards and both sides.
pub(crate) const MAX_FUNCTIONS: usize = 1024;

/// Most cards: the default tables of more would not have distinct addresses.
pub(crate) const MAX_CARDS: usize = 64;

/// A whole machine.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    pub(crate) cards: Vec<CardPlan>,
}

/// One card.
#[derive(Clone, Debug)]
pub(crate) struct CardPlan {
    pub(crate) name: String,
    pub(crate) profile: Profile,
    pub(crate) mode: Mode,
    pub(crate) functions: Vec<FunctionPlan>,
}

/// An IPv4 address: made up by us, given, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ipv4 {
    Made,
    Given([u8; 4]),
    None,
}

/// One function. Whatever is `None` is derived when the machine is built.
#[derive(Clone, Debug)]
pub(crate) struct FunctionPlan {
    pub(crate) side: Side,
    pub(crate) pci: PciAddr,
    pub(crate) kind: FunctionKind,
    pub(crate) sf_index: Option<u32>,
    pub(crate) ibdev: String,
    pub(crate) iface: String,
    pub(crate) iface_index: Option<u32>,
    pub(crate) real: bool,
    pub(crate) ipv4: Ipv4,
    pub(crate) ipv6: Option<[u8; 16]>,
    pub(crate) mac: Option<[u8; 6]>,
    pub(crate) rate: u64,
    /// What is behind the port.
    pub(crate) backend: Backend,
    /// Name of the port at the other end of the wire.
    pub(crate) wire: Option<String>,
    /// Which queue gets which frames.
    pub(crate) steer: Vec<SteerRule>,
    pub(crate) removed: FeatureSet,
    pub(crate) limits: Limits,
    /// Limits that were written down.
    pub(crate) given: Given,
    /// Host functions: the card function that shows the representor.
    pub(crate) represented_on: Option<PciAddr>,
    /// Host functions: name of the representor's interface.
    pub(crate) representor: Option<String>,
    pub(crate) bond: Vec<BondMember>,
}

impl FunctionPlan {
    /// A physical function with everything else as it is by default.
    pub(crate) fn new(side: Side, pci: PciAddr, profile: Profile, names: (String, String)) -> FunctionPlan {
        FunctionPlan {
            side,
            pci,
            kind: FunctionKind::Pf,
            sf_index: None,
            ibdev: names.0,
            iface: names.1,
            iface_index: None,
            real: false,
            ipv4: Ipv4::Made,
            ipv6: None,
            mac: None,
            rate: profile.port_rate(),
            backend: Backend::Loop,
            wire: None,
            steer: Vec::new(),
            removed: FeatureSet::EMPTY,
            limits: Limits::of(profile),
            given: Given::new(),
            represented_on: None,
            representor: None,
            bond: Vec::new(),
        }
    }
}

/// The machine when nothing is configured: one card.
pub(crate) fn default_plan(profile: Profile) -> Plan {
    let card = CardPlan {
        name: "card0".into(),
        profile,
        mode: profile.default_mode(),
        functions: default_functions(profile, 0),
    };
    Plan { settings: Settings::default(), cards: vec![card] }
}

/// The default functions of the card with this number: two ports and the two host functions behind them.
/// A profile without card side has the host functions only, under the same names.
pub(crate) fn default_functions(profile: Profile, card: usize) -> Vec<FunctionPlan> {
    // MAX_CARDS keeps the sums within a byte.
    let number = card as u8;
    let address = |bus: u8, function: u8| PciAddr::new(0, bus, 0, function);
    let mut functions = Vec::with_capacity(4);
    for port in 0..2u8 {
        let at = usize::from(port);
        let names = (format!("mlx5_{}", 4 * card + at), format!("p{}", 2 * card + at));
        if let Some(pci) = address(0x03 + number, port)
            && profile.has_card_side()
        {
            functions.push(FunctionPlan::new(Side::Dpu, pci, profile, names));
        }
    }
    for port in 0..2u8 {
        if let Some(pci) = address(0xb1 + number, port) {
            let names = (format!("mlx5_{}", 4 * card + 2 + usize::from(port)), host_interface(pci));
            functions.push(FunctionPlan::new(Side::Host, pci, profile, names));
        }
    }
    functions
}

/// Name that a host gives to the interface of a physical function.
pub(crate) fn host_interface(pci: PciAddr) -> String {
    format!("enp{}s{}f{}np{}", pci.bus(), pci.device(), pci.function(), pci.function())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(profile: Profile) -> Vec<(String, &'static str, String, String)> {
        default_functions(profile, 0)
            .into_iter()
            .map(|function| (function.pci.to_string(), function.side.name(), function.ibdev, function.iface))
            .collect()
    }

    fn row(
        pci: &str,
        side: &'static str,
        ibdev: &str,
        iface: &str,
    ) -> (String, &'static str, String, String) {
        (pci.into(), side, ibdev.into(), iface.into())
    }

    #[test]
    fn the_default_table_has_the_addresses_programs_use() {
        let host = [
            row("0000:b1:00.0", "host", "mlx5_2", "enp177s0f0np0"),
            row("0000:b1:00.1", "host", "mlx5_3", "enp177s0f1np1"),
        ];
        let mut all =
            vec![row("0000:03:00.0", "dpu", "mlx5_0", "p0"), row("0000:03:00.1", "dpu", "mlx5_1", "p1")];
        all.extend(host.clone());
        assert_eq!(table(Profile::All), all);
        assert_eq!(table(Profile::Bf3), all);
        assert_eq!(table(Profile::Cx7), host);
    }

    #[test]
    fn default_tables_of_many_cards_do_not_collide() {
        let mut seen = std::collections::HashSet::new();
        for card in 0..MAX_CARDS {
            for function in default_functions(Profile::All, card) {
                assert!(function.iface.len() <= 15, "{}", function.iface);
                assert!(seen.insert(function.pci.to_string()));
                assert!(seen.insert(function.ibdev) && seen.insert(function.iface));
            }
        }
    }
}
