//! The yardstick of messages: packets of a socket between two processes, which look all the time or sleep.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};

use super::peer::{Peer, word};
use super::{Lane, Op, Options, Wait};
use crate::bench::place::{self, Place, Taken};

/// This end, and the process at the other one.
pub(super) struct Socket {
    end: OwnedFd,
    op: Op,
    wait: Wait,
    bytes: usize,
    _taken: Taken,
    _peer: Peer,
}

impl Socket {
    pub(super) fn new(options: &Options, op: Op, wait: Wait, bytes: usize) -> Result<Self, String> {
        let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let (end, other) = pair.map_err(|e| format!("no sockets: {e}"))?;
        let peer = Peer::of_socket(options, other)?;
        Ok(Self { end, op, wait, bytes, _taken: place::take(Place::Here), _peer: peer })
    }

    fn say(&self, packet: &[u8]) -> Result<(), String> {
        put(self.end.as_fd(), packet, self.wait == Wait::Poll).map_err(|e| format!("a socket: {e}"))
    }

    fn hear(&self) -> Result<(), String> {
        let heard = get(self.end.as_fd(), &mut [0; 4096], self.wait == Wait::Poll);
        heard.map(drop).map_err(|e| format!("a socket: {e}"))
    }
}

impl Lane for Socket {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        if self.wait == Wait::Poll {
            self.say(&[word::WAKE])?;
        }
        if self.op == Op::RoundTrip {
            let packet = word::message(word::ECHO, self.bytes);
            for _ in 0..tasks {
                self.say(&packet)?;
                self.hear()?;
            }
        } else {
            let packet = word::message(word::DROP, self.bytes);
            (0..tasks).try_for_each(|_| self.say(&packet))?;
            self.say(&[word::ANSWER])?;
            self.hear()?;
        }
        if self.wait == Wait::Poll { self.say(&[word::SLEEP]) } else { Ok(()) }
    }
}

/// The other end: until nobody is there any more.
pub(super) fn serve(end: BorrowedFd<'_>) {
    let mut packet = [0; 4096];
    let mut awake = false;
    while let Ok(n @ 1..) = get(end, &mut packet, awake) {
        let answer = match packet[0] {
            word::WAKE => {
                awake = true;
                continue;
            }
            word::SLEEP => {
                awake = false;
                continue;
            }
            word::ECHO => &packet[..n],
            word::ANSWER => &packet[..1],
            _ => continue,
        };
        if put(end, answer, awake).is_err() {
            return;
        }
    }
}

pub(super) fn put(end: BorrowedFd<'_>, packet: &[u8], spin: bool) -> Result<(), Errno> {
    let flags = if spin { SendFlags::NOSIGNAL | SendFlags::DONTWAIT } else { SendFlags::NOSIGNAL };
    loop {
        match send(end, packet, flags) {
            Ok(_) => return Ok(()),
            Err(Errno::AGAIN | Errno::INTR) => std::hint::spin_loop(),
            Err(errno) => return Err(errno),
        }
    }
}

pub(super) fn get(end: BorrowedFd<'_>, packet: &mut [u8], spin: bool) -> Result<usize, Errno> {
    let flags = if spin { RecvFlags::DONTWAIT } else { RecvFlags::empty() };
    loop {
        match recv(end, &mut *packet, flags) {
            Ok((n, _)) => return Ok(n),
            Err(Errno::AGAIN | Errno::INTR) => std::hint::spin_loop(),
            Err(errno) => return Err(errno),
        }
    }
}
