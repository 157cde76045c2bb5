//! Where frames wait for the program, in buffers of a pool.

use crate::rxq::{Info, RxDesk, fill};
use core::task::{Poll, Waker};
use softdpu_memory::buf::Lend;
use softdpu_memory::fault;
use softdpu_memory::{Buf, BufPool};
use softdpu_net::{Inlet, Taken};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A received frame: Ethernet header first, no check sequence. The buffer is back in its pool when it is dropped; it can
/// be sent on as it is.
#[derive(Debug)]
pub struct Frame {
    /// The bytes.
    pub buf: Buf,
    /// What the queue tells about it.
    pub info: Info,
}

impl Frame {
    /// The bytes, where they lie if the memory is private, otherwise a copy.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self.buf.as_slice() {
            Some(bytes) => Cow::Borrowed(bytes),
            None => Cow::Owned(self.buf.to_vec()),
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Inbox {
    pool: BufPool,
    limit: usize,
    headroom: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Frame>,
    over: bool,
    waker: Option<Waker>,
}

impl Inbox {
    /// For at most `limit` frames, each `headroom` bytes into its buffer.
    pub(crate) fn new(pool: BufPool, limit: usize, headroom: usize) -> Inbox {
        let state = State { frames: VecDeque::with_capacity(limit), ..State::default() };
        Inbox { pool, limit, headroom, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up to `most` frames from the port. True when there were any.
    pub(crate) fn fill(&self, inlet: &mut Inlet, desk: &RxDesk, most: usize) -> bool {
        if !inlet.is_ready() {
            return false;
        }
        let mut state = self.state();
        let before = state.frames.len();
        inlet.receive(most, |frame| {
            if desk.is_oversize(frame.len()) {
                return Taken::Yes;
            }
            if state.frames.len() >= self.limit {
                return Taken::Later;
            }
            let Some(mut buf) = self.pool.take() else { return Taken::Later };
            let placed = buf.set_data(self.headroom..self.headroom).map_err(|e| e.code());
            match placed.and_then(|()| fill::fill(buf.node(), frame, &desk.gate).map_err(|e| e.code())) {
                Ok(len) => {
                    state.frames.push_back(Frame { buf, info: Info::of(frame.meta(), &desk.setup.want) });
                    desk.count(len);
                }
                // Said in the log; the frame is lost.
                Err(_) => drop(fault::take()),
            }
            Taken::Yes
        });
        state.frames.len() > before
    }

    /// Is there room for one more frame?
    pub(crate) fn has_room(&self) -> bool {
        self.state().frames.len() < self.limit && self.pool.available() > 0
    }

    /// Wakes whoever waits.
    pub(crate) fn wake(&self) {
        let waker = self.state().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Nothing comes any more; what is here can still be taken.
    pub(crate) fn end(&self) {
        self.state().over = true;
        self.wake();
    }

    pub(crate) fn try_take(&self) -> Option<Frame> {
        self.state().frames.pop_front()
    }

    pub(crate) fn take_many(&self, into: &mut Vec<Frame>, most: usize) -> usize {
        let mut state = self.state();
        let n = most.min(state.frames.len());
        into.extend(state.frames.drain(..n));
        n
    }

    pub(crate) fn poll(&self, waker: &Waker) -> Poll<Option<Frame>> {
        let mut state = self.state();
        match state.frames.pop_front() {
            Some(frame) => Poll::Ready(Some(frame)),
            None if state.over => Poll::Ready(None),
            None => {
                state.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }
}
