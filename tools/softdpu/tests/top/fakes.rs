//! Sockets in the runtime folder whose owners answer nonsense, or nothing.
//!
//! Each stands under the number of a process that sleeps; all are answered by this one.

use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command};
use std::thread;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::{IoSlice, write};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, accept_with, bind, listen, recv, sendmsg, socket_with,
};

/// Somebody who answers nonsense.
pub(crate) struct Fake {
    sleeper: Child,
    pub(crate) what: &'static str,
    /// It is in the right form.
    pub(crate) is_plausible: bool,
}

impl Fake {
    pub(crate) fn pid(&self) -> u32 {
        self.sleeper.id()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = self.sleeper.kill();
        let _ = self.sleeper.wait();
    }
}

enum Says {
    /// A packet, and a descriptor with it.
    Packet(Vec<u8>, Option<OwnedFd>),
    HangsUp,
    Nothing,
}

/// An answer in the form that all answers have.
fn answer(status: i32, bytes: &[u8]) -> Vec<u8> {
    [b"SDL1".as_slice(), &status.to_le_bytes(), bytes].concat()
}

/// Says that the report is in the descriptor.
fn long(len: u64) -> Vec<u8> {
    answer(0, &[&[0], len.to_le_bytes().as_slice()].concat())
}

fn memory(bytes: &[u8], seals: SealFlags) -> OwnedFd {
    let fd = memfd_create("fake", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    assert_eq!(write(&fd, bytes), Ok(bytes.len()));
    fcntl_add_seals(&fd, seals).unwrap();
    fd
}

pub(crate) fn all(folder: &Path) -> Vec<Fake> {
    let report = br#"{"version": 1, "program": "fake", "contexts": [{"id": "0x1", "completed": 18446744073709551615}]}"#;
    let evil =
        br#"{"version": 1, "program": "\u001b[2J\u009b", "contexts": [{"engine": "\u001b]0;x\u0007"}]}"#;
    let sealed = || memory(report, SealFlags::SHRINK | SealFlags::SEAL);
    let sparse = memory(b"", SealFlags::empty());
    ftruncate(&sparse, 1 << 32).unwrap();
    fcntl_add_seals(&sparse, SealFlags::SHRINK).unwrap();
    let zero: OwnedFd = fs::File::open("/dev/zero").unwrap().into();
    let len = report.len() as u64;
    let refused = |what, says| start(folder, what, says, false);
    let plausible = |what, says| start(folder, what, says, true);
    let packet = |bytes: Vec<u8>| Says::Packet(bytes, None);
    vec![
        refused("silence", Says::Nothing),
        refused("hangs up", Says::HangsUp),
        refused("no answer of ours", packet(b"HTTP/1.1 200 OK\r\n\r\n".to_vec())),
        refused("an unknown status", packet(answer(-12345, b""))),
        refused("an error", packet(answer(21, b""))),
        refused("an empty report", packet(answer(0, b""))),
        refused("noise", packet(answer(0, &(0..4000u32).map(|n| ((n * n) >> 3) as u8).collect::<Vec<_>>()))),
        refused("half a report", packet(answer(0, &report[..report.len() / 2]))),
        refused("another version", packet(answer(0, br#"{"version": 999}"#))),
        refused("wrong types", packet(answer(0, br#"{"version": 1, "contexts": [{"completed": "many"}]}"#))),
        refused("deep", packet(answer(0, &[b'['; 4000]))),
        refused("a long one without memory", packet(long(len))),
        refused("a long one of no length", Says::Packet(long(0), Some(sealed()))),
        refused("a long one that is too long", Says::Packet(long(u64::MAX), Some(sealed()))),
        refused("a long one that is not all there", Says::Packet(long(1 << 20), Some(sealed()))),
        refused(
            "a long one that may shrink",
            Says::Packet(long(len), Some(memory(report, SealFlags::empty()))),
        ),
        refused("a long one from a device", Says::Packet(long(len), Some(zero))),
        refused("gigabytes of nothing", Says::Packet(long(1 << 20), Some(sparse))),
        plausible("a long one", Says::Packet(long(len), Some(sealed()))),
        plausible("a report", packet(answer(0, report))),
        plausible("commands for the terminal", packet(answer(0, evil))),
    ]
}

fn start(folder: &Path, what: &'static str, says: Says, is_plausible: bool) -> Fake {
    let sleeper = Command::new("sleep").arg("1000").spawn().unwrap();
    let line = fs::read_to_string(format!("/proc/{}/stat", sleeper.id())).unwrap();
    let started = line.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(19).unwrap().to_owned();
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    // The path is too long for an address.
    let runtime = fs::File::open(folder.join("runtime")).unwrap();
    let path = format!("/proc/self/fd/{}/{}-{started}.sock", raw(&runtime), sleeper.id());
    bind(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
    listen(&socket, 16).unwrap();
    thread::spawn(move || {
        let mut held = Vec::new();
        while let Ok(connection) = accept_with(&socket, SocketFlags::CLOEXEC) {
            match &says {
                // Whoever only looks whether somebody is there says nothing.
                Says::Packet(bytes, fd) if recv(&connection, &mut [0; 4096], RecvFlags::empty()).is_ok() => {
                    send(&connection, bytes, fd.as_ref().map(AsFd::as_fd));
                }
                Says::Packet(..) | Says::HangsUp => {}
                Says::Nothing => held.push(connection),
            }
        }
    });
    Fake { sleeper, what, is_plausible }
}

fn raw(file: &fs::File) -> i32 {
    std::os::fd::AsRawFd::as_raw_fd(file)
}

fn send(connection: &OwnedFd, bytes: &[u8], fd: Option<BorrowedFd<'_>>) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds: Vec<BorrowedFd<'_>> = fd.into_iter().collect();
    if !fds.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(&fds)));
    }
    // Whoever asked may have gone.
    let _ = sendmsg(connection, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL);
}
