//! Memory that processes share, and that nobody can take away under a reader.
//!
//! A segment is an anonymous file of fixed size, sealed against shrinking, and its mapping. What a peer hands over is
//! accepted only with that seal, so an access inside its length cannot fault. Words are atomics; all other bytes are
//! moved by [`copy_shared`], since the peer may write at any time: no reference to them is formed.
#![expect(unsafe_code, reason = "maps shared memory and gives its words as atomics")]

use crate::bytes::copy_shared;
use crate::sync::{AtomicU32, AtomicU64};
use core::ptr::NonNull;
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, ftruncate, memfd_create,
};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use softdpu_status::{Code, Error, Result};
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The longest segment.
pub const MAX_SEGMENT: usize = 4 << 30;

/// File system of anonymous shared memory. Huge pages are another one, where an access inside the length can fail.
const TMPFS: i64 = 0x0102_1994;

/// A mapping of shared memory; unmapped on drop.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory is reached through atomics and `copy_shared` only, which are made for several threads at once.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes of a file that has them, and cannot lose them.
    fn new(fd: BorrowedFd<'_>, len: usize) -> Result<Mapping, Errno> {
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe {
            mmap(core::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, fd, 0)?
        };
        let base = NonNull::new(base.cast()).ok_or(Errno::NOMEM)?;
        Ok(Mapping { base, len })
    }

    /// Bytes.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The address of `n` bytes from `at`.
    ///
    /// # Panics
    /// Outside of the mapping.
    #[inline(always)]
    fn place(&self, at: usize, n: usize) -> *mut u8 {
        assert!(at <= self.len && n <= self.len - at, "{n} bytes at {at} of {}", self.len);
        // SAFETY: inside of the mapping, see above.
        unsafe { self.base.as_ptr().add(at) }
    }

    /// The word of 32 bits at an offset.
    ///
    /// # Panics
    /// Outside of the mapping, or not at a multiple of 4: offsets are ours, never a peer's.
    #[inline(always)]
    pub fn word32(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4), "word at {at}");
        // SAFETY: mapped as long as `self`, aligned, and every other access to it is atomic or opaque to the compiler.
        unsafe { AtomicU32::from_ptr(self.place(at, 4).cast()) }
    }

    /// The word of 64 bits at an offset.
    ///
    /// # Panics
    /// Outside of the mapping, or not at a multiple of 8: offsets are ours, never a peer's.
    #[inline(always)]
    pub fn word64(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8), "word at {at}");
        // SAFETY: as for `word32`.
        unsafe { AtomicU64::from_ptr(self.place(at, 8).cast()) }
    }

    /// Asks for the cache line of an offset, wherever that is: no more than a hint.
    #[inline(always)]
    pub fn expect(&self, at: usize) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if at < self.len {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: inside of the mapping; prefetching accesses nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.place(at, 1).cast()) };
        }
        let _ = at;
    }

    /// As [`Mapping::expect`], for the lines that `len` bytes from an offset on lie in.
    #[inline(always)]
    pub fn expect_all(&self, at: usize, len: usize) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if at < self.len && len <= self.len - at {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for at in (at & !63..at + len).step_by(64) {
                // SAFETY: inside of the mapping, which begins at a page; prefetching accesses nothing.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(self.base.as_ptr().add(at).cast()) };
            }
        }
        let _ = (at, len);
    }

    /// As [`Mapping::expect`], for a line that is to be written.
    #[inline(always)]
    pub fn expect_own(&self, at: usize) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if at < self.len {
            // SAFETY: inside of the mapping; prefetching accesses nothing, and a processor that cannot does nothing.
            unsafe {
                core::arch::asm!("prefetchw [{}]", in(reg) self.place(at, 1),
                    options(nostack, preserves_flags, readonly));
            }
        }
        let _ = at;
    }

    /// Writes bytes. What a peer writes there at the same time is mixed with them.
    ///
    /// # Panics
    /// Outside of the mapping.
    #[inline(always)]
    pub fn put(&self, at: usize, bytes: &[u8]) {
        // SAFETY: `bytes` is readable, the place is mapped writable for as many bytes.
        unsafe { copy_shared(bytes.as_ptr(), self.place(at, bytes.len()), bytes.len()) }
    }

    /// Reads bytes. What a peer writes there at the same time is seen or not, byte by byte.
    ///
    /// # Panics
    /// Outside of the mapping.
    #[inline(always)]
    pub fn get(&self, at: usize, into: &mut [u8]) {
        // SAFETY: `into` is ours to write, the place is mapped readable for as many bytes.
        unsafe { copy_shared(self.place(at, into.len()), into.as_mut_ptr(), into.len()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrowed from it is left.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// A mapping together with the descriptor that another process maps it by.
#[derive(Debug)]
pub struct Segment {
    map: Mapping,
    fd: OwnedFd,
}

impl Segment {
    /// New memory, all zero. `name` shows up in `/proc/*/maps`. Memory is taken page by page when it is first touched.
    ///
    /// # Errors
    /// InvalidValue (no bytes, or more than [`MAX_SEGMENT`]), NoMemory (memory or descriptors), with one log line.
    pub fn create(name: &str, len: usize) -> Result<Segment> {
        if len == 0 || len > MAX_SEGMENT {
            log::error!(target: crate::LOG, "segment `{name}`: {len} bytes, allowed 1 to {MAX_SEGMENT}");
            return Err(Error::new(Code::InvalidValue, "length of a segment"));
        }
        let made = || -> Result<Segment, Errno> {
            let fd = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
            ftruncate(&fd, len as u64)?;
            fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
            Ok(Segment { map: Mapping::new(fd.as_fd(), len)?, fd })
        };
        made().map_err(|errno| {
            log::error!(target: crate::LOG, "segment `{name}` of {len} bytes: {errno}");
            Error::new(Code::NoMemory, "no memory for a segment")
        })
    }

    /// Memory that a peer handed over: all of it, at least `min_len` bytes.
    ///
    /// # Errors
    /// InvalidValue, with one log line: not anonymous shared memory of ordinary pages, not sealed against shrinking,
    /// too short, longer than [`MAX_SEGMENT`], or not writable.
    pub fn from_fd(fd: OwnedFd, min_len: usize) -> Result<Segment> {
        let refuse = |line: std::fmt::Arguments<'_>| {
            log::error!(target: crate::LOG, "shared memory of a peer refused: {line}");
            Error::new(Code::InvalidValue, "shared memory of a peer")
        };
        // Only files that can be sealed know the question.
        let seals =
            fcntl_get_seals(&fd).map_err(|errno| refuse(format_args!("no anonymous file ({errno})")))?;
        if !seals.contains(SealFlags::SHRINK) {
            return Err(refuse(format_args!("not sealed against shrinking")));
        }
        if !fstatfs(&fd).is_ok_and(|about| about.f_type == TMPFS) {
            return Err(refuse(format_args!("not of ordinary pages")));
        }
        let len = fstat(&fd).map_or(0, |about| usize::try_from(about.st_size).unwrap_or(0));
        if len == 0 || len < min_len || len > MAX_SEGMENT {
            return Err(refuse(format_args!("{len} bytes, needed {min_len}, at most {MAX_SEGMENT}")));
        }
        let map =
            Mapping::new(fd.as_fd(), len).map_err(|errno| refuse(format_args!("{len} bytes: {errno}")))?;
        Ok(Segment { map, fd })
    }

    /// The descriptor, for handing it over. Whoever has it can read and write.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The mapping without the descriptor, which is closed.
    pub fn into_mapping(self) -> Mapping {
        self.map
    }
}

impl Deref for Segment {
    type Target = Mapping;
    #[inline(always)]
    fn deref(&self) -> &Mapping {
        &self.map
    }
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
