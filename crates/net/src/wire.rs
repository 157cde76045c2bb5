//! Wires: from the send queues of a port to whoever receives at the other end.
//!
//! A [`Wire`] is what this process sends to one end: a ring to each process that receives there, this one included. The
//! receiver makes the ring and hands it out with its [`Bell`], over a connection that stays: when either side goes, the
//! other is told. Whoever comes later knocks: an outlet asks every process of the runtime folder who receives at its
//! end, an intake offers itself to all.
//!
//! Frames of one process to one end go through one ring, whatever queue they come from, under the wire's lock.

mod join;
mod protocol;

use crate::bell::Bell;
use crate::counters::PortCounters;
use crate::intake::Intake;
use crate::port::{End, MAX_FRAME, intake_at};
use crate::source::{RingSource, Source};
use crate::sync::{AtomicBool, Ordering};
use softdpu_link::{LineHandle, Segment, Sender, max_message, ring_bytes};
use softdpu_status::Result;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Bytes of data of a ring to an intake of this process: small enough to stay in the cache of a processor that does both,
/// enough for hundreds of long frames.
const RING: usize = 1 << 20;
/// Bytes of data of a ring to another process: more than the cache of one processor holds, so that a sender that is ahead
/// has written lines back to the cache they share before the receiver asks for them. Taking them out of the other
/// processor's own cache takes three times as long.
const FAR_RING: usize = 4 << 20;
const _: () = assert!(MAX_FRAME <= max_message(RING) && RING <= FAR_RING);

/// Who reads a ring.
#[derive(Debug)]
enum Reader {
    /// An intake of this process.
    Here(Weak<Intake>),
    /// Another process.
    There { line: LineHandle, pid: u32 },
}

/// A ring to one receiver.
#[derive(Debug)]
pub(crate) struct Link {
    sender: Sender,
    bell: Arc<Bell>,
    reader: Reader,
    gone: Arc<AtomicBool>,
    /// Frames were staged.
    is_dirty: bool,
    /// Frames that found no room in this batch.
    missed: u64,
}

/// What this process sends to one end.
#[derive(Debug)]
pub(crate) struct Wire {
    links: Mutex<Vec<Link>>,
}

/// Wires by the end they lead to.
static WIRES: Mutex<Option<HashMap<End, Weak<Wire>>>> = Mutex::new(None);
/// Held while an end of a wire is opened, so that of two that open one sees the other.
static OPENING: Mutex<()> = Mutex::new(());

fn wire_to(end: &End) -> Option<Arc<Wire>> {
    let wires = WIRES.lock().unwrap_or_else(PoisonError::into_inner);
    wires.as_ref()?.get(end).and_then(Weak::upgrade)
}

/// The wire that leads to an end, for an outlet.
pub(crate) fn send_to(end: &End) -> Result<Arc<Wire>> {
    let wire = {
        let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wire) = wire_to(end) {
            return Ok(wire);
        }
        let wire = Arc::new(Wire { links: Mutex::default() });
        let mut wires = WIRES.lock().unwrap_or_else(PoisonError::into_inner);
        let wires = wires.get_or_insert_with(HashMap::new);
        wires.retain(|_, wire| wire.strong_count() > 0);
        wires.insert(end.clone(), Arc::downgrade(&wire));
        if let Some(intake) = intake_at(end) {
            wire.lead_to(&intake)?;
        }
        wire
    };
    join::ask_receivers(end, &wire);
    Ok(wire)
}

/// An intake receives at an end from now on.
pub(crate) fn receive_at(end: &End, intake: &Arc<Intake>) {
    {
        let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wire) = wire_to(end)
            && !wire.leads_to(intake)
        {
            // No memory for a ring: said there; the intake has no frames from this process.
            let _ = wire.lead_to(intake);
        }
    }
    join::offer(end, intake);
}

impl Wire {
    fn links(&self) -> MutexGuard<'_, Vec<Link>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leads_to(&self, intake: &Arc<Intake>) -> bool {
        let is_it = |reader: &Reader| matches!(reader, Reader::Here(other) if core::ptr::eq(other.as_ptr(), Arc::as_ptr(intake)));
        self.links().iter().any(|link| is_it(&link.reader))
    }

    /// A ring to an intake of this process.
    fn lead_to(&self, intake: &Arc<Intake>) -> Result<()> {
        let segment = Arc::new(Segment::create("softdpu-wire", ring_bytes(RING))?);
        let gone = Arc::new(AtomicBool::new(false));
        intake.add_source(Source::Ring(RingSource::new(
            Arc::clone(&segment),
            RING,
            Arc::clone(&gone),
            Arc::default(),
        )))?;
        self.links().push(Link {
            sender: Sender::new(segment, 0, RING),
            bell: Arc::clone(&intake.bell),
            reader: Reader::Here(Arc::downgrade(intake)),
            gone,
            is_dirty: false,
            missed: 0,
        });
        Ok(())
    }

    #[inline]
    pub(crate) fn batch(&self) -> WireBatch<'_> {
        WireBatch { links: self.links() }
    }
}

/// The wire during a batch.
#[derive(Debug)]
pub(crate) struct WireBatch<'a> {
    links: MutexGuard<'a, Vec<Link>>,
}

impl WireBatch<'_> {
    /// One frame, to everybody who receives.
    #[inline]
    pub(crate) fn send(&mut self, pieces: &[&[u8]], counts: &mut PortCounters) {
        if self.links.is_empty() {
            counts.tx_lost += 1;
        }
        for link in self.links.iter_mut() {
            match link.sender.stage(0, pieces) {
                Ok(true) => link.is_dirty = true,
                Ok(false) => link.missed += 1,
                Err(what) => link.give_up(what),
            }
        }
    }

    #[inline]
    pub(crate) fn settle(&mut self, counts: &mut PortCounters) {
        let mut gone = false;
        for link in self.links.iter_mut() {
            link.settle(counts);
            gone |= link.is_gone();
        }
        if gone {
            self.links.retain(|link| !link.is_gone());
        }
    }
}

impl Link {
    #[inline]
    fn settle(&mut self, counts: &mut PortCounters) {
        if self.missed > 0 {
            self.bell.miss(self.missed);
            counts.tx_lost += core::mem::take(&mut self.missed);
        }
        if core::mem::take(&mut self.is_dirty) {
            self.sender.publish();
            if self.bell.wants_ring() {
                self.wake();
            }
        }
    }

    #[cold]
    fn wake(&self) {
        match &self.reader {
            Reader::Here(intake) => {
                if let Some(intake) = intake.upgrade() {
                    intake.rouse();
                }
            }
            Reader::There { line, .. } => {
                // Should it not read, it has enough to read.
                let _ = line.send(&protocol::WAKE, &[]);
            }
        }
    }

    #[cold]
    fn give_up(&mut self, what: softdpu_link::Broken) {
        if !self.gone.swap(true, Ordering::AcqRel) {
            log::error!(target: crate::LOG, "frames to a peer: {what}");
        }
    }

    #[inline]
    fn is_gone(&self) -> bool {
        match &self.reader {
            Reader::Here(intake) => intake.strong_count() == 0,
            Reader::There { .. } => self.gone.load(Ordering::Acquire),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Release);
        if let Reader::There { line, .. } = &self.reader {
            line.hang_up();
        }
    }
}
