//! Memory of other processes in the Rust face: an [`Export`] as an owned descriptor, [`RemoteMemory`] as its counterpart,
//! and [`RemoteBuf`], a window that tasks take.
//!
//! Remote memory is a type of its own: it has no bytes to look at and no address that means anything here. Bytes come
//! and go by copies alone, those of the DMA engine or [`RemoteMemory::read`] and [`RemoteMemory::write`].

use crate::buf::Lend;
use crate::builder::OnDevice;
use crate::error::{WindowError, ends};
use crate::export::{self, Exported, Imported, Kind, Origin};
use crate::memory::Memory;
use crate::node::{Lent, Node, Owned};
use crate::real::{self, RealExport};
use crate::region::Access;
use core::fmt;
use core::ops::{Range, RangeBounds};
use softdpu_card::Reach;
use softdpu_status::{Code, Result};
use std::sync::Arc;

/// A live export: the bytes to hand to another process. Dropping it takes the memory back: it waits until no importer is
/// in the middle of an access, and every later one fails.
pub struct Export {
    // Ends before what it speaks of.
    exported: Way,
    _of: Of,
}

/// Through whom.
enum Way {
    Ours(Exported),
    /// The library of a real card.
    Card(Box<dyn RealExport>),
}

/// What an export keeps.
enum Of {
    Own(#[expect(dead_code, reason = "keeps the memory")] Memory),
    Import(#[expect(dead_code, reason = "keeps the import")] RemoteMemory),
}

impl Export {
    /// The descriptor, plain bytes, at most [`MAX_DESCRIPTOR`](export::MAX_DESCRIPTOR) of a software card. Whoever has
    /// them, and runs as the same user, can import the memory.
    pub fn bytes(&self) -> &[u8] {
        match &self.exported {
            Way::Ours(exported) => exported.bytes(),
            Way::Card(exported) => exported.bytes(),
        }
    }
}

impl AsRef<[u8]> for Export {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.exported {
            Way::Ours(exported) => write!(f, "Export({}, {} bytes)", exported.kind(), self.bytes().len()),
            Way::Card(exported) => exported.fmt(f),
        }
    }
}

impl Memory {
    /// Exports the memory to the other side of the PCIe link. Whoever imports it reaches it one-sidedly: this process
    /// may do anything meanwhile, or nothing.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// use softdpu_memory::{Access, Memory, RemoteMemory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let machine = Machine::builder().build()?;
    /// # let (card, host) = (Device::open(machine.functions()[0].clone())?, Device::open(machine.functions()[2].clone())?);
    /// let memory = Memory::heap(4096).access(Access::PCI_READ_WRITE).register(&[&host])?;
    /// let export = memory.export(&host)?;
    /// let letter = export.bytes().to_vec(); // travels to the other side by whatever means
    ///
    /// let remote = RemoteMemory::import(&card, &letter)?;
    /// remote.write(0, b"from the card")?;
    /// let mut seen = [0; 13];
    /// memory.buf(..)?.read_at(0, &mut seen)?;
    /// assert_eq!(&seen, b"from the card");
    /// drop(export);
    /// assert!(remote.write(0, b"too late").is_err());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// NotFound (not registered with the device), NotPermitted (no PCI right in the access mask), NotSupported (the
    /// device cannot export), NoMemory, Driver. One log line has the cause.
    pub fn export(&self, device: &impl OnDevice) -> Result<Export> {
        self.export_for(device, Kind::Pci)
    }

    /// Exports the memory to peers of RDMA connections.
    ///
    /// # Errors
    /// As [`Memory::export`], for RDMA rights.
    pub fn export_rdma(&self, device: &impl OnDevice) -> Result<Export> {
        self.export_for(device, Kind::Rdma)
    }

    fn export_for(&self, device: &impl OnDevice, kind: Kind) -> Result<Export> {
        let device = device.on_device();
        let object = format_args!("memory {:#x}", self.host_addr());
        let origin = self.origin(device)?;
        let exported = match real::cards_of(device)? {
            Some(cards) => Way::Card(cards.export(origin.region, device, kind)?),
            None => Way::Ours(export::export(&object, origin, device, kind, None)?),
        };
        Ok(Export { exported, _of: Of::Own(self.clone()) })
    }
}

/// Memory that another process (or this one) exported. A cheap handle; any thread. The import ends with the last handle
/// and buffer.
#[derive(Clone)]
pub struct RemoteMemory(Arc<Imported>);

impl RemoteMemory {
    /// Imports memory through `device`. Asks the exporting process, which takes less than a millisecond.
    ///
    /// # Errors
    /// InvalidValue: the bytes are no descriptor, or were changed, or the export has ended, or is of another card.
    /// NotSupported: the device cannot import, or the reach that was demanded is not possible. Full, TimeOut, NoMemory.
    /// One log line has the cause.
    pub fn import(device: &impl OnDevice, descriptor: &[u8]) -> Result<RemoteMemory> {
        let device = device.on_device();
        let imported = match real::cards_of(device)? {
            Some(cards) => export::import_by(cards, descriptor, device)?,
            None => export::import(descriptor, device)?,
        };
        Ok(RemoteMemory(Arc::new(imported)))
    }

    /// Bytes.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.0.region().len()
    }

    /// What the exporter grants.
    pub fn access(&self) -> Access {
        self.0.access()
    }

    /// How the bytes are reached.
    pub fn reach(&self) -> Reach {
        self.0.reach()
    }

    /// The process that exported it.
    pub fn owner(&self) -> u32 {
        self.0.owner()
    }

    /// Address of the first byte in the exporting process: a number to tell ranges apart, no pointer.
    pub fn owner_addr(&self) -> u64 {
        self.0.region().base() as u64
    }

    /// Copies bytes from offset `at` on into `into`.
    ///
    /// # Errors
    /// InvalidValue (the range leaves the memory, or the export has ended), NotPermitted (no right to read), IoFailed
    /// (the exporter is gone); with one log line.
    pub fn read(&self, at: usize, into: &mut [u8]) -> Result<()> {
        self.0.read(self.there(at), into)
    }

    /// Copies bytes to offset `at`.
    ///
    /// # Errors
    /// As [`RemoteMemory::read`], NotPermitted for no right to write.
    pub fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        self.0.write(self.there(at), bytes)
    }

    /// The exporter's address of an offset; one that is out of range stays so.
    fn there(&self, at: usize) -> usize {
        self.0.region().base().saturating_add(at)
    }

    /// A window for tasks. Windows may overlap: several tasks that write the same bytes leave any mix.
    ///
    /// # Errors
    /// InvalidValue when the range is empty or leaves the memory (the error names both); NoMemory.
    pub fn buf(&self, range: impl RangeBounds<usize>) -> Result<RemoteBuf, WindowError> {
        let (start, end) = ends(range, self.len());
        if start >= end || end > self.len() {
            let object = format_args!("{self:?}");
            return Err(WindowError::new(
                Code::InvalidValue,
                "no range of it",
                object,
                (start, end),
                (0, self.len()),
            ));
        }
        let owned = Owned::new(self.0.region(), self.0.clone(), self.there(start), end - start);
        owned.map(RemoteBuf).map_err(|e| WindowError::from_error(e, (start, end), (0, self.len())))
    }

    /// Exports memory that was imported over PCI to peers of RDMA connections, with the rights that its owner granted.
    ///
    /// # Errors
    /// NotPermitted (it was imported over RDMA itself, its owner granted no RDMA right, or has stopped), NotSupported
    /// (no RDMA), NoMemory.
    pub fn export_rdma(&self) -> Result<Export> {
        let import = &*self.0;
        let object = format_args!("{self:?}");
        if import.kind() != Kind::Pci {
            log::error!(target: "softdpu::mmap", "{object}: imported over {}, exports again over RDMA only what came over PCI",
                import.kind());
            return Err(softdpu_status::Error::new(Code::NotPermitted, "not imported over PCI"));
        }
        let origin = Origin {
            region: import.region(),
            access: import.access(),
            writable: import.is_writable(),
            mkey: import.mkey(),
            parent: Some(import),
            backing: None,
        };
        let device = import.device();
        let exported = match real::cards_of(device)? {
            Some(cards) => Way::Card(cards.export(origin.region, device, Kind::Rdma)?),
            None => Way::Ours(export::export(&object, origin, device, Kind::Rdma, None)?),
        };
        Ok(Export { exported, _of: Of::Import(self.clone()) })
    }
}

impl fmt::Debug for RemoteMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "RemoteMemory([{:#x}, +{}) of process {}, {})",
            self.owner_addr(),
            self.len(),
            self.owner(),
            self.reach()
        )
    }
}

/// A window on remote memory, with data in it; alone or as a list. As a source it is read where its data is, as a
/// destination it is written behind its data. Its bytes are reached by tasks alone.
///
/// ```compile_fail,E0599
/// # use softdpu_memory::RemoteBuf;
/// fn peek(buf: &RemoteBuf) -> Option<&[u8]> {
///     buf.as_slice()
/// }
/// ```
pub struct RemoteBuf(pub(crate) Owned);

impl RemoteBuf {
    /// Bytes of the window.
    pub fn capacity(&self) -> usize {
        self.0.node().len()
    }

    /// Where the data is inside the window.
    pub fn data(&self) -> Range<usize> {
        let node = self.0.node();
        let start = node.data() - node.addr();
        start..start + node.data_len()
    }

    /// Bytes of data.
    pub fn data_len(&self) -> usize {
        self.0.node().data_len()
    }

    /// Bytes free behind the data.
    pub fn room(&self) -> usize {
        self.0.node().room()
    }

    /// Which part of its memory the window is.
    pub fn range_in_memory(&self) -> Range<usize> {
        let node = self.0.node();
        let start = node.addr() - node.region().base();
        start..start + node.len()
    }

    /// Says where in the window the data is; the bytes stay as they are.
    ///
    /// # Errors
    /// InvalidValue when the range leaves the window; nothing changes then.
    pub fn set_data(&mut self, data: impl RangeBounds<usize>) -> Result<(), WindowError> {
        let node = self.0.node();
        let (start, end) = ends(data, node.len());
        let set = if start <= end && end <= node.len() {
            node.set_data(node.addr() + start, end - start)
        } else {
            let object = format_args!("remote buffer {self:?}");
            return Err(WindowError::new(
                Code::InvalidValue,
                "data leaves the window",
                object,
                (start, end),
                (0, node.len()),
            ));
        };
        set.map_err(|e| WindowError::from_error(e, (start, end), (0, node.len())))
    }

    /// Empties every element of the list: its data is the empty range at the start of its window.
    pub fn reset(&mut self) {
        self.0.node().list().for_each(|node| {
            let set = node.set_data(node.addr(), 0);
            debug_assert!(set.is_ok());
        });
    }

    /// Appends the list of `tail` to the end of this one.
    pub fn chain(&mut self, tail: RemoteBuf) {
        self.0.chain(tail.0);
    }

    /// Splits off everything behind the first element.
    pub fn unchain(&mut self) -> Option<RemoteBuf> {
        self.0.unchain().map(RemoteBuf)
    }
}

impl fmt::Debug for RemoteBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} of remote memory {:#x}, data {:?}",
            self.range_in_memory(),
            self.0.node().region().base(),
            self.data()
        )
    }
}

impl Lend for RemoteBuf {
    #[inline(always)]
    fn lend(&self) -> Lent {
        self.0.lend()
    }

    #[inline(always)]
    fn node(&self) -> &Node {
        self.0.node()
    }
}
