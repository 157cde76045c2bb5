//! Memory on huge pages where there are any, of a kind that can be handed to other processes.
//!
//! The program gives it back with `munmap`. The file behind it stays open for as long as it is mapped: exports find it
//! among the descriptors of the process. Descriptors whose memory is gone are closed at the next call.
#![expect(unsafe_code, reason = "maps memory for the program")]

use super::LOG;
use crate::entry::guard_value;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// Files of memory that was given out.
static GIVEN: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());

/// `len` bytes, zeroed; NULL, with a line in the log, when the system has none.
#[unsafe(no_mangle)]
pub extern "C" fn softdpu_primer_mmap_hugepage(len: usize) -> *mut c_void {
    guard_value(null_mut(), || {
        crate::log::softdpu_log_init();
        let huge = len > 0 && len.is_multiple_of(HUGE);
        let first =
            if huge { make(len, MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB) } else { Err(Errno::INVAL) };
        let made = first.or_else(|cause| {
            log::info!(target: LOG, "mmap_hugepage: {len} bytes on ordinary pages: no {} huge pages of 2 MiB ({cause})",
                len.div_ceil(HUGE));
            make(len, MemfdFlags::empty())
        });
        match made {
            Ok((at, file)) => {
                let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
                let mapped = mapped_inodes();
                given.retain(|file| fstat(file).is_ok_and(|about| mapped.contains(&about.st_ino)));
                given.push(file);
                at
            }
            Err(cause) => {
                log::error!(target: LOG, "mmap_hugepage: no memory for {len} bytes: {cause}");
                null_mut()
            }
        }
    })
}

fn make(len: usize, pages: MemfdFlags) -> Result<(*mut c_void, OwnedFd), Errno> {
    let file = memfd_create(c"softdpu-primer", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | pages)?;
    ftruncate(&file, len as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    // SAFETY: a new mapping, wherever the kernel likes.
    let at =
        unsafe { mmap(null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0)? };
    Ok((at, file))
}

/// Numbers of the files that are mapped.
fn mapped_inodes() -> Vec<u64> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().filter_map(|line| line.split_whitespace().nth(4)?.parse().ok()).collect()
}
