//! The processes that have lines: their ends end their lines.
//!
//! The connection alone would not do: a child that a process forked holds its connections open, and may live on.

use super::turn::{Turn, Watched};
use crate::socket::Line;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::os::fd::OwnedFd;

/// Packets of a line that are still read when its process has ended.
const LEFT_BEHIND: usize = 64;

/// A process at the other end, and how many lines it has.
pub(super) struct Caller {
    pub(super) id: u64,
    pub(super) pidfd: OwnedFd,
    lines: usize,
}

impl Turn {
    /// Counts a line of a process, and watches the process.
    pub(super) fn admit(&mut self, line: &Line) {
        self.lines += 1;
        let pid = line.peer().pid;
        if let Some(caller) = self.callers.get_mut(&pid) {
            caller.lines += 1;
            return;
        }
        let other = Pid::from_raw(pid.cast_signed()).filter(|_| pid != self.service.owner.pid);
        // Where it cannot be watched, or has ended already, the connection alone tells.
        if let Some(Ok(pidfd)) = other.map(|pid| pidfd_open(pid, PidfdFlags::empty())) {
            let id = self.service.next();
            self.callers.insert(pid, Caller { id, pidfd, lines: 1 });
            self.watch(id, Watched::Process(pid));
        }
    }

    /// A line of a process has ended.
    pub(super) fn dismiss(&mut self, line: &Line) {
        self.lines -= 1;
        let pid = line.peer().pid;
        let Some(caller) = self.callers.get_mut(&pid) else { return };
        caller.lines -= 1;
        if caller.lines == 0
            && let Some(caller) = self.callers.remove(&pid)
        {
            self.watched.remove(&caller.id);
        }
    }

    /// A process has ended: what it sent is still answered, then its lines end, whoever may hold them open.
    pub(super) fn bury(&mut self, pid: u32) {
        let of_it = |(id, what): (&u64, &Watched)| match what {
            Watched::Fresh { line, .. } | Watched::Tied { line, .. } if line.peer().pid == pid => Some(*id),
            _ => None,
        };
        let ids: Vec<u64> = self.watched.iter().filter_map(of_it).collect();
        for id in ids {
            self.read(id, LEFT_BEHIND);
            self.forget(id);
        }
    }
}
