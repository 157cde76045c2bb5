//! Connections made by hand, as somebody does who keeps to no rules.

use rustix::io::{Errno, IoSlice};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, connect, recv, sendmsg, socket_with,
};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

pub(crate) struct Raw(pub(crate) OwnedFd);

/// A socket file in the runtime folder.
pub(crate) fn path(file: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("SOFTDPU_RUNTIME_DIR").unwrap()).join(file)
}

/// A request as the library writes it.
pub(crate) fn request(topic: u16, bytes: &[u8]) -> Vec<u8> {
    [b"SDL1".as_slice(), &1u16.to_le_bytes(), &topic.to_le_bytes(), bytes].concat()
}

impl Raw {
    pub(crate) fn connect(file: &str) -> Result<Raw, Errno> {
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        connect(&socket, &SocketAddrUnix::new(path(file))?)?;
        Ok(Raw(socket))
    }

    pub(crate) fn send(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(64))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() {
            assert!(control.push(SendAncillaryMessage::ScmRights(fds)));
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        sendmsg(self.0.as_fd(), &[IoSlice::new(bytes)], &mut control, flags).map(|_| ())
    }

    /// Waits for the next packet; empty at the end.
    pub(crate) fn receive(&self) -> Vec<u8> {
        let mut bytes = vec![0; 8192];
        match recv(&self.0, &mut bytes, RecvFlags::empty()) {
            Ok((_, n)) => bytes.truncate(n),
            Err(_) => bytes.clear(),
        }
        bytes
    }
}
