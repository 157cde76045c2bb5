//! [`Memory`]: a registered range of bytes, and the windows and pools cut from it.

use crate::buf::Buf;
use crate::builder::MemoryBuilder;
use crate::claim::{Claim, Claims};
use crate::device::Device;
use crate::error::{WindowError, ends};
use crate::export::Origin;
use crate::map::Map;
use crate::page::HugePage;
use crate::pool::BufPool;
use crate::region::{Access, Region, SHARED};
use crate::register::{Registration, Request, register};
use core::fmt;
use core::ops::{Range, RangeBounds};
use softdpu_status::{Code, Error, Result};
use std::fs::File;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard};

/// Memory that devices can reach: a cheap handle, cloned at will, used from any thread. The bytes stay mapped and the
/// devices open until the last handle, buffer and pool is gone, in whatever order that happens.
///
/// Memory is *private* when its access mask has local rights alone and nobody else can have it mapped; otherwise it is
/// *shared*, for good. An exclusive window of private memory can be looked at as a slice; bytes of shared memory, and
/// of aliases, are only ever copied.
///
/// ```
/// # use softdpu_card::Machine;
/// use softdpu_memory::{Access, Memory, device::Device};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
/// let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
/// let (mut source, target) = (memory.buf(..4096)?, memory.buf(4096..)?);
/// source.push_slice(b"bytes to copy")?;
/// drop(memory); // the buffers keep it
/// assert_eq!(source.as_slice(), Some(&b"bytes to copy"[..]));
/// assert_eq!(target.room(), 4096);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Memory(Arc<Inner>);

struct Inner {
    /// What exclusive windows stand on.
    region: Region,
    /// The same bytes for aliases: always marked as shared, so that engines copy as if others were writing.
    aliased: Region,
    registration: Registration,
    access: Access,
    shared: bool,
    writable: bool,
    claims: Mutex<Claims>,
    map: Map,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.region.close();
        self.aliased.close();
    }
}

impl Memory {
    /// Zeroed memory of this process, aligned to pages; from 4 MiB on to 2 MiB, with transparent huge pages wished for.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let memory = Memory::heap(10_000).align(64 << 10).register(&[&device])?;
    /// assert_eq!((memory.len(), memory.host_addr() % (64 << 10)), (10_000, 0));
    /// # Ok(()) }
    /// ```
    pub fn heap(len: usize) -> MemoryBuilder {
        MemoryBuilder::heap(len)
    }

    /// Zeroed memory in huge pages, behind a sealed descriptor. [`HugePage`] says what happens when there are none.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{HugePage, Memory, PageSize, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let memory = Memory::hugepage(1 << 20, HugePage::Prefer(PageSize::Mib2)).register(&[&device])?;
    /// println!("pages of {} bytes", memory.page_size()); // 2 MiB, or 4 KiB when none was free
    /// # Ok(()) }
    /// ```
    pub fn hugepage(len: usize, page: HugePage) -> MemoryBuilder {
        MemoryBuilder::hugepage(len, page)
    }

    /// Zeroed memory behind a descriptor that is sealed against resizing, so that other processes can map it safely.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Access, Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let memory = Memory::memfd(4096).access(Access::PCI_READ_WRITE).register(&[&device])?;
    /// assert!(memory.is_shared() && memory.fd().is_some());
    /// # Ok(()) }
    /// ```
    pub fn memfd(len: usize) -> MemoryBuilder {
        MemoryBuilder::memfd(len)
    }

    /// Part of a file, mapped shared: what is written goes to the file. POSIX shared memory is the file under
    /// `/dev/shm`. A file that is not open for writing gives read-only memory. Always shared, since others may hold the
    /// file; whoever makes it shorter while it is mapped ends this process with SIGBUS on the next touch behind its
    /// end, so map files that you alone resize.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let path = std::env::current_exe()?;
    /// let memory = Memory::file(std::fs::File::open(path)?, 0..4096).register(&[&device])?;
    /// let mut magic = [0; 4];
    /// memory.alias(..4)?.read_at(0, &mut magic)?;
    /// assert_eq!(&magic, b"\x7fELF");
    /// # Ok(()) }
    /// ```
    pub fn file(file: File, range: Range<u64>) -> MemoryBuilder {
        MemoryBuilder::file(file, range)
    }

    /// A range of a dmabuf, or of a memory file that is sealed against shrinking, which somebody else made. Always
    /// shared. The descriptor may be closed by whoever else has it.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// use softdpu_memory::{Access, Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let memory = Memory::memfd(8192).access(Access::PCI_READ_WRITE).register(&[&device])?;
    /// let dmabuf = memory.export_dmabuf()?;
    /// println!("a dmabuf of the kernel: {}", dmabuf.is_real());
    /// let again = Memory::dmabuf(dmabuf.into(), 4096..8192).register(&[&device])?;
    /// again.buf(..)?.write_at(0, b"zero copies")?;
    /// let mut bytes = [0; 11];
    /// memory.buf(4096..)?.read_at(0, &mut bytes)?;
    /// assert_eq!(&bytes, b"zero copies");
    /// # Ok(()) }
    /// ```
    pub fn dmabuf(fd: OwnedFd, range: Range<u64>) -> MemoryBuilder {
        MemoryBuilder::dmabuf(fd, range)
    }

    /// The bytes of a vector, which moves in; nothing is copied.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let memory = Memory::vec(b"old bytes".to_vec()).register(&[&device])?;
    /// let mut buf = memory.buf(..)?;
    /// buf.set_data(..)?;
    /// assert_eq!(buf.as_slice(), Some(&b"old bytes"[..]));
    /// # Ok(()) }
    /// ```
    pub fn vec(bytes: Vec<u8>) -> MemoryBuilder {
        MemoryBuilder::raw(Map::vector(bytes))
    }

    /// Registers what a builder has mapped. `known` means that the library itself knows the range to be whole and
    /// writable.
    pub(crate) fn assemble(
        mut map: Map,
        access: Access,
        on: &[&Arc<Device>],
        others: bool,
        known: bool,
    ) -> Result<Memory> {
        let shared = others || access.is_shared();
        let mut devices: Vec<Arc<Device>> = Vec::new();
        devices
            .try_reserve_exact(on.len())
            .map_err(|_| Error::new(Code::NoMemory, "no memory for a registration"))?;
        for device in on {
            if devices.iter().all(|d| d.id() != device.id()) {
                devices.push(Arc::clone(device));
            }
        }
        let (base, len) = (map.addr(), map.len());
        let region = Region::closed();
        region.share();
        let object = &format_args!("memory {base:#x}");
        let devices = &devices[..];
        let request = Request {
            object,
            base,
            len,
            delta: 0,
            access,
            devices,
            shared,
            trusted: known,
            everywhere: false,
        };
        let registration = register(&region, &request)?;
        if !registration.is_writable() {
            map.freeze();
        }
        let aliased = Region::closed();
        aliased.share();
        aliased.stand_for(&region);
        aliased.open(base, len, 0, region.word() | SHARED);
        let writable = map.writable();
        let claims = Mutex::default();
        Ok(Memory(Arc::new(Inner { region, aliased, registration, access, shared, writable, claims, map })))
    }

    /// Bytes.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.0.map.len()
    }

    /// Address of the first byte in this process.
    pub fn host_addr(&self) -> usize {
        self.0.map.addr()
    }

    /// The first byte. Looking at the bytes through this pointer is for unsafe code, which must keep away from windows
    /// that buffers hold.
    pub fn as_ptr(&self) -> *mut u8 {
        self.0.map.as_ptr()
    }

    /// Address of the first byte as `device` sees it: another number than the host address.
    ///
    /// # Errors
    /// NotFound when the memory is not registered with the device.
    pub fn device_addr(&self, device: &(impl AsRef<Device> + ?Sized)) -> Result<u64> {
        let device = device.as_ref();
        self.0.registration.device_address(device).ok_or_else(|| self.stranger(device))
    }

    /// The key under which `device` knows the memory: not 0, unique while the memory lives.
    ///
    /// # Errors
    /// NotFound when the memory is not registered with the device.
    pub fn mkey(&self, device: &(impl AsRef<Device> + ?Sized)) -> Result<u32> {
        let device = device.as_ref();
        self.0.registration.mkey(device).ok_or_else(|| self.stranger(device))
    }

    #[cold]
    fn stranger(&self, device: &Device) -> Error {
        log::error!(target: "softdpu::memory", "memory {:#x}: not registered with device {}", self.host_addr(),
            device.function().pci());
        Error::new(Code::NotFound, "memory is not registered with the device")
    }

    /// The rights granted at registration.
    pub fn access(&self) -> Access {
        self.0.access
    }

    /// Bytes of the pages it lies in, as far as the library knows: for memory of the program, ordinary ones.
    pub fn page_size(&self) -> usize {
        self.0.map.page()
    }

    /// May others write it at the same time? Then bytes are copied, never looked at in place.
    pub fn is_shared(&self) -> bool {
        self.0.shared
    }

    /// May this process write it? What devices may do is a matter of [`Memory::access`].
    pub fn is_writable(&self) -> bool {
        self.0.writable
    }

    /// The descriptor behind shared memory, if there is one, to hand to another process. Private memory keeps its
    /// descriptor to itself: with it, safe code could write behind a slice's back.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        if self.0.shared { self.0.map.descriptor() } else { None }
    }

    /// A buffer on a range of the memory, which it has to itself: no other buffer may overlap it. Its data is empty.
    /// Takes a lock and allocates; on the way of data, reuse buffers or take them from a [`BufPool`].
    ///
    /// # Errors
    /// InvalidValue when the range is empty, leaves the memory, or overlaps a buffer or pool (the error names both
    /// ranges); NoMemory.
    pub fn buf(&self, range: impl RangeBounds<usize>) -> Result<Buf, WindowError> {
        Buf::new(Claim::new(self, ends(range, self.len()), true)?)
    }

    /// A buffer that may overlap other aliases, but no buffer made by [`Memory::buf`] and no pool. Its bytes can only be
    /// copied; several engines may work on them at the same time and see any mix.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let memory = Memory::heap(4096).register(&[&device])?;
    /// let (mut one, mut two) = (memory.alias(..100)?, memory.alias(50..)?);
    /// one.write_at(99, b"x")?;
    /// two.set_data(..50)?;
    /// assert_eq!((two.to_vec()[49], two.as_slice()), (b'x', None));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Memory::buf`].
    pub fn alias(&self, range: impl RangeBounds<usize>) -> Result<Buf, WindowError> {
        Buf::new(Claim::new(self, ends(range, self.len()), false)?)
    }

    /// Cuts the whole memory into windows of `window` bytes, for buffers that are taken and given back at speed.
    ///
    /// # Errors
    /// As [`Memory::pool_in`].
    pub fn pool(&self, window: usize) -> Result<BufPool, WindowError> {
        self.pool_in(.., window, 1)
    }

    /// As [`Memory::pool`], each window beginning at an address that is a multiple of `align`.
    ///
    /// # Errors
    /// As [`Memory::pool_in`].
    pub fn pool_aligned(&self, window: usize, align: usize) -> Result<BufPool, WindowError> {
        self.pool_in(.., window, align)
    }

    /// Cuts a range of the memory into windows of `window` bytes that begin at multiples of `align`. The range belongs
    /// to the pool until the pool and all its buffers are gone.
    ///
    /// # Errors
    /// InvalidValue when the window is empty, `align` is no power of two, not one window fits into the range, or the
    /// range is refused as by [`Memory::buf`]; NoMemory.
    pub fn pool_in(
        &self,
        range: impl RangeBounds<usize>,
        window: usize,
        align: usize,
    ) -> Result<BufPool, WindowError> {
        BufPool::carve(Claim::new(self, ends(range, self.len()), true)?, window, align)
    }

    /// Are no buffers and pools out?
    pub fn is_unclaimed(&self) -> bool {
        self.claims().is_empty()
    }

    /// What is lent out when the memory is exported on `device`.
    pub(crate) fn origin(&self, device: &Device) -> Result<Origin<'_>> {
        Ok(Origin {
            region: &self.0.region,
            access: self.0.access,
            writable: self.0.writable,
            mkey: self.mkey(device)?,
            parent: None,
            backing: self.backing(),
        })
    }

    /// The descriptor behind it and where it begins there, if the library has one.
    pub(crate) fn backing(&self) -> Option<(BorrowedFd<'_>, u64)> {
        self.0.map.backing()
    }

    pub(crate) fn claims(&self) -> MutexGuard<'_, Claims> {
        self.0.claims.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub(crate) fn region(&self, exclusive: bool) -> &Region {
        if exclusive { &self.0.region } else { &self.0.aliased }
    }
}

/// Two handles are equal when they stand for the same memory.
impl PartialEq for Memory {
    fn eq(&self, other: &Memory) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Memory {}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_shared() { "shared" } else { "private" };
        write!(f, "Memory({:?}, {:?}, {kind})", self.0.map, self.access())
    }
}
