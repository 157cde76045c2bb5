//! How frames leave through an outlet.

use crate::counters::PortCounters;
use crate::intake::now;
use crate::pcap::Writer;
use crate::source::XdpDevice;
use crate::sys::packet::PacketSender;
use crate::sys::xdp::XdpSender;
use crate::wire::{Wire, WireBatch};
use rustix::io::Errno;
use std::fs::File;
use std::io::{BufWriter, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is behind an outlet.
#[derive(Debug)]
pub(crate) enum Way {
    /// The wire of a port.
    Wire(Arc<Wire>),
    /// A packet socket of its own.
    Packet(Box<PacketSender>),
    /// A TAP interface.
    Tap(Arc<OwnedFd>),
    /// The socket of an interface that sends.
    Xdp(Arc<XdpDevice>),
    /// A capture file.
    Capture(Arc<Mutex<Capture>>),
    /// A port that only receives: what is sent is lost.
    Nowhere,
}

/// A capture file that is being written.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) writer: Writer<BufWriter<File>>,
    pub(crate) name: String,
    /// Writing failed: nothing more is written.
    pub(crate) is_broken: bool,
}

/// A batch on its way.
#[derive(Debug)]
pub(crate) enum WayBatch<'a> {
    Wire(WireBatch<'a>),
    Packet(&'a mut PacketSender),
    Tap(&'a OwnedFd),
    Xdp(MutexGuard<'a, XdpSender>),
    Capture(MutexGuard<'a, Capture>),
    Nowhere,
}

impl Way {
    #[inline]
    pub(crate) fn batch(&mut self) -> WayBatch<'_> {
        match self {
            Way::Wire(wire) => WayBatch::Wire(wire.batch()),
            Way::Packet(sender) => WayBatch::Packet(sender),
            Way::Tap(tap) => WayBatch::Tap(tap),
            Way::Xdp(device) => WayBatch::Xdp(device.sender.lock().unwrap_or_else(PoisonError::into_inner)),
            Way::Capture(capture) => {
                WayBatch::Capture(capture.lock().unwrap_or_else(PoisonError::into_inner))
            }
            Way::Nowhere => WayBatch::Nowhere,
        }
    }
}

impl WayBatch<'_> {
    /// One frame of `len` bytes. False: no room now.
    #[inline]
    pub(crate) fn send(&mut self, pieces: &[&[u8]], len: usize, counts: &mut PortCounters) -> bool {
        if let WayBatch::Wire(wire) = self {
            wire.send(pieces, counts);
            return true;
        }
        self.send_out(pieces, len, counts)
    }

    #[inline(never)]
    fn send_out(&mut self, pieces: &[&[u8]], len: usize, counts: &mut PortCounters) -> bool {
        match self {
            WayBatch::Wire(wire) => wire.send(pieces, counts),
            WayBatch::Packet(sender) => counts.tx_lost += sender.send(pieces),
            WayBatch::Tap(tap) => match write_tap(tap, pieces) {
                Ok(()) => {}
                Err(Errno::AGAIN) => return false,
                // The interface is down, or gone.
                Err(_) => counts.tx_lost += 1,
            },
            WayBatch::Xdp(sender) => return sender.send(pieces, len),
            WayBatch::Capture(capture) => capture.write(pieces, counts),
            WayBatch::Nowhere => counts.tx_lost += 1,
        }
        true
    }

    /// The end of the batch.
    #[inline]
    pub(crate) fn settle(&mut self, counts: &mut PortCounters) {
        match self {
            WayBatch::Wire(wire) => wire.settle(counts),
            WayBatch::Packet(sender) => counts.tx_lost += sender.flush(),
            WayBatch::Xdp(sender) => sender.flush(),
            WayBatch::Capture(capture) => capture.flush(),
            WayBatch::Tap(_) | WayBatch::Nowhere => {}
        }
    }
}

/// Pieces that are written without being gathered first.
const PIECES: usize = 16;

fn write_tap(tap: &OwnedFd, pieces: &[&[u8]]) -> Result<(), Errno> {
    let result = if let [one] = pieces {
        rustix::io::write(tap, one)
    } else if pieces.len() <= PIECES {
        let mut parts = [IoSlice::new(&[]); PIECES];
        for (part, piece) in parts.iter_mut().zip(pieces) {
            *part = IoSlice::new(piece);
        }
        rustix::io::writev(tap, &parts[..pieces.len()])
    } else {
        rustix::io::write(tap, &pieces.concat())
    };
    result.map(|_| ())
}

impl Capture {
    #[cold]
    fn give_up(&mut self, error: &std::io::Error) {
        log::error!(target: crate::LOG, "capture file {}: {error}; nothing more is written", self.name);
        self.is_broken = true;
    }

    fn write(&mut self, pieces: &[&[u8]], counts: &mut PortCounters) {
        if !self.is_broken
            && let Err(error) = self.writer.frame(now(), pieces)
        {
            self.give_up(&error);
        }
        counts.tx_lost += u64::from(self.is_broken);
    }

    fn flush(&mut self) {
        if !self.is_broken
            && let Err(error) = self.writer.flush()
        {
            self.give_up(&error);
        }
    }
}
