//! Packets with descriptors between two processes of one user.

use rustix::cmsg_space;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, IoSlice, IoSliceMut};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType, recvmsg, sendmsg, shutdown,
    socketpair,
};
use rustix::process::geteuid;
use softdpu_status::{Code, Error, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// The longest packet, in bytes.
pub const MAX_PACKET: usize = 4096;

/// The most descriptors of a packet.
pub const MAX_FDS: usize = 8;

/// Who is at the other end: of an accepted connection the process that connected, of one we made the process that
/// listens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Peer {
    /// Process number, 0 when it is in another process namespace.
    pub pid: u32,
    /// The user.
    pub uid: u32,
}

impl Peer {
    /// Is it a process of this user?
    pub(crate) fn is_ours(&self) -> bool {
        self.uid == geteuid().as_raw()
    }
}

/// One connection. Dropping it hangs up. Any thread; packets stay whole.
#[derive(Debug)]
pub struct Line {
    socket: OwnedFd,
    peer: Peer,
}

/// What arrived.
pub type Packet = (Vec<u8>, Vec<OwnedFd>);

impl Line {
    /// Over a connected, non-blocking socket.
    pub(crate) fn over(socket: OwnedFd) -> Result<Line> {
        let peer = crate::sys::peer_of(socket.as_fd()).map_err(|errno| {
            log::error!(target: crate::LOG, "who is at the other end of a connection? {errno}");
            Error::new(Code::OperatingSystem, "peer of a connection unknown")
        })?;
        Ok(Line { socket, peer })
    }

    /// Both ends of a connection.
    ///
    /// # Errors
    /// NoMemory: no descriptors left, with one log line.
    pub fn pair() -> Result<(Line, Line)> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (a, b) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(|errno| {
                log::error!(target: crate::LOG, "socket pair: {errno}");
                Error::new(Code::NoMemory, "no descriptors for a connection")
            })?;
        Ok((Line::over(a)?, Line::over(b)?))
    }

    /// Who is at the other end.
    pub fn peer(&self) -> Peer {
        self.peer
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends one packet. Does not wait.
    ///
    /// # Errors
    /// InvalidValue (no bytes, more than [`MAX_PACKET`], more than [`MAX_FDS`] descriptors), Again (the peer does not
    /// read), ConnectionReset (it is gone), NoMemory (too many descriptors under way). Nothing was sent then.
    pub fn send(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<()> {
        if bytes.is_empty() || bytes.len() > MAX_PACKET || fds.len() > MAX_FDS {
            log::error!(target: crate::LOG, "packet of {} bytes with {} descriptors, allowed 1 to {MAX_PACKET} and {MAX_FDS}",
                bytes.len(), fds.len());
            return Err(Error::new(Code::InvalidValue, "packet too large"));
        }
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FDS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(Error::new(Code::Unexpected, "no place for descriptors"));
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        loop {
            return match sendmsg(&self.socket, &[IoSlice::new(bytes)], &mut control, flags) {
                Ok(_) => Ok(()),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => Err(Error::new(Code::Again, "the peer does not read")),
                Err(Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN) => Err(gone()),
                Err(Errno::NOMEM | Errno::NOBUFS | Errno::TOOMANYREFS) => {
                    Err(Error::new(Code::NoMemory, "no memory for a packet"))
                }
                Err(errno) => {
                    log::error!(target: crate::LOG, "packet of {} bytes to process {}: {errno}", bytes.len(), self.peer.pid);
                    Err(Error::new(Code::OperatingSystem, "packet not sent"))
                }
            };
        }
    }

    /// The next packet; waits for it until `deadline` (without one as long as it takes). None: the time is over.
    ///
    /// # Errors
    /// ConnectionReset (the peer hung up), InvalidValue (a packet that is too long or has too many descriptors; it is
    /// lost), NoMemory (no descriptors left for those in it; it is lost), OperatingSystem.
    pub fn receive(&self, deadline: Option<Instant>) -> Result<Option<Packet>> {
        loop {
            if let Some(packet) = self.try_receive()? {
                return Ok(Some(packet));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(None);
            }
            // Rounded up, so that the last look is behind the deadline.
            let left = left.map(|left| timespec(left + Duration::from_micros(1)));
            match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], left.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => {
                    log::error!(target: crate::LOG, "waiting for process {}: {errno}", self.peer.pid);
                    return Err(Error::new(Code::OperatingSystem, "waiting for a packet"));
                }
            }
        }
    }

    /// The next packet, if it is there.
    pub(crate) fn try_receive(&self) -> Result<Option<Packet>> {
        let mut bytes = vec![0; MAX_PACKET];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FDS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let got = loop {
            match recvmsg(&self.socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags) {
                Err(Errno::INTR) => {}
                other => break other,
            }
        };
        // Taken out before anything is decided: they are closed if the packet is refused.
        let mut fds = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(list) = message {
                fds.extend(list);
            }
        }
        let got = match got {
            Ok(got) if got.bytes == 0 => return Err(gone()),
            Ok(got) => got,
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::CONNRESET | Errno::NOTCONN) => return Err(gone()),
            Err(errno) => {
                log::error!(target: crate::LOG, "receiving from process {}: {errno}", self.peer.pid);
                return Err(Error::new(Code::OperatingSystem, "packet not received"));
            }
        };
        if got.flags.contains(ReturnFlags::CTRUNC) && fds.len() < MAX_FDS {
            // There was room for more: the kernel could not install them.
            return Err(Error::new(Code::NoMemory, "no descriptors left for those of a peer"));
        }
        if got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) || fds.len() > MAX_FDS {
            return Err(Error::new(Code::InvalidValue, "packet of a peer too large"));
        }
        bytes.truncate(got.bytes);
        Ok(Some((bytes, fds)))
    }

    /// Ends the connection in both directions while others still hold it.
    pub(crate) fn hang_up(&self) {
        let _ = shutdown(&self.socket, Shutdown::Both);
    }
}

fn gone() -> Error {
    Error::new(Code::ConnectionReset, "the peer hung up")
}

pub(crate) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

#[cfg(test)]
#[path = "socket_tests.rs"]
mod tests;
