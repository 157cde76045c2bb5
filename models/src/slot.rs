//! A slot, as far as lanes and landings look at it; its functions are the room's.

use crate::engine::Shape;
use crate::flight::Flight;
use crate::parts::Parts;
use crate::sync::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering, ProtocolCell};
use softdpu_status::Code;

pub(crate) const QUEUED: u8 = 0;
const READY: u8 = 1;
const LARGE: u8 = 2;

/// See the module. `job` counts how often the task was carried out since it was filled.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) flight: Flight,
    pub(crate) status: AtomicI32,
    phase: AtomicU8,
    stepping: AtomicU8,
    pub(crate) result: AtomicU64,
    pub(crate) parts: Parts,
    pub(crate) part_bytes: AtomicU32,
    pub(crate) part_failed: AtomicI32,
    pub(crate) total: AtomicU64,
    /// Bytes of the task: what makes it large.
    pub(crate) bytes: ProtocolCell<u64>,
    pub(crate) job: ProtocolCell<u32>,
    /// Each part, by its number.
    pub(crate) done: [ProtocolCell<u32>; 3],
}

impl Slot {
    pub(crate) fn new() -> Slot {
        Slot {
            flight: Flight::new(),
            status: AtomicI32::new(0),
            phase: AtomicU8::new(QUEUED),
            stepping: AtomicU8::new(0),
            result: AtomicU64::new(0),
            parts: Parts::new(),
            part_bytes: AtomicU32::new(0),
            part_failed: AtomicI32::new(0),
            total: AtomicU64::new(0),
            bytes: ProtocolCell::new(0),
            job: ProtocolCell::new(0),
            done: [0; 3].map(ProtocolCell::new),
        }
    }

    /// A new job moves in.
    pub(crate) fn fill(&self, bytes: u64) {
        self.bytes.update(|_| bytes);
        self.job.update(|_| 0);
        self.done.iter().for_each(|d| d.update(|_| 0));
    }

    /// The job moves out: it was carried out once, whole.
    pub(crate) fn empty(&self) {
        let parts = u32::from(matches!(crate::context::Work.shape(self), Shape::Parts | Shape::Steps));
        assert_eq!(self.job.get(), 1, "carried out other than once");
        self.done[..2].iter().for_each(|d| assert_eq!(d.get(), parts, "a part carried out other than once"));
        assert_eq!(self.output(), self.bytes.get(), "another task's result");
    }

    /// Delivered to a future.
    pub(crate) fn op(&self) -> usize {
        0
    }

    fn output(&self) -> u64 {
        self.result.load(Ordering::Relaxed)
    }
}

#[allow(dead_code, unreachable_pub, unused_qualifications, reason = "not every model uses all of it")]
mod cut {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/cut_slot.rs"));
}
