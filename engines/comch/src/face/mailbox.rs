//! What came over a connection and was not taken yet.
//!
//! Messages and news of consumers have one order, the peer's; they lie in two queues so that a program may wait for
//! either kind alone. As many messages as the receive queue is long lie here; then the engine leaves further ones where
//! they are, and the peer's sends wait.

use super::connection::{ConsumerId, Incoming};
use super::message::{Message, Spare};
use super::outgoing::Outgoing;
use super::wakers::{Wakers, note};
use crate::connection::Connection;
use crate::event::Message as Bytes;
use crate::sync::{AtomicBool, Ordering};
use crate::task::Peer;
use core::task::{Context, Poll};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module.
pub(super) struct Mailbox {
    peer: Peer,
    limit: usize,
    spare: Arc<Spare>,
    over: AtomicBool,
    state: Mutex<State>,
    pub(super) outgoing: Outgoing,
}

#[derive(Default)]
struct State {
    /// Each with its number in the common order.
    messages: VecDeque<(u64, Bytes)>,
    news: VecDeque<(u64, News)>,
    arrived: u64,
    consumers: Vec<ConsumerId>,
    readers: Vec<core::task::Waker>,
}

/// News of a consumer of the peer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    New(ConsumerId),
    Expired(ConsumerId),
}

/// What a reader is after.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Anything,
    Message,
    NewConsumer,
}

impl Mailbox {
    pub(super) fn new(connection: &Arc<Connection>, limit: usize, spare: &Arc<Spare>) -> Arc<Mailbox> {
        Arc::new(Mailbox {
            peer: Peer::of(connection),
            limit: limit.max(1),
            spare: spare.clone(),
            over: AtomicBool::new(false),
            state: Mutex::default(),
            outgoing: Outgoing::default(),
        })
    }

    pub(super) fn peer(&self) -> &Peer {
        &self.peer
    }

    pub(super) fn connection(&self) -> &Arc<Connection> {
        self.peer.connection()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message came. Gives it back where nobody can take it any more.
    pub(super) fn deliver(&self, bytes: Bytes) -> Option<Bytes> {
        let mut wake = Wakers::default();
        let mut state = self.state();
        if self.is_over() {
            return Some(bytes);
        }
        let number = state.next_number();
        state.messages.push_back((number, bytes));
        if state.messages.len() >= self.limit {
            self.connection().paused.store(true, Ordering::Release);
        }
        wake.add_all(&mut state.readers);
        drop(state);
        wake.wake();
        None
    }

    /// News came.
    pub(super) fn tell(&self, news: News) {
        let mut wake = Wakers::default();
        let mut state = self.state();
        let number = state.next_number();
        match news {
            News::New(id) => {
                state.consumers.push(id);
                state.news.push_back((number, news));
            }
            News::Expired(id) => {
                state.consumers.retain(|other| *other != id);
                // Nobody heard of it yet: nothing happened. So a peer cannot fill the queue.
                let unheard = state.news.iter().position(|(_, other)| *other == News::New(id));
                match unheard {
                    Some(at) => drop(state.news.remove(at)),
                    None => state.news.push_back((number, news)),
                }
            }
        }
        wake.add_all(&mut state.readers);
        drop(state);
        wake.wake();
    }

    /// Nothing comes any more; what is there can be taken still.
    pub(super) fn end(&self, wake: &mut Wakers) {
        let mut state = self.state();
        self.over.store(true, Ordering::Release);
        state.consumers.clear();
        wake.add_all(&mut state.readers);
        drop(state);
        self.outgoing.wake_all(wake);
    }

    /// Is the connection over? It changes with the state locked.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// The consumers of the peer.
    pub(super) fn consumers(&self) -> Vec<ConsumerId> {
        self.state().consumers.clone()
    }

    /// Takes the next thing of the wanted kind. Ready with `None`: there will be none.
    pub(super) fn poll(&self, wanted: Wanted, cx: &mut Context<'_>) -> Poll<Option<Incoming>> {
        let mut state = self.state();
        match self.take(&mut state, wanted) {
            Some((found, resume)) => {
                drop(state);
                self.resume(resume);
                Poll::Ready(Some(found))
            }
            None if self.is_over() => Poll::Ready(None),
            None => {
                note(&mut state.readers, cx.waker());
                Poll::Pending
            }
        }
    }

    /// As [`Mailbox::poll`], without waiting.
    pub(super) fn try_take(&self, wanted: Wanted) -> Option<Incoming> {
        let mut state = self.state();
        let (found, resume) = self.take(&mut state, wanted)?;
        drop(state);
        self.resume(resume);
        Some(found)
    }

    fn take(&self, state: &mut State, wanted: Wanted) -> Option<(Incoming, bool)> {
        let message = state.messages.front().map(|(number, _)| *number);
        let news = state.news.front().map(|(number, _)| *number);
        let message_first = match wanted {
            Wanted::Message => true,
            Wanted::NewConsumer => false,
            Wanted::Anything => message.is_some_and(|message| news.is_none_or(|news| message < news)),
        };
        if !message_first {
            loop {
                return match state.news.pop_front()?.1 {
                    News::New(id) => Some((Incoming::NewConsumer(id), false)),
                    News::Expired(_) if wanted == Wanted::NewConsumer => continue,
                    News::Expired(id) => Some((Incoming::ExpiredConsumer(id), false)),
                };
            }
        }
        let (_, bytes) = state.messages.pop_front()?;
        let paused = &self.connection().paused;
        let resume = state.messages.len() <= self.limit / 2 && paused.load(Ordering::Relaxed);
        if resume {
            paused.store(false, Ordering::Release);
        }
        Some((Incoming::Message(Message::new(bytes, &self.spare)), resume))
    }

    /// The engine goes on reading.
    fn resume(&self, resume: bool) {
        if resume {
            self.connection().look();
        }
    }
}

impl State {
    fn next_number(&mut self) -> u64 {
        self.arrived += 1;
        self.arrived
    }
}
