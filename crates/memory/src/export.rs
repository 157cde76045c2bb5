//! Export and import: handing a range to somebody else as a few plain bytes.
//!
//! [`export`](fn@export) makes an [`Exported`] with the bytes of a descriptor; [`import`](fn@import) turns such bytes into an
//! [`Imported`] with a region of its own over the same memory. A descriptor is good only while it stands in a table of
//! the process: dropping the [`Exported`] takes it out and closes the region of every importer, so that later tasks
//! fail and none touches memory that its owner took back.
//!
//! | file | what |
//! |---|---|
//! | `descriptor.rs` | what the bytes say, and their form; no system calls |
//! | `identity.rs` | who exports: process, runtime folder, card |
//! | `table.rs` | the live exports of this process |
//! | `import.rs` | an import, wherever the memory is |
//! | `wire.rs` | what importers ask other processes, and what these answer |
//! | `remote.rs` | importer's side of that: asking, choosing a reach |
//! | `desk.rs`, `share.rs`, `copier.rs` | owner's side: answering, taking back, copying for importers that cannot |
//! | `access.rs` | bytes of an import, for whoever is not an engine |

mod access;
mod copier;
mod descriptor;
mod desk;
pub mod identity;
mod import;
mod overview;
mod remote;
mod share;
mod table;
mod wire;

pub use descriptor::{Damage, Descriptor, Kind, MAX_DESCRIPTOR, MAX_TOKEN, Reader, checksum, same_bytes};
pub(crate) use import::import_by;
pub use import::{Imported, import, import_for_peer};
pub use overview::{ExportInfo, ImportInfo, exports, imports};
pub(crate) use remote::stage_of;

use crate::backing::Backing;
use crate::device::Device;
use crate::far::Far;
use crate::kernel;
use crate::region::{Access, FAR, Region, SHARED, SLOW};
use core::fmt::Display;
use desk::ExportDesk;
use identity::{Card, Owner};
use share::Share;
use softdpu_card::EngineKind;
use softdpu_link::Topic;
use softdpu_status::{Code, Error, Result};
use std::os::fd::BorrowedFd;
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
    /// The descriptor that the library mapped the memory from, and the offset of its first byte there. Without it the
    /// file behind the memory is looked up among the mappings of the process.
    pub backing: Option<(BorrowedFd<'a>, u64)>,
}

/// A live export. Dropping it makes its descriptor worthless and closes every importer's region.
#[derive(Debug)]
pub struct Exported {
    id: u64,
    kind: Kind,
    device: Arc<Device>,
    bytes: Vec<u8>,
    share: Arc<Share>,
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
        // A child that was forked off holds a copy of everything; the export is its parent's.
        if !self.share.is_ours() {
            return;
        }
        let ended = table::kill(self.id);
        ended.iter().for_each(|share| share.quiesce());
        // Another thread may be ending it too, together with what it descends from.
        self.share.quiesce();
    }
}

/// Makes a descriptor for `origin`, exported on `device`. `token` replaces the random secret. Any thread; the caller
/// has made sure that `device` is one of the map's.
///
/// From then on other processes of the user can import it: the process answers them on a thread of its own. Where that
/// cannot be (no usable runtime folder), one log line says so, and the descriptor is good inside the process.
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
    let (share, far) = lendable(&descriptor, &origin, device);
    let share = Arc::new(share);
    table::add(table::Record {
        descriptor,
        parent: origin.parent.and_then(Imported::local_id),
        importers: Vec::new(),
        delta: origin.region.delta(),
        writable: origin.writable,
        kind: origin.region.word() & (SHARED | FAR | SLOW),
        far,
        share: share.clone(),
    })?;
    let exported = Exported { id, kind, device: device.clone(), bytes, share };
    softdpu_link::serve(Topic::EXPORT, &ExportDesk);
    crate::report::announce();
    if let Err(error) = softdpu_link::ensure() {
        log::warn!(target: LOG, "{object}: exported for this process alone, others cannot ask it: {error}");
    }
    Ok(exported)
}

/// What other processes are given of it.
fn lendable(descriptor: &Descriptor, origin: &Origin<'_>, device: &Device) -> (Share, Option<Arc<Far>>) {
    let at = (descriptor.base as usize).wrapping_add_signed(origin.region.delta());
    let mut share = Share::new(descriptor, at, origin.writable);
    if let Some((far, via)) = origin.parent.and_then(Imported::remote) {
        share.via = Some(via);
        return (share, Some(far));
    }
    let trust = device.function().settings().trust_shm;
    share.backing = Backing::find(origin.backing, (at, descriptor.len as usize), share.may_write, trust);
    if share.backing.is_none() {
        kernel::admit_peers();
    }
    (share, None)
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

#[cfg(test)]
#[path = "export/tests.rs"]
mod tests;
