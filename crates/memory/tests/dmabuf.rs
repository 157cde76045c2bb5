//! Memory as a dmabuf, given to a second process. Where the kernel makes dmabufs of memory files (`/dev/udmabuf`) they
//! are real ones, and looked at as the kernel shows them; elsewhere the same program works on what stands in for them.
#![cfg(not(miri))]

mod common;

use common::device;
use softdpu_memory::device::Device;
use softdpu_memory::{Access, HugePage, Memory, MemoryBuilder, PageSize};
use softdpu_status::Code;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

const LEN: usize = 3 * 4096 + 100;
/// Which bytes of its standard input the second process maps.
const RANGE: &str = "DMABUF_TEST_RANGE";

fn shared() -> Access {
    Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE
}

/// Does this kernel make dmabufs of memory files?
fn makes_them() -> bool {
    Path::new("/dev/udmabuf").exists()
}

/// Who made a dmabuf, as the kernel tells; nothing of what is none.
fn exporter(fd: BorrowedFd<'_>) -> Option<String> {
    let about = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd())).unwrap();
    about.lines().find_map(|line| line.strip_prefix("exp_name:").map(|name| name.trim().to_owned()))
}

fn import(fd: &OwnedFd, range: Range<u64>, device: &Arc<Device>) -> softdpu_status::Result<Memory> {
    Memory::dmabuf(fd.try_clone().unwrap(), range).access(shared()).register(&[device])
}

fn bytes(memory: &Memory, at: usize, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    memory.buf(..).unwrap().read_at(at, &mut bytes).unwrap();
    bytes
}

/// The three kinds of memory of the library that others can map.
fn kinds(len: usize) -> [(&'static str, MemoryBuilder); 3] {
    [
        ("heap", Memory::heap(len)),
        ("memfd", Memory::memfd(len)),
        ("hugepages", Memory::hugepage(len, HugePage::Prefer(PageSize::Mib2))),
    ]
}

/// The second process: answers what it finds, and writes its answer behind it.
#[test]
#[ignore = "started by the other tests as a second process"]
fn second_process() {
    let text = std::env::var(RANGE).unwrap();
    let (from, to) = text.split_once('-').unwrap();
    let fd = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let memory = import(&fd, from.parse().unwrap()..to.parse().unwrap(), &device(0)).unwrap();
    assert_eq!(bytes(&memory, 0, 8), b"question");
    memory.buf(..).unwrap().write_at(8, b"answer").unwrap();
}

fn ask_second_process(fd: &OwnedFd, range: Range<u64>) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["second_process", "--exact", "--include-ignored"])
        .env(RANGE, format!("{}-{}", range.start, range.end))
        .stdin(Stdio::from(fd.try_clone().unwrap()))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

#[test]
fn a_second_process_maps_what_was_exported_as_a_dmabuf() {
    let device = device(0);
    for (kind, builder) in kinds(LEN) {
        let memory = builder.access(shared()).register(&[&device]).unwrap();
        let dmabuf = memory.export_dmabuf().unwrap();
        let from = dmabuf.offset() + 4000;
        println!("{kind}: real: {}, pages of {}", dmabuf.is_real(), memory.page_size());
        let fd = OwnedFd::from(dmabuf);
        memory.buf(..).unwrap().write_at(4000, b"question").unwrap();
        ask_second_process(&fd, from..from + 200);
        assert_eq!(bytes(&memory, 4000, 14), b"questionanswer", "{kind}");
    }
}

#[test]
fn the_kernel_says_the_same_of_them() {
    let device = device(0);
    for (kind, builder) in kinds(LEN) {
        let memory = builder.access(shared()).register(&[&device]).unwrap();
        let dmabuf = memory.export_dmabuf().unwrap();
        let expected = makes_them().then(|| "udmabuf".to_owned());
        assert_eq!(exporter(dmabuf.as_fd()), expected, "{kind}");
        assert_eq!(dmabuf.is_real(), makes_them(), "{kind}");
        // Whole pages, so that devices can take it.
        let fd = OwnedFd::from(dmabuf);
        let size = rustix::fs::seek(&fd, rustix::fs::SeekFrom::End(0)).unwrap();
        assert_eq!(size, LEN.next_multiple_of(memory.page_size()) as u64, "{kind}");
        for wrong in [0..size + 1, size..size + 1, 5..5, u64::MAX - 1..u64::MAX] {
            let error = import(&fd, wrong.clone(), &device).unwrap_err();
            assert_eq!(error.code(), Code::InvalidValue, "{kind}: {wrong:?}");
        }
        let whole = import(&fd, 0..size, &device).unwrap();
        assert_eq!((whole.len() as u64, whole.is_shared(), whole.is_writable()), (size, true, true));
    }
}

/// What came in as a dmabuf goes out again as the same one, from where it begins.
#[test]
fn a_part_of_a_dmabuf_is_handed_on() {
    let device = device(0);
    let memory = Memory::memfd(LEN).access(shared()).register(&[&device]).unwrap();
    let first = memory.export_dmabuf().unwrap();
    let (real, from) = (first.is_real(), first.offset() + 4096);
    let part = import(&first.into(), from..from + 5000, &device).unwrap();
    let second = part.export_dmabuf().unwrap();
    assert_eq!(second.is_real(), real);
    let from = second.offset();
    part.buf(..).unwrap().write_at(0, b"question").unwrap();
    ask_second_process(&second.into(), from..from + 100);
    assert_eq!(bytes(&memory, 4096, 14), b"questionanswer");
    // Nothing of it needs the memory that it was made of.
    drop(memory);
    assert_eq!(bytes(&part, 0, 8), b"question");
}

/// The driver has a limit. Beyond it the memory file itself is handed over, and is not called a dmabuf.
#[test]
fn what_is_too_large_for_the_driver_is_still_handed_over() {
    let Ok(limit) = std::fs::read_to_string("/sys/module/udmabuf/parameters/size_limit_mb") else {
        return println!("skipped: no driver that has a limit");
    };
    let limit = limit.trim().parse::<usize>().unwrap() << 20;
    let device = device(0);
    for (len, real) in [(limit, true), (limit + 4096, false)] {
        let memory = Memory::memfd(len).access(shared()).register(&[&device]).unwrap();
        let dmabuf = memory.export_dmabuf().unwrap();
        assert_eq!((dmabuf.is_real(), exporter(dmabuf.as_fd()).is_some()), (real, real), "{len} bytes");
        let from = dmabuf.offset() + len as u64 - 100;
        memory.buf(..).unwrap().write_at(len - 100, b"question").unwrap();
        ask_second_process(&dmabuf.into(), from..from + 100);
        assert_eq!(bytes(&memory, len - 100, 14), b"questionanswer");
    }
}
