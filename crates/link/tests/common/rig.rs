//! What tests of rings and doorbells between two processes have in common: both ends of a connection with a segment, and
//! a doorbell on either side.

use softdpu_link::{Answer, Desk, Doorbell, LineHandle, Peer, Ringer, Segment, Tie, call, listen};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// One side: its doorbell, the other's, and the memory they share.
pub(crate) struct Side {
    pub(crate) bell: Arc<Doorbell>,
    pub(crate) other: Ringer,
    pub(crate) segment: Arc<Segment>,
}

struct Host {
    segment: Arc<Segment>,
    bell: Arc<Doorbell>,
    guests: Mutex<mpsc::Sender<Ringer>>,
}

struct Stay;

impl Tie for Stay {
    fn tied(&mut self, _: LineHandle) {}
    fn gone(&mut self) {}
}

fn ringer(index: &[u8], mut fds: Vec<OwnedFd>) -> Ringer {
    let event = fds.pop().unwrap();
    let page = fds.pop().unwrap();
    Ringer::accept(page, u32::from_le_bytes(index.try_into().unwrap()), event).unwrap()
}

impl Desk for Host {
    fn ask(&self, _: &Peer, request: &[u8], fds: Vec<OwnedFd>) -> Answer {
        self.guests.lock().unwrap().send(ringer(request, fds)).unwrap();
        let mine = self.bell.invitation();
        let fds = [self.segment.fd(), mine.page, mine.event].map(|fd| fd.try_clone_to_owned().unwrap());
        Answer { bytes: mine.index.to_le_bytes().into(), fds: fds.into(), tie: Some(Box::new(Stay)) }
    }
}

/// Waits for the other side on a name, once `ready` was called.
pub(crate) fn host(name: &str, bytes: usize, ready: impl FnOnce()) -> Side {
    let (send, receive) = mpsc::channel();
    let segment = Arc::new(Segment::create("test", bytes).unwrap());
    let bell = Arc::new(Doorbell::new().unwrap());
    let desk = Host { segment: segment.clone(), bell: bell.clone(), guests: Mutex::new(send) };
    let listener = listen(name, Arc::new(desk)).unwrap();
    ready();
    let other = receive.recv_timeout(crate::common::WATCHDOG).unwrap();
    drop(listener);
    Side { bell, other, segment }
}

/// The other side.
pub(crate) fn guest(name: &str, bytes: usize) -> Side {
    let bell = Arc::new(Doorbell::new().unwrap());
    let mine = bell.invitation();
    let (index, mut fds, line) =
        call(name, &mine.index.to_le_bytes(), &[mine.page, mine.event], Duration::from_secs(60)).unwrap();
    // The line may end: segment and doorbells do not need it.
    drop(line);
    let segment = Arc::new(Segment::from_fd(fds.remove(0), bytes).unwrap());
    Side { bell, other: ringer(&index, fds), segment }
}

impl Side {
    /// Sleeps until `ready` says yes.
    pub(crate) fn sleep_until(&self, mut ready: impl FnMut() -> bool) -> u32 {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut slept = 0;
        while !ready() {
            self.bell.arm();
            if !ready() {
                slept += 1;
                let limit = Timespec { tv_sec: crate::common::WATCHDOG.as_secs() as i64, tv_nsec: 0 };
                let woken =
                    poll(&mut [PollFd::new(&self.bell.event(), PollFlags::IN)], Some(&limit)).unwrap();
                assert_eq!(woken, 1, "nobody rang");
            }
            self.bell.disarm();
        }
        slept
    }
}
