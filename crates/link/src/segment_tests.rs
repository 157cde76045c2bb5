//! What is shared is shared; what a peer could take away is refused.

use super::*;
use crate::sync::Ordering::SeqCst;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn anonymous(len: u64, seals: SealFlags, flags: MemfdFlags) -> OwnedFd {
    let fd = memfd_create("test", MemfdFlags::CLOEXEC | flags).unwrap();
    ftruncate(&fd, len).unwrap();
    if !seals.is_empty() {
        fcntl_add_seals(&fd, seals).unwrap();
    }
    fd
}

fn refused(fd: OwnedFd, min_len: usize) {
    assert_eq!(Segment::from_fd(fd, min_len).map(|_| ()).unwrap_err().code(), Code::InvalidValue);
}

#[test]
fn two_mappings_of_one_segment() {
    let one = Segment::create("test", 10_000).unwrap();
    assert_eq!(one.len(), 10_000);
    let mut zeros = vec![1; 10_000];
    one.get(0, &mut zeros);
    assert!(zeros.iter().all(|&b| b == 0));
    let two = Segment::from_fd(one.fd().try_clone_to_owned().unwrap(), 10_000).unwrap();
    one.word32(4).store(7, SeqCst);
    two.word64(8).store(9, SeqCst);
    assert_eq!((two.word32(4).load(SeqCst), one.word64(8).load(SeqCst)), (7, 9));
    for n in [0, 1, 7, 8, 63, 64, 511, 512, 513, 9_000] {
        let bytes: Vec<u8> = (0..n).map(|i| (i * 31 + n) as u8).collect();
        one.put(1000, &bytes);
        let mut read = vec![0; n];
        two.get(1000, &mut read);
        assert_eq!(read, bytes);
    }
    let alone = two.into_mapping();
    drop(one);
    assert_eq!(alone.word32(4).load(SeqCst), 7, "the mapping lives by itself");
}

#[test]
fn accesses_outside_panic() {
    let segment = Segment::create("test", 100).unwrap();
    let panics = |f: &mut dyn FnMut()| assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
    panics(&mut || _ = segment.word32(100));
    panics(&mut || _ = segment.word32(98));
    panics(&mut || _ = segment.word32(2));
    panics(&mut || _ = segment.word64(96));
    panics(&mut || _ = segment.word64(4));
    panics(&mut || _ = segment.word64(usize::MAX & !7));
    panics(&mut || segment.put(99, &[0; 2]));
    panics(&mut || segment.put(usize::MAX, &[0; 2]));
    panics(&mut || segment.get(101, &mut []));
    segment.put(100, &[]);
    segment.put(99, &[1]);
}

#[test]
fn what_cannot_be_had_is_refused() {
    for len in [0, MAX_SEGMENT + 1, usize::MAX] {
        assert_eq!(Segment::create("test", len).map(|_| ()).unwrap_err().code(), Code::InvalidValue);
    }
}

#[test]
fn what_a_peer_could_take_away_is_refused() {
    let sealable = MemfdFlags::ALLOW_SEALING;
    assert!(Segment::from_fd(anonymous(4096, SealFlags::SHRINK, sealable), 4096).is_ok());
    refused(anonymous(4096, SealFlags::SHRINK, sealable), 4097);
    refused(anonymous(0, SealFlags::SHRINK, sealable), 0);
    refused(anonymous(MAX_SEGMENT as u64 + 1, SealFlags::SHRINK, sealable), 1);
    refused(anonymous(4096, SealFlags::empty(), sealable), 4096);
    refused(anonymous(4096, SealFlags::GROW, sealable), 4096);
    refused(anonymous(4096, SealFlags::empty(), MemfdFlags::empty()), 4096);
    // Sealed against writing: cannot be mapped for it.
    refused(anonymous(4096, SealFlags::SHRINK | SealFlags::WRITE, sealable), 4096);
    // Opened for reading only.
    let fd = anonymous(4096, SealFlags::SHRINK, sealable);
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&fd));
    refused(std::fs::File::open(path).unwrap().into(), 4096);
    // Other kinds.
    refused(std::fs::File::open("/dev/zero").unwrap().into(), 1);
    refused(rustix::pipe::pipe().unwrap().0, 1);
    let path = std::env::temp_dir().join(format!("softdpu-segment-{}", std::process::id()));
    std::fs::write(&path, [0; 4096]).unwrap();
    let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    refused(file.into(), 4096);
    match memfd_create("test", MemfdFlags::HUGETLB | sealable) {
        Ok(fd) => {
            ftruncate(&fd, 2 << 20).unwrap();
            fcntl_add_seals(&fd, SealFlags::SHRINK).unwrap();
            refused(fd, 4096);
        }
        Err(errno) => eprintln!("skipped: huge pages: {errno}"),
    }
}

#[test]
fn a_segment_cannot_be_shrunk_or_grown() {
    let segment = Segment::create("test", 4096).unwrap();
    assert_eq!(ftruncate(segment.fd(), 0), Err(Errno::PERM));
    assert_eq!(ftruncate(segment.fd(), 8192), Err(Errno::PERM));
}

/// Two threads write patterns into the same bytes: what is read is a mix of the two and nothing else.
#[test]
fn racing_writers_give_mixed_bytes() {
    let segment = Segment::create("test", 1024).unwrap();
    std::thread::scope(|scope| {
        for pattern in [0x11, 0x22] {
            let segment = &segment;
            scope.spawn(move || {
                for n in 0..2000 {
                    segment.put(n % 64, &vec![pattern; 100 + n % 700]);
                }
            });
        }
        let mut seen = vec![0; 1024];
        for _ in 0..2000 {
            segment.get(0, &mut seen);
            assert!(seen.iter().all(|b| [0, 0x11, 0x22].contains(b)));
        }
    });
}
