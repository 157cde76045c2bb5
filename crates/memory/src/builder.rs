//! What a [`Memory`] is made of, until it is registered.

use crate::device::Device;
use crate::dmabuf::DmabufRange;
use crate::map::Map;
use crate::memory::Memory;
use crate::page::{self, HugePage};
use crate::region::Access;
use core::ops::Range;
use rustix::fs::OFlags;
use rustix::io::Errno;
use softdpu_status::{Code, Error, Result};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// What memory can be registered with: an opened device, in whichever form a face gives it out.
pub trait OnDevice {
    #[doc(hidden)]
    fn on_device(&self) -> &Arc<Device>;
}

impl OnDevice for Arc<Device> {
    fn on_device(&self) -> &Arc<Device> {
        self
    }
}

/// Where the bytes will come from.
#[derive(Debug)]
enum Kind {
    Heap(usize),
    Huge(usize, HugePage),
    Memfd(usize),
    File(File, Range<u64>),
    Dmabuf(OwnedFd, Range<u64>),
    Raw(Map),
}

/// A memory to be: made by [`Memory::heap`] and its siblings, finished by [`MemoryBuilder::register`]. Nothing is mapped
/// before that.
#[derive(Debug)]
#[must_use = "memory comes into being when it is registered"]
pub struct MemoryBuilder {
    kind: Kind,
    access: Access,
    align: usize,
}

impl MemoryBuilder {
    fn new(kind: Kind) -> MemoryBuilder {
        MemoryBuilder { kind, access: Access::LOCAL_READ_ONLY, align: 1 }
    }

    pub(crate) fn heap(len: usize) -> MemoryBuilder {
        MemoryBuilder::new(Kind::Heap(len))
    }

    pub(crate) fn hugepage(len: usize, page: HugePage) -> MemoryBuilder {
        MemoryBuilder::new(Kind::Huge(len, page))
    }

    pub(crate) fn memfd(len: usize) -> MemoryBuilder {
        MemoryBuilder::new(Kind::Memfd(len))
    }

    pub(crate) fn file(file: File, range: Range<u64>) -> MemoryBuilder {
        MemoryBuilder::new(Kind::File(file, range))
    }

    pub(crate) fn dmabuf(fd: OwnedFd, range: Range<u64>) -> MemoryBuilder {
        MemoryBuilder::new(Kind::Dmabuf(fd, range))
    }

    pub(crate) fn raw(map: Map) -> MemoryBuilder {
        MemoryBuilder::new(Kind::Raw(map))
    }

    /// The rights that devices and peers get. Without this call: devices of this process may read
    /// ([`Access::LOCAL_READ_ONLY`]); the program itself may write in any case.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Access, Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let private = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    /// let shared = Memory::heap(4096).access(Access::LOCAL_READ_WRITE | Access::RDMA_READ).register(&[&device])?;
    /// assert!(!private.is_shared() && shared.is_shared());
    /// # Ok(()) }
    /// ```
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// The first byte will lie at a multiple of `align`, a power of two. Without this call: of a page (memory of the
    /// program stays where it is).
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let memory = Memory::memfd(4096).align(1 << 20).register(&[&device])?;
    /// assert_eq!(memory.host_addr() % (1 << 20), 0);
    /// # Ok(()) }
    /// ```
    pub fn align(mut self, align: usize) -> Self {
        self.align = align;
        self
    }

    /// Maps the bytes and registers them with the devices. Touches none of the bytes, so that even very large memory is
    /// quick to make; pages come when they are used first.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let memory = Memory::heap(4096).register(&[&device])?;
    /// assert_ne!(memory.mkey(&device)?, 0);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// InvalidValue: no device, no bytes, an alignment that is no power of two or that the bytes do not have, an access
    /// mask that contradicts itself, a file range beyond the end of the file. NoMemory: not that much memory, no huge
    /// pages. NotPermitted: the file is not open for reading. NotSupported: a kind of file or page the system does not
    /// map. Driver: a hole in the range, or the locked-memory limit of a strict machine. One log line has the numbers.
    /// What went into the builder is gone then.
    pub fn register<D: OnDevice>(self, on: &[&D]) -> Result<Memory> {
        let MemoryBuilder { kind, access, align } = self;
        if let Err(rule) = Access::from_bits(access.bits()) {
            log::error!(target: "softdpu::memory", "access mask {access:?} ({:#x}): {rule}", access.bits());
            return Err(Error::new(Code::InvalidValue, rule));
        }
        if !align.is_power_of_two() {
            log::error!(target: "softdpu::memory", "alignment {align} is no power of two");
            return Err(Error::new(Code::InvalidValue, "alignment is no power of two"));
        }
        if on.is_empty() {
            log::error!(target: "softdpu::memory", "memory cannot be registered with no device");
            return Err(Error::new(Code::InvalidValue, "no device to register the memory with"));
        }
        let known = !matches!(kind, Kind::File(..) | Kind::Dmabuf(..) | Kind::Raw(_));
        let others = matches!(kind, Kind::File(..) | Kind::Dmabuf(..));
        let map = match kind {
            Kind::Heap(len) if access.is_shared() => page::lendable(some(len)?, align)?,
            Kind::Heap(len) => page::anonymous(some(len)?, align)?,
            Kind::Huge(len, rule) => page::huge(some(len)?, align, rule)?,
            Kind::Memfd(len) => page::memfd(some(len)?, align)?,
            Kind::File(file, range) => file_map(file, range, align)?,
            Kind::Dmabuf(fd, range) => dmabuf_map(fd, range)?,
            Kind::Raw(map) => {
                some(map.len())?;
                map
            }
        };
        if map.addr() % align != 0 {
            log::error!(target: "softdpu::memory", "memory {:#x}: not at a multiple of {align}", map.addr());
            return Err(Error::new(Code::InvalidValue, "the bytes do not have the required alignment"));
        }
        let mut devices = Vec::new();
        devices
            .try_reserve_exact(on.len())
            .map_err(|_| Error::new(Code::NoMemory, "no memory for a registration"))?;
        devices.extend(on.iter().map(|d| d.on_device()));
        Memory::assemble(map, access, &devices, others, known)
    }
}

/// Refuses memory of no bytes.
fn some(len: usize) -> Result<usize> {
    if len == 0 {
        log::error!(target: "softdpu::memory", "memory of 0 bytes was asked for");
        return Err(Error::new(Code::InvalidValue, "memory of no bytes"));
    }
    Ok(len)
}

fn dmabuf_map(fd: OwnedFd, range: Range<u64>) -> Result<Map> {
    let (from, len) = (usize::try_from(range.start), usize::try_from(range.end.saturating_sub(range.start)));
    // What does not fit into an address is beyond the end of any memory.
    let (from, len) = (from.unwrap_or(usize::MAX), len.unwrap_or(usize::MAX));
    Ok(DmabufRange::new(fd.as_fd(), from, len)?.map()?.into_map())
}

fn file_map(file: File, range: Range<u64>, align: usize) -> Result<Map> {
    let size = rustix::fs::fstat(&file).map_err(|e| page::refused(e, "file", 0))?.st_size as u64;
    if range.start >= range.end || range.end > size {
        log::error!(target: "softdpu::memory", "file range [{}, {}) is empty or leaves the file of {size} bytes",
            range.start, range.end);
        return Err(Error::new(Code::InvalidValue, "file range is empty or leaves the file"));
    }
    let no_memory = |_| page::refused(Errno::NOMEM, "file", usize::MAX);
    let len = usize::try_from(range.end - range.start).map_err(no_memory)?;
    let failed = |e| page::refused(e, "file", len);
    let mode = rustix::fs::fcntl_getfl(&file).map_err(failed)? & OFlags::RWMODE;
    let fd = OwnedFd::from(file);
    if mode == OFlags::RDWR {
        let again = fd.try_clone().map_err(|e| failed(Errno::from_io_error(&e).unwrap_or(Errno::IO)))?;
        match page::window(again, range.start, len, align, true) {
            // A file sealed against writing still may be read.
            Err(Errno::PERM) => {}
            outcome => return outcome.map_err(failed),
        }
    }
    page::window(fd, range.start, len, align, false).map_err(failed)
}
