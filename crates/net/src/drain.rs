//! One turn of an intake: frames from a source, through the rules, to queues.

use crate::counters::PortCounters;
use crate::frame::{Body, Frame, Meta, Taken};
use crate::headers::{HEAD, Headers, MIN_FRAME, headers};
use crate::intake::Seat;
use crate::port::MAX_FRAME;
use crate::queue::Queue;
use crate::steer::{Classifier, HashFields, Tally, Verdict};
use softdpu_link::Receiver;
use std::sync::Arc;

/// Where frames come from. One user at a time.
pub(crate) trait Feed {
    /// Bytes of the frame at the front, if there is one.
    fn front(&mut self) -> Option<usize>;
    /// The frame at the front: all of it, or its first bytes, as many as headers need, and the rest in a ring. `head` is
    /// room for those; none where nobody wants to see headers.
    fn look<'a>(&'a self, head: Option<&'a mut [u8; HEAD]>) -> (&'a [u8], Option<&'a Receiver>);
    /// When the frame arrived, where the source knows that; nanoseconds since 1970.
    fn stamp(&self) -> Option<u64> {
        None
    }
    /// The transport checksum was not computed yet, since the frame comes from this very machine.
    fn is_unsummed(&self) -> bool {
        false
    }
    /// The frame at the front is done.
    fn pop(&mut self);
    /// End of a turn.
    fn settle(&mut self) {}
}

/// What a turn needs besides the source.
pub(crate) struct Desk<'a> {
    /// Whose turn it is.
    pub(crate) me: &'a Arc<Queue>,
    pub(crate) seats: &'a mut Vec<Seat>,
    pub(crate) classifier: Option<&'a Classifier>,
    pub(crate) tally: &'a mut Tally,
    pub(crate) counts: &'a mut PortCounters,
    pub(crate) head: &'a mut [u8; HEAD],
    pub(crate) scratch: &'a mut Vec<u8>,
    /// Nanoseconds since 1970, asked once per turn.
    pub(crate) now: u64,
}

/// Frames that a turn passes on or drops at most, beyond those it takes: it must end.
const OTHERS: usize = 256;

/// Takes up to `most` frames for the queue whose turn it is; frames of other queues go to their rings. Returns the frames
/// taken, and whether the queue can take more.
#[inline]
pub(crate) fn drain<S: Feed>(
    feed: &mut S,
    desk: &mut Desk<'_>,
    most: usize,
    take: &mut impl FnMut(&mut Frame<'_>) -> Taken,
) -> (usize, bool) {
    let Desk { me, seats, classifier, tally, counts, head, scratch, now } = desk;
    let (mut taken, mut others, mut open) = (0, 0, true);
    let wants_headers = me.wants.hash || seats.len() > 1 || classifier.is_some_and(Classifier::needs_headers);
    while taken < most && others < OTHERS && open {
        let Some(len) = feed.front() else { break };
        if !(MIN_FRAME..=MAX_FRAME).contains(&len) {
            counts.rx_bad += 1;
            others += 1;
            feed.pop();
            continue;
        }
        let (start, ring) = feed.look(wants_headers.then_some(&mut **head));
        let found = if wants_headers { headers(start, len) } else { Headers::default() };
        let Some((at, rule, verdict)) = decide(start, len, &found, *classifier, seats, counts, tally) else {
            others += 1;
            feed.pop();
            continue;
        };
        let queue = &seats[at].queue;
        let is_mine = Arc::ptr_eq(queue, me);
        let timestamp = if queue.wants.timestamp { feed.stamp().unwrap_or(*now) } else { 0 };
        let mut frame = Frame {
            len,
            meta: meta(&verdict, timestamp),
            body: body(start, ring, scratch),
            is_unverified: queue.wants.checksums,
            found: wants_headers.then_some(&found),
            is_unsummed: feed.is_unsummed(),
        };
        if is_mine && take(&mut frame) == Taken::Yes {
            taken += 1;
        } else if is_mine && seats.len() == 1 {
            // It stays where it is: there is nobody it could be in the way of.
            open = false;
            break;
        } else {
            others += 1;
            open = !is_mine;
            if !seats[at].push(&mut frame) {
                counts.rx_missed += 1;
                feed.pop();
                continue;
            }
        }
        counts.rx_frames += 1;
        counts.rx_bytes += len as u64;
        if let Some(classifier) = classifier {
            tally.add(classifier, rule, len);
        }
        feed.pop();
    }
    feed.settle();
    (taken, open)
}

#[inline(always)]
fn meta(verdict: &Verdict, timestamp: u64) -> Meta {
    let Verdict { hash, tag, mark, .. } = *verdict;
    Meta { hash, tag, mark, timestamp, ..Meta::default() }
}

#[inline(always)]
fn body<'a>(start: &'a [u8], ring: Option<&'a Receiver>, scratch: &'a mut Vec<u8>) -> Body<'a> {
    match ring {
        None => Body::Here(start),
        Some(ring) => Body::There(ring, 0, scratch),
    }
}

/// The seat of the queue that gets the frame, and the rule that says so; none: it is dropped, and counted.
#[inline(always)]
fn decide(
    start: &[u8],
    len: usize,
    found: &Headers,
    classifier: Option<&Classifier>,
    seats: &[Seat],
    counts: &mut PortCounters,
    tally: &mut Tally,
) -> Option<(usize, u32, Verdict)> {
    let Some(classifier) = classifier else {
        counts.rx_unmatched += 1;
        return None;
    };
    let mut verdict = classifier.classify(start, found);
    let Some(rule) = verdict.rule else {
        counts.rx_unmatched += 1;
        return None;
    };
    let Some(number) = verdict.queue else {
        counts.rx_dropped += 1;
        tally.add(classifier, rule, len);
        return None;
    };
    let Some(at) = seats.iter().position(|seat| seat.queue.number() == number) else {
        counts.rx_no_queue += 1;
        return None;
    };
    if verdict.hash == 0 && seats[at].queue.wants.hash {
        verdict.hash = classifier.hash(start, found, HashFields::ALL);
    }
    Some((at, rule, verdict))
}
