//! When frames leave that are not full, and when the peer is told how far this end has come.

use super::pipe::Inner;
use crate::ffi::{Class, Plug};

impl Inner {
    /// Sends everything that is to be sent: frames that are being filled, and how far we are.
    pub(super) fn flush(&mut self) {
        self.flush_soon(false);
    }

    /// The same; but when `landed`, the program may be about to answer a message, and how far we are then goes along. So
    /// that waits for the next time, once.
    pub(super) fn flush_soon(&mut self, landed: bool) {
        if !self.is_open() {
            return;
        }
        for class in [Class::Request, Class::Answer] {
            self.publish(class);
        }
        if landed && self.serve.is_ahead() && !core::mem::replace(&mut self.put_off, true) {
            return;
        }
        self.tell();
    }

    /// As [`Inner::flush`], and afterwards [`Inner::is_drained`] holds for short frames, too.
    pub(super) fn flush_for_good(&mut self) {
        self.flush();
        let unsure = self.is_open() && self.fabric().is_some_and(Plug::is_unsure);
        if unsure
            && self.open_frame(Class::Answer).is_some()
            && let Some((slot, len, plug)) = self.close_frame(Class::Answer, 0)
        {
            plug.send_later(slot, len);
        }
    }

    /// Tells the peer how far we are, if it does not know.
    pub(super) fn tell(&mut self) {
        let answers = Class::Answer as usize;
        if self.serve.is_ahead() && (self.open[answers].is_some() || self.open_frame(Class::Answer).is_some())
        {
            self.publish(Class::Answer);
        }
    }
}
