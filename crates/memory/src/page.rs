//! Page sizes, and where pages come from: anonymous memory, sealed memory files, huge pages and their fallback.

use crate::map::{Map, Source};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, OwnedFd};

/// Size of a huge page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum PageSize {
    /// 2 MiB.
    Mib2,
    /// 1 GiB.
    Gib1,
}

impl PageSize {
    /// Bytes of one page.
    ///
    /// ```
    /// assert_eq!(softdpu_memory::PageSize::Mib2.bytes(), 2 << 20);
    /// ```
    pub const fn bytes(self) -> usize {
        match self {
            PageSize::Mib2 => 2 << 20,
            PageSize::Gib1 => 1 << 30,
        }
    }
}

/// Which huge pages, and what happens when the system has none left.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HugePage {
    /// This size or an error.
    Require(PageSize),
    /// This size; else the next smaller one; else ordinary pages. A fallback is told in one log line, and
    /// [`Memory::page_size`](crate::Memory::page_size) says what it came to.
    Prefer(PageSize),
}

/// Bytes of an ordinary page.
pub(crate) fn ordinary() -> usize {
    if cfg!(miri) { 4096 } else { rustix::param::page_size() }
}

/// Anonymous memory from this size on is aligned to, and advised for, transparent huge pages.
const TRANSPARENT_FROM: usize = 4 << 20;

/// Zeroed memory that belongs to this process alone.
pub(crate) fn anonymous(len: usize, align: usize) -> Result<Map> {
    let align = if len >= TRANSPARENT_FROM { align.max(PageSize::Mib2.bytes()) } else { align };
    let map =
        Map::new(Source::Anonymous, len, align, ordinary(), true).map_err(|e| refused(e, "heap", len))?;
    if len >= TRANSPARENT_FROM {
        map.advise_huge();
    }
    Ok(map)
}

/// Zeroed memory that peers will be given to map: as [`anonymous`], but behind a sealed descriptor.
pub(crate) fn lendable(len: usize, align: usize) -> Result<Map> {
    let align = if len >= TRANSPARENT_FROM { align.max(PageSize::Mib2.bytes()) } else { align };
    let map = sealed(len, align, None).map_err(|e| refused(e, "heap", len))?;
    if len >= TRANSPARENT_FROM {
        map.advise_huge();
    }
    Ok(map)
}

/// Zeroed memory behind a descriptor that can never be resized, so that whoever maps it is safe from a shrinking file.
pub(crate) fn memfd(len: usize, align: usize) -> Result<Map> {
    sealed(len, align, None).map_err(|e| refused(e, "memfd", len))
}

/// The same in huge pages, by the rule asked for.
pub(crate) fn huge(len: usize, align: usize, rule: HugePage) -> Result<Map> {
    let (wanted, strict) = match rule {
        HugePage::Require(size) => (size, true),
        HugePage::Prefer(size) => (size, false),
    };
    let mut cause = match sealed(len, align, Some(wanted)) {
        Ok(map) => return Ok(map),
        Err(cause) => cause,
    };
    let size = wanted.bytes();
    if strict {
        log::error!(target: "softdpu::memory",
            "hugepage memory of {len} bytes: needs {} pages of {size} bytes, the system has not that many free ({cause}); \
             see /sys/kernel/mm/hugepages", len.div_ceil(size));
        return Err(Error::new(code(cause), "no huge pages of the required size"));
    }
    for smaller in [Some(PageSize::Mib2), None] {
        if smaller == Some(wanted) {
            continue;
        }
        match sealed(len, align, smaller) {
            Ok(map) => {
                log::warn!(target: "softdpu::memory",
                    "hugepage memory of {len} bytes: no {} pages of {size} bytes free ({cause}); took pages of {} bytes",
                    len.div_ceil(size), map.page());
                if smaller.is_none() {
                    map.advise_huge();
                }
                return Ok(map);
            }
            Err(e) => cause = e,
        }
    }
    Err(refused(cause, "hugepage", len))
}

fn sealed(len: usize, align: usize, size: Option<PageSize>) -> Result<Map, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let (flags, page) = match size {
        None => (flags, ordinary()),
        Some(PageSize::Mib2) => (flags | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB, PageSize::Mib2.bytes()),
        Some(PageSize::Gib1) => (flags | MemfdFlags::HUGETLB | MemfdFlags::HUGE_1GB, PageSize::Gib1.bytes()),
    };
    let whole = len.checked_next_multiple_of(page).ok_or(Errno::NOMEM)?;
    let fd: OwnedFd = rustix::fs::memfd_create(c"softdpu", flags)?;
    rustix::fs::ftruncate(&fd, whole as u64).map_err(|e| if e == Errno::INVAL { Errno::NOMEM } else { e })?;
    rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Map::new(Source::Descriptor(fd, 0), len, align, page, true)
}

/// Number of the file system of huge pages.
const HUGETLBFS: u64 = 0x9584_58f6;

/// Bytes of the pages of a file.
pub(crate) fn of_file(file: impl AsFd) -> Result<usize, Errno> {
    let system = rustix::fs::fstatfs(file)?;
    Ok(if system.f_type as u64 == HUGETLBFS { system.f_bsize as usize } else { ordinary() })
}

/// Maps a range of a file, wherever it begins. The file has all of it.
pub(crate) fn window(fd: OwnedFd, from: u64, len: usize, align: usize, writable: bool) -> Result<Map, Errno> {
    let unit = of_file(&fd)?;
    // Mappings begin at pages; the bytes before the range stay outside the memory.
    let lead = (from % unit as u64) as usize;
    let whole = len.checked_add(lead).ok_or(Errno::NOMEM)?;
    let align = if lead == 0 { align } else { 1 };
    Ok(Map::new(Source::Descriptor(fd, from - lead as u64), whole, align, unit, writable)?.narrow(lead))
}

/// The status that stands for a failed system call.
pub(crate) fn code(cause: Errno) -> Code {
    match cause {
        Errno::NOMEM | Errno::NOSPC | Errno::FBIG | Errno::OVERFLOW | Errno::MFILE | Errno::NFILE => {
            Code::NoMemory
        }
        Errno::ACCESS | Errno::PERM => Code::NotPermitted,
        Errno::INVAL | Errno::NODEV | Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOENT => Code::NotSupported,
        _ => Code::OperatingSystem,
    }
}

#[cold]
pub(crate) fn refused(cause: Errno, kind: &str, len: usize) -> Error {
    log::error!(target: "softdpu::memory", "{kind} memory of {len} bytes: the system refused it: {cause}");
    Error::new(code(cause), "the system refused the memory")
}
