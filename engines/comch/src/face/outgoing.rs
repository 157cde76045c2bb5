//! Messages of a connection that are on their way, and who waits for them.

use super::wakers::{Wakers, note};
use core::task::{Context, Poll, Waker};
use softdpu_status::{Code, Error, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module.
#[derive(Default)]
pub(super) struct Outgoing(Mutex<State>);

#[derive(Default)]
struct State {
    /// Tasks in flight.
    flying: u32,
    submitted: u64,
    awaited: Vec<Awaited>,
    /// The first failure of a message that nobody awaited.
    failure: Option<Error>,
    /// For room, or for the last task to land.
    waiting: Vec<Waker>,
    /// Memory of messages that are through.
    spare: Vec<Vec<u8>>,
}

struct Awaited {
    number: u64,
    outcome: Option<Result<()>>,
    waker: Option<Waker>,
}

/// Buffers that are kept for later messages.
const SPARE: usize = 64;

/// Somebody awaits a message; not any more once dropped.
pub(super) struct Ticket<'a> {
    outgoing: &'a Outgoing,
    number: u64,
}

impl Outgoing {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more message, if fewer than `share` are in flight, and memory with its bytes in it.
    pub(super) fn reserve(
        &self,
        share: u32,
        bytes: &[u8],
        awaited: bool,
        waiter: Option<&Waker>,
    ) -> Option<(u64, Vec<u8>)> {
        let mut state = self.state();
        if state.flying >= share {
            if let Some(waiter) = waiter {
                note(&mut state.waiting, waiter);
            }
            return None;
        }
        state.flying += 1;
        state.submitted += 1;
        let number = state.submitted;
        if awaited {
            state.awaited.push(Awaited { number, outcome: None, waker: None });
        }
        let mut memory = state.spare.pop().unwrap_or_default();
        drop(state);
        memory.clear();
        memory.extend_from_slice(bytes);
        Some((number, memory))
    }

    /// The message was not submitted after all.
    pub(super) fn take_back(&self, number: u64, memory: Vec<u8>) {
        let mut wake = Wakers::default();
        let mut state = self.state();
        state.awaited.retain(|other| other.number != number);
        state.is_through(memory, &mut wake);
        drop(state);
        wake.wake();
    }

    /// The task of a message is back.
    pub(super) fn landed(&self, number: u64, memory: Vec<u8>, result: Result<()>, wake: &mut Wakers) {
        let mut state = self.state();
        match state.awaited.iter_mut().find(|other| other.number == number) {
            Some(awaited) => {
                awaited.outcome = Some(result);
                if let Some(waker) = awaited.waker.take() {
                    wake.add(waker);
                }
            }
            None => state.blame(result),
        }
        state.is_through(memory, wake);
    }

    /// Something else changed.
    pub(super) fn wake_all(&self, wake: &mut Wakers) {
        wake.add_all(&mut self.state().waiting);
    }

    /// Waits until nothing is in flight; the first failure of what nobody awaited.
    pub(super) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let mut state = self.state();
        if state.flying != 0 {
            note(&mut state.waiting, cx.waker());
            return Poll::Pending;
        }
        Poll::Ready(state.failure.take().map_or(Ok(()), Err))
    }

    /// For who reserved a place that is awaited.
    pub(super) fn ticket(&self, number: u64) -> Ticket<'_> {
        Ticket { outgoing: self, number }
    }
}

impl State {
    fn blame(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }

    fn is_through(&mut self, memory: Vec<u8>, wake: &mut Wakers) {
        self.flying -= 1;
        if self.spare.len() < SPARE {
            self.spare.push(memory);
        }
        wake.add_all(&mut self.waiting);
    }
}

impl Ticket<'_> {
    /// How it went.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let mut state = self.outgoing.state();
        let Some(awaited) = state.awaited.iter_mut().find(|other| other.number == self.number) else {
            return Poll::Ready(Err(Error::new(Code::Unexpected, "the message is not known")));
        };
        match awaited.outcome.take() {
            // Stays until the ticket goes, which takes it out.
            Some(result) => {
                awaited.outcome = Some(Ok(()));
                Poll::Ready(result)
            }
            None => {
                awaited.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.outgoing.state();
        let at = state.awaited.iter().position(|other| other.number == self.number);
        let Some(awaited) = at.map(|at| state.awaited.swap_remove(at)) else { return };
        // Landed, but nobody heard of it.
        state.blame(awaited.outcome.unwrap_or(Ok(())));
        drop(state);
        drop(awaited.waker);
    }
}
