//! An export as its owner keeps it for other processes: who uses it, and how it is taken back.

use super::descriptor::{Descriptor, Kind, same_bytes};
use super::wire::Grant;
use crate::backing::Backing;
use crate::far::Mark;
use crate::quiesce;
use crate::region::Access;
use softdpu_link::{Mapping, Owner, Segment, barrier};
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is lent.
#[derive(Debug)]
pub(super) struct Share {
    /// The descriptor's bytes: whoever knows all of them may import.
    pub(super) bytes: Vec<u8>,
    /// Where the memory lies in this process.
    pub(super) at: usize,
    /// First address, as the descriptor says, and bytes.
    pub(super) base: u64,
    pub(super) len: u64,
    /// The memory may be written at all.
    pub(super) writable: bool,
    /// What importers may do with it, of the rights that the descriptor's kind stands for.
    pub(super) may_read: bool,
    pub(super) may_write: bool,
    pub(super) may_change: bool,
    pub(super) backing: Option<Backing>,
    /// The memory is another process's.
    pub(super) via: Option<Descriptor>,
    /// The exporting process. A child that was forked off has a copy of all this and must leave it alone.
    process: u32,
    peers: Mutex<Peers>,
}

/// Who uses it.
#[derive(Debug, Default)]
struct Peers {
    recalled: bool,
    /// By index, who has it.
    taken: Vec<Option<Importer>>,
    /// Pieces that this process's service thread copies right now.
    copies: u32,
}

/// A process that imported it.
#[derive(Debug)]
struct Importer {
    pid: u32,
    /// The marks. Each has a page of its own: what one writes there, and be it nonsense, concerns no other.
    page: Mapping,
    /// None where it cannot be looked up, as in another process namespace.
    process: Option<Owner>,
}

/// Importers that an export can have at the same time.
const MOST_IMPORTERS: usize = 1023;

/// How long a recall waits before it says so, and looks for the dead by itself.
const PATIENCE: Duration = Duration::from_secs(1);

impl Share {
    pub(super) fn new(descriptor: &Descriptor, at: usize, writable: bool) -> Share {
        let mut bytes = Vec::new();
        descriptor.encode(&mut bytes);
        let rights = descriptor.access;
        Share {
            bytes,
            at,
            base: descriptor.base,
            len: descriptor.len,
            writable,
            may_read: rights.intersects(descriptor.kind.reads()),
            may_write: writable && rights.intersects(descriptor.kind.writes()),
            may_change: writable && descriptor.kind == Kind::Rdma && rights.contains(Access::RDMA_ATOMIC),
            backing: None,
            via: None,
            process: std::process::id(),
            peers: Mutex::default(),
        }
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is this the process that made it?
    pub(super) fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }

    /// Is that the descriptor?
    pub(super) fn is_named_by(&self, bytes: &[u8]) -> bool {
        same_bytes(bytes, &self.bytes)
    }

    /// Admits process `pid` as an importer: its index, and the page of its marks.
    ///
    /// # Errors
    /// InvalidValue (recalled), Full (too many importers), NoMemory.
    pub(super) fn admit(&self, pid: u32) -> Result<(usize, OwnedFd)> {
        let peers = &mut *self.peers();
        if peers.recalled {
            return Err(Error::new(Code::InvalidValue, "the export has ended"));
        }
        let index = match peers.taken.iter().position(Option::is_none) {
            Some(index) => index,
            None if peers.taken.len() == MOST_IMPORTERS => {
                return Err(Error::new(Code::Full, "too many importers"));
            }
            None => {
                peers.taken.push(None);
                peers.taken.len() - 1
            }
        };
        let page = Segment::create("softdpu-marks", Mark::BYTES)?;
        barrier::init();
        Mark::lend(&page);
        let Ok(fd) = page.fd().try_clone_to_owned() else {
            return Err(Error::new(Code::NoMemory, "no descriptor for an importer"));
        };
        peers.taken[index] = Some(Importer { pid, page: page.into_mapping(), process: Owner::of(pid) });
        Ok((index, fd))
    }

    /// The importer is gone.
    pub(super) fn release(&self, index: usize) {
        if let Some(place) = self.peers().taken.get_mut(index) {
            *place = None;
        }
    }

    /// What an importer is granted, and the memory's file if there is one.
    pub(super) fn grant(&self) -> (Grant, Option<OwnedFd>) {
        let file =
            self.backing.as_ref().and_then(|b| Some((b.fd.as_fd().try_clone_to_owned().ok()?, b.offset)));
        let (fd, offset) = file.unzip();
        let grant = Grant {
            writable: self.writable,
            has_file: fd.is_some(),
            offset: offset.unwrap_or(0),
            via: self.via,
        };
        (grant, fd)
    }

    /// The service thread is about to copy a piece; false when the export has ended. Pair with [`Share::end_copy`].
    pub(super) fn begin_copy(&self) -> bool {
        let mut peers = self.peers();
        if !peers.recalled {
            peers.copies += 1;
        }
        !peers.recalled
    }

    pub(super) fn end_copy(&self) {
        self.peers().copies -= 1;
    }

    /// Importers of other processes at the moment.
    pub(super) fn importers(&self) -> usize {
        self.peers().taken.iter().flatten().count()
    }

    /// Later accesses are refused; does not wait for those under way.
    pub(super) fn recall(&self) {
        let mut peers = self.peers();
        peers.recalled = true;
        if peers.taken.iter().any(Option::is_some) {
            quiesce::recall(peers.taken.iter().flatten().map(|importer| Mark::lent(&importer.page)));
        }
    }

    /// After [`Share::recall`]: waits until nobody touches the memory. Importers that have died count as gone as soon as
    /// the service thread learns of it, or this thread, which may be that one.
    pub(super) fn quiesce(&self) {
        let start = Instant::now();
        let (mut told, mut patience) = (false, PATIENCE);
        for looks in 0u32.. {
            let Some(pid) = self.busy() else { return };
            if looks < 100 {
                std::hint::spin_loop();
            } else if looks < 200 {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(50));
            }
            if start.elapsed() < patience {
                continue;
            }
            patience += PATIENCE;
            if !self.forget_dead() && !told {
                told = true;
                log::warn!(target: super::LOG,
                    "export [{:#x}, +{}) is being stopped: process {pid} has been using it for more than {} s",
                    self.base, self.len, PATIENCE.as_secs());
            }
        }
    }

    /// Importers that have died are gone; false when there was none.
    fn forget_dead(&self) -> bool {
        let mut peers = self.peers();
        let dead = |i: &mut Importer| i.process.is_some_and(|process| !process.is_alive());
        peers.taken.iter_mut().filter_map(|place| place.take_if(dead)).count() > 0
    }

    /// A process that touches the memory right now.
    fn busy(&self) -> Option<u32> {
        let peers = self.peers();
        if peers.copies > 0 {
            return Some(self.process);
        }
        let mut importers = peers.taken.iter().flatten();
        importers.find(|importer| !Mark::is_quiet(&importer.page)).map(|importer| importer.pid)
    }
}

#[cfg(test)]
mod tests {
    use super::super::descriptor::tests::sample;
    use super::*;
    use core::sync::atomic::Ordering::Relaxed;

    #[test]
    fn only_the_very_bytes_name_an_export() {
        let share = Share::new(&sample(), 0, true);
        assert!(share.is_named_by(&share.bytes.clone()));
        for at in 0..share.bytes.len() {
            let mut bent = share.bytes.clone();
            bent[at] ^= 1;
            assert!(!share.is_named_by(&bent));
        }
        assert!(!share.is_named_by(&share.bytes[1..]));
    }

    #[test]
    fn places_are_reused_and_each_importer_has_marks_of_its_own() {
        let share = Share::new(&sample(), 0, true);
        let (first, page) = share.admit(11).unwrap();
        let page = Segment::from_fd(page, Mark::BYTES).unwrap();
        assert_eq!((first, share.admit(12).unwrap().0, share.importers()), (0, 1, 2));
        // Nonsense all over its page: as if it were in the middle of an access, and no more than that.
        (0..Mark::BYTES).step_by(4).for_each(|at| page.word32(at).store(5, Relaxed));
        assert_eq!(share.busy(), Some(11));
        share.release(0);
        assert_eq!(share.busy(), None);
        let (again, fresh) = share.admit(13).unwrap();
        let fresh = Segment::from_fd(fresh, Mark::BYTES).unwrap();
        assert!(again == 0 && quiesce::is_lent(Mark::lent(&fresh)));
        assert_eq!(share.busy(), None);
        share.recall();
        share.quiesce();
        assert_eq!(share.admit(14).unwrap_err().code(), Code::InvalidValue);
        assert!(!share.begin_copy());
    }

    #[test]
    fn a_recall_waits_for_importers_and_copies() {
        let share = Share::new(&sample(), 0, true);
        let (_, page) = share.admit(11).unwrap();
        let page = Segment::from_fd(page, Mark::BYTES).unwrap();
        let (lent, word) = (Mark::lent(&page), page.word32(64));
        assert!(quiesce::enter(lent, word) && share.begin_copy());
        std::thread::scope(|scope| {
            let owner = scope.spawn(|| {
                share.recall();
                share.quiesce();
            });
            while quiesce::is_lent(lent) {
                std::thread::yield_now();
            }
            assert!(!quiesce::enter(lent, word));
            share.end_copy();
            std::thread::sleep(Duration::from_millis(20));
            assert!(!owner.is_finished());
            quiesce::leave(word);
            owner.join().unwrap();
        });
    }

    #[test]
    fn there_is_an_end_to_importers() {
        let share = Share::new(&sample(), 0, true);
        (0..MOST_IMPORTERS).for_each(|pid| assert!(share.admit(pid as u32).is_ok()));
        assert_eq!(share.admit(1).unwrap_err().code(), Code::Full);
    }

    /// The service thread may not be there to tell: it may be the very one that waits.
    #[test]
    fn the_dead_are_not_waited_for() {
        let share = Share::new(&sample(), 0, true);
        let mut importer = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let (_, page) = share.admit(importer.id()).unwrap();
        let page = Segment::from_fd(page, Mark::BYTES).unwrap();
        page.word32(64).store(1, Relaxed);
        importer.kill().unwrap();
        importer.wait().unwrap();
        let (done, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            share.recall();
            share.quiesce();
            done.send(()).unwrap();
        });
        end.recv_timeout(Duration::from_secs(60)).expect("it waits for a dead process");
    }
}
