//! The file behind exported memory, for importers that map it.
//!
//! Memory can be mapped by others when it lies in a file that nobody can cut short under their feet: a memfd that is
//! sealed against shrinking, or that may be sealed now, or a dmabuf. The library's own memory is of that kind; memory of
//! the program is looked up among the process's mappings. Other files, POSIX shared memory among them, only where the
//! topology says that their users are trusted (`trust_shm`).

use crate::map::Map;
use crate::page;
use crate::procmaps::{self, Behind};
use rustix::fs::{Mode, OFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fcntl_getfl, fstat, open};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A descriptor for importers, and where in its file the memory begins.
#[derive(Debug)]
pub(crate) struct Backing {
    pub(crate) fd: OwnedFd,
    pub(crate) offset: u64,
}

impl Backing {
    /// For the mapped bytes `[at, at + len)`; `known` is what the library itself mapped them from. With `writes` the
    /// descriptor can be mapped for writing, without it cannot. `None` when importers have to copy.
    pub(crate) fn find(
        known: Option<(BorrowedFd<'_>, u64)>,
        (at, len): (usize, usize),
        writes: bool,
        trust: bool,
    ) -> Option<Backing> {
        let (fd, offset) = match known {
            Some((fd, offset)) => (reopen(fd, writes)?, offset),
            None => {
                let behind = procmaps::behind(at, len)?;
                (descriptor(&behind, writes)?, behind.offset)
            }
        };
        stays(fd.as_fd(), trust).then_some(Backing { fd, offset })
    }
}

/// Maps what a peer handed over; `None`, with one log line, when it cannot be mapped or could be cut short.
pub(crate) fn map(fd: OwnedFd, offset: u64, len: usize, writes: bool, trust: bool) -> Option<Map> {
    let refuse = |line: std::fmt::Arguments<'_>| {
        log::warn!(target: "softdpu::mmap", "memory of another process, {len} bytes, is not mapped here: {line}");
        None
    };
    if !is_fixed(fd.as_fd()) && !trust {
        return refuse(format_args!("its file can be cut short"));
    }
    let size = rustix::fs::seek(&fd, rustix::fs::SeekFrom::End(0)).unwrap_or(0);
    if offset.checked_add(len as u64).is_none_or(|end| end > size) {
        return refuse(format_args!("[{offset}, +{len}) leaves its file of {size} bytes"));
    }
    match page::window(fd, offset, len, 1, writes) {
        Ok(map) => Some(map),
        Err(error) => refuse(format_args!("{error}")),
    }
}

/// Can nobody make it shorter?
pub(crate) fn is_fixed(fd: BorrowedFd<'_>) -> bool {
    fcntl_get_seals(fd).is_ok_and(|seals| seals.contains(SealFlags::SHRINK)) || is_dmabuf(fd)
}

/// File system of dmabufs.
const DMABUF: u64 = 0x444d_4142;

/// Dmabufs have a file system of their own; kernels before 5.3 name them as no path can be. Names say nothing: files of
/// programs may be called anything.
pub(crate) fn is_dmabuf(fd: BorrowedFd<'_>) -> bool {
    rustix::fs::fstatfs(fd).is_ok_and(|about| about.f_type as u64 == DMABUF)
        || std::fs::read_link(link(fd)).is_ok_and(|link| link.as_os_str() == "anon_inode:dmabuf")
}

/// Can nobody make it shorter from now on? Seals it if that is allowed.
fn stays(fd: BorrowedFd<'_>, trust: bool) -> bool {
    if is_fixed(fd) || trust {
        return true;
    }
    // Sealing needs a descriptor that can write.
    let sealed = match fcntl_getfl(fd) {
        Ok(mode) if mode & OFlags::RWMODE == OFlags::RDWR => fcntl_add_seals(fd, SealFlags::SHRINK),
        _ => open(link(fd), OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .and_then(|fd| fcntl_add_seals(fd, SealFlags::SHRINK)),
    };
    sealed.is_ok() && is_fixed(fd)
}

fn link(fd: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

/// The same file, with a descriptor of the rights that are to be handed on.
fn reopen(fd: BorrowedFd<'_>, writes: bool) -> Option<OwnedFd> {
    let can_write = fcntl_getfl(fd).is_ok_and(|mode| mode & OFlags::RWMODE == OFlags::RDWR);
    if can_write == writes {
        return fd.try_clone_to_owned().ok();
    }
    by_path(&link(fd), writes).ok()
}

fn by_path(path: &str, writes: bool) -> Result<OwnedFd, Errno> {
    let mode = if writes { OFlags::RDWR } else { OFlags::RDONLY };
    open(path, mode | OFlags::CLOEXEC, Mode::empty())
}

/// A descriptor for the file behind a mapping of this process: by the mapping itself where the kernel allows that,
/// else by a descriptor that the program still has open.
fn descriptor(behind: &Behind, writes: bool) -> Option<OwnedFd> {
    let (from, to) = behind.mapping;
    let same = |fd: &OwnedFd| {
        fstat(fd).is_ok_and(|about| {
            let device = (rustix::fs::major(about.st_dev), rustix::fs::minor(about.st_dev));
            (device, about.st_ino) == (behind.device, behind.inode)
        })
    };
    let by_mapping = by_path(&format!("/proc/self/map_files/{from:x}-{to:x}"), writes).ok();
    if let Some(fd) = by_mapping.filter(same) {
        return Some(fd);
    }
    let names = std::fs::read_dir("/proc/self/fd")
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let paths = names.map(|name| format!("/proc/self/fd/{name}"));
    let is_file = |path: &String| {
        use std::os::unix::fs::MetadataExt;
        // Opening something else of the same number could wait (a pipe), or do something (a device).
        std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.ino() == behind.inode)
    };
    paths.filter(is_file).find_map(|path| by_path(&path, writes).ok().filter(same))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Source;
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    const LEN: usize = 3 * 4096;

    fn memfd(flags: MemfdFlags) -> OwnedFd {
        let fd = memfd_create("softdpu-test", MemfdFlags::CLOEXEC | flags).unwrap();
        ftruncate(&fd, LEN as u64).unwrap();
        fd
    }

    fn mapped(fd: &OwnedFd) -> Map {
        Map::new(Source::Descriptor(fd.try_clone().unwrap(), 0), LEN, 1, 4096, true).unwrap()
    }

    fn rights(backing: &Backing) -> OFlags {
        fcntl_getfl(&backing.fd).unwrap() & OFlags::RWMODE
    }

    #[test]
    fn a_mapping_of_the_program_is_found_and_sealed() {
        let fd = memfd(MemfdFlags::ALLOW_SEALING);
        let map = mapped(&fd);
        for writes in [true, false] {
            let found = Backing::find(None, (map.addr() + 100, 5000), writes, false).unwrap();
            assert_eq!(
                (found.offset, rights(&found)),
                (100, if writes { OFlags::RDWR } else { OFlags::RDONLY })
            );
            rustix::io::pwrite(&fd, b"same file", 100).unwrap();
            let mut bytes = [0; 9];
            rustix::io::pread(&found.fd, &mut bytes, found.offset).unwrap();
            assert_eq!(&bytes, b"same file");
        }
        assert_eq!(ftruncate(&fd, 0), Err(Errno::PERM), "sealed");
    }

    #[test]
    fn what_can_be_cut_short_is_not_lent_unless_trusted() {
        let fd = memfd(MemfdFlags::empty());
        let here = mapped(&fd);
        let range = (here.addr(), LEN);
        assert!(Backing::find(None, range, true, false).is_none(), "a memfd that may not be sealed");
        assert!(Backing::find(None, range, true, true).is_some());
        let heap = vec![0u8; LEN];
        assert!(Backing::find(None, (heap.as_ptr() as usize, LEN), true, true).is_none(), "no file at all");
        // The importer looks for itself.
        let again = || fd.try_clone().unwrap();
        assert!(map(again(), 0, LEN, true, false).is_none());
        assert!(map(again(), 0, LEN, true, true).is_some());
        assert!(map(again(), 4096, LEN, true, true).is_none(), "leaves the file");
        assert!(map(again(), u64::MAX, LEN, true, true).is_none());
    }

    #[test]
    fn a_read_only_descriptor_cannot_be_mapped_for_writing() {
        let fd = memfd(MemfdFlags::ALLOW_SEALING);
        let found = Backing::find(Some((fd.as_fd(), 4096)), (0, 0), false, false).unwrap();
        assert_eq!((rights(&found), found.offset), (OFlags::RDONLY, 4096));
        assert!(map(found.fd.try_clone().unwrap(), found.offset, 100, true, false).is_none());
        assert!(map(found.fd, found.offset, 100, false, false).is_some());
    }

    /// A name is whatever the peer likes, and says nothing of the file.
    #[test]
    fn what_is_merely_called_a_dmabuf_is_none() {
        let fd = memfd_create("dmabuf", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&fd, LEN as u64).unwrap();
        assert!(!is_dmabuf(fd.as_fd()) && map(fd, 0, LEN, true, false).is_none(), "a memfd that may shrink");
        let path = std::env::temp_dir().join(format!("softdpu-dmabuf:{}", std::process::id()));
        let file = std::fs::File::options().create_new(true).read(true).write(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.set_len(LEN as u64).unwrap();
        assert!(!is_dmabuf(file.as_fd()), "an ordinary file");
        assert!(map(file.into(), 0, LEN, true, false).is_none());
    }
}
