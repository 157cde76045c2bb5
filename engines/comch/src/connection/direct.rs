//! Messages that need no task: there is room, and nobody waits to learn how they went.

use super::{Connection, Phase};
use crate::outlet::Sent;
use crate::sync::Ordering;

impl Connection {
    /// Sends a message without a task, if there is room for it: at most `most` of them before a task of the connection is
    /// back ([`Connection::task_is_back`]), so that whoever sends lets its progress engine have its turn. False: it takes a
    /// task, also to learn what is against it.
    #[inline]
    pub(crate) fn hand_over(&self, bytes: &[u8], most: u32) -> bool {
        let without_task = self.without_task.load(Ordering::Relaxed);
        if without_task >= most || self.phase() != Phase::Up || self.is_lost() {
            return false;
        }
        let sent = self.out.with(|out| out.send_now(bytes)) == Some(Sent::Now);
        if sent {
            // With several threads some may be missed: it bounds no more than their patience.
            self.without_task.store(without_task + 1, Ordering::Relaxed);
            self.said();
        }
        sent
    }

    /// See [`Connection::hand_over`].
    #[inline]
    pub(crate) fn task_is_back(&self) {
        self.without_task.store(0, Ordering::Relaxed);
    }
}
