//! A connection, as everybody at one end shares it: whoever sends, whoever receives, producers and consumers.
//!
//! The receiving half belongs to the server's or client's hardware; the sending half has a lock of its own, so that a
//! message is in the ring when its submit returns, and a consumer of another thread announces itself.

mod carry;
mod direct;
mod real;
mod state;

use crate::event::Post;
use crate::inlet::Inlet;
use crate::layout::{ACCEPTED, SERVER, Shape, TAKEN_BY_CLIENT, TAKEN_BY_SERVER, Terms};
use crate::outlet::{Outlet, Sent};
use crate::ready::Ready;
use crate::store::Store;
use crate::streams::Streams;
use crate::sync::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use crate::todo::Todo;
use softdpu_link::{LineHandle, Receiver, Ringer, Segment, Sender};
use softdpu_memory::device::Device;
use softdpu_room::biased::Biased;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, PoisonError, Weak};

pub use state::{Counters, Phase, Side};

/// See the module.
#[derive(Debug)]
pub struct Connection {
    /// Unique in the process.
    number: u64,
    /// Which one of its server.
    pub(crate) seat: u32,
    side: Side,
    /// Kept open by the context, not by a line that has not ended yet.
    device: Weak<Device>,
    peer: u32,
    mine: Terms,
    segment: Arc<Segment>,
    out: Biased<Outlet>,
    ringer: Ringer,
    /// The server's board, at a client's end.
    ready: Option<Ready>,
    line: Mutex<Option<LineHandle>>,
    todo: Arc<Todo>,
    post: Arc<Post>,
    /// Does anything wait to be sent? Changed under the lock of the sending half.
    backlog: AtomicBool,
    phase: AtomicU8,
    gone: AtomicBool,
    pub(crate) streams: Streams,
    received: [AtomicU64; 2],
    /// The program has as many messages as it may have unread.
    pub(crate) paused: AtomicBool,
    /// For the face: what it knows the connection by.
    face: AtomicUsize,
    /// Messages that were sent without a task since one was back.
    without_task: AtomicU32,
}

/// What a connection is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) seat: u32,
    pub(crate) side: Side,
    pub(crate) device: Weak<Device>,
    pub(crate) peer: u32,
    pub(crate) mine: Terms,
    pub(crate) theirs: Terms,
    pub(crate) segment: Segment,
    pub(crate) shape: Shape,
    pub(crate) ringer: Ringer,
    pub(crate) ready: Option<Ready>,
    pub(crate) todo: Arc<Todo>,
    pub(crate) post: Arc<Post>,
    /// Most producers and consumers of this end.
    pub(crate) streams: u32,
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl Connection {
    /// Both halves.
    pub(crate) fn new(parts: Parts) -> (Arc<Connection>, Inlet) {
        let segment = Arc::new(parts.segment);
        let (up, down) = ((parts.shape.up_at(), parts.shape.up), (parts.shape.down_at(), parts.shape.down));
        let (send, receive, theirs_at, mine_at, first) = match parts.side {
            Side::Client => (up, down, TAKEN_BY_SERVER, TAKEN_BY_CLIENT, 1),
            Side::Server => (down, up, TAKEN_BY_CLIENT, TAKEN_BY_SERVER, 2),
        };
        let sender = Sender::new(segment.clone(), send.0, send.1);
        let receiver = Receiver::new(segment.clone(), receive.0, receive.1);
        let inlet = Inlet::new(receiver, segment.clone(), mine_at, parts.mine.queue);
        let connection = Arc::new(Connection {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            seat: parts.seat,
            side: parts.side,
            device: parts.device,
            peer: parts.peer,
            mine: parts.mine,
            out: Biased::new(Outlet::new(sender, segment.clone(), theirs_at, parts.theirs)),
            segment,
            ringer: parts.ringer,
            ready: parts.ready,
            line: Mutex::new(None),
            todo: parts.todo,
            post: parts.post,
            backlog: AtomicBool::new(false),
            phase: AtomicU8::new(Phase::Opening as u8),
            gone: AtomicBool::new(false),
            streams: Streams::new(first, [parts.streams; 2]),
            received: [AtomicU64::new(0), AtomicU64::new(0)],
            paused: AtomicBool::new(false),
            face: AtomicUsize::new(0),
            without_task: AtomicU32::new(0),
        });
        connection.streams.listen(connection.todo.alarm());
        crate::report::list(&connection);
        (connection, inlet)
    }

    /// Tells it apart from every other one of this process.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Which end this is.
    pub fn side(&self) -> Side {
        self.side
    }

    /// The process at the other end; 0 where that cannot be told.
    pub fn peer(&self) -> u32 {
        self.peer
    }

    /// The device of this end.
    ///
    /// # Errors
    /// BadState: the context is gone.
    pub fn device(&self) -> Result<Arc<Device>> {
        self.device.upgrade().ok_or(Error::new(Code::BadState, "the connection's context is gone"))
    }

    /// Most bytes of a message that this end takes.
    pub fn max_msg_size(&self) -> u32 {
        self.mine.msg
    }

    /// Where it is in its life. Any thread.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Opening,
            1 => Phase::Up,
            2 => Phase::Leaving,
            _ => Phase::Down,
        }
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
        if phase >= Phase::Leaving {
            self.streams.ring_all();
        }
    }

    /// What a face knows it by.
    pub fn face(&self) -> usize {
        self.face.load(Ordering::Relaxed)
    }

    /// Sets what a face knows it by.
    pub fn set_face(&self, face: usize) {
        self.face.store(face, Ordering::Relaxed);
    }

    /// Something was published: wakes the peer if it sleeps or goes by marks.
    #[inline]
    fn published(&self) {
        // A barrier besides, towards a server that begins to go by marks.
        self.ringer.ring();
        if let Some(ready) = &self.ready
            && ready.mark(self.seat)
        {
            // It may have woken before the mark was there.
            self.ringer.ring();
        }
    }

    /// The peer was told of room: wakes it if it sleeps.
    #[inline]
    pub(crate) fn made_room(&self) {
        self.ringer.ring();
    }

    /// Who is told of its events.
    #[inline]
    pub(crate) fn post(&self) -> &Arc<Post> {
        &self.post
    }

    /// Sends a message.
    #[inline]
    pub(crate) fn send(&self, bytes: &[u8], store: &Store) -> Sent {
        let sent = self.out.with(|out| {
            let sent = out.send(bytes, store);
            if let Sent::Waits(_) = sent {
                self.backlog.store(true, Ordering::Relaxed);
            }
            sent
        });
        if sent == Sent::Now {
            self.said();
        }
        sent
    }

    /// A message is in the ring.
    #[inline]
    fn said(&self) {
        self.streams.say();
        self.published();
    }

    /// Sends a record that is no message.
    pub(crate) fn record(&self, tag: u32, id: u32) {
        let sent = self.out.visit(|out| {
            let sent = out.announce(tag, id);
            self.backlog.store(!out.is_empty(), Ordering::Relaxed);
            sent
        });
        if sent {
            self.published();
        } else {
            self.todo.look_at(self.seat);
        }
    }

    /// Hands over what waits. Returns how many messages that waited are through by now.
    pub(crate) fn pump(&self, store: &Store) -> u64 {
        let (moved, handed) = self.out.visit(|out| {
            let moved = !out.is_empty() && out.pump(store);
            self.backlog.store(!out.is_empty(), Ordering::Relaxed);
            (moved, out.handed)
        });
        if moved {
            self.published();
        }
        handed
    }

    /// Is nothing waiting for room? What another thread sends at this moment is noted besides.
    #[inline]
    pub(crate) fn is_flushed(&self) -> bool {
        !self.backlog.load(Ordering::Relaxed)
    }

    /// Gives up what waits, and refuses what comes.
    pub(crate) fn abandon(&self, store: &Store) {
        self.out.visit(|out| {
            out.give_up(store);
            out.close();
            self.backlog.store(false, Ordering::Relaxed);
        });
    }

    /// Gives up what waits; a good-bye may follow.
    pub(crate) fn drop_waiting(&self, store: &Store) {
        self.out.visit(|out| {
            out.give_up(store);
            self.backlog.store(false, Ordering::Relaxed);
        });
    }

    /// What the peer did wrong to the ring it reads, in words.
    pub(crate) fn broken(&self) -> Option<String> {
        self.out.visit(|out| out.broken()).map(|broken| broken.to_string())
    }

    /// Server: the client is taken.
    pub(crate) fn accept(&self) {
        self.segment.word32(SERVER).store(ACCEPTED, Ordering::Release);
        self.set_phase(Phase::Up);
        self.ringer.ring();
    }

    /// Client: did the server take it?
    pub(crate) fn is_accepted(&self) -> bool {
        self.segment.word32(SERVER).load(Ordering::Acquire) == ACCEPTED
    }

    /// The line of the connection is known now.
    pub(crate) fn set_line(&self, line: LineHandle) {
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
    }

    /// Something about it is to be looked at by its hardware.
    pub(crate) fn look(&self) {
        self.todo.look_at(self.seat);
    }

    /// Ends the line: the peer learns that this end is gone once it has read what was sent.
    pub(crate) fn hang_up(&self) {
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(line) = line {
            line.hang_up();
        }
    }

    /// The peer has hung up or died. Service thread.
    pub(crate) fn lose(&self) {
        self.gone.store(true, Ordering::Release);
        self.todo.look_at(self.seat);
        self.streams.ring_all();
    }

    /// Ends the connection, as if the peer were gone; false when it is gone already.
    pub(crate) fn sever(&self) -> bool {
        let live = !self.is_lost();
        if live {
            self.hang_up();
            self.lose();
        }
        live
    }

    /// Has the peer hung up or died?
    pub(crate) fn is_lost(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    pub(crate) fn count(&self, inlet: &Inlet) {
        self.received[0].store(inlet.taken(), Ordering::Relaxed);
        self.received[1].store(inlet.bytes, Ordering::Relaxed);
    }

    /// What went through so far.
    ///
    /// # Errors
    /// ConnectionInProgress (not established yet), ConnectionAborted (over).
    pub fn counters(&self) -> Result<Counters> {
        match self.phase() {
            Phase::Opening => {
                Err(Error::new(Code::ConnectionInProgress, "the connection is not established yet"))
            }
            _ if self.is_lost() => Err(Error::new(Code::ConnectionAborted, "the peer is gone")),
            Phase::Down => Err(Error::new(Code::ConnectionAborted, "the connection is over")),
            _ => {
                let (sent_messages, sent_bytes) = self.out.visit(|out| (out.sent(), out.sent_bytes));
                Ok(Counters {
                    sent_messages,
                    sent_bytes,
                    received_messages: self.received[0].load(Ordering::Relaxed),
                    received_bytes: self.received[1].load(Ordering::Relaxed),
                })
            }
        }
    }
}
