//! How bytes get an address, and the few places where bytes of a registered range are touched through references.
//!
//! A [`Map`] is one range of mapped bytes with everything that keeps it mapped; dropping it unmaps. Nobody ever forms a
//! reference to a whole map. Slices exist only over the window of one buffer, and only where no one else can reach the
//! bytes: see [`view`] and [`view_mut`].
#![expect(unsafe_code, reason = "mapping memory, and slices over windows of it")]

use crate::builder::MemoryBuilder;
use crate::copy::copy_shared;
use crate::element::{Element, ElementMut};
use crate::memory::Memory;
use crate::page::ordinary;
use crate::region::{ALIVE, FAR, SHARED};
use core::any::Any;
use core::ffi::c_void;
use core::ptr::NonNull;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Where pages come from.
pub(crate) enum Source {
    /// Zeroed pages of this process.
    Anonymous,
    /// A file from this offset on, which is a multiple of its page size.
    Descriptor(OwnedFd, u64),
}

/// A range of mapped, initialised bytes.
pub(crate) struct Map {
    at: NonNull<u8>,
    len: usize,
    page: usize,
    writable: bool,
    hold: Hold,
}

/// What keeps the bytes where they are.
enum Hold {
    /// A mapping of ours; the descriptor stays open for peers that will map it, from this offset on.
    Mapped { len: usize, descriptor: Option<(OwnedFd, u64)> },
    /// Memory of the program, valid until this goes.
    Owner { _owner: Box<dyn Any + Send + Sync> },
    #[cfg(miri)]
    Allocated(std::alloc::Layout),
}

// SAFETY: a map is an address range and its owner; the bytes are reached only by the rules of this file and of `copy`.
unsafe impl Send for Map {}
// SAFETY: as above; no method gives access to bytes through a shared map.
unsafe impl Sync for Map {}

impl core::fmt::Debug for Map {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "[{:p}, +{}) in pages of {} bytes", self.at, self.len, self.page)
    }
}

impl Map {
    /// Maps `len` bytes at a multiple of `align` (a power of two). Touches none of them.
    pub(crate) fn new(
        src: Source,
        len: usize,
        align: usize,
        page: usize,
        writable: bool,
    ) -> Result<Map, Errno> {
        #[cfg(miri)]
        if let Source::Anonymous = src {
            let layout =
                std::alloc::Layout::from_size_align(len, align.max(page)).map_err(|_| Errno::NOMEM)?;
            // SAFETY: callers never ask for zero bytes.
            let at = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).ok_or(Errno::NOMEM)?;
            at.as_ptr().expose_provenance();
            return Ok(Map { at, len, page, writable, hold: Hold::Allocated(layout) });
        }
        let whole = len.checked_next_multiple_of(page).ok_or(Errno::NOMEM)?;
        let at = if align <= page {
            place(&src, core::ptr::null_mut(), whole, writable)?
        } else {
            aligned(&src, whole, align, writable)?
        };
        at.as_ptr().expose_provenance();
        let descriptor = match src {
            Source::Anonymous => None,
            Source::Descriptor(fd, from) => Some((fd, from)),
        };
        Ok(Map { at, len, page, writable, hold: Hold::Mapped { len: whole, descriptor } })
    }

    /// Memory of the program.
    ///
    /// # Safety
    /// As [`Memory::from_raw`].
    pub(crate) unsafe fn raw(at: NonNull<u8>, len: usize, owner: Box<dyn Any + Send + Sync>) -> Map {
        at.as_ptr().expose_provenance();
        Map { at, len, page: ordinary(), writable: true, hold: Hold::Owner { _owner: owner } }
    }

    /// The bytes of a vector, which moves in.
    pub(crate) fn vector(mut bytes: Vec<u8>) -> Map {
        let (at, len) = (NonNull::from(bytes.as_mut_slice()).cast(), bytes.len());
        // SAFETY: moving a vector moves none of its bytes, they stay until it is dropped, all `len` of them are
        // initialised, and nobody can reach them through the vector, which is private to the map from here on.
        unsafe { Map::raw(at, len, Box::new(bytes)) }
    }

    /// First address.
    pub(crate) fn addr(&self) -> usize {
        self.at.as_ptr() as usize
    }

    /// The first byte.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.at.as_ptr()
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of a page.
    pub(crate) fn page(&self) -> usize {
        self.page
    }

    /// May this process write here?
    pub(crate) fn writable(&self) -> bool {
        self.writable
    }

    /// Leaves out the first `lead` bytes, less than a page.
    pub(crate) fn narrow(mut self, lead: usize) -> Map {
        assert!(lead < self.len, "something is left");
        // SAFETY: inside the range, as just asserted.
        self.at = unsafe { self.at.add(lead) };
        self.len -= lead;
        self
    }

    /// Forbids writing through this map.
    pub(crate) fn freeze(&mut self) {
        self.writable = false;
    }

    /// The descriptor behind the bytes.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.hold {
            Hold::Mapped { descriptor, .. } => descriptor.as_ref().map(|(fd, _)| fd.as_fd()),
            _ => None,
        }
    }

    /// The descriptor behind the bytes, and where in its file the first byte is.
    pub(crate) fn backing(&self) -> Option<(BorrowedFd<'_>, u64)> {
        match &self.hold {
            Hold::Mapped { descriptor: Some((fd, from)), .. } => {
                // `narrow` leaves out less than a page.
                let lead = self.at.as_ptr() as usize & (self.page - 1);
                Some((fd.as_fd(), from + lead as u64))
            }
            _ => None,
        }
    }

    /// Asks for transparent huge pages; no answer is needed.
    pub(crate) fn advise_huge(&self) {
        if let Hold::Mapped { len, .. } = self.hold {
            // SAFETY: the range is a mapping of ours, and the advice changes no contents.
            let _ = unsafe { rustix::mm::madvise(self.at.as_ptr().cast(), len, Advice::LinuxHugepage) };
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        match self.hold {
            Hold::Mapped { len, .. } => {
                // `narrow` leaves out less than a page, so that the mapping starts at the page of the first byte.
                let start = self.at.as_ptr().map_addr(|a| a & !(self.page - 1));
                // SAFETY: a mapping of ours that nobody refers to any more: buffers hold the map.
                let _ = unsafe { rustix::mm::munmap(start.cast(), len) };
            }
            Hold::Owner { .. } => {}
            #[cfg(miri)]
            // SAFETY: allocated with this layout, and nobody refers to it any more.
            Hold::Allocated(layout) => unsafe { std::alloc::dealloc(self.at.as_ptr(), layout) },
        }
    }
}

impl Memory {
    /// Memory that the program has already. A range in a read-only mapping gives read-only memory; a hole in it is
    /// refused with Driver.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// use core::ptr::NonNull;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// static TABLE: [u8; 4] = [1, 2, 3, 4];
    /// // SAFETY: initialised, there for ever, and nobody writes it.
    /// let builder = unsafe { Memory::from_raw(NonNull::from(&TABLE).cast(), 4, Box::new(())) };
    /// let memory = builder.register(&[&device])?;
    /// let mut buf = memory.buf(..)?;
    /// buf.set_data(1..3)?;
    /// assert_eq!(buf.as_slice(), Some(&[2, 3][..]));
    /// assert!(!memory.is_writable() && buf.as_mut_slice().is_none());
    /// # Ok(()) }
    /// ```
    ///
    /// # Safety
    /// The `len` bytes from `at` on are initialised and valid for reads until `owner` is dropped, and for writes
    /// too unless their mapping is read-only. Until then they are touched only through this memory and what is cut from
    /// it; with an access mask that makes the memory shared, also by others, but never through Rust references.
    pub unsafe fn from_raw(at: NonNull<u8>, len: usize, owner: Box<dyn Any + Send + Sync>) -> MemoryBuilder {
        // SAFETY: same contract.
        MemoryBuilder::raw(unsafe { Map::raw(at, len, owner) })
    }
}

/// Maps at `hint` if it is free; an existing mapping is never replaced.
fn place(src: &Source, hint: *mut c_void, len: usize, writable: bool) -> Result<NonNull<u8>, Errno> {
    let prot = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
    let fixed = if hint.is_null() { MapFlags::empty() } else { MapFlags::FIXED_NOREPLACE };
    // SAFETY: a new mapping at an address that is free, chosen by the system or refused if taken: no memory that
    // anybody uses is changed.
    let at = unsafe {
        match src {
            Source::Anonymous => rustix::mm::mmap_anonymous(hint, len, prot, MapFlags::PRIVATE | fixed)?,
            Source::Descriptor(fd, from) => {
                rustix::mm::mmap(hint, len, prot, MapFlags::SHARED | fixed, fd, *from)?
            }
        }
    };
    NonNull::new(at.cast()).ok_or(Errno::NOMEM)
}

/// Maps at a multiple of `align`, which is larger than a page: looks for a hole by mapping a larger one, and lets go the
/// part of it that is wanted. Another thread may be quicker, so it is tried a few times; threads that look for the like
/// do not get into each other's way, since what is let go is too small for their looking.
fn aligned(src: &Source, len: usize, align: usize, writable: bool) -> Result<NonNull<u8>, Errno> {
    let wide = len.checked_add(align).ok_or(Errno::NOMEM)?;
    for _ in 0..64 {
        // SAFETY: a new mapping wherever the system likes, without rights; nobody else knows of it.
        let hole = unsafe {
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
            rustix::mm::mmap_anonymous(core::ptr::null_mut(), wide, ProtFlags::empty(), flags)?
        };
        let wanted = hole.map_addr(|a| a.next_multiple_of(align));
        let before = wanted.addr() - hole.addr();
        let behind = wanted.wrapping_byte_add(len);
        // SAFETY: a part of that mapping.
        unsafe { rustix::mm::munmap(wanted, len)? };
        let placed = place(src, wanted, len, writable);
        // SAFETY: the rest of it. The part in the middle is smaller by `align`, so there is always something behind.
        unsafe {
            if before > 0 {
                rustix::mm::munmap(hole, before)?;
            }
            rustix::mm::munmap(behind, align - before)?;
        }
        match placed {
            Ok(at) if at.as_ptr().cast() == wanted => return Ok(at),
            // SAFETY: an old kernel took the address for a hint; nobody knows of this mapping yet.
            Ok(at) => unsafe { rustix::mm::munmap(at.as_ptr().cast(), len)? },
            Err(Errno::EXIST) => {}
            Err(e) => return Err(e),
        }
    }
    Err(Errno::NOMEM)
}

/// Is the element an exclusive window of memory that nobody else can reach? Windows of aliases and of shared memory
/// stand on regions with the SHARED bit.
fn is_own(word: u64) -> bool {
    word & (ALIVE | SHARED | FAR) == ALIVE
}

/// Bytes `[from, from + len)` of the element's window as a slice, if they lie inside and nobody else can write them
/// while the slice lives.
pub(crate) fn view<'a>(element: &Element<'a>, from: usize, len: usize) -> Option<&'a [u8]> {
    let node = element.node();
    if !is_own(node.region().word()) || from > node.len() || len > node.len() - from {
        return None;
    }
    let at = (node.addr() + from).wrapping_add_signed(node.region().delta()) as *const u8;
    // SAFETY: the window lies inside a map that its buffer keeps alive, and whose bytes were initialised at birth. The
    // window is an exclusive claim on private memory, so that writing needs this very buffer: as `&mut`, or moved into
    // a task. Both wait for `'a`, which is a borrow of the buffer.
    Some(unsafe { core::slice::from_raw_parts(at, len) })
}

/// The same for writing.
pub(crate) fn view_mut<'a>(element: ElementMut<'a>, from: usize, len: usize) -> Option<&'a mut [u8]> {
    let node = element.node();
    let inside = from <= node.len() && len <= node.len() - from;
    if !is_own(node.region().word()) || !inside || !element.memory().is_writable() {
        return None;
    }
    let at = (node.addr() + from).wrapping_add_signed(node.region().delta()) as *mut u8;
    // SAFETY: as for `view`, and the element is borrowed for writing as long as `'a`: no second slice of it exists.
    // Elements of one list are disjoint claims.
    Some(unsafe { core::slice::from_raw_parts_mut(at, len) })
}

/// Copies bytes out of the element's window; the caller checked that they lie inside.
pub(crate) fn read(element: &Element<'_>, from: usize, into: &mut [u8]) {
    match view(element, from, into.len()) {
        Some(bytes) => into.copy_from_slice(bytes),
        None => {
            let node = element.node();
            assert!(from <= node.len() && into.len() <= node.len() - from, "inside the window");
            let at = (node.addr() + from).wrapping_add_signed(node.region().delta()) as *const u8;
            // SAFETY: inside the window, see above, hence inside a live map of this process; shared memory is touched by
            // these routines alone. `into` is a slice, which never overlaps shared memory.
            unsafe { copy_shared(at, into.as_mut_ptr(), into.len()) };
        }
    }
}

/// Copies bytes into the element's window; the caller checked that they lie inside and may be written.
pub(crate) fn write(element: ElementMut<'_>, from: usize, bytes: &[u8]) {
    let node = element.node();
    assert!(from <= node.len() && bytes.len() <= node.len() - from, "inside the window");
    assert!(element.memory().is_writable(), "writable");
    let at = (node.addr() + from).wrapping_add_signed(node.region().delta()) as *mut u8;
    match view_mut(element, from, bytes.len()) {
        Some(place) => place.copy_from_slice(bytes),
        // SAFETY: as for `read`; writable, as just checked.
        None => unsafe { copy_shared(bytes.as_ptr(), at, bytes.len()) },
    }
}
