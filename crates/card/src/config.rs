//! What a topology file means: from its text to a checked plan.
//!
//! Whatever a machine relies on is checked here, with the place in the file at hand: names and addresses are
//! unique where programs could confuse them, every reference leads somewhere, every value is in range.

use crate::bond;
use crate::error::ConfigError;
use crate::feature::{Feature, FeatureSet};
use crate::file::{Card, Entry, File, LimitTable};
use crate::function::{FunctionKind, Side};
use crate::limits::{Given, Limits, SetError};
use crate::machine::Settings;
use crate::pci::PciAddr;
use crate::port::Backend;
use crate::profile::{Mode, Profile};
use crate::real;
use crate::steer;
use crate::topology::{self, CardPlan, FunctionPlan, Ipv4, MAX_CARDS, MAX_FUNCTIONS, Plan};
use crate::wire;
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use toml::Spanned;

/// A refusal and the byte offset it is about.
#[derive(Debug)]
pub(crate) struct Bad {
    offset: usize,
    cause: String,
}

/// A refusal at the place of a value.
pub(crate) fn bad<T>(at: &Spanned<T>, cause: impl Into<String>) -> Bad {
    Bad { offset: at.span().start, cause: cause.into() }
}

/// Reads a topology file; `profile` beats the profiles in it.
pub(crate) fn read(text: &str, profile: Option<Profile>) -> Result<Plan, ConfigError> {
    let file: File = toml::from_str(text).map_err(|error| match error.span() {
        Some(span) => ConfigError::at(text, span.start, error.message()),
        None => ConfigError::new(error.message()),
    })?;
    plan(&file, profile).map_err(|bad| ConfigError::at(text, bad.offset, bad.cause))
}

fn plan(file: &File, profile: Option<Profile>) -> Result<Plan, Bad> {
    let mut plan = Plan { settings: settings(file)?, cards: Vec::new() };
    if let Some(extra) = file.card.get(MAX_CARDS) {
        return Err(bad(extra, format!("more than {MAX_CARDS} cards")));
    }
    for (number, entry) in file.card.iter().enumerate() {
        let card = card(entry, number, profile, &plan.cards)?;
        if let Some(name) = plan.cards.iter().find(|other| other.name == card.name).map(|other| &other.name) {
            return Err(bad(entry, format!("two cards are called `{name}`")));
        }
        plan.cards.push(card);
        if plan.cards.iter().map(|card| card.functions.len()).sum::<usize>() > MAX_FUNCTIONS {
            return Err(bad(entry, format!("more than {MAX_FUNCTIONS} functions")));
        }
        check_unique(&plan.cards).map_err(|(pci, side, cause)| {
            // The place of the function if it was written down, else that of its card.
            let is = |f: &Entry| f.side == side && f.pci.get_ref().parse() == Ok(pci);
            entry
                .get_ref()
                .function
                .iter()
                .rfind(|f| is(f.get_ref()))
                .map_or_else(|| bad(entry, &*cause), |f| bad(f, &*cause))
        })?;
    }
    if plan.cards.is_empty() {
        plan.cards = topology::default_plan(profile.unwrap_or_default()).cards;
    }
    Ok(plan)
}

fn settings(file: &File) -> Result<Settings, Bad> {
    if let Some(provider) = &file.fabric.provider
        && (provider.get_ref().is_empty() || !provider.get_ref().bytes().all(|byte| byte.is_ascii_graphic()))
    {
        return Err(bad(provider, "a fabric provider is a name without spaces, e.g. `tcp;ofi_rxm`"));
    }
    Ok(Settings {
        strict: file.strict,
        memlock: file.memlock,
        trust_shm: file.trust_shm,
        reach: file.reach,
        fabric_provider: file.fabric.provider.as_ref().map(|provider| provider.get_ref().clone()),
    })
}

fn card(
    entry: &Spanned<Card>,
    number: usize,
    profile: Option<Profile>,
    before: &[CardPlan],
) -> Result<CardPlan, Bad> {
    let card = entry.get_ref();
    let profile = profile.or(card.profile).unwrap_or_default();
    let mode = match &card.mode {
        Some(mode) if *mode.get_ref() == Mode::Dpu && !profile.has_card_side() => {
            return Err(bad(mode, format!("a card of profile `{profile}` has no mode `dpu`; allowed: nic")));
        }
        Some(mode) => *mode.get_ref(),
        None => profile.default_mode(),
    };
    let name = match &card.name {
        Some(name) => checked_name(name, "card name", 63)?,
        None => format!("card{number}"),
    };
    let mut plan = CardPlan { name, profile, mode, functions: Vec::new() };
    let mut limits = (Limits::of(profile), Given::new());
    set_limits(&mut limits, &card.limits)?;
    let removed = removed(&card.without)?;
    if card.function.is_empty() {
        plan.functions = topology::default_functions(profile, number);
        for function in &mut plan.functions {
            function.removed = removed;
            (function.limits, function.given) = limits.clone();
        }
    }
    for entry in &card.function {
        let mut function = function(entry, &plan, before, &limits)?;
        function.removed = function.removed.union(removed);
        plan.functions.push(function);
    }
    check_references(card, &plan)?;
    bond::apply(&card.bond, &mut plan)?;
    wires(card, &plan)?;
    Ok(plan)
}

fn function(
    entry: &Spanned<Entry>,
    card: &CardPlan,
    before: &[CardPlan],
    limits: &(Limits, Given),
) -> Result<FunctionPlan, Bad> {
    let spec = entry.get_ref();
    if spec.side == Side::Dpu && !card.profile.has_card_side() {
        return Err(bad(
            entry,
            format!("a card of profile `{}` has no functions on side `dpu`", card.profile),
        ));
    }
    let pci = pci(&spec.pci)?;
    let names = default_names(spec, pci, card, before);
    let mut plan = FunctionPlan::new(spec.side, pci, card.profile, names);
    plan.kind = spec.kind;
    plan.sf_index = match (&spec.sf_index, spec.kind) {
        (Some(index), FunctionKind::Sf) => Some(*index.get_ref()),
        (None, FunctionKind::Sf) => return Err(bad(entry, "a function of kind `sf` needs `sf_index`")),
        (Some(index), _) => return Err(bad(index, "only functions of kind `sf` have an `sf_index`")),
        (None, _) => None,
    };
    if let Some(name) = &spec.ibdev {
        plan.ibdev = checked_name(name, "RDMA device name", 63)?;
    }
    if let Some(name) = &spec.iface {
        plan.iface = checked_name(name, "interface name", 15)?;
    }
    if let Some(name) = &spec.representor {
        if spec.side == Side::Dpu {
            return Err(bad(name, "only functions on side `host` have a representor"));
        }
        plan.representor = Some(checked_name(name, "interface name", 15)?);
    }
    if let Some(rate) = &spec.rate_gbps {
        if !(1..=10_000).contains(rate.get_ref()) {
            return Err(bad(rate, format!("rate {} Gb/s is not in 1..=10000", rate.get_ref())));
        }
        plan.rate = rate.get_ref() * 1_000_000_000;
    }
    addresses(spec, &mut plan)?;
    plan.backend = backend(entry, &plan)?;
    plan.steer = steer::rules(&spec.steer)?;
    plan.wire = spec.wire.as_ref().map(|name| checked_name(name, "interface name", 15)).transpose()?;
    let mut limits = limits.clone();
    set_limits(&mut limits, &spec.limits)?;
    (plan.limits, plan.given) = limits;
    plan.removed = removed(&spec.without)?;
    plan.represented_on = spec.represented_on.as_ref().map(self::pci).transpose()?;
    Ok(plan)
}

/// Addresses: what the real interface brings, then what the file says.
fn addresses(spec: &Entry, plan: &mut FunctionPlan) -> Result<(), Bad> {
    if let Some(name) = &spec.real_iface {
        if let Some(iface) = &spec.iface {
            return Err(bad(iface, "`iface` and `real_iface` exclude each other"));
        }
        plan.iface = checked_name(name, "interface name", 15)?;
        let real = real::look_up(&plan.iface).map_err(|cause| bad(name, cause))?;
        plan.real = true;
        plan.iface_index = Some(real.index);
        plan.ipv4 = real.ipv4.map_or(Ipv4::None, Ipv4::Given);
        plan.ipv6 = real.ipv6;
        plan.mac = real.mac;
    }
    if let Some(text) = &spec.ipv4 {
        plan.ipv4 = ipv4(text)?;
    }
    if let Some(text) = &spec.ipv6 {
        let address: Ipv6Addr = text
            .get_ref()
            .parse()
            .map_err(|_| bad(text, format!("`{}` is not an IPv6 address", text.get_ref())))?;
        plan.ipv6 = Some(address.octets());
    }
    if let Some(text) = &spec.mac {
        let mac = real::parse_mac(text.get_ref());
        plan.mac = Some(mac.ok_or_else(|| {
            bad(text, format!("`{}` is not an Ethernet address like 02:53:44:50:00:01", text.get_ref()))
        })?);
    }
    Ok(())
}

/// What is behind the port: what the file says, else the real interface, else the wires of the card.
fn backend(entry: &Spanned<Entry>, plan: &FunctionPlan) -> Result<Backend, Bad> {
    let spec = entry.get_ref();
    let real = plan.real.then(|| plan.iface.clone());
    let (kind, interface) = match (&spec.backend, &spec.interface) {
        (Some(kind), Some(name)) => (kind.get_ref().as_str(), Some(name.get_ref().clone())),
        (Some(kind), None) => {
            let kind = kind.get_ref().as_str();
            (kind, real.filter(|_| matches!(kind, "packet" | "afxdp")))
        }
        (None, Some(name)) => return Err(bad(name, "`interface` needs a `backend`: tap, packet or afxdp")),
        (None, None) if spec.pcap_read.is_some() || spec.pcap_write.is_some() => ("pcap", None),
        (None, None) => return Ok(real.map_or(Backend::Loop, Backend::Packet)),
    };
    Backend::assemble(kind, interface, spec.pcap_read.clone(), spec.pcap_write.clone()).map_err(|cause| {
        spec.backend.as_ref().map_or_else(|| bad(entry, &*cause), |backend| bad(backend, &*cause))
    })
}

/// Every wire leads somewhere, and no port has two.
fn wires(card: &Card, plan: &CardPlan) -> Result<(), Bad> {
    let Err((at, cause)) = wire::wires(plan, 0) else { return Ok(()) };
    let name = plan.functions[at].wire.as_ref();
    let place = card.function.iter().filter_map(|entry| entry.get_ref().wire.as_ref());
    match place.into_iter().find(|wire| Some(wire.get_ref()) == name) {
        Some(wire) => Err(bad(wire, cause)),
        None => Err(Bad { offset: 0, cause }),
    }
}

/// An address, or `none`.
pub(crate) fn ipv4(text: &Spanned<String>) -> Result<Ipv4, Bad> {
    if text.get_ref() == "none" {
        return Ok(Ipv4::None);
    }
    let address: Ipv4Addr = text.get_ref().parse().map_err(|_| {
        bad(text, format!("`{}` is not an IPv4 address; allowed: a.b.c.d, none", text.get_ref()))
    })?;
    Ok(Ipv4::Given(address.octets()))
}

/// RDMA device and interface name of a function that is given none.
fn default_names(spec: &Entry, pci: PciAddr, card: &CardPlan, before: &[CardPlan]) -> (String, String) {
    let earlier = || before.iter().chain([card]).flat_map(|card| &card.functions);
    let ports = |side| earlier().filter(|f| f.side == side && f.kind == FunctionKind::Pf).count();
    let parent = format!("enp{}s{}f{}", pci.bus(), pci.device(), pci.function());
    let iface = match (spec.kind, spec.side) {
        (FunctionKind::Pf, Side::Dpu) => format!("p{}", ports(Side::Dpu)),
        (FunctionKind::Pf, Side::Host) => topology::host_interface(pci),
        (FunctionKind::Vf, _) => parent,
        (FunctionKind::Sf, _) => {
            format!("{parent}s{}", spec.sf_index.as_ref().map_or(0, |index| *index.get_ref()))
        }
    };
    (format!("mlx5_{}", earlier().count()), iface)
}

fn check_references(card: &Card, plan: &CardPlan) -> Result<(), Bad> {
    for (entry, function) in card.function.iter().zip(&plan.functions) {
        let spec = entry.get_ref();
        let port = |side, pci| {
            plan.functions.iter().any(|f| f.side == side && f.kind == FunctionKind::Pf && f.pci == pci)
        };
        if spec.kind == FunctionKind::Sf && !port(spec.side, function.pci) {
            let cause = format!(
                "an `sf` has the address of its parent, but {} is no `pf` of this side",
                function.pci
            );
            return Err(bad(&spec.pci, cause));
        }
        let (Some(text), Some(pci)) = (&spec.represented_on, function.represented_on) else { continue };
        if spec.side == Side::Dpu {
            return Err(bad(text, "only functions on side `host` are represented"));
        }
        if !port(Side::Dpu, pci) {
            return Err(bad(text, format!("{pci} is no `pf` on side `dpu` of this card")));
        }
    }
    Ok(())
}

/// Host functions share one name space, card functions one per card. Scalable functions share the address of
/// their parent.
fn check_unique(cards: &[CardPlan]) -> Result<(), (PciAddr, Side, String)> {
    let mut seen = HashMap::new();
    for (number, card) in cards.iter().enumerate() {
        for function in &card.functions {
            let space = (function.side == Side::Dpu).then_some(number);
            let mut names = vec![
                ("RDMA device name", function.ibdev.clone()),
                ("interface name", function.iface.clone()),
            ];
            if function.kind != FunctionKind::Sf {
                names.push(("PCI address", function.pci.to_string()));
            }
            for (what, name) in names {
                if let Some(other) = seen.insert((space, what, name.clone()), function.pci) {
                    let (side, pci) = (function.side, function.pci);
                    let cause =
                        format!("functions {other} and {pci} on side `{side}` have the same {what} `{name}`");
                    return Err((pci, side, cause));
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn pci(text: &Spanned<String>) -> Result<PciAddr, Bad> {
    text.get_ref().parse().map_err(|error| bad(text, format!("`{}`: {error}", text.get_ref())))
}

/// A name that is printable, short enough and cannot be taken for a path or an address.
pub(crate) fn checked_name(name: &Spanned<String>, what: &str, most: usize) -> Result<String, Bad> {
    let text = name.get_ref();
    let fits = (1..=most).contains(&text.len()) && text != "." && text != "..";
    if !fits || !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)) {
        let cause =
            format!("`{text}` is no {what}: 1 to {most} characters out of letters, digits, `.`, `_`, `-`");
        return Err(bad(name, cause));
    }
    Ok(text.clone())
}

fn removed(names: &[Spanned<String>]) -> Result<FeatureSet, Bad> {
    names.iter().try_fold(FeatureSet::EMPTY, |set, name| {
        let features = FeatureSet::from_name(name.get_ref()).ok_or_else(|| {
            let engines = crate::EngineKind::ALL.iter().map(|kind| kind.name());
            let allowed: Vec<_> = engines.chain(Feature::ALL.iter().map(|feature| feature.name())).collect();
            bad(
                name,
                format!("unknown engine or feature `{}`; allowed: {}", name.get_ref(), allowed.join(", ")),
            )
        })?;
        Ok(set.union(features))
    })
}

fn set_limits((limits, given): &mut (Limits, Given), table: &LimitTable) -> Result<(), Bad> {
    for (group, entries) in table {
        if entries.is_empty() {
            // An empty table sets nothing, but its name must still be right.
            if let Err(SetError::UnknownEngine(names)) = limits.set(group.get_ref(), "", 0) {
                return Err(bad(group, unknown("engine", group.get_ref(), names)));
            }
        }
        for (field, value) in entries {
            limits.set(group.get_ref(), field.get_ref(), *value.get_ref()).map_err(|error| match error {
                SetError::UnknownEngine(names) => bad(group, unknown("engine", group.get_ref(), names)),
                SetError::UnknownLimit(names) => {
                    bad(field, unknown(&format!("limit of {}", group.get_ref()), field.get_ref(), names))
                }
                SetError::OutOfRange(allowed) => {
                    let (name, value_text) = (field.get_ref(), value.get_ref());
                    let (least, most) = allowed.into_inner();
                    bad(value, format!("{name} = {value_text} is not in {least}..={most}"))
                }
            })?;
            given.push((group.get_ref().clone(), field.get_ref().clone()));
        }
    }
    Ok(())
}

fn unknown(what: &str, name: &str, allowed: &[&str]) -> String {
    format!("unknown {what} `{name}`; allowed: {}", allowed.join(", "))
}
