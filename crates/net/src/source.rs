//! What an intake takes frames from.

mod capture;
mod packet;
mod pause;
mod ring;
mod tap;
mod xdp;

pub(crate) use capture::CaptureSource;
pub(crate) use packet::PacketSource;
pub(crate) use ring::{LinePlace, RingSource};
pub(crate) use tap::TapSource;
pub(crate) use xdp::{XdpDevice, XdpSource};

use crate::drain::{Desk, drain};
use crate::frame::{Frame, Taken};
use std::os::fd::{AsFd, OwnedFd};

/// A source of frames.
#[derive(Debug)]
pub(crate) enum Source {
    /// A sender's ring.
    Ring(RingSource),
    /// A packet socket.
    Packet(PacketSource),
    /// A TAP interface.
    Tap(TapSource),
    /// An AF_XDP socket.
    Xdp(XdpSource),
    /// A capture file.
    Capture(CaptureSource),
}

impl Source {
    /// Something may be there.
    pub(crate) fn is_ready(&mut self) -> bool {
        match self {
            Source::Ring(ring) => ring.is_ready(),
            Source::Packet(packet) => packet.is_ready(),
            Source::Tap(tap) => tap.is_ready(),
            Source::Xdp(xdp) => xdp.is_ready(),
            Source::Capture(capture) => capture.is_ready(),
        }
    }

    /// As [`Source::is_ready`] for whoever looks all the time: costs no system call, and where only the kernel knows the
    /// answer is yes.
    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        match self {
            Source::Tap(tap) => tap.is_due(),
            other => other.is_ready(),
        }
    }

    /// Nothing will come any more.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Source::Ring(ring) => ring.is_over(),
            _ => false,
        }
    }

    /// A copy of the descriptor that becomes readable when there is something.
    pub(crate) fn descriptor(&self) -> Option<OwnedFd> {
        let fd = match self {
            Source::Ring(_) | Source::Capture(_) => return None,
            Source::Packet(packet) => packet.ring.fd(),
            Source::Tap(tap) => tap.tap.as_fd(),
            Source::Xdp(xdp) => xdp.fd()?,
        };
        fd.try_clone_to_owned().ok()
    }

    /// Frames that the kernel had no room for.
    pub(crate) fn missed(&mut self) -> u64 {
        match self {
            Source::Packet(packet) => packet.ring.missed(),
            Source::Xdp(xdp) => xdp.missed(),
            Source::Ring(_) | Source::Tap(_) | Source::Capture(_) => 0,
        }
    }
}

/// [`drain`] for sources that have the kernel behind them: apart, so that the way of a ring stays short.
#[inline(never)]
pub(crate) fn drain_other(
    source: &mut Source,
    desk: &mut Desk<'_>,
    most: usize,
    take: &mut impl FnMut(&mut Frame<'_>) -> Taken,
) -> (usize, bool) {
    match source {
        Source::Ring(feed) => drain(feed, desk, most, take),
        Source::Packet(feed) => drain(feed, desk, most, take),
        Source::Tap(feed) => drain(feed, desk, most, take),
        Source::Xdp(feed) => drain(feed, desk, most, take),
        Source::Capture(feed) => drain(feed, desk, most, take),
    }
}
