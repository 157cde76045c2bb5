//! Frames that the kernel sends through a TAP interface.

use crate::drain::Feed;
use crate::headers::HEAD;
use crate::port::MAX_FRAME;
use crate::source::pause::Pause;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use softdpu_link::Receiver;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The end of a TAP interface, and a frame that was read from it.
#[derive(Debug)]
pub(crate) struct TapSource {
    pub(crate) tap: Arc<OwnedFd>,
    frame: Vec<u8>,
    /// Bytes of the frame in `frame`; none was read.
    len: Option<usize>,
    pause: Pause,
}

impl TapSource {
    pub(crate) fn new(tap: Arc<OwnedFd>) -> TapSource {
        // One byte more, so that a frame that is too long shows.
        TapSource { tap, frame: vec![0; MAX_FRAME + 1], len: None, pause: Pause::default() }
    }

    pub(crate) fn is_ready(&mut self) -> bool {
        let now = Timespec::default();
        let wants = || poll(&mut [PollFd::new(&self.tap, PollFlags::IN)], Some(&now));
        self.pause.ends_if(self.len.is_some() || wants().is_ok_and(|ready| ready > 0))
    }

    /// Is it time to read, without asking the kernel?
    pub(crate) fn is_due(&mut self) -> bool {
        self.len.is_some() || !self.pause.lasts()
    }
}

impl Feed for TapSource {
    #[inline]
    fn front(&mut self) -> Option<usize> {
        if self.len.is_none() && !self.pause.lasts() {
            // Nothing there, interface down, or gone: no frame.
            self.len = rustix::io::read(&self.tap, &mut self.frame).ok().filter(|len| *len > 0);
            if self.len.is_none() {
                self.pause.begin();
            }
        }
        self.len
    }

    #[inline]
    fn look<'a>(&'a self, _head: Option<&'a mut [u8; HEAD]>) -> (&'a [u8], Option<&'a Receiver>) {
        (&self.frame[..self.len.unwrap_or(0)], None)
    }

    #[inline]
    fn pop(&mut self) {
        self.len = None;
    }
}
