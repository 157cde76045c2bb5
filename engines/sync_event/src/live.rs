//! An event that lives: its value, and its exports. What the faces' objects and the engine share.

use crate::caps::Caps;
use crate::cell::{Cell, LOG};
use crate::descriptor::{Descriptor, Kind, SECRET};
use crate::import;
use crate::page::Place;
use crate::real::RealEvent;
use crate::share::{self, Exported, Lendable};
use softdpu_link::sync::{AtomicU64, Ordering};
use softdpu_memory::export::identity::Card;
use softdpu_memory::export::{self as map_export, Origin};
use softdpu_memory::keys::Key;
use softdpu_memory::lease::Lease;
use softdpu_memory::node::{Lent, Node};
use softdpu_memory::region::{Access, GUARDED, MOVED};
use softdpu_memory::word::{WORD, check_word};
use softdpu_memory::{Buf, device::Device};
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// Numbers of events; none is used twice.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// See the module. Any thread.
#[derive(Debug)]
pub(crate) struct Live {
    number: u64,
    cell: Cell,
    shared: Mutex<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    exports: Vec<Exported>,
    /// What exports of a value in a buffer stand on.
    lease: Option<(Lease, Key)>,
}

impl Live {
    fn with(cell: impl FnOnce(u64) -> Result<Cell>) -> Result<Live> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Live { number, cell: cell(number)?, shared: Mutex::default() })
    }

    /// The value lives in memory of the library, and is 0.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn own() -> Result<Live> {
        Live::with(|number| Ok(Cell::Own(Arc::new(Place::take(number)?))))
    }

    /// The value lives where only a real card gets at it.
    pub(crate) fn real(event: Box<dyn RealEvent>) -> Result<Live> {
        Live::with(|_| Ok(Cell::Real(event)))
    }

    /// The value lives in a cell of the program.
    #[cfg(feature = "capi")]
    pub(crate) fn of_program(word: crate::word::Word) -> Live {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Live { number, cell: Cell::Program(word), shared: Mutex::default() }
    }

    /// The value lives in the data of a buffer, of which `keep` is the owner if it has one.
    ///
    /// # Errors
    /// As `check_buffer`.
    pub(crate) fn in_buffer(lent: Lent, keep: Option<Buf>) -> Result<Live> {
        let Some(node) = lent.node() else {
            log::error!(target: LOG, "the buffer of a sync event is NULL or was released");
            return Err(Error::new(Code::InvalidValue, "the buffer is missing"));
        };
        check_word(node)?;
        Live::with(|_| Ok(Cell::Buffer { lent, _keep: keep }))
    }

    /// The value of an export.
    ///
    /// # Errors
    /// InvalidValue (damaged, forged, stale, or of another card), NotSupported, NotPermitted (of another user), TimeOut,
    /// NoMemory, with one log line.
    pub(crate) fn import(bytes: &[u8], device: &Arc<Device>) -> Result<Live> {
        let descriptor = import::read(bytes, Kind::Pci)?;
        import::admit(&descriptor, device)?;
        Live::attach(&descriptor, device)
    }

    /// The value of an export that was read and admitted.
    pub(crate) fn attach(descriptor: &Descriptor, device: &Arc<Device>) -> Result<Live> {
        let cell = import::attach(descriptor, device)?;
        Live::with(|_| Ok(cell))
    }

    /// Its number in this process.
    #[cfg(feature = "capi")]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Its value.
    #[inline]
    pub(crate) fn cell(&self) -> &Cell {
        &self.cell
    }

    /// Ends its exports: importers find it stopped from here on.
    pub(crate) fn end(&self) {
        let shared = core::mem::take(&mut *self.shared.lock().unwrap_or_else(PoisonError::into_inner));
        // Without the lock: exports take others.
        drop(shared.exports);
        drop(shared.lease);
        if let Cell::Own(place) = &self.cell {
            place.end();
        }
    }

    /// Runs `f` on the bytes of its export through `device`, made on the first call. The bytes stay in their place until
    /// the event ends.
    ///
    /// # Errors
    /// NotSupported (the device cannot, or the value lives where others cannot get at it), NotPermitted (the buffer's map
    /// grants too little), NoMemory, Driver, with one log line.
    pub(crate) fn export<R>(
        &self,
        kind: Kind,
        device: &Arc<Device>,
        f: impl FnOnce(&[u8]) -> R,
    ) -> Result<R> {
        if let Cell::Real(event) = &self.cell {
            return event.export(kind).map(|bytes| f(&bytes));
        }
        may_export(kind, device)?;
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = shared.exports.iter().find(|e| e.kind() == kind) {
            return Ok(f(made.bytes()));
        }
        let lendable = self.lendable(kind, device, &mut shared)?;
        share::serve();
        let descriptor = Descriptor {
            kind,
            owner: softdpu_link::ensure()?,
            event: self.number,
            pci: device.function().pci(),
            secret: secret()?,
            card: Card::of(device.function()),
        };
        shared.exports.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for an export"))?;
        let export = Exported::new(descriptor, lendable)?;
        let result = f(export.bytes());
        shared.exports.push(export);
        Ok(result)
    }

    fn lendable(&self, kind: Kind, device: &Arc<Device>, shared: &mut Shared) -> Result<Lendable> {
        let refuse = |what| {
            log::error!(target: LOG, "sync event {}: cannot be exported: {what}", self.number);
            Err(Error::new(Code::NotSupported, "the value lives where others cannot get at it"))
        };
        match &self.cell {
            Cell::Own(place) => Ok(Lendable::Place(place.clone())),
            Cell::Program(_) => refuse(
                "its value lives at an address of the program; let it live in a buffer, or in the library",
            ),
            Cell::Peer(_) | Cell::PeerBuffer { .. } => refuse("it was imported; its owner can export it"),
            Cell::Real(_) => refuse("a real card has it"),
            Cell::Buffer { lent, .. } => match lent.node() {
                Some(node) if node.region().word() & GUARDED == 0 => {
                    let map = lend_buffer(node, kind, device, shared)?;
                    Ok(Lendable::Memory(Arc::new(map)))
                }
                _ => refuse("the memory of its buffer was imported"),
            },
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.end();
    }
}

fn may_export(kind: Kind, device: &Device) -> Result<()> {
    let function = device.function();
    let able = Caps::of(function).is_ok_and(|caps| match kind {
        Kind::Pci => caps.export_pci,
        Kind::Net => caps.net,
    });
    if !able {
        log::error!(target: LOG, "device {function} with profile {} cannot export sync events ({kind})",
            function.card().profile());
        return Err(Error::new(Code::NotSupported, "the device cannot export"));
    }
    Ok(())
}

/// Exports the eight bytes of a buffer, and no more of its map.
fn lend_buffer(
    node: &Node,
    kind: Kind,
    device: &Arc<Device>,
    shared: &mut Shared,
) -> Result<map_export::Exported> {
    let region = node.region();
    let wanted = match kind {
        Kind::Pci => Access::PCI_READ_WRITE,
        Kind::Net => Access::RDMA_READ | Access::RDMA_WRITE | Access::RDMA_ATOMIC,
    };
    if !region.granted().contains(wanted) {
        log::error!(target: LOG, "buffer {node:p}: {kind} export needs {wanted:?}, its map grants {:?}", region.granted());
        return Err(Error::new(Code::NotPermitted, "the map grants too little"));
    }
    if shared.lease.is_none() {
        let lease = Lease::new()?;
        lease.open(node.data(), WORD, region.delta(), region.word() & !MOVED);
        shared.lease = Some((lease, Key::new()?));
    }
    let Some((lease, key)) = &shared.lease else {
        return Err(Error::new(Code::Unexpected, "the lease was just made"));
    };
    let origin = Origin {
        region: lease.region(),
        access: wanted | Access::LOCAL_READ_WRITE,
        writable: true,
        mkey: key.number(),
        parent: None,
        backing: None,
    };
    let map_kind = match kind {
        Kind::Pci => map_export::Kind::Pci,
        Kind::Net => map_export::Kind::Rdma,
    };
    map_export::export(&format_args!("sync event in buffer {node:p}"), origin, device, map_kind, None)
}

fn secret() -> Result<[u8; SECRET]> {
    let mut random = [0; SECRET];
    match rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty()) {
        Ok(SECRET) => Ok(random),
        got => {
            log::error!(target: LOG, "no random numbers for the secret of an export: {got:?}");
            Err(Error::new(Code::Driver, "no random numbers"))
        }
    }
}
