//! One connection in the hands of its hardware: what the peer says, what waits to be sent, how it ends.

use crate::connection::{Connection, Phase};
use crate::event::Event;
use crate::inlet::Inlet;
use crate::outlet::tag;
use crate::pace::Pace;
use crate::send::{Fate, SendJob};
use crate::store::Store;
use softdpu_link::{Broken, Front};
use softdpu_room::engine::Engine;
use softdpu_room::hardware::{Port, Ticket};
use softdpu_status::Code;
use std::collections::VecDeque;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an end that leaves waits for a peer that takes nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug)]
pub(crate) struct Talk<E: Engine> {
    pub(crate) connection: Arc<Connection>,
    inlet: Inlet,
    pace: Pace,
    /// Messages that wait for room, by their number.
    waiting: VecDeque<(u64, Ticket<E>)>,
    /// A consumer is announced whose parcel has not come.
    blocked: Option<u32>,
    leaving: Option<Leaving>,
    wants_messages: bool,
}

#[derive(Debug)]
struct Leaving {
    until: Instant,
    said_bye: bool,
    /// Waits for producers and consumers of this end.
    for_children: bool,
    warned: bool,
}

/// What the peer said.
#[derive(Debug)]
pub(crate) enum Heard {
    Nothing,
    Event(Event),
    /// The connection is over.
    Over,
}

impl<E: Engine<Job = SendJob>> Talk<E> {
    pub(crate) fn new(connection: Arc<Connection>, inlet: Inlet) -> Talk<E> {
        Talk {
            wants_messages: connection.post().listener.wants_messages(),
            pace: Pace::to(connection.peer()),
            connection,
            inlet,
            waiting: VecDeque::new(),
            blocked: None,
            leaving: None,
        }
    }

    /// Is there something to hear?
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        match self.blocked {
            Some(id) => self.connection.streams.has_parcel(id) || self.connection.is_lost(),
            None => {
                self.connection.is_lost()
                    || !self.inlet.is_empty() && (!self.is_paused() || !self.seen_ahead().is_empty())
            }
        }
    }

    /// Consumers of this end that the peer has seen, as stands behind messages that nobody takes. Whoever starts a consumer
    /// may do so before it takes another message.
    fn seen_ahead(&self) -> Vec<u32> {
        let streams = &self.connection.streams;
        let mut ids = if streams.has_unseen() { self.inlet.numbers_ahead(tag::SEEN) } else { Vec::new() };
        // Those that were found before still stand there.
        ids.retain(|&id| streams.is_unseen(id));
        ids
    }

    /// The program has as many messages as it may have; those of a peer that is gone are bounded by the ring.
    #[inline]
    fn is_paused(&self) -> bool {
        self.connection.paused.load(crate::sync::Ordering::Acquire)
    }

    /// Reads on until there is something to tell.
    pub(crate) fn hear(&mut self) -> Heard {
        if self.blocked.is_some() && !self.has_news() {
            return Heard::Nothing;
        }
        loop {
            // Before the ring: what the peer sent before it left is read first.
            let lost = self.connection.is_lost();
            let front = match self.front(lost) {
                Ok(Some(front)) => front,
                Ok(None) if lost => return Heard::Over,
                Ok(None) => return Heard::Nothing,
                Err(broken) => return self.refuse(&broken),
            };
            match front.tag {
                tag::MESSAGE if front.len > self.connection.max_msg_size() as usize => {
                    return self.refuse(&format_args!(
                        "a message of {} bytes, agreed were {}",
                        front.len,
                        self.connection.max_msg_size()
                    ));
                }
                tag::MESSAGE if self.is_paused() && !lost => {
                    let streams = &self.connection.streams;
                    self.seen_ahead().into_iter().for_each(|id| streams.seen(id, true));
                    return Heard::Nothing;
                }
                tag::MESSAGE if self.wants_messages => return self.message(front),
                tag::MESSAGE => self.pop(front),
                tag::CONSUMER => match self.consumer(front, lost) {
                    None => {}
                    Some(heard) => return heard,
                },
                tag::EXPIRED => {
                    let id = self.inlet.number();
                    self.pop(front);
                    if self.connection.streams.end_remote(id)
                        && self.connection.post().listener.wants_consumers()
                    {
                        return Heard::Event(Event::ExpiredConsumer(self.connection.clone(), id));
                    }
                }
                tag::SEEN => {
                    let id = self.inlet.number();
                    self.pop(front);
                    self.connection.streams.seen(id, true);
                }
                tag::FEED => {
                    let id = self.inlet.number();
                    self.pop(front);
                    if let Some(remote) = self.connection.streams.remote(id) {
                        remote.feed();
                    }
                }
                tag::BYE => return Heard::Over,
                other => return self.refuse(&format_args!("a record of kind {other}")),
            }
        }
    }

    /// What is at the front, if it is time to look.
    #[inline]
    fn front(&mut self, lost: bool) -> Result<Option<Front>, Broken> {
        let looks = !self.inlet.has_more();
        if looks && !lost && !self.pace.may_look() {
            return Ok(None);
        }
        let front = self.inlet.front();
        if looks {
            self.pace.looked(matches!(front, Ok(Some(_))), self.connection.streams.said());
        }
        front
    }

    /// The peer started a consumer. None: nobody wants to know.
    fn consumer(&mut self, front: Front, lost: bool) -> Option<Heard> {
        let id = self.inlet.number();
        if !self.connection.streams.has_parcel(id) {
            self.blocked = Some(id);
            return Some(if lost { Heard::Over } else { Heard::Nothing });
        }
        self.blocked = None;
        self.pop(front);
        if !self.connection.streams.add_remote(id) {
            return Some(self.refuse(&format_args!("consumer {id} was announced twice")));
        }
        self.connection.record(tag::SEEN, id);
        let wanted = self.connection.post().listener.wants_consumers();
        wanted.then(|| Heard::Event(Event::NewConsumer(self.connection.clone(), id)))
    }

    #[inline]
    fn message(&mut self, front: Front) -> Heard {
        let mut message = self.connection.post().take();
        let n = self.inlet.copy(&mut message.room()[..front.len]);
        message.set_len(n);
        self.pop(front);
        Heard::Event(Event::Message(self.connection.clone(), message))
    }

    #[inline]
    fn pop(&mut self, front: Front) {
        let told = self.inlet.pop(front);
        if front.tag == tag::MESSAGE {
            self.connection.count(&self.inlet);
        }
        if told {
            self.connection.made_room();
        }
    }

    #[cold]
    fn refuse(&self, what: &dyn Display) -> Heard {
        log::error!(target: crate::LOG, "process {} sent what no peer sends ({what}): the connection is ended",
            self.connection.peer());
        Heard::Over
    }

    /// A message that had to wait.
    pub(crate) fn wait(&mut self, number: u64, ticket: Ticket<E>) {
        self.waiting.push_back((number, ticket));
    }

    /// Hands over what waits, and completes the tasks of it. True: something still waits.
    pub(crate) fn pump(&mut self, port: &mut Port<'_, E>, store: &Store) -> bool {
        if self.waiting.is_empty() && self.connection.is_flushed() {
            return false;
        }
        let handed = self.connection.pump(store);
        while let Some((number, _)) = self.waiting.front()
            && *number <= handed
            && let Some((_, ticket)) = self.waiting.pop_front()
        {
            port.complete(ticket, Ok(0));
        }
        !self.waiting.is_empty() || !self.connection.is_flushed()
    }

    /// What waits fails.
    pub(crate) fn fail_waiting(&mut self, port: &mut Port<'_, E>, store: &Store, code: Code) {
        self.connection.drop_waiting(store);
        for (_, ticket) in self.waiting.drain(..) {
            port.complete(ticket, Err(code));
        }
    }

    /// This end wants to leave: what was submitted is sent first, then a good-bye. With `for_children`, its producers and
    /// consumers go before.
    pub(crate) fn leave(&mut self, for_children: bool) {
        if self.leaving.is_none() {
            self.connection.set_phase(Phase::Leaving);
            let until = Instant::now() + PATIENCE;
            self.leaving = Some(Leaving { until, said_bye: false, for_children, warned: false });
        }
    }

    /// Is this end leaving?
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.is_some()
    }

    /// One step of leaving. True: it is over.
    pub(crate) fn leave_on(&mut self, port: &mut Port<'_, E>, store: &Store) -> bool {
        let Some(leaving) = &mut self.leaving else { return false };
        if self.connection.is_lost() || self.connection.broken().is_some() {
            return true;
        }
        let children = self.connection.streams.children();
        if leaving.for_children && children != 0 {
            if !leaving.warned {
                leaving.warned = true;
                log::warn!(target: crate::LOG, "a stopping context waits for {} of its connection to process {}: \
                    stop and destroy them", self.connection.streams.roll(), self.connection.peer());
            }
            leaving.until = Instant::now() + PATIENCE;
            self.pump(port, store);
            return false;
        }
        let late = Instant::now() >= leaving.until;
        let said_bye = core::mem::replace(&mut leaving.said_bye, true);
        if !said_bye {
            self.connection.record(tag::BYE, 0);
        }
        let waits = self.pump(port, store);
        if waits && late {
            log::warn!(target: crate::LOG, "process {} has taken nothing for {} s: the connection ends without what waits",
                self.connection.peer(), PATIENCE.as_secs());
        }
        !waits || late
    }

    /// It is over: nothing of it is left in this process but what others hold.
    pub(crate) fn end(&mut self, port: &mut Port<'_, E>, store: &Store) {
        self.fail_waiting(port, store, Code::ConnectionReset);
        self.cut(store);
    }

    /// The same where no tasks are left.
    pub(crate) fn cut(&mut self, store: &Store) {
        self.connection.set_phase(Phase::Down);
        self.connection.abandon(store);
        self.connection.hang_up();
    }
}

/// Takes a submitted message in hand. `talk` finds the connection it waits for by seat and number.
pub(crate) fn take_in<'t, E>(
    port: &mut Port<'_, E>,
    mut ticket: Ticket<E>,
    talk: impl FnOnce(u32, u64) -> Option<&'t mut Talk<E>>,
) -> Option<u32>
where
    E: Engine<Job = SendJob> + 't,
{
    let fate = port.job(&mut ticket).fate;
    let result = match (fate.result(), fate) {
        (None, Fate::Waits { seat, connection, number }) => match talk(seat, connection) {
            Some(talk) => {
                talk.wait(number, ticket);
                return Some(seat);
            }
            None => Err(Code::ConnectionReset),
        },
        (result, _) => result.unwrap_or(Ok(0)),
    };
    port.complete(ticket, result);
    None
}
