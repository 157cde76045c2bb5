//! Bytes of an import, for whoever is not an engine with buffers: one-sided reads and writes with the rights that were
//! granted.
#![expect(unsafe_code, reason = "copies between exported memory and bytes of the caller")]

use super::LOG;
use super::import::Imported;
use crate::copy::{copy_shared, far_copy};
use crate::far::Way;
use crate::peer::{Change, change_far};
use crate::region::{Access, FAR};
use core::sync::atomic::AtomicU64;
use softdpu_status::{Code, Error, Result};

impl Imported {
    /// Reads from address `at` of the exporter on. Any thread.
    ///
    /// # Errors
    /// NotPermitted (no right to read), InvalidValue (the range leaves the memory, or the export has ended), IoFailed
    /// (the exporter is gone), with one log line.
    pub fn read(&self, at: usize, into: &mut [u8]) -> Result<()> {
        self.allow(Way::Read)?;
        // SAFETY: the bytes are borrowed for writing.
        unsafe { self.touch(Way::Read, at, into.as_mut_ptr(), into.len()) }
    }

    /// Writes from address `at` of the exporter on. Any thread.
    ///
    /// # Errors
    /// As [`Imported::read`].
    pub fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        self.allow(Way::Write)?;
        // SAFETY: the bytes are borrowed, and only read.
        unsafe { self.touch(Way::Write, at, bytes.as_ptr().cast_mut(), bytes.len()) }
    }

    /// Changes the 8 aligned bytes at address `at` of the exporter in one step; gives the value before. Any thread.
    ///
    /// # Errors
    /// InvalidValue (not aligned, leaves the memory, or the export has ended), NotPermitted (no right), IoFailed (the
    /// exporter is gone), NotSupported (it is on another machine), with one log line.
    pub fn change(&self, at: usize, change: Change) -> Result<u64> {
        let region = self.region();
        let refuse = |code, line: &str| {
            log::error!(target: LOG, "import [{:#x}, +{}): atomic at {at:#x}: {line}", region.base(), region.len());
            Error::new(code, "no atomic access to the exporter's memory")
        };
        if !self.access().contains(Access::RDMA_ATOMIC) || !self.is_writable() {
            return Err(refuse(Code::NotPermitted, "the exporter grants none"));
        }
        if !region.holds(at, size_of::<u64>()) {
            return Err(refuse(Code::InvalidValue, "8 bytes there leave it"));
        }
        let Some(_touch) = region.touch() else {
            return Err(refuse(Code::InvalidValue, "its exporter has stopped it or is gone"));
        };
        if region.made() & FAR != 0 {
            return change_far(region, at, change);
        }
        let place = at.wrapping_add_signed(region.delta());
        if !place.is_multiple_of(size_of::<u64>()) {
            return Err(refuse(Code::InvalidValue, "not aligned to 8 bytes"));
        }
        // SAFETY: aligned, inside a region that is marked, hence mapped; every other access to it is atomic, or one that
        // the compiler cannot see through.
        Ok(change.apply(unsafe { AtomicU64::from_ptr(place as *mut u64) }))
    }

    fn allow(&self, way: Way) -> Result<()> {
        let allowed = match way {
            Way::Read => self.access().intersects(self.kind().reads()),
            Way::Write => self.is_writable() && self.access().intersects(self.kind().writes()),
        };
        if allowed {
            return Ok(());
        }
        let (what, region) = (if way == Way::Read { "read" } else { "write" }, self.region());
        log::error!(target: LOG, "import [{:#x}, +{}): the exporter granted {:?}, which is no right to {what}",
            region.base(), region.len(), self.access());
        Err(Error::new(Code::NotPermitted, "access right missing"))
    }

    /// # Safety
    /// `here` is good for `n` bytes, to be read or written as `way` demands; they are the caller's.
    unsafe fn touch(&self, way: Way, at: usize, here: *mut u8, n: usize) -> Result<()> {
        let region = self.region();
        let refuse = |line: std::fmt::Arguments<'_>| {
            log::error!(target: LOG, "import [{:#x}, +{}): {line}", region.base(), region.len());
            Error::new(Code::InvalidValue, "no access to the exporter's memory")
        };
        if !region.holds(at, n) {
            return Err(refuse(format_args!("[{at:#x}, +{n}) leaves it")));
        }
        let Some(_touch) = region.touch() else {
            return Err(refuse(format_args!("its exporter has stopped it or is gone")));
        };
        if region.made() & FAR != 0 {
            // SAFETY: the caller's promise; the access is marked.
            return unsafe { far_copy(region, way, at, here, n) };
        }
        let there = at.wrapping_add_signed(region.delta()) as *mut u8;
        // SAFETY: inside a region that is marked, hence mapped; `here` is the caller's.
        unsafe {
            match way {
                Way::Read => copy_shared(there, here, n),
                Way::Write => copy_shared(here, there, n),
            }
        }
        Ok(())
    }
}
