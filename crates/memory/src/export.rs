//! Export and import: handing a range to somebody else as a few plain bytes.
//!
//! [`export`](fn@export) makes an [`Exported`] with the bytes of a descriptor; [`import`] turns such bytes into an
//! [`Imported`] with a region of its own over the same memory. A descriptor is good only while it stands in a table of
//! the process: dropping the [`Exported`] takes it out and closes the region of every importer, so that later tasks
//! fail and none touches memory that its owner took back.
//!
//! | file | what |
//! |---|---|
//! | `descriptor.rs` | what the bytes say, and their form; no system calls |
//! | `identity.rs` | who exports: process, runtime folder, card |
//! | `table.rs` | the live exports of this process |
//!
//! Only descriptors of this process can be imported; one of another process is recognised and answers NotSupported.

mod descriptor;
mod identity;
mod table;

pub use descriptor::{Damage, Descriptor, Kind, MAX_DESCRIPTOR, MAX_TOKEN};

use crate::device::Device;
use crate::keys::Key;
use crate::lease::Lease;
use crate::region::{Access, CAN_READ, CAN_WRITE, GUARDED, Region, SHARED};
use core::fmt::Display;
use identity::{Card, Owner};
use softdpu_card::EngineKind;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// Log target of this family.
const LOG: &str = "softdpu::mmap";

/// What is lent out.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The open region of the map.
    pub region: &'a Region,
    /// What the map grants.
    pub access: Access,
    /// May the memory be written at all?
    pub writable: bool,
    /// Key of the range on the exporting device.
    pub mkey: u32,
    /// The import that the map itself came from, if it did.
    pub parent: Option<&'a Imported>,
}

/// A live export. Dropping it makes its descriptor worthless and closes every importer's region.
#[derive(Debug)]
pub struct Exported {
    id: u64,
    kind: Kind,
    device: Arc<Device>,
    bytes: Vec<u8>,
}

impl Exported {
    /// The descriptor. The bytes stay where they are as long as this value lives.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Who it is for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The device it was exported on.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        table::kill(self.id);
    }
}

/// Makes a descriptor for `origin`, exported on `device`. `token` replaces the random secret. Any thread; the caller
/// has made sure that `device` is one of the map's.
///
/// # Errors
/// NotPermitted (the mask has no right of this kind), NotSupported (the device cannot), InvalidValue (token longer than
/// [`MAX_TOKEN`]), NoMemory, Driver (no random numbers). One log line names `object`, the rule and the numbers.
pub fn export(
    object: &dyn Display,
    origin: Origin<'_>,
    device: &Arc<Device>,
    kind: Kind,
    token: Option<&[u8]>,
) -> Result<Exported> {
    may_export(object, &origin, device, kind)?;
    let descriptor = Descriptor {
        kind,
        owner: Owner::this_process()?,
        id: table::next_id(),
        base: origin.region.base() as u64,
        len: origin.region.len() as u64,
        access: origin.access,
        pci: device.function().pci(),
        mkey: origin.mkey,
        secret: secret(object, token)?,
        card: Card::of(device.function()),
    };
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(MAX_DESCRIPTOR)
        .map_err(|_| Error::new(Code::NoMemory, "no memory for a descriptor"))?;
    descriptor.encode(&mut bytes);
    let id = descriptor.id;
    table::add(table::Record {
        descriptor,
        parent: origin.parent.map(|parent| parent.id),
        importers: Vec::new(),
        delta: origin.region.delta(),
        writable: origin.writable,
        shared: origin.region.word() & SHARED != 0,
    })?;
    Ok(Exported { id, kind, device: device.clone(), bytes })
}

fn may_export(object: &dyn Display, origin: &Origin<'_>, device: &Device, kind: Kind) -> Result<()> {
    let function = device.function();
    if !origin.access.intersects(kind.rights()) {
        log::error!(target: LOG, "{object}: {kind} export needs {}, the map grants {:?}", kind.rights_text(), origin.access);
        return Err(Error::new(Code::NotPermitted, "the mask has no right for this export"));
    }
    let (able, what) = match kind {
        Kind::Pci => (function.can_export_pci(), "cannot export memory across PCI"),
        Kind::Rdma => (function.supports(EngineKind::Rdma), "has no RDMA"),
    };
    if !able {
        log::error!(target: LOG, "{object}: device {function} with profile {} {what}", function.card().profile());
        return Err(Error::new(Code::NotSupported, "the device cannot export"));
    }
    if !origin.region.is_open() {
        log::error!(target: LOG, "{object}: {kind} export needs a started map");
        return Err(Error::new(Code::NotPermitted, "the map is not started"));
    }
    Ok(())
}

fn secret(object: &dyn Display, token: Option<&[u8]>) -> Result<descriptor::Secret> {
    if let Some(token) = token {
        return descriptor::Secret::of(token).ok_or_else(|| {
            log::error!(target: LOG, "{object}: export token of {} bytes, at most {MAX_TOKEN}", token.len());
            Error::new(Code::InvalidValue, "export token too long")
        });
    }
    let mut random = [0; 16];
    let got = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    if got != Ok(random.len()) {
        log::error!(target: LOG, "{object}: no random numbers for the secret of an export: {got:?}");
        return Err(Error::new(Code::Driver, "no random numbers"));
    }
    descriptor::Secret::of(&random).ok_or(Error::new(Code::Unexpected, "secret longer than a token"))
}

/// A map over an exporter's memory. Dropping it closes its region.
#[derive(Debug)]
pub struct Imported {
    id: u64,
    kind: Kind,
    access: Access,
    writable: bool,
    device: Arc<Device>,
    key: Key,
    lease: Lease,
}

impl Imported {
    /// The region through which the exporter's memory is reached; closed when the exporter stops.
    pub fn region(&self) -> &'static Region {
        self.lease.region()
    }

    /// How it was exported.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What the exporter grants.
    pub fn access(&self) -> Access {
        self.access
    }

    /// May the memory be written at all?
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Key of the memory on the device it is reached through.
    pub fn mkey(&self) -> u32 {
        self.key.number()
    }

    /// The device it is reached through.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

impl Imported {
    /// Gives the memory up: the region is closed for good, but its place is kept while this value lives.
    pub fn close(&self) {
        table::forget(self.id, self.lease.region());
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        self.close();
    }
}

/// Opens a region over the memory that a descriptor speaks of, reached through `device`. Any thread.
///
/// Over PCI the importer's engines read with either PCI right and write with PCI_READ_WRITE. An RDMA import carries
/// windows for the RDMA engine only: other engines have no right on it.
///
/// # Errors
/// InvalidValue (damaged, truncated, forged or stale descriptor, or one of another card), NotSupported (the device
/// cannot import, or the exporter is another process), NoMemory. One log line has the cause.
pub fn import(bytes: &[u8], device: &Arc<Device>) -> Result<Imported> {
    let descriptor = Descriptor::decode(bytes).map_err(|damage| {
        log::error!(target: LOG, "export descriptor of {} bytes: {damage}", bytes.len());
        Error::new(Code::InvalidValue, "damaged export descriptor")
    })?;
    may_import(&descriptor, device)?;
    let key = Key::new()?;
    let lease = Lease::new()?;
    let record = table::attach(&descriptor, lease.region(), |record| {
        let writes = match descriptor.kind {
            Kind::Pci if record.writable && descriptor.access.contains(Access::PCI_READ_WRITE) => CAN_WRITE,
            _ => 0,
        };
        let reads = if descriptor.kind == Kind::Pci { CAN_READ } else { 0 };
        let shared = if record.shared { SHARED } else { 0 };
        let word = reads | writes | shared | GUARDED | device.bit();
        lease.open(descriptor.base as usize, descriptor.len as usize, record.delta, word);
        record.writable
    });
    let refuse = |line: &str| {
        log::error!(target: LOG, "export descriptor {} of [{:#x}, +{}) {line}",
            descriptor.id, descriptor.base, descriptor.len);
        Error::new(Code::InvalidValue, "forged or stale export descriptor")
    };
    let writable = record.map_err(|missing| match missing {
        table::Missing::Gone => refuse("is stale: its map was stopped or destroyed"),
        table::Missing::Different => refuse("is forged: it differs from the export of this number"),
        table::Missing::NoMemory => Error::new(Code::NoMemory, "no memory for an import"),
    })?;
    let Descriptor { id, kind, access, .. } = descriptor;
    Ok(Imported { id, kind, access, writable, device: device.clone(), key, lease })
}

fn may_import(descriptor: &Descriptor, device: &Device) -> Result<()> {
    let function = device.function();
    let (able, what) = match descriptor.kind {
        // What this process exported it can reach itself, on any function that shares memory at all.
        Kind::Pci => {
            (function.can_import_pci() || function.can_export_pci(), "cannot import memory across PCI")
        }
        Kind::Rdma => (function.supports(EngineKind::Rdma), "has no RDMA"),
    };
    if !able {
        log::error!(target: LOG, "import: device {function} with profile {} {what}", function.card().profile());
        return Err(Error::new(Code::NotSupported, "the device cannot import"));
    }
    let here = Card::of(function);
    if descriptor.kind == Kind::Pci && descriptor.card != here {
        log::error!(target: LOG, "import: the descriptor is of {}, the device {function} is of {here}", descriptor.card);
        return Err(Error::new(Code::InvalidValue, "export of another card"));
    }
    let owner = descriptor.owner;
    if owner == Owner::this_process()? {
        return Ok(());
    }
    if owner.is_alive() {
        log::error!(target: LOG, "import: the exporter is process {}, sharing between processes is not available yet",
            owner.pid);
        return Err(Error::new(Code::NotSupported, "export of another process"));
    }
    log::error!(target: LOG, "import: the exporter, process {}, has ended", owner.pid);
    Err(Error::new(Code::InvalidValue, "the exporter has ended"))
}

#[cfg(test)]
#[path = "export/tests.rs"]
mod tests;
