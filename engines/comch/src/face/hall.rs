//! Who is told of the events of a server or client: finds the mailbox of the connection.

use super::connection::ConsumerId;
use super::mailbox::{Mailbox, News};
use super::message::Spare;
use super::wakers::{Wakers, note};
use crate::connection::Connection;
use crate::event::{Event, Listener, Message as Bytes};
use crate::sync::{AtomicU32, Ordering};
use core::task::{Context, Poll, Waker};
use softdpu_room::biased::Biased;
use softdpu_room::context::Core;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module.
pub(super) struct Hall {
    /// Messages that a mailbox takes.
    limit: usize,
    spare: Arc<Spare>,
    state: Mutex<State>,
    /// Where the last message went: as good as always the next one goes there, too. Away while one is delivered.
    recent: Biased<Option<Arc<Mailbox>>>,
    connections: AtomicU32,
}

#[derive(Default)]
struct State {
    /// A connection knows its place, plus one.
    boxes: Vec<Option<Arc<Mailbox>>>,
    free: Vec<usize>,
    /// Clients that came and were not accepted yet.
    arrivals: VecDeque<Arc<Mailbox>>,
    acceptors: Vec<Waker>,
    closed: bool,
}

impl Hall {
    pub(super) fn new(limit: u32) -> Arc<Hall> {
        let limit = limit as usize;
        Arc::new(Hall {
            limit,
            spare: Spare::new(2 * limit),
            state: Mutex::default(),
            recent: Biased::new(None),
            connections: AtomicU32::new(0),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many connections there are.
    pub(super) fn connections(&self) -> u32 {
        self.connections.load(Ordering::Relaxed)
    }

    /// A mailbox for a new connection.
    pub(super) fn enter(&self, connection: &Arc<Connection>) -> Arc<Mailbox> {
        let mailbox = Mailbox::new(connection, self.limit, &self.spare);
        let mut state = self.state();
        let at = state.free.pop().unwrap_or(state.boxes.len());
        if at == state.boxes.len() {
            state.boxes.push(None);
        }
        state.boxes[at] = Some(mailbox.clone());
        connection.set_face(at + 1);
        self.connections.fetch_add(1, Ordering::Relaxed);
        mailbox
    }

    #[inline]
    fn find(&self, connection: &Connection) -> Option<Arc<Mailbox>> {
        self.state().boxes.get(connection.face().wrapping_sub(1))?.clone()
    }

    /// The connection is over, or the program has given it up.
    pub(super) fn leave(&self, connection: &Connection, wake: &mut Wakers) {
        let at = connection.face().wrapping_sub(1);
        let mut state = self.state();
        let Some(mailbox) = state.boxes.get_mut(at).and_then(Option::take) else { return };
        state.free.push(at);
        drop(state);
        drop(self.recent.visit(Option::take));
        connection.set_face(0);
        self.connections.fetch_sub(1, Ordering::Relaxed);
        mailbox.end(wake);
    }

    /// The context ends: nobody comes any more, and everybody is told.
    pub(super) fn close(&self, wake: &mut Wakers) {
        let mut state = self.state();
        state.closed = true;
        wake.add_all(&mut state.acceptors);
        let all: Vec<_> = state.boxes.iter().flatten().cloned().collect();
        let never_accepted = core::mem::take(&mut state.arrivals);
        drop(state);
        drop(never_accepted);
        all.iter().for_each(|mailbox| mailbox.end(wake));
    }

    /// The next client. Ready with `None`: nobody comes any more.
    pub(super) fn poll_arrival(&self, cx: &mut Context<'_>) -> Poll<Option<Arc<Mailbox>>> {
        let mut state = self.state();
        match state.arrivals.pop_front() {
            Some(mailbox) => Poll::Ready(Some(mailbox)),
            None if state.closed => Poll::Ready(None),
            None => {
                note(&mut state.acceptors, cx.waker());
                Poll::Pending
            }
        }
    }

    /// As [`Hall::poll_arrival`], without waiting.
    pub(super) fn try_arrival(&self) -> Option<Arc<Mailbox>> {
        self.state().arrivals.pop_front()
    }

    fn arrive(&self, connection: &Arc<Connection>) {
        let mailbox = self.enter(connection);
        let mut wake = Wakers::default();
        let mut state = self.state();
        state.arrivals.push_back(mailbox);
        wake.add_all(&mut state.acceptors);
        drop(state);
        wake.wake();
    }

    fn news(&self, connection: &Connection, news: News) {
        if let Some(mailbox) = self.find(connection) {
            mailbox.tell(news);
        }
    }
}

impl Listener for Hall {
    fn tell(&self, _: &'static Core, event: Event) {
        match event {
            Event::Connected(connection) => self.arrive(&connection),
            Event::Disconnected(connection) => {
                let mut wake = Wakers::default();
                self.leave(&connection, &mut wake);
                wake.wake();
            }
            Event::NewConsumer(connection, id) => self.news(&connection, News::New(ConsumerId::from(id))),
            Event::ExpiredConsumer(connection, id) => {
                self.news(&connection, News::Expired(ConsumerId::from(id)));
            }
            // Told by the other call.
            Event::Message(..) => {}
        }
    }

    fn message(&self, _: &'static Core, connection: &Arc<Connection>, message: Bytes) -> Option<Bytes> {
        let recent = self.recent.with(Option::take);
        let recent = recent.filter(|mailbox| Arc::ptr_eq(mailbox.connection(), connection));
        let Some(mailbox) = recent.or_else(|| self.find(connection)) else { return Some(message) };
        let back = mailbox.deliver(message);
        if !mailbox.is_over() {
            drop(self.recent.with(|recent| recent.replace(mailbox)));
        }
        back
    }

    fn refill(&self, free: &mut Vec<Bytes>) {
        self.spare.take(free);
    }

    fn wants_end(&self) -> bool {
        true
    }

    fn forget(&self, connection: &Arc<Connection>) {
        let mut wake = Wakers::default();
        self.leave(connection, &mut wake);
        wake.wake_elsewhere();
    }

    fn idle(&self) {
        let mut wake = Wakers::default();
        self.close(&mut wake);
        wake.wake_elsewhere();
    }
}
