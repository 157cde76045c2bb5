//! Kinds of memory that a map may be given, and what is not memory at all.
#![allow(unsafe_code, reason = "calls the C face and makes mappings")]

#[macro_use]
mod dev_common;
mod memory_common;

use dev_common::*;
use memory_common::*;
use softdpu_c::inventory::*;
use softdpu_c::mmap::*;
use softdpu_memory::region::CAN_WRITE;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A mapping made for a test.
struct Mapping {
    at: *mut u8,
    len: usize,
}

impl Mapping {
    fn new(len: usize, protection: i32, flags: i32, fd: RawFd) -> std::io::Result<Mapping> {
        // SAFETY: a new mapping, wherever the system wants it.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, fd, 0) };
        if at == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Mapping { at: at.cast(), len })
    }

    fn anonymous(len: usize) -> Mapping {
        Mapping::new(len, RW, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1).unwrap()
    }

    fn file(fd: &impl AsRawFd, len: usize, protection: i32, flags: i32) -> Mapping {
        Mapping::new(len, protection, flags, fd.as_raw_fd()).unwrap()
    }

    fn protect(&self, from: usize, len: usize, protection: i32) {
        // SAFETY: inside the mapping, which nothing refers to.
        assert_eq!(unsafe { libc::mprotect(self.at.add(from).cast(), len, protection) }, 0);
    }

    fn unmap(&self, from: usize, len: usize) {
        // SAFETY: inside the mapping, which nothing refers to.
        assert_eq!(unsafe { libc::munmap(self.at.add(from).cast(), len) }, 0);
    }

    fn range(&self) -> (usize, usize) {
        (self.at as usize, self.len)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: ours, and whole: a mapping with a hole is forgotten instead, since others may live in the hole.
        unsafe { libc::munmap(self.at.cast(), self.len) };
    }
}

const RW: i32 = libc::PROT_READ | libc::PROT_WRITE;
const R: i32 = libc::PROT_READ;
const PAGE: usize = 4096;

/// Starts a map over a range. What devices may then do: `Ok(may write)`, or the status of start.
fn start((base, len): (usize, usize)) -> Result<bool, (i32, String)> {
    let dev = open(CARD);
    let map = create();
    c! {
        ok(doca_mmap_set_memrange(map, base as *mut _, len));
        ok(doca_mmap_add_dev(map, dev));
    }
    lines();
    let status = c! { doca_mmap_start(map) };
    let result = if status == SUCCESS {
        let inventory = inventory(1);
        let buf = take(inventory, map, base, len, base, 0).unwrap();
        let writes = word(buf) & CAN_WRITE != 0;
        drop_buf(buf);
        ok(c! { doca_buf_inventory_destroy(inventory) });
        ok(c! { doca_mmap_stop(map) });
        Ok(writes)
    } else {
        let mut said: Vec<_> = lines().into_iter().filter(|line| line.starts_with("ERROR")).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        Err((status, said.remove(0)))
    };
    destroy(map);
    close(dev);
    result
}

fn memfd(len: u64) -> File {
    // SAFETY: a terminated name; the descriptor is new and ours.
    let fd = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"softdpu-test".as_ptr(), 0)) };
    let file = File::from(fd);
    file.set_len(len).unwrap();
    file
}

/// A file of some bytes whose name is gone already.
fn plain_file(len: usize) -> File {
    let path = std::env::temp_dir().join(format!("softdpu-kinds-{}-{:p}", std::process::id(), &len));
    let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    file.write_all(&vec![7; len]).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

#[test]
fn heap_stack_and_constants() {
    setup();
    let heap = vec![0u8; 3 << 20];
    let odd = &heap[123..4567];
    assert_eq!(start((heap.as_ptr() as usize, heap.len())), Ok(true));
    assert_eq!(start((odd.as_ptr() as usize, odd.len())), Ok(true));
    let stack = [0u8; 100];
    assert_eq!(start((stack.as_ptr() as usize, stack.len())), Ok(true));
    static CONSTANT: [u8; 300] = [1; 300];
    assert_eq!(start((CONSTANT.as_ptr() as usize, CONSTANT.len())), Ok(false), "read-only data");
}

#[test]
fn files_memfds_and_shared_memory() {
    setup();
    let file = plain_file(3 * PAGE);
    let shared = Mapping::file(&file, 3 * PAGE, RW, libc::MAP_SHARED);
    assert_eq!(start(shared.range()), Ok(true));
    let private = Mapping::file(&file, 3 * PAGE, RW, libc::MAP_PRIVATE);
    assert_eq!(start(private.range()), Ok(true));
    let read_only = Mapping::file(&file, 3 * PAGE, R, libc::MAP_SHARED);
    assert_eq!(start(read_only.range()), Ok(false));
    let memory = Mapping::file(&memfd(2 * PAGE as u64), 2 * PAGE, RW, libc::MAP_SHARED);
    assert_eq!(start(memory.range()), Ok(true));

    let name = std::ffi::CString::new(format!("/softdpu-kinds-{}", std::process::id())).unwrap();
    // SAFETY: a terminated name.
    let fd = unsafe { libc::shm_open(name.as_ptr(), libc::O_CREAT | libc::O_EXCL | libc::O_RDWR, 0o600) };
    if fd < 0 {
        println!("skipped: POSIX shared memory: {}", std::io::Error::last_os_error());
        return;
    }
    // SAFETY: the descriptor is new and ours.
    let shm = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    // SAFETY: a terminated name.
    unsafe { libc::shm_unlink(name.as_ptr()) };
    shm.set_len(PAGE as u64).unwrap();
    let shared = Mapping::file(&shm, PAGE, RW, libc::MAP_SHARED);
    assert_eq!(start(shared.range()), Ok(true));
}

#[test]
fn hugepages() {
    setup();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB;
    match Mapping::new(2 << 20, RW, flags, -1) {
        Ok(huge) => assert_eq!(start(huge.range()), Ok(true)),
        Err(error) => println!("skipped: no hugepages: {error}"),
    }
}

#[test]
fn holes_are_named() {
    setup();
    let (status, line) = start((PAGE, PAGE)).unwrap_err();
    assert_eq!(status, DRIVER);
    assert!(line.contains("not mapped"), "{line}");

    let mapping = Mapping::anonymous(4 * PAGE);
    mapping.protect(PAGE, PAGE, libc::PROT_NONE);
    let (status, line) = start(mapping.range()).unwrap_err();
    let from = mapping.at as usize + PAGE;
    assert_eq!(status, DRIVER);
    assert!(
        line.contains("without read access") && line.contains(&format!("[{from:#x}, {:#x})", from + PAGE)),
        "{line}"
    );
    assert_eq!(start((mapping.at as usize, PAGE)), Ok(true));
    mapping.protect(PAGE, PAGE, R);
    assert_eq!(start(mapping.range()), Ok(false), "one read-only page makes the range read-only");
    mapping.protect(PAGE, PAGE, RW);
    assert_eq!(start(mapping.range()), Ok(true));

    // Other threads may map something into the hole before the map is started; then there is none.
    for _ in 0..100 {
        let mapping = Mapping::anonymous(4 * PAGE);
        mapping.unmap(2 * PAGE, PAGE);
        let from = mapping.at as usize + 2 * PAGE;
        let result = start(mapping.range());
        std::mem::forget(mapping);
        if let Err((status, line)) = result {
            assert_eq!(status, DRIVER);
            assert!(line.contains(&format!("[{from:#x}, {:#x}) is not mapped", from + PAGE)), "{line}");
            return;
        }
    }
    panic!("a hole was never seen");
}

#[test]
fn a_mapping_beyond_the_end_of_its_file_is_a_hole_and_no_signal() {
    setup();
    let file = plain_file(PAGE + 10);
    let mapping = Mapping::file(&file, 4 * PAGE, RW, libc::MAP_SHARED);
    let (status, line) = start(mapping.range()).unwrap_err();
    assert_eq!(status, DRIVER);
    assert!(line.contains("end of the file"), "{line}");
    assert_eq!(start((mapping.at as usize, 2 * PAGE)), Ok(true), "the rest of the last page is there");
    let short = memfd(PAGE as u64);
    let mapping = Mapping::file(&short, 2 * PAGE, RW, libc::MAP_SHARED);
    assert_eq!(start(mapping.range()).unwrap_err().0, DRIVER);
}

/// Pages that are in memory, of this process.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn large_ranges_are_not_touched() {
    setup();
    let len = 5 << 30;
    let large = Mapping::anonymous(len);
    let before = resident();
    assert_eq!(start(large.range()), Ok(true));
    let grown = resident().saturating_sub(before);
    assert!(grown * PAGE < 64 << 20, "{grown} pages");
}

#[test]
fn the_bytes_of_an_export_can_be_a_range() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let map = started(dev, &memory, PCI_READ_ONLY);
    let (mut desc, mut len) = (std::ptr::null(), 0);
    ok(c! { doca_mmap_export_pci(map, dev, &mut desc, &mut len) });
    assert_eq!(start((desc as usize, len)), Ok(true));
    destroy(map);
    close(dev);
}
