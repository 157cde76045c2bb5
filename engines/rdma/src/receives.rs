//! Receives as a stream: posted ahead, taken as they are filled, each with its buffer.

use crate::engine::Rdma;
use crate::task::{Counted, Message, Receive, Tally};
use core::fmt;
use core::pin::Pin;
use core::task::{Context as Waking, Poll, Waker};
use softdpu_memory::Buf;
use softdpu_room::inflight::InFlight;
use softdpu_room::task::{Done, Rejected};
use softdpu_room::typed::Context;
use softdpu_status::{Error, Result};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;

/// Receives that are posted, and their buffers. Messages come in the order in which they are complete, which is that of
/// their sends for each connection. Nothing is lost with a future that is dropped.
///
/// ```no_run
/// # use softdpu_rdma::{Rdma, Receives};
/// # use softdpu_room::typed::Context;
/// # async fn serve(rdma: &mut Context<Rdma>, buffers: Vec<softdpu_memory::Buf>) -> softdpu_status::Result<()> {
/// let mut receives = Receives::new();
/// for buffer in buffers {
///     receives.post(rdma, buffer)?;
/// }
/// while let Some(received) = receives.next().await {
///     let mut received = received?;
///     println!("{:?} from connection {:?}", received.bytes(), received.message.from);
///     received.buf.reset();
///     receives.post(rdma, received.buf)?;
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct Receives {
    flying: VecDeque<InFlight<Counted>>,
    tally: Arc<Tally>,
    /// Handles to it that no receive has.
    spare: Vec<Arc<Tally>>,
    /// Receives that were taken, and looks for one.
    taken: u64,
    looks: u32,
    /// Whom so many of them, from the first one on, wake.
    waker: Option<Waker>,
    watched: usize,
}

/// Every so many looks for a receive that is through look at all of them, whatever the count says: an engine that lost one
/// did not count it.
const THOROUGH: u32 = 64;

/// A message, with the buffer it was put into.
#[derive(Debug)]
pub struct Received {
    /// From whom, and what came with it.
    pub message: Message,
    /// Its bytes, behind the data that was there before.
    pub buf: Buf,
}

/// A receive that was not filled, with its buffer: the context stopped, or the message did not fit.
#[derive(Debug)]
pub struct Unfilled {
    /// Why.
    pub error: Error,
    /// The buffer.
    pub buf: Buf,
}

impl fmt::Display for Unfilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a receive was not filled: {}", self.error)
    }
}

impl std::error::Error for Unfilled {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<Unfilled> for Error {
    fn from(unfilled: Unfilled) -> Error {
        unfilled.error
    }
}

impl Received {
    /// The bytes of the message.
    pub fn bytes(&self) -> Vec<u8> {
        let all = self.buf.to_vec();
        // A write with immediate data leaves the buffer as it is.
        let of_message = if self.message.opcode.fills() { self.message.len as usize } else { 0 };
        all[all.len().saturating_sub(of_message)..].to_vec()
    }
}

impl Receives {
    /// None are posted yet.
    pub fn new() -> Receives {
        Receives::default()
    }

    /// Posts a receive for one message, from whatever connection of the context.
    ///
    /// # Errors
    /// As the submit of a [`Receive`], which comes back with its buffer.
    pub fn post(&mut self, rdma: &mut Context<Rdma>, buf: Buf) -> Result<(), Rejected<Receive>> {
        let receive = Receive { dst: Some(buf), message: None };
        let tally = self.spare.pop().unwrap_or_else(|| self.tally.clone());
        match rdma.submit(Counted { receive, tally }) {
            Ok(flying) => {
                self.flying.push_back(flying);
                Ok(())
            }
            Err(Rejected { error, back }) => {
                self.spare.push(back.tally);
                Err(Rejected { error, back: back.receive })
            }
        }
    }

    /// How many are posted and were not taken.
    pub fn len(&self) -> usize {
        self.flying.len()
    }

    /// Are none posted?
    pub fn is_empty(&self) -> bool {
        self.flying.is_empty()
    }

    /// The next one that is filled, without waiting.
    pub fn try_next(&mut self) -> Option<Result<Received, Unfilled>> {
        let at = if self.flying.front()?.is_done() {
            0
        } else {
            self.looks = self.looks.wrapping_add(1);
            if self.tally.through() == self.taken && !self.looks.is_multiple_of(THOROUGH) {
                return None;
            }
            self.flying.iter().position(InFlight::is_done)?
        };
        self.take(at)
    }

    /// The next one that is filled; `None` when none is posted.
    pub async fn next(&mut self) -> Option<Result<Received, Unfilled>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The same for streams of one's own.
    pub fn poll_next(&mut self, cx: &mut Waking<'_>) -> Poll<Option<Result<Received, Unfilled>>> {
        if self.flying.is_empty() {
            return Poll::Ready(None);
        }
        // A receive may be overtaken: its message is long, or its sender died and it was posted again.
        if let Some(received) = self.flying.iter().position(InFlight::is_done).and_then(|at| self.take(at)) {
            return Poll::Ready(Some(received));
        }
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            (self.waker, self.watched) = (Some(cx.waker().clone()), 0);
        }
        while let Some(flying) = self.flying.get_mut(self.watched) {
            if let Poll::Ready(done) = Pin::new(flying).poll(cx) {
                drop(self.flying.remove(self.watched));
                return Poll::Ready(Some(self.settle(done)));
            }
            self.watched += 1;
        }
        Poll::Pending
    }

    /// The one at this place, if it is through.
    fn take(&mut self, at: usize) -> Option<Result<Received, Unfilled>> {
        match self.flying.remove(at)?.try_take() {
            Ok(done) => {
                self.watched -= usize::from(at < self.watched);
                Some(self.settle(done))
            }
            Err(flying) => {
                self.flying.insert(at, flying);
                None
            }
        }
    }

    #[expect(clippy::expect_used, reason = "posted with a buffer, and a message comes with success")]
    fn settle(&mut self, done: Done<Counted>) -> Result<Received, Unfilled> {
        let Counted { receive: Receive { dst, message }, tally } = done.task;
        self.taken += 1;
        self.spare.push(tally);
        let buf = dst.expect("posted with a buffer");
        match done.result {
            Ok(_) => Ok(Received { message: message.expect("a receive that succeeded"), buf }),
            Err(error) => Err(Unfilled { error, buf }),
        }
    }
}
