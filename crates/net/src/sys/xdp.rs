//! AF_XDP sockets: frames in memory of this process that a driver fills and empties.
//!
//! The lower half of the frames is for receiving: each is always in exactly one of the fill ring, the kernel, the receive
//! ring, or our hands. The upper half is for sending, with a stack of those that are free.
#![expect(unsafe_code, reason = "frames are looked at where they lie, while they are ours")]

use super::map::KernelMap;
use crate::sync::{AtomicU32, Ordering};
use rustix::io::Errno;
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, XDP_PGOFF_RX_RING, XDP_PGOFF_TX_RING, XDP_UMEM_PGOFF_COMPLETION_RING,
    XDP_UMEM_PGOFF_FILL_RING, XdpRingOffset, XdpUmemReg, XdpUmemRegFlags,
};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, send, socket_with, sockopt};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Entries of each ring, and frames of each half.
const RING: u32 = 2048;
/// `XDP_RING_NEED_WAKEUP`.
const NEED_WAKEUP: u32 = 1;
/// Bytes that the kernel keeps free before a frame.
const HEADROOM: usize = 256;

/// The longest frame for a size of frames.
pub(crate) const fn longest(chunk: usize) -> usize {
    chunk - HEADROOM
}

/// A ring in the kernel's form. One side is ours; its index is kept here.
#[derive(Debug)]
struct Ring {
    map: KernelMap,
    producer: usize,
    consumer: usize,
    flags: Option<usize>,
    entries: usize,
    /// Our index.
    ours: u32,
    /// The kernel's, as last seen.
    theirs: u32,
}

impl Ring {
    fn new(fd: BorrowedFd<'_>, at: &XdpRingOffset, entry: usize, page: u64) -> Result<Ring, Errno> {
        let map = KernelMap::of_socket(fd, at.desc as usize + RING as usize * entry, page)?;
        Ok(Ring {
            map,
            producer: at.producer as usize,
            consumer: at.consumer as usize,
            flags: at.flags.map(|at| at as usize),
            entries: at.desc as usize,
            ours: 0,
            theirs: 0,
        })
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        self.map.word32(at)
    }

    /// Entries that the kernel has put there for us.
    #[inline]
    fn filled(&mut self) -> u32 {
        if self.theirs == self.ours {
            self.theirs = self.word(self.producer).load(Ordering::Acquire);
        }
        self.theirs.wrapping_sub(self.ours)
    }

    /// Entries that are free for us to fill.
    #[inline]
    fn free(&mut self) -> u32 {
        if self.ours.wrapping_sub(self.theirs) >= RING {
            self.theirs = self.word(self.consumer).load(Ordering::Acquire);
        }
        RING.saturating_sub(self.ours.wrapping_sub(self.theirs))
    }

    /// Where the entry at our index is; entries are 8 or 16 bytes.
    #[inline]
    fn entry(&self, bytes: usize) -> usize {
        self.entries + (self.ours & (RING - 1)) as usize * bytes
    }

    #[inline]
    fn needs_wakeup(&self) -> bool {
        self.flags.is_some_and(|at| self.word(at).load(Ordering::Relaxed) & NEED_WAKEUP != 0)
    }
}

/// What both directions share.
#[derive(Debug)]
struct Common {
    fd: OwnedFd,
    frames: KernelMap,
    chunk: usize,
}

impl Common {
    /// Has the kernel look at the rings. It may have no time, or the interface be down.
    #[inline]
    fn wake(&self) {
        let _ = send(&self.fd, &[], SendFlags::DONTWAIT);
    }
}

/// The receiving direction of a socket.
#[derive(Debug)]
pub(crate) struct XdpReceiver {
    common: Arc<Common>,
    receive: Ring,
    fill: Ring,
    /// Our index of the receive ring, as the kernel knows it.
    told: u32,
}

/// The sending direction.
#[derive(Debug)]
pub(crate) struct XdpSender {
    common: Arc<Common>,
    transmit: Ring,
    completion: Ring,
    free: Vec<u64>,
}

/// A socket on one queue of an interface, with frames of `chunk` bytes. The kernel goes without copies where the driver
/// can, unless `copies`.
pub(crate) fn open(
    interface: u32,
    queue: u32,
    chunk: usize,
    copies: bool,
) -> Result<(XdpReceiver, XdpSender), Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = socket_with(AddressFamily::XDP, SocketType::RAW, flags, None)?;
    let frames = KernelMap::of_process(2 * RING as usize * chunk)?;
    sockopt::set_xdp_umem_reg(
        &fd,
        XdpUmemReg {
            addr: frames.address(),
            len: frames.len() as u64,
            chunk_size: chunk as u32,
            headroom: 0,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        },
    )?;
    sockopt::set_xdp_umem_fill_ring_size(&fd, RING)?;
    sockopt::set_xdp_umem_completion_ring_size(&fd, RING)?;
    sockopt::set_xdp_rx_ring_size(&fd, RING)?;
    sockopt::set_xdp_tx_ring_size(&fd, RING)?;
    let at = sockopt::xdp_mmap_offsets(&fd)?;
    let receive = Ring::new(fd.as_fd(), &at.rx, 16, XDP_PGOFF_RX_RING)?;
    let transmit = Ring::new(fd.as_fd(), &at.tx, 16, XDP_PGOFF_TX_RING)?;
    let mut fill = Ring::new(fd.as_fd(), &at.fr, 8, XDP_UMEM_PGOFF_FILL_RING)?;
    let completion = Ring::new(fd.as_fd(), &at.cr, 8, XDP_UMEM_PGOFF_COMPLETION_RING)?;
    for frame in 0..u64::from(RING) {
        fill.map.word64(fill.entry(8)).store(frame * chunk as u64, Ordering::Relaxed);
        fill.ours += 1;
    }
    fill.word(fill.producer).store(fill.ours, Ordering::Release);
    let mut mode = SocketAddrXdpFlags::XDP_USE_NEED_WAKEUP;
    if copies {
        mode |= SocketAddrXdpFlags::XDP_COPY;
    }
    bind(&fd, &SocketAddrXdp::new(mode, interface, queue))?;
    let common = Arc::new(Common { fd, frames, chunk });
    let free = (u64::from(RING)..2 * u64::from(RING)).map(|frame| frame * chunk as u64).collect();
    let receiver = XdpReceiver { common: Arc::clone(&common), receive, fill, told: 0 };
    Ok((receiver, XdpSender { common, transmit, completion, free }))
}

impl XdpReceiver {
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.common.fd.as_fd()
    }

    pub(crate) fn is_ready(&mut self) -> bool {
        self.receive.filled() > 0
    }

    /// Place and length of the frame at the front.
    #[inline]
    pub(crate) fn front(&mut self) -> Option<(u64, usize)> {
        if self.receive.filled() == 0 {
            return None;
        }
        let entry = self.receive.entry(16);
        let at = self.receive.map.word64(entry).load(Ordering::Relaxed);
        let len = self.receive.map.word32(entry + 8).load(Ordering::Relaxed) as usize;
        let end = RING as usize * self.common.chunk;
        // Only the kernel writes the ring; all the same only frames of the receiving half are believed.
        if at as usize > end || len > end - at as usize {
            self.pop();
            return None;
        }
        Some((at, len))
    }

    /// The bytes of the frame that [`XdpReceiver::front`] told of.
    #[inline]
    pub(crate) fn bytes(&self, at: u64, len: usize) -> &[u8] {
        assert!(self.receive.theirs != self.receive.ours, "no frame");
        // SAFETY: the frame at the front is ours until `pop`, for which `self` is borrowed exclusively, gives it back.
        unsafe { self.common.frames.bytes(at as usize, len) }
    }

    /// The frame at the front goes back to the kernel.
    #[inline]
    pub(crate) fn pop(&mut self) {
        let at = self.receive.map.word64(self.receive.entry(16)).load(Ordering::Relaxed);
        let frame = at - at % self.common.chunk as u64;
        self.receive.ours = self.receive.ours.wrapping_add(1);
        // There are as many frames as entries: one is always free.
        self.fill.map.word64(self.fill.entry(8)).store(frame, Ordering::Relaxed);
        self.fill.ours = self.fill.ours.wrapping_add(1);
    }

    /// Tells the kernel of what was popped.
    #[inline]
    pub(crate) fn settle(&mut self) {
        // Written only when there is news: the kernel reads these lines for every frame.
        if self.told == self.receive.ours {
            return;
        }
        self.told = self.receive.ours;
        self.receive.word(self.receive.consumer).store(self.receive.ours, Ordering::Release);
        self.fill.word(self.fill.producer).store(self.fill.ours, Ordering::Release);
        if self.fill.needs_wakeup() {
            // A receive without room wakes the driver's receiving side.
            let _ = rustix::net::recv(&self.common.fd, &mut [0u8; 1], rustix::net::RecvFlags::DONTWAIT);
        }
    }

    /// Frames that found no room, since the socket was opened.
    pub(crate) fn missed(&self) -> u64 {
        sockopt::xdp_statistics(&self.common.fd).map_or(0, |counts| {
            counts.rx_dropped
                + counts.rx_ring_full.unwrap_or(0)
                + counts.rx_fill_ring_empty_descs.unwrap_or(0)
        })
    }
}

impl XdpSender {
    /// One more frame; false: the kernel has all frames.
    #[inline]
    pub(crate) fn send(&mut self, pieces: &[&[u8]], len: usize) -> bool {
        if self.free.is_empty() || self.transmit.free() == 0 {
            self.flush();
            if self.free.is_empty() || self.transmit.free() == 0 {
                return false;
            }
        }
        let Some(at) = self.free.pop() else { return false };
        let mut end = at as usize;
        for piece in pieces {
            self.common.frames.put(end, piece);
            end += piece.len();
        }
        let entry = self.transmit.entry(16);
        self.transmit.map.word64(entry).store(at, Ordering::Relaxed);
        self.transmit.map.word64(entry + 8).store(len as u64, Ordering::Relaxed);
        self.transmit.ours = self.transmit.ours.wrapping_add(1);
        true
    }

    /// Has the kernel send what is there, and takes back frames that have left.
    #[inline]
    pub(crate) fn flush(&mut self) {
        self.transmit.word(self.transmit.producer).store(self.transmit.ours, Ordering::Release);
        // In copy mode a call sends a few dozen frames; it is repeated for as long as that helps.
        let mut before = self.transmit.ours;
        loop {
            let done = self.transmit.word(self.transmit.consumer).load(Ordering::Acquire);
            if done == self.transmit.ours || done == before || !self.transmit.needs_wakeup() {
                break;
            }
            before = done;
            self.common.wake();
        }
        while self.completion.filled() > 0 {
            let at = self.completion.map.word64(self.completion.entry(8)).load(Ordering::Relaxed);
            self.completion.ours = self.completion.ours.wrapping_add(1);
            // Only frames of the sending half were given; nothing else is believed.
            let half = RING as usize * self.common.chunk;
            if (half..2 * half).contains(&(at as usize)) && self.free.len() < RING as usize {
                self.free.push(at - at % self.common.chunk as u64);
            }
        }
        self.completion.word(self.completion.consumer).store(self.completion.ours, Ordering::Release);
    }
}
