//! How the two ends of a wire find each other across processes.

use super::protocol::{self, DONE, Kind, NOBODY, TOPIC};
use super::{FAR_RING, Link, Reader, Wire, wire_to};
use crate::bell::Bell;
use crate::intake::Intake;
use crate::port::{End, intake_at};
use crate::source::{LinePlace, RingSource, Source};
use crate::sync::{AtomicBool, Ordering};
use softdpu_link::{
    Answer, Desk, Folder, LineHandle, Owner, Peer, Segment, Sender, Tie, ask, ensure, keep, processes,
    ring_bytes, serve,
};
use softdpu_status::Result;
use std::os::fd::OwnedFd;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

/// How long a process may take to answer. One that is stopped holds others up for as long, once per end that they open.
const PATIENCE: Duration = Duration::from_millis(500);
/// Rings of other processes that an intake has at most.
const MOST_SENDERS: usize = 64;

/// Other processes, once this one can be asked, too; none where the runtime folder is of no use.
fn others() -> Vec<Owner> {
    // Programs that live alone need no folder: what is wrong with it is said by those who do.
    if Folder::prepare().is_err() {
        return Vec::new();
    }
    serve(TOPIC, &Wires);
    let Ok(me) = ensure() else { return Vec::new() };
    processes().into_iter().filter(|owner| *owner != me).collect()
}

/// Asks all processes for receivers at an end, for a new wire.
pub(super) fn ask_receivers(end: &End, wire: &Arc<Wire>) {
    let request = protocol::request(Kind::Want, end);
    for owner in others() {
        let Ok((answer, fds, line)) = ask(owner, TOPIC, &request, &[], PATIENCE) else { continue };
        if answer != [DONE] {
            continue;
        }
        let Some((segment, bell)) = accept(fds) else { continue };
        let gone = Arc::new(AtomicBool::new(false));
        let line = keep(line, Box::new(SendTie { gone: Arc::clone(&gone), offer: None }));
        wire.add_remote(segment, bell, line, owner.pid, gone);
    }
}

/// Offers an intake to all processes that send to its end.
pub(super) fn offer(end: &End, intake: &Arc<Intake>) {
    let request = protocol::request(Kind::Offer, end);
    for owner in others() {
        let Ok((segment, source)) = ring() else { return };
        let fds = [segment.fd(), intake.bell.fd()];
        let Ok((answer, _, line)) = ask(owner, TOPIC, &request, &fds, PATIENCE) else { continue };
        if answer != [DONE] {
            continue;
        }
        let (source, gone, place) = source;
        let tie = ReceiveTie { intake: Arc::downgrade(intake), gone, line: Arc::clone(&place) };
        let line = keep(line, Box::new(tie));
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
        let _ = intake.add_source(Source::Ring(source));
    }
}

/// What the receiver keeps of a ring: the source, whether the sender is gone, the place of the line.
type Kept = (RingSource, Arc<AtomicBool>, LinePlace);

/// A new ring, for an intake.
fn ring() -> Result<(Arc<Segment>, Kept)> {
    let segment = Arc::new(Segment::create("softdpu-wire", ring_bytes(FAR_RING))?);
    let (gone, line) = (Arc::new(AtomicBool::new(false)), LinePlace::default());
    let source = RingSource::new(Arc::clone(&segment), FAR_RING, Arc::clone(&gone), Arc::clone(&line));
    Ok((segment, (source, gone, line)))
}

/// Ring and bell, as a receiver hands them out.
fn accept(fds: Vec<OwnedFd>) -> Option<(Arc<Segment>, Arc<Bell>)> {
    let [ring, bell] = <[OwnedFd; 2]>::try_from(fds).ok()?;
    let segment = Segment::from_fd(ring, ring_bytes(FAR_RING)).ok()?;
    Some((Arc::new(segment), Arc::new(Bell::accept(bell).ok()?)))
}

impl Wire {
    /// A ring to another process; one is enough.
    fn add_remote(
        &self,
        segment: Arc<Segment>,
        bell: Arc<Bell>,
        line: LineHandle,
        pid: u32,
        gone: Arc<AtomicBool>,
    ) {
        let mut links = self.links();
        let knows = |link: &Link| matches!(link.reader, Reader::There { pid: known, .. } if known == pid);
        if links.iter().any(|link| knows(link) && !link.is_gone()) {
            line.hang_up();
            return;
        }
        links.push(Link {
            sender: Sender::new(segment, 0, FAR_RING),
            bell,
            reader: Reader::There { line, pid },
            gone,
            is_dirty: false,
            missed: 0,
        });
    }
}

/// Answers other processes.
struct Wires;

impl Desk for Wires {
    fn ask(&self, peer: &Peer, request: &[u8], fds: Vec<OwnedFd>) -> Answer {
        let nobody = || Answer { bytes: vec![NOBODY], ..Answer::default() };
        let Some((kind, end)) = protocol::read(request) else {
            log::warn!(target: crate::LOG, "process {} asked about wires in {} bytes that make no sense",
                peer.pid, request.len());
            return nobody();
        };
        match kind {
            Kind::Want => intake_at(&end).and_then(|intake| give(&intake, peer)).unwrap_or_else(nobody),
            Kind::Offer => wire_to(&end).and_then(|wire| take(&wire, peer, fds)).unwrap_or_else(nobody),
        }
    }
}

/// A ring for a sender that asks.
fn give(intake: &Arc<Intake>, peer: &Peer) -> Option<Answer> {
    let senders = intake.lock().sources.len();
    if senders >= MOST_SENDERS {
        log::warn!(target: crate::LOG, "process {} wants to send to a port that {senders} senders are at, allowed {MOST_SENDERS}", peer.pid);
        return None;
    }
    let (segment, (source, gone, line)) = ring().ok()?;
    let fds = vec![segment.fd().try_clone_to_owned().ok()?, intake.bell.fd().try_clone_to_owned().ok()?];
    intake.add_source(Source::Ring(source)).ok()?;
    let tie = ReceiveTie { intake: Arc::downgrade(intake), gone, line };
    Some(Answer { bytes: vec![DONE], fds, tie: Some(Box::new(tie)) })
}

/// A ring that a receiver offers.
fn take(wire: &Arc<Wire>, peer: &Peer, fds: Vec<OwnedFd>) -> Option<Answer> {
    let (segment, bell) = accept(fds)?;
    let offer = Offer { wire: Arc::downgrade(wire), segment, bell, pid: peer.pid };
    let tie = SendTie { gone: Arc::new(AtomicBool::new(false)), offer: Some(offer) };
    Some(Answer { bytes: vec![DONE], fds: Vec::new(), tie: Some(Box::new(tie)) })
}

/// What becomes a link once the line is there.
struct Offer {
    wire: Weak<Wire>,
    segment: Arc<Segment>,
    bell: Arc<Bell>,
    pid: u32,
}

/// The sender's side of a line.
struct SendTie {
    gone: Arc<AtomicBool>,
    offer: Option<Offer>,
}

impl Tie for SendTie {
    fn tied(&mut self, line: LineHandle) {
        if let Some(offer) = self.offer.take() {
            match offer.wire.upgrade() {
                Some(wire) => {
                    wire.add_remote(offer.segment, offer.bell, line, offer.pid, Arc::clone(&self.gone));
                }
                None => line.hang_up(),
            }
        }
    }

    fn gone(&mut self) {
        self.gone.store(true, Ordering::Release);
    }
}

/// The receiver's side of a line.
struct ReceiveTie {
    intake: Weak<Intake>,
    gone: Arc<AtomicBool>,
    line: LinePlace,
}

impl Tie for ReceiveTie {
    fn tied(&mut self, line: LineHandle) {
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
    }

    fn message(&mut self, _bytes: &[u8], _fds: Vec<OwnedFd>) -> Option<Vec<u8>> {
        if let Some(intake) = self.intake.upgrade() {
            intake.rouse();
        }
        None
    }

    fn gone(&mut self) {
        self.gone.store(true, Ordering::Release);
    }
}
