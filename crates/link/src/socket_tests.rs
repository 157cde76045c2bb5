//! Packets stay whole, and what is too large is refused on either side.

use super::*;
use rustix::net::{SendAncillaryBuffer, send};
use std::os::fd::AsRawFd;

/// Descriptors of this process that stand for a file. Other tests open and close others meanwhile.
fn descriptors_of(file: &std::path::Path) -> usize {
    let all = std::fs::read_dir("/proc/self/fd").unwrap();
    all.filter(|fd| fd.as_ref().is_ok_and(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == file)))
        .count()
}

#[test]
fn packets_arrive_whole_and_in_order() {
    let (a, b) = Line::pair().unwrap();
    assert_eq!(a.peer(), Peer { pid: std::process::id(), uid: geteuid().as_raw() });
    assert!(a.peer().is_ours() && !Peer { uid: a.peer().uid + 1, ..a.peer() }.is_ours());
    for n in [1, 2, 1000, MAX_PACKET] {
        a.send(&vec![n as u8; n], &[]).unwrap();
    }
    for n in [1, 2, 1000, MAX_PACKET] {
        assert_eq!(b.receive(None).unwrap().unwrap().0, vec![n as u8; n]);
    }
    assert!(b.receive(Some(Instant::now())).unwrap().is_none());
    a.send(b"last", &[]).unwrap();
    drop(a);
    assert_eq!(b.receive(None).unwrap().unwrap().0, b"last");
    assert_eq!(b.receive(None).unwrap_err().code(), Code::ConnectionReset);
    assert_eq!(b.send(b"x", &[]).unwrap_err().code(), Code::ConnectionReset);
}

#[test]
fn what_is_too_large_is_not_sent() {
    let (a, b) = Line::pair().unwrap();
    let fd = std::fs::File::open("/dev/null").unwrap();
    for (bytes, fds) in [(0, 0), (MAX_PACKET + 1, 0), (1, MAX_FDS + 1)] {
        let error = a.send(&vec![0; bytes], &vec![fd.as_fd(); fds]).unwrap_err();
        assert_eq!(error.code(), Code::InvalidValue);
    }
    assert!(b.receive(Some(Instant::now())).unwrap().is_none());
}

#[test]
fn a_peer_that_does_not_read_is_noticed() {
    let (a, _b) = Line::pair().unwrap();
    let mut sent = 0;
    let error = loop {
        match a.send(&[0; MAX_PACKET], &[]) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
        assert!(sent < 100_000, "no end of room");
    };
    assert_eq!(error.code(), Code::Again);
}

/// Too many bytes or descriptors: refused, the rest of the connection works, and no descriptor leaks.
#[test]
fn what_is_too_large_is_refused_and_leaves_nothing_behind() {
    let (a, b) = Line::pair().unwrap();
    let file = std::env::temp_dir().join(format!("softdpu-socket-{}", std::process::id()));
    let fd = std::fs::File::create_new(&file).unwrap();
    for fds in [MAX_FDS + 1, 20, 100] {
        let fds = vec![fd.as_fd(); fds];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(100))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&fds)));
        sendmsg(&a.socket, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()).unwrap();
        assert_eq!(b.receive(None).unwrap_err().code(), Code::InvalidValue);
        assert_eq!(descriptors_of(&file), 1);
    }
    send(&a.socket, &[0; MAX_PACKET + 1], SendFlags::empty()).unwrap();
    assert_eq!(b.receive(None).unwrap_err().code(), Code::InvalidValue);
    a.send(b"good", &[fd.as_fd()]).unwrap();
    let (bytes, fds) = b.receive(None).unwrap().unwrap();
    assert_eq!((&bytes[..], fds.len()), (&b"good"[..], 1));
    let path = std::fs::read_link(format!("/proc/self/fd/{}", fds[0].as_raw_fd())).unwrap();
    assert_eq!(path, file);
    std::fs::remove_file(file).unwrap();
    // An empty packet is no packet of ours.
    send(&a.socket, &[], SendFlags::empty()).unwrap();
    assert_eq!(b.receive(None).unwrap_err().code(), Code::ConnectionReset);
}

#[test]
fn hanging_up_ends_both_directions() {
    let (a, b) = Line::pair().unwrap();
    b.hang_up();
    assert_eq!(a.receive(None).unwrap_err().code(), Code::ConnectionReset);
    assert_eq!(b.receive(None).unwrap_err().code(), Code::ConnectionReset);
    assert_eq!(a.send(b"x", &[]).unwrap_err().code(), Code::ConnectionReset);
}
