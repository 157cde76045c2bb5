//! Packet sockets: a receive ring of version 3, and many frames per send call.
#![expect(
    unsafe_code,
    reason = "socket options and messages go by address; frames lie in memory of the kernel"
)]

use super::map::KernelMap;
use crate::sync::Ordering;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Bytes of a block; a frame lies in one.
const BLOCK: usize = 1 << 18;
/// Blocks of a ring.
const BLOCKS: usize = 16;
/// Milliseconds until a block that is not full is handed over.
const PATIENCE: u32 = 1;
/// Most frames of one call.
pub(crate) const MOST: usize = 64;

/// `TP_STATUS_USER`.
const OURS: u32 = 1;
/// `TP_STATUS_CSUMNOTREADY`: sent from this machine, the transport checksum was left to the hardware.
const UNSUMMED: u32 = 1 << 3;
/// `TP_STATUS_VLAN_VALID`, `TP_STATUS_VLAN_TPID_VALID`.
const HAS_TAG: u32 = 1 << 4;
const HAS_TAG_TYPE: u32 = 1 << 6;

fn last() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn set<T: Copy>(fd: BorrowedFd<'_>, level: i32, option: i32, value: &T) -> Result<(), Errno> {
    // SAFETY: the kernel reads as many bytes as the value has.
    let failed = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            level,
            option,
            core::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if failed != 0 { Err(last()) } else { Ok(()) }
}

/// A packet socket that receives nothing yet.
fn open() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)
}

fn bind(fd: BorrowedFd<'_>, interface: u32, protocol: u16) -> Result<(), Errno> {
    // SAFETY: all zero is a value of this plain structure.
    let mut address: libc::sockaddr_ll = unsafe { core::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = interface as i32;
    // SAFETY: the kernel reads the address.
    let failed = unsafe {
        libc::bind(
            fd.as_raw_fd(),
            core::ptr::from_ref(&address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if failed != 0 { Err(last()) } else { Ok(()) }
}

/// A frame in a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct At {
    /// Where it begins in the map, and its bytes.
    at: usize,
    pub(crate) len: usize,
    pub(crate) stamp: u64,
    pub(crate) is_unsummed: bool,
    /// The VLAN tag that the kernel took out: type and value.
    pub(crate) tag: Option<[u8; 4]>,
}

/// The receiving end of a packet socket.
#[derive(Debug)]
pub(crate) struct PacketRing {
    map: KernelMap,
    fd: OwnedFd,
    /// The block that is next or being read.
    block: usize,
    /// Frames left in it, and where the next one begins; none: the block is the kernel's.
    left: u32,
    next: usize,
    is_open: bool,
    missed: u64,
}

impl PacketRing {
    /// Receives whatever comes in through an interface.
    pub(crate) fn open(interface: u32) -> Result<PacketRing, Errno> {
        /// `PACKET_IGNORE_OUTGOING`, `TPACKET_V3`.
        const IGNORE_OUTGOING: i32 = 23;
        const VERSION_3: i32 = 2;
        // `struct tpacket_req3`.
        let ring: [u32; 7] =
            [BLOCK as u32, BLOCKS as u32, 2048, (BLOCK / 2048 * BLOCKS) as u32, PATIENCE, 0, 0];
        let fd = open()?;
        set(fd.as_fd(), libc::SOL_PACKET, libc::PACKET_VERSION, &VERSION_3)?;
        set(fd.as_fd(), libc::SOL_PACKET, libc::PACKET_RX_RING, &ring)?;
        // Kernels before 4.20 show what this process sends, too.
        let _ = set(fd.as_fd(), libc::SOL_PACKET, IGNORE_OUTGOING, &1i32);
        let map = KernelMap::of_socket(fd.as_fd(), BLOCK * BLOCKS, 0)?;
        bind(fd.as_fd(), interface, libc::ETH_P_ALL as u16)?;
        // `struct packet_mreq`: the card's own addresses are not those of the interface.
        let mut all = [0u8; 16];
        all[..4].copy_from_slice(&interface.to_ne_bytes());
        all[4..6].copy_from_slice(&(libc::PACKET_MR_PROMISC as u16).to_ne_bytes());
        set(fd.as_fd(), libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &all)?;
        Ok(PacketRing { map, fd, block: 0, left: 0, next: 0, is_open: false, missed: 0 })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    fn base(&self) -> usize {
        self.block * BLOCK
    }

    fn word(&self, at: usize) -> u32 {
        self.map.word32(at).load(Ordering::Relaxed)
    }

    /// Is the next block ours?
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.left > 0 || self.map.word32(self.base() + 8).load(Ordering::Acquire) & OURS != 0
    }

    /// The frame at the front.
    #[inline]
    pub(crate) fn front(&mut self) -> Option<At> {
        while self.left == 0 {
            if self.is_open {
                self.give_back();
            }
            if !self.is_ready() {
                return None;
            }
            self.is_open = true;
            self.left = self.word(self.base() + 12);
            self.next = self.word(self.base() + 16) as usize;
        }
        // `struct tpacket3_hdr`. Only the kernel writes it; all the same nothing outside of the block is believed.
        let header = self.base() + self.next;
        if self.next > BLOCK - 40 || !self.next.is_multiple_of(4) {
            self.left = 0;
            return None;
        }
        let status = self.word(header + 20);
        let len = self.word(header + 12) as usize;
        let from = self.next + (self.word(header + 24) & 0xffff) as usize;
        if from > BLOCK || len > BLOCK - from {
            self.left = 0;
            return None;
        }
        let tag = (status & HAS_TAG != 0).then(|| {
            let kind = if status & HAS_TAG_TYPE != 0 { self.word(header + 36) as u16 } else { 0x8100 };
            let [a, b] = kind.to_be_bytes();
            let [c, d] = (self.word(header + 32) as u16).to_be_bytes();
            [a, b, c, d]
        });
        let stamp = u64::from(self.word(header + 4)) * 1_000_000_000 + u64::from(self.word(header + 8));
        Some(At { at: self.base() + from, len, stamp, is_unsummed: status & UNSUMMED != 0, tag })
    }

    /// The bytes of a frame that [`PacketRing::front`] returned last.
    #[inline]
    pub(crate) fn bytes(&self, at: &At) -> &[u8] {
        assert!(self.is_open && self.left > 0, "no frame");
        // SAFETY: in the block that is ours until `pop` or `front`, for which `self` is borrowed exclusively, give it back.
        unsafe { self.map.bytes(at.at, at.len) }
    }

    /// The frame at the front is done.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return;
        }
        let next = self.word(self.base() + self.next) as usize;
        if next == 0 {
            self.left = 0;
        }
        self.next += next;
    }

    /// Gives a block back that was read to its end.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.is_open && self.left == 0 {
            self.give_back();
        }
    }

    fn give_back(&mut self) {
        self.map.word32(self.base() + 8).store(0, Ordering::Release);
        self.is_open = false;
        self.block = (self.block + 1) % BLOCKS;
    }

    /// Frames that the kernel had no room for, since the socket was opened.
    pub(crate) fn missed(&mut self) -> u64 {
        // `struct tpacket_stats_v3`: packets, drops, freezes; reading it resets it.
        let mut counts = [0u32; 3];
        let mut len = size_of_val(&counts) as libc::socklen_t;
        // SAFETY: the kernel writes at most `len` bytes.
        unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                counts.as_mut_ptr().cast(),
                &raw mut len,
            );
        }
        self.missed += u64::from(counts[1]);
        self.missed
    }
}

/// The sending end of a packet socket, with frames on their way to it.
#[derive(Debug)]
pub(crate) struct PacketSender {
    fd: OwnedFd,
    /// The bytes of all frames, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl PacketSender {
    /// Sends through an interface, past its queueing discipline.
    pub(crate) fn open(interface: u32, longest: usize) -> Result<PacketSender, Errno> {
        /// `PACKET_QDISC_BYPASS`.
        const BYPASS: i32 = 20;
        const BUFFER: i32 = 8 << 20;
        let fd = open()?;
        let _ = set(fd.as_fd(), libc::SOL_PACKET, BYPASS, &1i32);
        let _ = set(fd.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUF, &BUFFER);
        bind(fd.as_fd(), interface, 0)?;
        Ok(PacketSender { fd, bytes: Vec::with_capacity(MOST * longest), ends: Vec::with_capacity(MOST) })
    }

    /// One more frame; sends when there are enough. Returns how many were lost.
    #[inline]
    pub(crate) fn send(&mut self, pieces: &[&[u8]]) -> u64 {
        for piece in pieces {
            self.bytes.extend_from_slice(piece);
        }
        self.ends.push(self.bytes.len());
        if self.ends.len() == MOST { self.flush() } else { 0 }
    }

    /// Sends what is there. Returns how many frames the kernel did not take: interface down, no room.
    pub(crate) fn flush(&mut self) -> u64 {
        let mut pieces = [libc::iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; MOST];
        let mut start = 0;
        for (piece, &end) in pieces.iter_mut().zip(&self.ends) {
            *piece =
                libc::iovec { iov_base: self.bytes[start..end].as_mut_ptr().cast(), iov_len: end - start };
            start = end;
        }
        // SAFETY: all zero is a value of these plain structures.
        let mut messages: [libc::mmsghdr; MOST] = unsafe { core::mem::zeroed() };
        for (message, piece) in messages.iter_mut().zip(&mut pieces) {
            message.msg_hdr.msg_iov = piece;
            message.msg_hdr.msg_iovlen = 1;
        }
        let count = self.ends.len();
        let (mut done, mut lost) = (0, 0);
        while done < count {
            // SAFETY: the messages point at `pieces`, those at `self.bytes`; the kernel only reads the frames.
            let sent = unsafe {
                libc::sendmmsg(
                    self.fd.as_raw_fd(),
                    messages[done..].as_mut_ptr(),
                    (count - done) as u32,
                    libc::MSG_DONTWAIT,
                )
            };
            match usize::try_from(sent) {
                Ok(sent) if sent > 0 => done += sent,
                _ if last() == Errno::INTR => {}
                // The first of them was refused: it is lost, the next may have more luck, unless the way is closed.
                _ => {
                    let errno = last();
                    let closed = matches!(errno, Errno::AGAIN | Errno::NETDOWN | Errno::NXIO | Errno::NODEV);
                    let gone = if closed { count - done } else { 1 };
                    lost += gone as u64;
                    done += gone;
                }
            }
        }
        self.bytes.clear();
        self.ends.clear();
        lost
    }
}
