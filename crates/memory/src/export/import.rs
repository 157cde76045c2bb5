//! An import: a region of its own over memory that was exported, here or in another process.

use super::LOG;
use super::descriptor::{Descriptor, Kind, Secret};
use super::identity::{Card, Owner};
use super::overview::Listed;
use super::remote::Remote;
use super::table;
use crate::device::Device;
use crate::far::{Far, Means};
use crate::keys::Key;
use crate::lease::Lease;
use crate::node::Owned;
use crate::real::RealCards;
use crate::region::{Access, CAN_READ, CAN_WRITE, FAR, GUARDED, Region, SHARED};
use softdpu_card::{EngineKind, RdmaPath, Reach};
use softdpu_link::LineHandle;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A map over an exporter's memory. Dropping it closes its region.
#[derive(Debug)]
pub struct Imported {
    descriptor: Descriptor,
    writable: bool,
    reach: Reach,
    device: Arc<Device>,
    key: Key,
    lease: Lease,
    /// None: the export is one of this process.
    remote: Mutex<Option<Remote>>,
    _listed: Listed,
}

impl Imported {
    /// The region through which the exporter's memory is reached; closed when the exporter stops.
    pub fn region(&self) -> &'static Region {
        self.lease.region()
    }

    /// How it was exported.
    pub fn kind(&self) -> Kind {
        self.descriptor.kind
    }

    /// What the exporter grants.
    pub fn access(&self) -> Access {
        self.descriptor.access
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

    /// How its bytes are reached.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// A buffer descriptor on the memory, for an engine that aims it itself.
    ///
    /// # Errors
    /// NoMemory.
    pub fn window(self: &Arc<Self>) -> Result<Owned> {
        Owned::new(self.region(), self.clone(), self.region().base(), 0)
    }

    /// The process that it was imported from.
    pub fn owner(&self) -> u32 {
        self.descriptor.owner.pid
    }

    /// The export of this process that it came from.
    pub(super) fn local_id(&self) -> Option<u64> {
        self.is_local().then_some(self.descriptor.id)
    }

    fn is_local(&self) -> bool {
        self.descriptor.owner.pid == std::process::id()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Remote>> {
        self.remote.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way to memory of another process, and the descriptor it came under.
    pub(super) fn remote(&self) -> Option<(Arc<Far>, Descriptor)> {
        self.lock().as_ref().map(|remote| (remote.far.clone(), self.descriptor))
    }

    /// Gives the memory up: the region is closed for good, but its place is kept while this value lives.
    pub fn close(&self) {
        if self.is_local() {
            return table::forget(self.descriptor.id, self.lease.region());
        }
        self.lease.close();
        // After the last access: the owner then waits for nothing.
        if let Some(remote) = self.lock().take() {
            remote.lines.iter().for_each(LineHandle::hang_up);
        }
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        self.close();
    }
}

/// Opens a region over the memory that a descriptor speaks of, reached through `device`. Any thread; asks the exporting
/// process if that is another one, which takes less than a millisecond.
///
/// Over PCI the importer's engines read with either PCI right and write with PCI_READ_WRITE. An RDMA import carries
/// windows for the RDMA engine only: other engines have no right on it.
///
/// # Errors
/// InvalidValue (damaged, truncated, forged or stale descriptor, or one of another card, or the exporter has ended),
/// NotSupported (the device cannot import, or the demanded reach is not possible), Full (too many importers), TimeOut
/// (the exporter is stopped), NoMemory. One log line has the cause.
pub fn import(bytes: &[u8], device: &Arc<Device>) -> Result<Imported> {
    let descriptor = Descriptor::decode(bytes).map_err(|damage| {
        log::error!(target: LOG, "export descriptor of {} bytes: {damage}", bytes.len());
        Error::new(Code::InvalidValue, "damaged export descriptor")
    })?;
    may_import(&descriptor, device)?;
    open(descriptor, device, is_elsewhere(&descriptor, device)?)
}

/// As [`import`], for a descriptor that a real card's library made and alone understands. What the exporter grants, only
/// the card knows: it refuses tasks that go beyond.
///
/// # Errors
/// What the bridge to the card answers, NoMemory.
pub(crate) fn import_by(
    cards: &'static dyn RealCards,
    bytes: &[u8],
    device: &Arc<Device>,
) -> Result<Imported> {
    crate::seats::init();
    let key = Key::new()?;
    let lease = Lease::new()?;
    let secret = Secret::of(&[]).ok_or(Error::new(Code::Unexpected, "no bytes are too many"))?;
    let mut descriptor = Descriptor {
        kind: Kind::Pci,
        owner: Owner { pid: 0, started: 0 },
        id: 0,
        base: 0,
        len: 0,
        access: Access::PCI_READ_WRITE,
        pci: device.function().pci(),
        mkey: key.number(),
        secret,
        card: Card::of(device.function()),
    };
    cards.import(bytes, device, &mut |base, len| {
        (descriptor.base, descriptor.len) = (base as u64, len as u64);
        let word = CAN_READ | CAN_WRITE | FAR | GUARDED | device.bit();
        lease.open_far(base, len, 0, word, Arc::new(Far::new(Vec::new(), Means::Card, 0)));
        lease.region()
    })?;
    let reach = Reach::Card;
    let listed = Listed::new(&descriptor, reach);
    let (device, remote) = (device.clone(), Mutex::new(None));
    Ok(Imported { descriptor, writable: true, reach, device, key, lease, remote, _listed: listed })
}

/// As [`import`], for an engine whose hardware writes into the memory of its peer: the device need not be able to import
/// for its programs.
///
/// # Errors
/// As [`import`].
pub fn import_for_peer(bytes: &[u8], device: &Arc<Device>) -> Result<Imported> {
    let descriptor = Descriptor::decode(bytes).map_err(|damage| {
        log::error!(target: LOG, "export descriptor of {} bytes of a peer: {damage}", bytes.len());
        Error::new(Code::InvalidValue, "damaged export descriptor")
    })?;
    of_this_card(&descriptor, device)?;
    open(descriptor, device, false)
}

fn open(descriptor: Descriptor, device: &Arc<Device>, elsewhere: bool) -> Result<Imported> {
    crate::seats::init();
    let key = Key::new()?;
    let lease = Lease::new()?;
    lease.come_from(descriptor.owner.pid);
    let (writable, reach, remote) = if elsewhere {
        // Nobody is asked: its owner looks at the descriptor when a connection uses it.
        let word = rights(&descriptor, true) | FAR | GUARDED | device.bit();
        let (base, len) = (descriptor.base as usize, descriptor.len as usize);
        let way = Means::Network(Box::new(descriptor));
        lease.open_far(base, len, 0, word, Arc::new(Far::new(Vec::new(), way, descriptor.owner.pid)));
        (true, Reach::Network, None)
    } else if descriptor.owner == Owner::this_process()? {
        let (writable, reach) = attach(&descriptor, device, lease.region())?;
        (writable, reach, None)
    } else {
        let remote = Remote::open(&descriptor, device.function().settings())?;
        let (delta, kind) = remote.shape(descriptor.base);
        let word = rights(&descriptor, remote.writable) | kind | GUARDED | device.bit();
        let (base, len) = (descriptor.base as usize, descriptor.len as usize);
        lease.open_far(base, len, delta, word, remote.far.clone());
        (remote.writable, remote.far.reach(), Some(remote))
    };
    let listed = Listed::new(&descriptor, reach);
    let remote = Mutex::new(remote);
    Ok(Imported { descriptor, writable, reach, device: device.clone(), key, lease, remote, _listed: listed })
}

/// Is the memory on another machine, or to be treated so? Peers of RDMA connections alone get that far.
fn is_elsewhere(descriptor: &Descriptor, device: &Device) -> Result<bool> {
    Ok(descriptor.kind == Kind::Rdma
        && match RdmaPath::of_process() {
            RdmaPath::Local => false,
            RdmaPath::Network => true,
            _ => {
                descriptor.owner != Owner::this_process()?
                    && descriptor.card.folder != Card::of(device.function()).folder
            }
        })
}

/// What engines of the importer may do.
fn rights(descriptor: &Descriptor, writable: bool) -> u64 {
    match descriptor.kind {
        Kind::Pci if writable && descriptor.access.contains(Access::PCI_READ_WRITE) => CAN_READ | CAN_WRITE,
        Kind::Pci => CAN_READ,
        // For the RDMA engine alone, see `peer.rs`. Peers never agree on who writes when.
        Kind::Rdma => {
            let usable = if writable { Kind::Rdma.rights() } else { Access::RDMA_READ };
            SHARED | u64::from((descriptor.access & usable).bits())
        }
    }
}

/// Opens the region over an export of this process.
fn attach(descriptor: &Descriptor, device: &Device, region: &'static Region) -> Result<(bool, Reach)> {
    let opened = table::attach(descriptor, region, |record| {
        let word = rights(descriptor, record.writable) | record.kind | GUARDED | device.bit();
        let (base, len) = (descriptor.base as usize, descriptor.len as usize);
        match &record.far {
            None => region.open(base, len, record.delta, word),
            Some(far) => region.open_far(base, len, record.delta, word, far.clone()),
        }
        (record.writable, record.far.as_ref().map_or(Reach::Local, |far| far.reach()))
    });
    let refuse = |line: &str| {
        log::error!(target: LOG, "export descriptor {} of [{:#x}, +{}) {line}",
            descriptor.id, descriptor.base, descriptor.len);
        Error::new(Code::InvalidValue, "forged or stale export descriptor")
    };
    opened.map_err(|missing| match missing {
        table::Missing::Gone => refuse("is stale: its map was stopped or destroyed"),
        table::Missing::Different => refuse("is forged: it differs from the export of this number"),
        table::Missing::NoMemory => Error::new(Code::NoMemory, "no memory for an import"),
    })
}

fn may_import(descriptor: &Descriptor, device: &Device) -> Result<()> {
    let function = device.function();
    let (able, what) = match descriptor.kind {
        // What this process exported it can reach itself, on any function that shares memory at all.
        Kind::Pci => {
            let own = function.can_export_pci() && descriptor.owner == Owner::this_process()?;
            (function.can_import_pci() || own, "cannot import memory across PCI")
        }
        Kind::Rdma => (function.supports(EngineKind::Rdma), "has no RDMA"),
    };
    if !able {
        log::error!(target: LOG, "import: device {function} with profile {} {what}", function.card().profile());
        return Err(Error::new(Code::NotSupported, "the device cannot import"));
    }
    of_this_card(descriptor, device)
}

fn of_this_card(descriptor: &Descriptor, device: &Device) -> Result<()> {
    let function = device.function();
    let here = Card::of(function);
    if descriptor.kind == Kind::Pci && descriptor.card != here {
        log::error!(target: LOG, "import: the descriptor is of {}, the device {function} is of {here}", descriptor.card);
        return Err(Error::new(Code::InvalidValue, "export of another card"));
    }
    Ok(())
}
