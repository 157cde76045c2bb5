//! Kinds of memory: where the bytes come from, what is promised of each, what is refused.
#![cfg(not(miri))]
#![expect(unsafe_code, reason = "memory of the program is registered on its word")]

mod common;

use common::device;
use softdpu_memory::buf::Lend;
use softdpu_memory::region::{CAN_READ, CAN_WRITE, SHARED};
use softdpu_memory::{Access, HugePage, Memory, PageSize};
use softdpu_status::Code;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("softdpu-{}-{name}", std::process::id()))
}

/// Zero at birth, writable to the last byte.
fn check_fresh(memory: &Memory) {
    let len = memory.len();
    let mut buf = memory.buf(..).unwrap();
    let mut ends = [7; 2];
    buf.read_at(0, &mut ends[..1]).unwrap();
    buf.read_at(len - 1, &mut ends[1..]).unwrap();
    assert_eq!(ends, [0, 0]);
    buf.write_at(len - 1, b"z").unwrap();
    buf.read_at(len - 1, &mut ends[..1]).unwrap();
    assert_eq!(ends[0], b'z');
    buf.write_at(len - 1, b"\0").unwrap();
}

#[test]
fn heap_is_private_aligned_and_zero() {
    let dev = device(0);
    for (len, align) in [(1, 1), (4097, 1), (5000, 4096), (10, 1 << 16), (4 << 20, 8), (5 << 20, 1 << 23)] {
        let memory = Memory::heap(len).align(align).register(&[&dev]).unwrap();
        assert_eq!((memory.len(), memory.host_addr() % align, memory.host_addr() % 4096), (len, 0, 0));
        assert!(!memory.is_shared() && memory.is_writable() && memory.fd().is_none());
        assert_eq!(memory.access(), Access::LOCAL_READ_ONLY);
        assert_eq!(memory.as_ptr() as usize, memory.host_addr());
        if len >= 4 << 20 {
            assert_eq!(memory.host_addr() % (2 << 20), 0, "fit for transparent huge pages");
        }
        check_fresh(&memory);
    }
}

/// Aligned places are looked for in steps that other threads see.
#[test]
fn many_threads_find_aligned_places_at_once() {
    let dev = device(0);
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let dev = &dev;
            scope.spawn(move || {
                for round in 0..200 {
                    let align = 2 << (20 + (thread + round) % 3);
                    let memory = Memory::heap(4 << 20).align(align).register(&[dev]).unwrap();
                    assert_eq!(memory.host_addr() % align, 0);
                }
            });
        }
    });
}

#[test]
fn large_memory_is_not_touched() {
    let dev = device(0);
    let resident = || {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * rustix::param::page_size()
    };
    for builder in [Memory::heap((1 << 30) + 4097), Memory::memfd((1 << 30) + 4097)] {
        let before = resident();
        let memory = match builder.access(Access::LOCAL_READ_WRITE).register(&[&dev]) {
            Ok(memory) => memory,
            Err(e) => {
                assert_eq!(e.code(), Code::NoMemory);
                println!("skipped: this machine has no 1 GiB to give");
                continue;
            }
        };
        assert!(resident() < before + (256 << 20), "pages came before they were used");
        check_fresh(&memory);
    }
}

#[test]
fn too_much_is_an_error_and_so_is_nothing() {
    let dev = device(0);
    for len in [usize::MAX, usize::MAX / 2, 1 << 62, 1 << 48] {
        for builder in [Memory::heap(len), Memory::heap(len).align(1 << 30), Memory::memfd(len)] {
            assert_eq!(builder.register(&[&dev]).unwrap_err().code(), Code::NoMemory, "{len:#x}");
        }
        let rule = HugePage::Prefer(PageSize::Gib1);
        assert_eq!(
            Memory::hugepage(len, rule).register(&[&dev]).unwrap_err().code(),
            Code::NoMemory,
            "{len:#x}"
        );
    }
    let nothing = [
        Memory::heap(0),
        Memory::memfd(0),
        Memory::hugepage(0, HugePage::Prefer(PageSize::Mib2)),
        Memory::vec(Vec::new()),
    ];
    for builder in nothing {
        assert_eq!(builder.register(&[&dev]).unwrap_err().code(), Code::InvalidValue);
    }
}

#[test]
fn builders_refuse_nonsense() {
    let dev = device(0);
    let code = |r: softdpu_status::Result<Memory>| r.unwrap_err().code();
    assert_eq!(
        code(Memory::heap(64).register::<Arc<softdpu_memory::device::Device>>(&[])),
        Code::InvalidValue
    );
    for align in [0, 3, 4095] {
        assert_eq!(code(Memory::heap(64).align(align).register(&[&dev])), Code::InvalidValue);
    }
    assert_eq!(code(Memory::heap(64).align(1 << 63).register(&[&dev])), Code::NoMemory);
    let both = Access::PCI_READ_ONLY | Access::PCI_READ_WRITE;
    assert_eq!(code(Memory::heap(64).access(both).register(&[&dev])), Code::InvalidValue);
}

#[test]
fn rights_become_the_access_word() {
    let dev = device(0);
    for (access, writes, shared) in [
        (Access::LOCAL_READ_ONLY, 0, 0),
        (Access::LOCAL_READ_WRITE, CAN_WRITE, 0),
        (Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE, CAN_WRITE, SHARED),
        (Access::RDMA_READ, 0, SHARED),
    ] {
        let memory = Memory::heap(64).access(access).register(&[&dev]).unwrap();
        assert_eq!(memory.is_shared(), shared != 0);
        let word = memory.buf(..32).unwrap().node().region().word();
        assert_eq!(word & (CAN_READ | CAN_WRITE | SHARED), CAN_READ | writes | shared, "{access:?}");
        assert_eq!(
            memory.alias(32..).unwrap().node().region().word(),
            word | SHARED,
            "aliases count as shared"
        );
    }
}

#[test]
fn devices_have_keys_and_addresses_of_their_own() {
    let (one, two, three) = (device(0), device(1), device(2));
    let memory = Memory::heap(64).register(&[&one, &two, &one]).unwrap();
    assert_ne!(memory.mkey(&one).unwrap(), memory.mkey(&two).unwrap());
    assert_ne!(memory.device_addr(&one).unwrap(), memory.host_addr() as u64);
    assert_eq!(memory.mkey(&three).unwrap_err().code(), Code::NotFound);
    assert_eq!(memory.device_addr(&three).unwrap_err().code(), Code::NotFound);
    let word = memory.buf(..).unwrap().node().region().word();
    assert_eq!(word & (one.bit() | two.bit() | three.bit()), one.bit() | two.bit());
    // The memory keeps its devices open.
    let (id, fresh) = (one.id(), device(3));
    drop(one);
    assert_ne!(fresh.id(), id);
    assert_eq!(device(0).id(), id);
}

#[test]
fn memfd_cannot_be_resized_and_shows_its_descriptor_only_when_shared() {
    let dev = device(0);
    let private = Memory::memfd(5000).register(&[&dev]).unwrap();
    assert!(private.fd().is_none() && !private.is_shared());
    check_fresh(&private);
    let shared = Memory::memfd(5000).access(Access::PCI_READ_WRITE).register(&[&dev]).unwrap();
    check_fresh(&shared);
    let fd = shared.fd().unwrap();
    for len in [0, 1 << 20] {
        assert_eq!(rustix::fs::ftruncate(fd, len), Err(rustix::io::Errno::PERM));
    }
    // Whoever has the descriptor sees the same bytes.
    shared.buf(..).unwrap().write_at(17, b"same").unwrap();
    let mut bytes = [0; 4];
    rustix::io::pread(fd, &mut bytes, 17).unwrap();
    assert_eq!(&bytes, b"same");
}

#[test]
fn hugepages_by_rule() {
    let dev = device(0);
    let ordinary = rustix::param::page_size();
    for size in [PageSize::Mib2, PageSize::Gib1] {
        let len = 3 << 20;
        match Memory::hugepage(len, HugePage::Require(size)).register(&[&dev]) {
            Ok(memory) => {
                assert_eq!((memory.page_size(), memory.len()), (size.bytes(), len));
                assert_eq!(memory.host_addr() % size.bytes(), 0);
                if size == PageSize::Mib2 {
                    check_fresh(&memory);
                }
            }
            Err(e) => {
                assert!(matches!(e.code(), Code::NoMemory | Code::NotSupported), "{e}");
                println!("skipped: no free pages of {} bytes", size.bytes());
            }
        }
        let memory = Memory::hugepage(len, HugePage::Prefer(size)).align(1 << 21).register(&[&dev]).unwrap();
        assert!([ordinary, 2 << 20, size.bytes()].contains(&memory.page_size()));
        assert_eq!(memory.host_addr() % (2 << 20), 0);
        if memory.page_size() < 1 << 30 {
            check_fresh(&memory);
        }
    }
}

#[test]
fn a_file_is_shared_written_through_and_unmapped_at_the_end() {
    let dev = device(0);
    let path = temporary("written");
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    file.write_all(&[b'.'; 10_000]).unwrap();
    let mapped = || std::fs::read_to_string("/proc/self/maps").unwrap().contains(path.to_str().unwrap());

    // From the middle of a page to the middle of a page.
    let memory = Memory::file(file.try_clone().unwrap(), 5000..9000).register(&[&dev]).unwrap();
    assert_eq!((memory.len(), memory.host_addr() % 4096), (4000, 5000 % 4096));
    assert!(memory.is_shared() && memory.is_writable() && mapped());
    let mut buf = memory.buf(..).unwrap();
    assert!(buf.as_slice().is_none() && buf.tail_mut().is_none());
    buf.write_at(0, b"<").unwrap();
    buf.write_at(3999, b">").unwrap();
    drop((memory, buf));
    assert!(!mapped(), "the mapping is gone with its last user");
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    let marks: Vec<_> = bytes.iter().enumerate().filter(|b| *b.1 != b'.').collect();
    assert_eq!((marks, bytes.len()), (vec![(5000, &b'<'), (8999, &b'>')], 10_000));

    let code = |from: u64, to: u64, file: &File| {
        Memory::file(file.try_clone().unwrap(), from..to).register(&[&dev]).unwrap_err().code()
    };
    assert_eq!(code(0, 10_001, &file), Code::InvalidValue);
    assert_eq!(code(0, u64::MAX, &file), Code::InvalidValue);
    assert_eq!(code(7, 7, &file), Code::InvalidValue);
    let (later, earlier) = (8, 7);
    assert_eq!(code(later, earlier, &file), Code::InvalidValue);
    assert_eq!(code(0, 4096, &OpenOptions::new().write(true).open(&path).unwrap()), Code::NotPermitted);
    let aligned = |align| Memory::file(file.try_clone().unwrap(), 512..4096).align(align).register(&[&dev]);
    assert_eq!(aligned(512).unwrap().host_addr() % 512, 0);
    assert_eq!(aligned(4096).unwrap_err().code(), Code::InvalidValue);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn read_only_files_give_read_only_memory() {
    let dev = device(0);
    let path = temporary("read");
    std::fs::write(&path, b"read me").unwrap();
    let memory = Memory::file(File::open(&path).unwrap(), 0..7)
        .access(Access::LOCAL_READ_WRITE)
        .register(&[&dev])
        .unwrap();
    assert!(!memory.is_writable());
    let mut buf = memory.buf(..).unwrap();
    assert_eq!(buf.node().region().word() & (CAN_READ | CAN_WRITE), CAN_READ);
    assert_eq!(buf.write_at(0, b"x").unwrap_err().code(), Code::NotPermitted);
    assert_eq!(buf.push_slice(b"x").unwrap_err().code(), Code::NotPermitted);
    buf.set_data(..).unwrap();
    assert_eq!(buf.to_vec(), b"read me");
    std::fs::remove_file(path).unwrap();

    // The same for a memory file that is sealed against writing, though it is open for it.
    use rustix::fs::{MemfdFlags, SealFlags};
    let fd = rustix::fs::memfd_create(c"sealed", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    let mut file = File::from(fd);
    file.write_all(b"fixed").unwrap();
    rustix::fs::fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK).unwrap();
    let memory = Memory::file(file, 0..5).register(&[&dev]).unwrap();
    assert!(!memory.is_writable());
}

#[test]
fn posix_shared_memory_is_a_file() {
    let dev = device(0);
    let path = format!("/dev/shm/softdpu-test-{}", std::process::id());
    let Ok(file) = OpenOptions::new().read(true).write(true).create_new(true).open(&path) else {
        println!("skipped: no /dev/shm");
        return;
    };
    file.set_len(8192).unwrap();
    let memory = Memory::file(file, 0..8192).register(&[&dev]).unwrap();
    std::fs::remove_file(&path).unwrap();
    check_fresh(&memory);
    assert!(memory.is_shared());
}

#[test]
fn memory_goes_out_and_comes_in_as_a_dmabuf() {
    let dev = device(0);
    let shared = Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE;
    for builder in [
        Memory::heap(10_000),
        Memory::memfd(10_000),
        Memory::hugepage(10_000, HugePage::Prefer(PageSize::Mib2)),
    ] {
        let memory = builder.access(shared).register(&[&dev]).unwrap();
        let dmabuf = memory.export_dmabuf().unwrap();
        println!("real: {}", dmabuf.is_real());
        let from = dmabuf.offset();
        let fd = std::os::fd::OwnedFd::from(dmabuf);
        let again =
            |range: std::ops::Range<u64>| Memory::dmabuf(fd.try_clone().unwrap(), range).register(&[&dev]);
        let part = again(from + 4097..from + 10_000).unwrap();
        assert!(part.is_shared() && part.len() == 5903);
        part.buf(..).unwrap().write_at(0, b"both see it").unwrap();
        let mut bytes = [0; 11];
        memory.buf(..).unwrap().read_at(4097, &mut bytes).unwrap();
        assert_eq!(&bytes, b"both see it");
        for (start, end) in [(0, u64::MAX), (7, 7), (1 << 30, (1 << 30) + 1)] {
            assert_eq!(again(start..end).unwrap_err().code(), Code::InvalidValue, "{start}..{end}");
        }
        // It stays as long as somebody has it.
        drop(memory);
        part.buf(..).unwrap().read_at(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"both see it");
    }
    let private = Memory::memfd(4096).access(Access::LOCAL_READ_WRITE).register(&[&dev]).unwrap();
    assert_eq!(private.export_dmabuf().unwrap_err().code(), Code::NotPermitted);
    let vec = Memory::vec(vec![0; 4096]).access(shared).register(&[&dev]).unwrap();
    assert_eq!(vec.export_dmabuf().unwrap_err().code(), Code::NotSupported);
    let file = File::open("/proc/self/exe").unwrap();
    assert_eq!(Memory::dmabuf(file.into(), 0..16).register(&[&dev]).unwrap_err().code(), Code::NotSupported);
}

/// Counts when it goes.
struct Owner(Box<[u8]>, Arc<AtomicU32>);
impl Drop for Owner {
    fn drop(&mut self) {
        self.1.fetch_add(1, SeqCst);
    }
}

#[test]
fn memory_of_the_program_is_kept_until_the_last_buffer() {
    let dev = device(0);
    let gone = Arc::new(AtomicU32::new(0));
    let owner = Box::new(Owner(vec![5; 100].into_boxed_slice(), gone.clone()));
    let (at, len) = (NonNull::from(&*owner.0).cast(), owner.0.len());
    // SAFETY: initialised, kept by the owner, reached through the memory alone.
    let memory = unsafe { Memory::from_raw(at, len, owner) }.register(&[&dev]).unwrap();
    let mut buf = memory.buf(10..20).unwrap();
    drop(memory);
    buf.set_data(..).unwrap();
    buf.as_mut_slice().unwrap()[0] = 6;
    assert_eq!((buf.as_slice().unwrap()[..2].to_vec(), gone.load(SeqCst)), (vec![6, 5], 0));
    drop(buf);
    assert_eq!(gone.load(SeqCst), 1);

    // A refused registration lets go of the owner too.
    let owner = Box::new(Owner(vec![5; 100].into_boxed_slice(), gone.clone()));
    let at = NonNull::from(&*owner.0).cast();
    // SAFETY: as above.
    let refused =
        unsafe { Memory::from_raw(at, len, owner) }.register::<Arc<softdpu_memory::device::Device>>(&[]);
    assert_eq!((refused.unwrap_err().code(), gone.load(SeqCst)), (Code::InvalidValue, 2));
}

#[test]
fn holes_and_constants_of_the_program() {
    let dev = device(0);
    static CONSTANT: [u8; 64] = [3; 64];
    let at = NonNull::from(&CONSTANT).cast();
    // SAFETY: initialised, there for ever, in a read-only mapping.
    let memory = unsafe { Memory::from_raw(at, 64, Box::new(())) };
    let memory = memory.access(Access::LOCAL_READ_WRITE).register(&[&dev]).unwrap();
    let mut buf = memory.buf(..).unwrap();
    buf.set_data(..).unwrap();
    assert_eq!(buf.as_slice(), Some(&CONSTANT[..]));
    assert!(buf.as_mut_slice().is_none() && buf.tail_mut().is_none());
    assert_eq!(buf.write_at(0, b"x").unwrap_err().code(), Code::NotPermitted);
    assert_eq!(buf.node().region().word() & CAN_WRITE, 0);

    // SAFETY: not valid at all, which is what registration finds out before anything is touched.
    let hole =
        unsafe { Memory::from_raw(NonNull::without_provenance(64.try_into().unwrap()), 64, Box::new(())) };
    assert_eq!(hole.register(&[&dev]).unwrap_err().code(), Code::Driver);
}
