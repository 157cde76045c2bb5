//! The sending half of a connection: messages and announcements, one stream, in order.
//!
//! What the ring has no room for waits here, messages in the place that their task has in the [`Store`]. The ring takes
//! as many messages as the receiver's queue is long; announcements do not count.

use crate::layout::Terms;
use crate::store::Store;
use crate::sync::Ordering;
use softdpu_link::{Broken, Segment, Sender};
use softdpu_status::Code;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a record is.
pub(crate) mod tag {
    /// A message.
    pub(crate) const MESSAGE: u32 = 1;
    /// A consumer was started; its parcel came over the line.
    pub(crate) const CONSUMER: u32 = 2;
    /// A consumer is gone.
    pub(crate) const EXPIRED: u32 = 3;
    /// The news of a consumer arrived.
    pub(crate) const SEEN: u32 = 4;
    /// Receives of a consumer were posted, for which producers wait.
    pub(crate) const FEED: u32 = 6;
    /// The last record.
    pub(crate) const BYE: u32 = 5;
}

/// How a message fared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sent {
    /// It is in the ring.
    Now,
    /// It waits; it is handed over when so many were.
    Waits(u64),
    /// It will not be sent.
    Never(Code),
}

/// Most records that wait for a peer.
const MOST_WAITING: usize = 1 << 18;

#[derive(Debug)]
enum Waiting {
    Message { place: u32, len: u32 },
    Record { tag: u32, id: u32 },
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Outlet {
    sender: Sender,
    segment: Arc<Segment>,
    /// Where the receiver says how many messages it took.
    taken_at: usize,
    peer: Terms,
    sent: u64,
    taken: u64,
    waiting: VecDeque<Waiting>,
    /// Messages that ever had to wait, and those of them that are through.
    queued: u64,
    pub(crate) handed: u64,
    scratch: Vec<u8>,
    broken: Option<Broken>,
    closed: bool,
    /// Bytes and messages in the ring, ever.
    pub(crate) sent_bytes: u64,
}

impl Outlet {
    pub(crate) fn new(sender: Sender, segment: Arc<Segment>, taken_at: usize, peer: Terms) -> Outlet {
        Outlet {
            sender,
            segment,
            taken_at,
            peer,
            sent: 0,
            taken: 0,
            waiting: VecDeque::new(),
            queued: 0,
            handed: 0,
            scratch: Vec::new(),
            broken: None,
            closed: false,
            sent_bytes: 0,
        }
    }

    /// Messages in the ring, ever.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Counts a message that went another way.
    pub(crate) fn count(&mut self, bytes: usize) {
        self.sent += 1;
        self.sent_bytes += bytes as u64;
    }

    /// What the peer broke, if it did.
    pub(crate) fn broken(&self) -> Option<Broken> {
        self.broken
    }

    /// Nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Is there room in the receiver's queue?
    #[inline]
    fn has_credit(&mut self) -> bool {
        let queue = u64::from(self.peer.queue);
        if self.sent - self.taken < queue {
            return true;
        }
        let taken = self.segment.word64(self.taken_at).load(Ordering::Acquire);
        // It only grows, up to what was sent; anything else gives a hostile receiver no more than a queue of its choice.
        if taken > self.taken && taken <= self.sent {
            self.taken = taken;
        }
        self.sent - self.taken < queue
    }

    /// Notes what the ring said.
    fn heard(&mut self, outcome: Result<bool, Broken>) -> bool {
        outcome.unwrap_or_else(|broken| {
            self.broken = Some(broken);
            false
        })
    }

    /// Sends a message: its bytes are copied on return, whatever comes of it.
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8], store: &Store) -> Sent {
        match self.send_now(bytes) {
            Some(sent) => sent,
            None => self.put_off(bytes, store),
        }
    }

    /// Sends a message if there is room.
    #[inline]
    pub(crate) fn send_now(&mut self, bytes: &[u8]) -> Option<Sent> {
        if bytes.len() > self.peer.msg as usize {
            return Some(Sent::Never(Code::TooBig));
        }
        if self.closed || self.broken.is_some() {
            return Some(Sent::Never(Code::ConnectionReset));
        }
        if self.waiting.is_empty() && self.has_credit() {
            let pushed = self.sender.push(tag::MESSAGE, &[bytes]);
            if self.heard(pushed) {
                self.sent += 1;
                self.sent_bytes += bytes.len() as u64;
                return Some(Sent::Now);
            }
        }
        None
    }

    #[cold]
    fn put_off(&mut self, bytes: &[u8], store: &Store) -> Sent {
        let Some(place) = store.put(bytes) else { return Sent::Never(Code::Full) };
        self.waiting.push_back(Waiting::Message { place, len: bytes.len() as u32 });
        self.queued += 1;
        Sent::Waits(self.queued)
    }

    /// Sends a record that is no message. True: it is in the ring, the receiver wants to be rung. What the receiver may wait
    /// for while it takes no messages, and what has no order among them, goes before those that wait for room.
    pub(crate) fn announce(&mut self, tag: u32, id: u32) -> bool {
        if self.closed {
            return false;
        }
        self.closed = tag == tag::BYE;
        if self.waiting.is_empty() || matches!(tag, tag::SEEN | tag::FEED) {
            let pushed = self.sender.push(tag, &[&id.to_le_bytes()]);
            if self.heard(pushed) {
                return true;
            }
        }
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back(Waiting::Record { tag, id });
        } else {
            // A peer that announces and reads nothing.
            self.closed = true;
        }
        false
    }

    /// Hands over what waits, as far as there is room. True when anything was.
    pub(crate) fn pump(&mut self, store: &Store) -> bool {
        let mut moved = false;
        while self.broken.is_none()
            && let Some(front) = self.waiting.front()
        {
            let pushed = match *front {
                Waiting::Record { tag, id } => self.sender.push(tag, &[&id.to_le_bytes()]),
                Waiting::Message { place, len } => {
                    if !self.has_credit() {
                        break;
                    }
                    self.scratch.resize(len as usize, 0);
                    store.get(place, &mut self.scratch);
                    self.sender.push(tag::MESSAGE, &[&self.scratch])
                }
            };
            if !self.heard(pushed) {
                break;
            }
            moved = true;
            self.drop_front(store, true);
        }
        moved
    }

    /// The front is through, or given up.
    fn drop_front(&mut self, store: &Store, sent: bool) {
        if let Some(Waiting::Message { place, len }) = self.waiting.pop_front() {
            store.free(place);
            self.handed += u64::from(sent);
            if sent {
                self.sent += 1;
                self.sent_bytes += u64::from(len);
            }
        }
    }

    /// Gives up what waits. Nothing can be sent any more but a good-bye, unless that was said.
    pub(crate) fn give_up(&mut self, store: &Store) {
        while !self.waiting.is_empty() {
            self.drop_front(store, false);
        }
    }

    /// Refuses whatever comes from now on.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }
}
