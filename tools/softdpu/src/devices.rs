//! `softdpu devices`: the functions of the card, their addresses, and which engines they have.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use lexopt::Parser;
use lexopt::prelude::*;
use serde::Serialize;
use softdpu_card::{Backend, CardInfo, EngineKind, Function, Machine, Representor, VerbsPort};

use crate::card::{CARD_HELP, CardOptions};
use crate::contract::Contract;
use crate::message::Outcome;
use crate::output::{self, Table};

const HELP: &str = "\
Lists the functions of the card and the engines they have.

Usage: softdpu devices [OPTIONS]

Options:
  --json                      one JSON document instead of tables
";

#[derive(Debug, Serialize)]
struct Document {
    /// The first card; `cards` has all of them.
    card: Option<Card>,
    cards: Vec<Card>,
    side: &'static str,
    devices: Vec<Device>,
    /// RDMA devices of the machine itself, which carry connections to other machines.
    verbs: Vec<VerbsRow>,
}

#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
struct Card {
    name: String,
    profile: &'static str,
    mode: &'static str,
    topology_hash: String,
}

#[derive(Debug, Serialize)]
struct Device {
    pci: String,
    card: String,
    side: &'static str,
    kind: &'static str,
    sf_index: Option<u32>,
    ibdev: String,
    iface: String,
    iface_index: u32,
    vhca_id: u16,
    rate_bits_per_s: u64,
    /// What is behind the port, and the port at the other end of its wire.
    backend: String,
    wired_to: Option<String>,
    ipv4: Option<String>,
    ipv6: String,
    mac: String,
    gid: String,
    engines: BTreeMap<&'static str, bool>,
    representors: Vec<RepresentorRow>,
}

#[derive(Debug, Serialize)]
struct VerbsRow {
    device: String,
    port: u32,
    interface: String,
    addresses: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RepresentorRow {
    pci: String,
    name: String,
    kind: &'static str,
    vhca_id: u16,
    vuid: String,
}

pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let mut card = CardOptions::default();
    let mut json = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return output::print(&format!("{HELP}{CARD_HELP}")),
            Long("json") => json = true,
            Long(name) if CardOptions::NAMES.contains(&name) => {
                let name = name.to_owned();
                card.set(&name, arguments.value()?)?;
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let document = document(&card.machine()?, &Contract::load()?);
    output::print(&if json { output::json(&document)? } else { text(&document) })
}

fn document(machine: &Machine, contract: &Contract) -> Document {
    let mut cards: Vec<Card> = Vec::new();
    for function in machine.functions() {
        let card = card_row(function.card());
        if !cards.contains(&card) {
            cards.push(card);
        }
    }
    Document {
        card: cards.first().cloned(),
        cards,
        side: machine.view().name(),
        devices: machine.functions().iter().map(|f| device_row(f, contract, machine)).collect(),
        verbs: VerbsPort::all().into_iter().map(verbs_row).collect(),
    }
}

fn card_row(card: &CardInfo) -> Card {
    Card {
        name: card.name().to_owned(),
        profile: card.profile().name(),
        mode: card.mode().name(),
        topology_hash: format!("{:016x}", card.topology_hash()),
    }
}

/// Name of the port at the other end of the wire, where there is a wire.
fn wired_to(function: &Function, machine: &Machine) -> Option<String> {
    let plug = function.wired_to();
    let mut all = machine.functions().iter().chain(machine.hidden_functions());
    if *function.backend() != Backend::Loop {
        return None;
    }
    if !plug.is_representor {
        return all.find(|other| other.vhca_id() == plug.number).map(|other| other.iface().to_owned());
    }
    let mut shown = all.flat_map(|other| other.representors());
    shown.find(|shown| shown.vhca_id() == plug.number).map(|shown| shown.iface().to_owned())
}

fn device_row(function: &Function, contract: &Contract, machine: &Machine) -> Device {
    let engines = EngineKind::ALL.iter();
    Device {
        pci: function.pci().to_string(),
        card: function.card().name().to_owned(),
        side: function.side().name(),
        kind: function.kind().name(),
        sf_index: function.sf_index(),
        ibdev: function.ibdev().to_owned(),
        iface: function.iface().to_owned(),
        iface_index: function.iface_index(),
        vhca_id: function.vhca_id(),
        rate_bits_per_s: function.active_rate(),
        backend: function.backend().to_string(),
        wired_to: wired_to(function, machine),
        ipv4: function.ipv4().map(|a| Ipv4Addr::from(a).to_string()),
        ipv6: Ipv6Addr::from(function.ipv6()).to_string(),
        mac: function.mac().map(|b| format!("{b:02x}")).join(":"),
        gid: Ipv6Addr::from(function.gid()).to_string(),
        engines: engines.map(|&e| (e.name(), function.supports(e) && contract.has_engine(e))).collect(),
        representors: function.representors().iter().map(|r| representor_row(r)).collect(),
    }
}

fn verbs_row(port: VerbsPort) -> VerbsRow {
    let addresses = port.addresses.iter().map(|address| address.to_string()).collect();
    VerbsRow { device: port.device, port: port.port, interface: port.interface, addresses }
}

fn representor_row(representor: &Representor) -> RepresentorRow {
    RepresentorRow {
        pci: representor.pci().to_string(),
        name: representor.iface().to_owned(),
        kind: representor.kind().name(),
        vhca_id: representor.vhca_id(),
        vuid: representor.vuid().to_owned(),
    }
}

fn text(document: &Document) -> String {
    let mut text = String::new();
    for card in &document.cards {
        text += &format!("Card {}: profile {}, mode {}\n", card.name, card.profile, card.mode);
    }
    if document.devices.is_empty() {
        return format!("No device is visible with side '{}'.\n", document.side);
    }
    text.push('\n');
    let mut table =
        Table::new(&["PCI address", "side", "RDMA device", "interface", "IPv4", "MAC", "port", "engines"]);
    let mut representors = Table::new(&["representor", "of", "shown on"]);
    for device in &document.devices {
        let engines: Vec<_> = device.engines.iter().filter(|(_, has)| **has).map(|(name, _)| *name).collect();
        table.row([
            device.pci.clone(),
            device.side.to_owned(),
            device.ibdev.clone(),
            device.iface.clone(),
            device.ipv4.clone().unwrap_or_else(|| "-".to_owned()),
            device.mac.clone(),
            device.wired_to.as_ref().map_or_else(|| device.backend.clone(), |other| format!("to {other}")),
            if engines.is_empty() { "-".to_owned() } else { engines.join(" ") },
        ]);
        for r in &device.representors {
            representors.row([r.name.clone(), r.pci.clone(), device.pci.clone()]);
        }
    }
    text += &table.text(&[]);
    if document.devices.iter().any(|d| !d.representors.is_empty()) {
        text += &format!("\n{}", representors.text(&[]));
    }
    if !document.verbs.is_empty() {
        let mut verbs = Table::new(&["verbs device", "port", "interface", "addresses"]);
        for port in &document.verbs {
            verbs.row([
                port.device.clone(),
                port.port.to_string(),
                port.interface.clone(),
                port.addresses.join(" "),
            ]);
        }
        text += &format!("\n{}", verbs.text(&[]));
    }
    text
}
