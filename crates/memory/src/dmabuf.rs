//! Memory that somebody else owns and hands over as a file descriptor: a dmabuf, or a memfd that stands in for one.
//!
//! The bytes are mapped here for the engines; programs go on naming them by whatever address they chose.

use crate::backing::{self, Backing};
use crate::map::Map;
use crate::memory::Memory;
use crate::page;
use crate::udmabuf;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A range of a dmabuf, not mapped yet. It has a descriptor of its own, so the program may close the one it gave.
#[derive(Debug)]
pub struct DmabufRange {
    fd: OwnedFd,
    offset: u64,
    len: usize,
}

/// A range of a dmabuf, mapped here until it is dropped.
#[derive(Debug)]
pub struct DmabufMap(Map);

fn refuse(code: Code, what: &'static str, line: std::fmt::Arguments<'_>) -> Error {
    log::error!(target: "softdpu::mmap", "{line}");
    Error::new(code, what)
}

impl DmabufRange {
    /// Bytes `[offset, offset + len)` of the memory behind `fd`.
    ///
    /// # Errors
    /// NotSupported: the descriptor is neither a dmabuf nor a memfd that cannot shrink any more (memory that its owner
    /// can take away under a running engine is not taken). InvalidValue: the range is empty or leaves the memory.
    /// OperatingSystem: the descriptor could not be duplicated.
    pub fn new(fd: BorrowedFd<'_>, offset: usize, len: usize) -> Result<DmabufRange> {
        if !backing::is_fixed(fd) {
            return Err(refuse(
                Code::NotSupported,
                "no dmabuf",
                format_args!("descriptor {fd:?} is no dmabuf, nor a memfd sealed against shrinking"),
            ));
        }
        let size = rustix::fs::seek(fd, rustix::fs::SeekFrom::End(0)).unwrap_or(0);
        let end = (offset as u64).checked_add(len as u64);
        if len == 0 || end.is_none_or(|end| end > size) {
            return Err(refuse(
                Code::InvalidValue,
                "the range leaves the dmabuf",
                format_args!("dmabuf {fd:?}: [{offset}, +{len}) leaves its {size} bytes"),
            ));
        }
        let fd = fd.try_clone_to_owned().map_err(|e| {
            refuse(
                Code::OperatingSystem,
                "no descriptor",
                format_args!("dmabuf {fd:?} cannot be duplicated: {e}"),
            )
        })?;
        Ok(DmabufRange { fd, offset: offset as u64, len })
    }

    /// Maps it, for reading and, where the descriptor allows it, writing.
    ///
    /// # Errors
    /// NotSupported: memory without a mapping for processors. Driver: the mapping failed otherwise.
    pub fn map(&self) -> Result<DmabufMap> {
        let failed = |e: Errno| {
            let code = if e == Errno::NODEV { Code::NotSupported } else { Code::Driver };
            refuse(
                code,
                "the dmabuf cannot be mapped",
                format_args!("dmabuf {:?}: mapping failed: {e}", self.fd),
            )
        };
        let fd = || self.fd.try_clone().map_err(|e| failed(Errno::from_io_error(&e).unwrap_or(Errno::IO)));
        let writable = fcntl_getfl(&self.fd).is_ok_and(|mode| mode & OFlags::RWMODE == OFlags::RDWR);
        if writable {
            match page::window(fd()?, self.offset, self.len, 1, true) {
                Err(Errno::PERM | Errno::ACCESS) => {}
                outcome => return outcome.map(DmabufMap).map_err(failed),
            }
        }
        page::window(fd()?, self.offset, self.len, 1, false).map(DmabufMap).map_err(failed)
    }
}

impl DmabufMap {
    /// Where the first byte stands in this process.
    pub fn addr(&self) -> usize {
        self.0.addr()
    }

    /// The descriptor behind the bytes, and where in its memory the first byte is.
    pub fn backing(&self) -> Option<(BorrowedFd<'_>, u64)> {
        self.0.backing()
    }

    pub(crate) fn into_map(self) -> Map {
        self.0
    }
}

impl AsFd for DmabufRange {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Memory to be handed over as a dmabuf: see [`Memory::export_dmabuf`](crate::Memory::export_dmabuf). An owned
/// descriptor; the memory behind it stays as long as somebody has it.
#[derive(Debug)]
pub struct Dmabuf {
    fd: OwnedFd,
    offset: u64,
    real: bool,
}

impl Dmabuf {
    /// Is it a dmabuf of the kernel, which devices import, too? Otherwise it is a memory file sealed against shrinking,
    /// which other processes map in the same way.
    pub fn is_real(&self) -> bool {
        self.real
    }

    /// Of memory of the program, the mapped bytes `[at, at + len)`.
    ///
    /// # Errors
    /// NotSupported (not one stretch of a file that nobody can cut short), OperatingSystem. One log line names `object`.
    pub fn of_program(object: &dyn std::fmt::Display, at: usize, len: usize) -> Result<Dmabuf> {
        let found = Backing::find(None, (at, len), true, false);
        let page = found.as_ref().and_then(|found| page::of_file(&found.fd).ok()).unwrap_or(1);
        Dmabuf::of(object, found.as_ref().map(|found| (found.fd.as_fd(), found.offset)), len, page)
    }

    /// Where in it the memory begins: 0 for real ones.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn of(
        object: &dyn std::fmt::Display,
        backing: Option<(BorrowedFd<'_>, u64)>,
        len: usize,
        page: usize,
    ) -> Result<Dmabuf> {
        let Some((fd, offset)) = backing.filter(|(fd, _)| backing::is_fixed(*fd)) else {
            return Err(refuse(
                Code::NotSupported,
                "no dmabuf of this memory",
                format_args!("{object}: has no file that nobody can cut short, hence makes no dmabuf"),
            ));
        };
        if offset % page as u64 == 0 {
            let whole = len.next_multiple_of(page) as u64;
            match udmabuf::create(fd, offset, whole) {
                Ok(fd) => return Ok(Dmabuf { fd, offset: 0, real: true }),
                Err(error) => log::debug!(target: "softdpu::memory",
                    "{object}: no dmabuf of the kernel ({error}), its memory file is handed over instead"),
            }
        }
        let fd = fd.try_clone_to_owned().map_err(|e| {
            refuse(Code::OperatingSystem, "no descriptor", format_args!("{object}: no descriptor: {e}"))
        })?;
        let real = backing::is_dmabuf(fd.as_fd());
        Ok(Dmabuf { fd, offset, real })
    }
}

impl AsFd for Dmabuf {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl From<Dmabuf> for OwnedFd {
    fn from(dmabuf: Dmabuf) -> OwnedFd {
        dmabuf.fd
    }
}

impl Memory {
    /// The memory as a dmabuf, to hand to another process or device: a real one of the kernel where it makes them of
    /// memory files (`/dev/udmabuf`), otherwise the sealed memory file itself, which every process can map in the same
    /// way. [`Dmabuf::is_real`] says which. Only shared memory is given away, of which the library has a descriptor.
    ///
    /// # Errors
    /// NotPermitted (private memory), NotSupported (memory without a descriptor, or one that could be cut short),
    /// OperatingSystem.
    pub fn export_dmabuf(&self) -> Result<Dmabuf> {
        let object = format_args!("memory {:#x}", self.host_addr());
        if !self.is_shared() {
            log::error!(target: "softdpu::memory", "{object}: {:?} makes it private, it is not given away as a dmabuf",
                self.access());
            return Err(Error::new(Code::NotPermitted, "private memory"));
        }
        Dmabuf::of(&object, self.backing(), self.len(), self.page_size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, SealFlags, ftruncate, memfd_create};

    fn memfd(len: u64, seal: bool) -> OwnedFd {
        let fd = memfd_create("softdpu-test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&fd, len).unwrap();
        if seal {
            rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK).unwrap();
        }
        fd
    }

    #[test]
    fn a_sealed_memfd_stands_in_for_a_dmabuf() {
        let fd = memfd(65536, true);
        let code = |offset, len| DmabufRange::new(fd.as_fd(), offset, len).map(|_| ()).map_err(|e| e.code());
        assert_eq!(code(0, 65536), Ok(()));
        assert_eq!(code(4097, 61439), Ok(()));
        assert_eq!(code(0, 65537), Err(Code::InvalidValue));
        assert_eq!(code(65536, 1), Err(Code::InvalidValue));
        assert_eq!(code(usize::MAX, 2), Err(Code::InvalidValue));
        assert_eq!(code(0, 0), Err(Code::InvalidValue));
        rustix::io::pwrite(&fd, b"odd offsets work", 4097).unwrap();
        let map = DmabufRange::new(fd.as_fd(), 4097, 16).unwrap().map().unwrap();
        assert_eq!(map.addr() % 4096, 1);
        assert_eq!(map.0.len(), 16);
    }

    #[test]
    fn memory_that_can_shrink_is_refused() {
        let fd = memfd(4096, false);
        assert_eq!(DmabufRange::new(fd.as_fd(), 0, 4096).unwrap_err().code(), Code::NotSupported);
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert_eq!(DmabufRange::new(file.as_fd(), 0, 16).unwrap_err().code(), Code::NotSupported);
    }
}
