//! From plan to machine: numbers, made-up addresses, representors, the hash.
//!
//! Everything is numbered over all functions of the machine, visible or not, so that processes on the two
//! sides agree about numbers and addresses.

use crate::feature::FeatureSet;
use crate::function::{CardInfo, Function, FunctionKind, Representor, Side};
use crate::machine::{Machine, MachineBuilder, Settings, View};
use crate::port::Plug;
use crate::profile::Mode;
use crate::topology::{CardPlan, FunctionPlan, Ipv4, Plan};
use crate::wire;
use std::fmt::{self, Write};
use std::sync::Arc;

/// Index of the first made-up network interface; far above what an operating system hands out at boot.
const FIRST_IFACE_INDEX: u32 = 100_001;

/// Builds the machine; the plan was checked before.
pub(crate) fn machine(plan: Plan, view: View, is_real: bool) -> Machine {
    let settings = Arc::new(plan.settings);
    let mut machine =
        Machine { settings: Arc::clone(&settings), view, visible: Vec::new(), hidden: Vec::new() };
    let mut first = 0u16;
    for card in &plan.cards {
        for function in functions(card, first, &settings, is_real) {
            let seen = view.shows(function.side);
            let list = if seen { &mut machine.visible } else { &mut machine.hidden };
            list.push(Arc::new(function));
        }
        // The plan holds at most MAX_FUNCTIONS functions.
        first += card.functions.len() as u16;
    }
    machine
}

impl MachineBuilder {
    /// Says that the cards are real ones, which a bridge drives.
    #[doc(hidden)]
    #[must_use]
    pub fn real(mut self) -> MachineBuilder {
        self.is_real = true;
        self
    }
}

/// The functions of one card; `first` is the number of its first function.
fn functions(card: &CardPlan, first: u16, settings: &Arc<Settings>, is_real: bool) -> Vec<Function> {
    let info = Arc::new(CardInfo {
        name: card.name.clone(),
        profile: card.profile,
        mode: card.mode,
        topology_hash: if is_real { !hash(card) } else { hash(card) },
        is_real,
    });
    let mut functions: Vec<_> = (first..)
        .zip(&card.functions)
        .map(|(number, plan)| function(plan, number, Arc::clone(&info), Arc::clone(settings)))
        .collect();
    // Impossible wires were refused when the plan was read.
    let wires = wire::wires(card, first).unwrap_or_default();
    for function in &mut functions {
        let plug = Plug { number: function.vhca_id, is_representor: false };
        function.wired_to = wires.get(&plug).copied().unwrap_or(plug);
    }
    if card.mode == Mode::Dpu {
        for (target, mut representor) in representors(card, first) {
            let plug = Plug { number: representor.vhca_id, is_representor: true };
            representor.wired_to = wires.get(&plug).copied().unwrap_or(plug);
            functions[target].representors.push(Arc::new(representor));
        }
    }
    functions
}

fn function(plan: &FunctionPlan, number: u16, card: Arc<CardInfo>, settings: Arc<Settings>) -> Function {
    let ipv4 = match plan.ipv4 {
        Ipv4::Made => Some(made_ipv4(number)),
        Ipv4::Given(address) => Some(address),
        Ipv4::None => None,
    };
    let ipv6 = plan.ipv6.unwrap_or_else(|| made_ipv6(number));
    // Not in the plan: sides of a card that differ in this alone still know each other.
    let mut limits = plan.limits.clone();
    if settings.strict {
        limits.tighten(&plan.given);
    }
    let features: FeatureSet = card.profile.features(card.mode, plan.side).without(plan.removed);
    Function {
        card,
        settings,
        pci: plan.pci,
        side: plan.side,
        kind: plan.kind,
        sf_index: plan.sf_index,
        ibdev: plan.ibdev.clone(),
        iface: plan.iface.clone(),
        iface_index: plan.iface_index.unwrap_or(FIRST_IFACE_INDEX + u32::from(number)),
        real_interface: plan.real,
        ipv4,
        ipv6,
        mac: plan.mac.unwrap_or_else(|| made_mac(number)),
        gid: ipv4.map_or(ipv6, mapped),
        vhca_id: number,
        active_rate: plan.rate,
        backend: plan.backend.clone(),
        wired_to: Plug { number, is_representor: false },
        steering: plan.steer.clone(),
        features,
        limits,
        representors: Vec::new(),
        bond: plan.bond.clone(),
    }
}

/// An address of the network set aside for benchmarks (198.18.0.0/15); the last byte is never 0 or 255.
fn made_ipv4(number: u16) -> [u8; 4] {
    [198, 18, (number / 250) as u8, (number % 250 + 1) as u8]
}

/// A unique local address whose prefix spells the name of the project.
fn made_ipv6(number: u16) -> [u8; 16] {
    let [high, low] = (number + 1).to_be_bytes();
    [0xfd, b'S', b'o', b'f', b't', b'D', b'P', b'U', 0, 0, 0, 0, 0, 0, high, low]
}

/// A locally administered unicast address.
fn made_mac(number: u16) -> [u8; 6] {
    let [high, low] = (number + 1).to_be_bytes();
    [0x02, b'S', b'D', b'P', high, low]
}

/// The IPv4-mapped form that RoCE uses as global identifier.
fn mapped([a, b, c, d]: [u8; 4]) -> [u8; 16] {
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d]
}

/// Each host function's representor and the index of the card function that shows it.
///
/// Without a word in the topology host port N is shown on card port N, or on the first one when there are
/// fewer; virtual and scalable functions follow the physical function that stands before them.
pub(crate) fn representors(card: &CardPlan, first: u16) -> Vec<(usize, Representor)> {
    let ports: Vec<usize> = (0..card.functions.len())
        .filter(|&at| card.functions[at].side == Side::Dpu && card.functions[at].kind == FunctionKind::Pf)
        .collect();
    let mut result = Vec::new();
    let mut host_ports = 0usize;
    let mut virtuals = 0usize;
    for (number, plan) in (first..).zip(&card.functions).filter(|(_, plan)| plan.side == Side::Host) {
        if plan.kind == FunctionKind::Pf {
            host_ports += 1;
            virtuals = 0;
        }
        let port = host_ports.saturating_sub(1);
        let name = match plan.kind {
            FunctionKind::Pf => format!("pf{port}hpf"),
            FunctionKind::Vf => {
                virtuals += 1;
                format!("pf{port}vf{}", virtuals - 1)
            }
            FunctionKind::Sf => format!("pf{port}sf{}", plan.sf_index.unwrap_or_default()),
        };
        let target = match plan.represented_on {
            Some(pci) => ports.iter().copied().find(|&at| card.functions[at].stands_for(pci)),
            None => ports.get(port).or(ports.first()).copied(),
        };
        let Some(target) = target else { continue };
        let representor = Representor {
            pci: plan.pci,
            iface: plan.representor.clone().unwrap_or(name),
            vuid: format!("SOFTDPU{:016X}F{number}", hash_text(&card.name)),
            kind: plan.kind,
            vhca_id: number,
            wired_to: Plug { number, is_representor: true },
        };
        result.push((target, representor));
    }
    result
}

impl FunctionPlan {
    /// Whether this function has the address, or a port of its bond does.
    pub(crate) fn stands_for(&self, pci: crate::pci::PciAddr) -> bool {
        self.pci == pci || self.bond.iter().any(|member| member.pci == pci)
    }
}

/// FNV-1a over whatever is written to it; stable across builds and machines, unlike the standard hashers.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash_text(text: &str) -> u64 {
    let mut fnv = Fnv(FNV_START);
    // Writing to the hasher cannot fail.
    let _ = fnv.write_str(text);
    fnv.0
}

/// Number over everything that defines the card. What was learned from the operating system is left out: a
/// lease that is renewed with another address does not make another card.
fn hash(card: &CardPlan) -> u64 {
    let mut fnv = Fnv(FNV_START);
    let mut write = || -> fmt::Result {
        write!(fnv, "{}|{}|{}", card.name, card.profile, card.mode)?;
        for plan in &card.functions {
            write!(fnv, "|{}|{}|{}|{:?}", plan.pci, plan.side, plan.kind, plan.sf_index)?;
            write!(fnv, "|{}|{}|{}|{}", plan.ibdev, plan.iface, plan.rate, plan.removed.bits())?;
            if !plan.real {
                write!(fnv, "|{:?}|{:?}|{:?}", plan.ipv4, plan.ipv6, plan.mac)?;
            }
            write!(fnv, "|{:?}|{:?}", plan.represented_on, plan.representor)?;
            if let Some(wire) = &plan.wire {
                write!(fnv, "|wire={wire}")?;
            }
            for (group, field, value) in plan.limits.entries() {
                write!(fnv, "|{group}.{field}={value}")?;
            }
            for member in &plan.bond {
                write!(fnv, "|{}", member.pci)?;
            }
        }
        Ok(())
    };
    let _ = write();
    fnv.0
}
