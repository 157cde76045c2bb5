//! From the bytes of an export to the value, in this process or in another one.

use crate::caps::Caps;
use crate::cell::{Cell, LOG, Peer};
use crate::descriptor::{Descriptor, Kind};
use crate::page::PAGE;
use crate::share::{self, GONE, Lendable, MEMORY, Missing, PLACE};
use softdpu_link::{Owner, Segment, Topic};
use softdpu_memory::device::Device;
use softdpu_memory::export::identity::Card;
use softdpu_memory::export::{self as map_export, Imported};
use softdpu_memory::word::WORD;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// How long an owner may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads an export.
///
/// # Errors
/// InvalidValue, with one log line.
pub(crate) fn read(bytes: &[u8], kind: Kind) -> Result<Descriptor> {
    let refuse = |line: core::fmt::Arguments<'_>| {
        log::error!(target: LOG, "export of {} bytes: {line}", bytes.len());
        Error::new(Code::InvalidValue, "damaged export")
    };
    let descriptor = Descriptor::decode(bytes).map_err(|damage| refuse(format_args!("{damage}")))?;
    if descriptor.kind != kind {
        return Err(refuse(format_args!("made for {}, needed for {kind}", descriptor.kind)));
    }
    Ok(descriptor)
}

/// May `device` import it over PCI?
///
/// # Errors
/// NotSupported (the device cannot), InvalidValue (an export of another card), with one log line.
pub(crate) fn admit(descriptor: &Descriptor, device: &Device) -> Result<()> {
    let function = device.function();
    let caps = Caps::of(function);
    // What this process exported it can reach itself, on any function that shares at all.
    let own = descriptor.owner == Owner::this_process()?;
    if !caps.is_ok_and(|caps| caps.import_pci || own && caps.export_pci) {
        log::error!(target: LOG, "import: device {function} with profile {} cannot import sync events across PCI",
            function.card().profile());
        return Err(Error::new(Code::NotSupported, "the device cannot import"));
    }
    let here = Card::of(function);
    if descriptor.card != here {
        log::error!(target: LOG, "import: the export is of {}, the device {function} is of {here}", descriptor.card);
        return Err(Error::new(Code::InvalidValue, "export of another card"));
    }
    Ok(())
}

/// Finds the value of a live event.
///
/// # Errors
/// InvalidValue (forged or stale, or its process has ended), NotPermitted (of another user), TimeOut, ConnectionReset,
/// Driver, NoMemory, and for values in exported memory as its import. One log line has the cause.
pub(crate) fn attach(descriptor: &Descriptor, device: &Arc<Device>) -> Result<Cell> {
    let owner = descriptor.owner;
    if owner == Owner::this_process()? {
        return match share::find(descriptor).map_err(|missing| missing.refuse(descriptor))? {
            Lendable::Place(place) => Ok(Cell::Peer(Peer::here(place, descriptor.event, owner))),
            Lendable::Memory(map) => in_memory(map_export::import(map.bytes(), device)?),
        };
    }
    let asked = softdpu_link::ask(owner, Topic::SYNC_EVENT, &descriptor.encode(), &[], PATIENCE);
    let (answer, fds, line) = asked.map_err(|error| {
        log::error!(target: LOG, "{descriptor:?}: its process does not answer: {error}");
        match error.code() {
            Code::NotFound => Error::new(Code::InvalidValue, "the process of the event has ended"),
            _ => error,
        }
    })?;
    let nonsense = |what| {
        log::error!(target: LOG, "{descriptor:?}: its process answers {what}");
        Error::new(Code::Unexpected, "the owner's answer makes no sense")
    };
    match answer.split_first() {
        Some((&PLACE, rest)) => {
            let offset = <[u8; 8]>::try_from(rest).map_err(|_| nonsense("without a place"))?;
            let page = fds.into_iter().next().ok_or_else(|| nonsense("without a page"))?;
            let page = Segment::from_fd(page, PAGE)?.into_mapping();
            let offset = usize::try_from(u64::from_le_bytes(offset)).unwrap_or(usize::MAX);
            let peer = Peer::there(page, offset, descriptor.event, owner);
            let mut peer = peer.ok_or_else(|| nonsense("with a place outside of its page"))?;
            let watched = softdpu_link::keep(line, peer.watcher());
            peer.hold(watched);
            Ok(Cell::Peer(peer))
        }
        Some((&MEMORY, map)) => in_memory(map_export::import(map, device)?),
        Some((&GONE, [])) => Err(Missing::Gone.refuse(descriptor)),
        Some((_, [])) => Err(Missing::Different.refuse(descriptor)),
        _ => Err(nonsense("with nothing")),
    }
}

/// A value in memory with an export of its own.
fn in_memory(map: Imported) -> Result<Cell> {
    let (at, len) = (map.region().base(), map.region().len());
    if len != WORD || !map.is_writable() {
        log::error!(target: LOG, "import: [{at:#x}, +{len}) is not a word that may be written");
        return Err(Error::new(Code::InvalidValue, "not the memory of an event"));
    }
    let cell = Cell::PeerBuffer { map, at };
    // Reaches that cannot be changed atomically show now rather than later.
    cell.get().map_err(|_| {
        log::error!(target: LOG, "import: [{at:#x}, +{len}) of another process is not mapped in this one");
        Error::new(Code::NotSupported, "the event's memory cannot be mapped here")
    })?;
    Ok(cell)
}
