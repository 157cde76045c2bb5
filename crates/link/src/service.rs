//! The thread that answers other processes.
//!
//! One thread per process, `softdpu-link`, started when it is first needed. It accepts connections to this process and to
//! the names it listens on, hands requests to desks, and watches the lines that are tied. It sleeps while nobody asks,
//! takes no signals and never runs code of the program. A peer that sends what makes no sense, or does not read its
//! answers, loses its connection; a panic of a desk costs the connection that caused it.
//!
//! Lines end when the peer hangs up, and also when its process dies while some child of it still holds the connection
//! open.

use crate::owner::Owner;
use crate::socket::{Line, MAX_PACKET, Peer};
use softdpu_status::Result;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The longest request or answer, in bytes.
pub const MAX_REQUEST: usize = MAX_PACKET - 8;

/// What a request to a process is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Topic(pub u16);

impl Topic {
    /// Imports of exported memory.
    pub const EXPORT: Topic = Topic(1);
    /// Synchronization events.
    pub const SYNC_EVENT: Topic = Topic(2);
    /// What a process is doing.
    pub const TOP: Topic = Topic(3);
    /// Queue pairs.
    pub const RDMA: Topic = Topic(4);
}

/// Answers requests.
pub trait Desk: Send + Sync {
    /// One request, on the service thread, with no lock of the service held. Must not block, and must not ask other
    /// processes.
    fn ask(&self, peer: &Peer, request: &[u8], fds: Vec<OwnedFd>) -> Answer;
}

/// What a desk answers.
#[derive(Default)]
pub struct Answer {
    /// At most [`MAX_REQUEST`] bytes; none is an answer, too.
    pub bytes: Vec<u8>,
    /// At most [`MAX_FDS`](crate::socket::MAX_FDS) descriptors; closed here once they are sent.
    pub fds: Vec<OwnedFd>,
    /// Watches the line from now on. Without it the connection ends with the answer.
    pub tie: Option<Box<dyn Tie>>,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Answer({} bytes, {} descriptors, tied: {})", self.bytes.len(), self.fds.len(), self.tie.is_some())
    }
}

/// Watches a line. All calls come on the service thread, one after the other.
pub trait Tie: Send {
    /// The line is tied; the first call.
    fn tied(&mut self, line: LineHandle) {
        let _ = line;
    }

    /// A packet of the peer. What is returned is sent back.
    fn message(&mut self, bytes: &[u8], fds: Vec<OwnedFd>) -> Option<Vec<u8>> {
        let _ = (bytes, fds);
        None
    }

    /// The peer hung up, died or was dropped: called exactly once, the last call; then the tie is dropped.
    fn gone(&mut self);
}

/// A way to a tied line from any thread. Does not keep it open.
#[derive(Clone, Debug)]
pub struct LineHandle(Weak<Line>);

impl LineHandle {
    /// Sends a packet to the peer; does not wait.
    ///
    /// # Errors
    /// As [`Line::send`]; ConnectionReset when the line has ended.
    pub fn send(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<()> {
        unimplemented!()
    }

    /// Ends the line; its tie learns of that on the service thread.
    pub fn hang_up(&self) {
        unimplemented!()
    }
}
pub struct Listener;
pub fn serve(topic: Topic, desk: &'static dyn Desk) { unimplemented!() }
pub fn listen(name: &str, desk: Arc<dyn Desk>) -> Result<Listener> { unimplemented!() }
pub fn ensure() -> Result<Owner> { unimplemented!() }
pub fn ask(owner: Owner, topic: Topic, request: &[u8], fds: &[BorrowedFd<'_>], timeout: Duration) -> Result<(Vec<u8>, Vec<OwnedFd>, Line)> { unimplemented!() }
pub fn call(name: &str, request: &[u8], fds: &[BorrowedFd<'_>], timeout: Duration) -> Result<(Vec<u8>, Vec<OwnedFd>, Line)> { unimplemented!() }
pub fn keep(line: Line, tie: Box<dyn Tie>) -> LineHandle { unimplemented!() }
pub fn processes() -> Vec<Owner> { unimplemented!() }
