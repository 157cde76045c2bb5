//! Metrics: how many tasks, how they went and how long they took, per context and task kind.
//!
//! An instrument that counts while tasks fly: exactly, without a lock and without leaving anything out. Who may ask: `top`,
//! Prometheus (`page.rs`), which get what stands there at that moment.
//!
//! Durations are known from the submit on. For that a context remembers when its last [`REMEMBERED`] tasks were submitted;
//! of one that is still in flight when so many others came after it, the duration is not known, which is counted.

mod page;
mod report;
mod serve;

pub use page::page;
pub use serve::{VARIABLE, Where, start};

use crate::histogram::Histogram;
use crate::sync::{AtomicU64, Ordering};
use softdpu_room::instrument::{self, Instrument, Task};
use softdpu_room::sys::cycles;
use softdpu_status::Code;
use std::sync::{Once, OnceLock};

/// Tasks of a context whose beginning is remembered.
pub const REMEMBERED: usize = 1024;
/// Contexts that are counted; of later ones only how many there are.
const CONTEXTS: usize = 4096;

/// Counts of one task kind of a context.
#[derive(Debug, Default)]
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) submitted: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) succeeded: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) bytes: AtomicU64,
    /// Ended, without its duration being known.
    pub(crate) unknown: AtomicU64,
    /// From submit to report, in nanoseconds.
    pub(crate) times: Histogram,
    /// From begun to ended: on its way through the engine.
    pub(crate) work: Histogram,
}

/// When a task was submitted and begun, by the cycle counter.
#[derive(Debug, Default)]
struct Stamp {
    number: AtomicU64,
    submitted: AtomicU64,
    begun: AtomicU64,
}

/// Counts of one context.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) number: u32,
    pub(crate) id: usize,
    pub(crate) engine: &'static str,
    pub(crate) device: String,
    pub(crate) card: String,
    /// One for each kind, and one for tasks of which the kind is not known.
    pub(crate) kinds: Vec<Kind>,
    stamps: OnceLock<Box<[Stamp]>>,
}

/// The metrics of this process.
#[derive(Debug)]
pub(crate) struct Metrics {
    contexts: Box<[OnceLock<Counted>]>,
    /// Nanoseconds of a count of the cycle counter, times 2^32.
    rate: u64,
    place: Where,
    begun: Once,
    /// Contexts beyond those.
    pub(crate) left_out: AtomicU64,
}

static METRICS: OnceLock<Metrics> = OnceLock::new();

/// What is counted in this process, if anything is.
pub(crate) fn counted() -> Option<&'static Metrics> {
    METRICS.get()
}

/// One thread at a time writes these, with the lane locked or inside progress.
#[inline(always)]
fn grow(place: &AtomicU64, by: u64) {
    place.store(place.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

impl Metrics {
    fn new(place: Where) -> Metrics {
        let rate = crate::clock::rate_of(cycles);
        Metrics {
            contexts: (0..CONTEXTS).map(|_| OnceLock::new()).collect(),
            rate: (rate * (1u64 << 32) as f64) as u64,
            place,
            begun: Once::new(),
            left_out: AtomicU64::new(0),
        }
    }

    /// All contexts that ever ran, in the order of their numbers.
    pub(crate) fn contexts(&self) -> impl Iterator<Item = &Counted> {
        self.contexts.iter().filter_map(OnceLock::get)
    }

    fn nanos(&self, counts: u64) -> u64 {
        ((u128::from(counts) * u128::from(self.rate)) >> 32) as u64
    }

    #[inline(always)]
    fn find(&self, task: &Task<'_>) -> Option<(&Counted, &Kind)> {
        let counted = self.contexts.get(task.context().number() as usize)?.get()?;
        let last = counted.kinds.len() - 1;
        let kind = task.kind().map_or(last, |(kind, _)| kind.min(last));
        Some((counted, &counted.kinds[kind]))
    }

    /// It is the program's again.
    fn through(&self, counted: &Counted, kind: &Kind, task: &Task<'_>) {
        match counted.stamp(task) {
            Some(stamp) => {
                let since = stamp.submitted.load(Ordering::Relaxed);
                kind.times.add(self.nanos(cycles().saturating_sub(since)));
            }
            None => grow(&kind.unknown, 1),
        }
    }
}

impl Counted {
    fn stamps(&self) -> &[Stamp] {
        self.stamps.get_or_init(|| (0..REMEMBERED).map(|_| Stamp::default()).collect())
    }

    /// What is remembered of a task.
    #[inline(always)]
    fn stamp(&self, task: &Task<'_>) -> Option<&Stamp> {
        let stamp = &self.stamps()[task.number() as usize % REMEMBERED];
        // Acquire: what was written before its number belongs to it.
        (stamp.number.load(Ordering::Acquire) == task.number()).then_some(stamp)
    }
}

impl Instrument for &'static Metrics {
    fn started(&self, context: &instrument::Context<'_>) {
        // Not before: until then the process may fork, and both go on.
        self.begun.call_once(|| serve::begin(&self.place));
        let Some(place) = self.contexts.get(context.number() as usize) else {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        };
        place.get_or_init(|| {
            let (core, info) = (context.core(), context.engine());
            let function = core.device().function();
            let names = info.tasks.iter().copied().chain(["task"]);
            Counted {
                number: context.number(),
                id: core::ptr::from_ref(core).addr(),
                engine: info.name,
                device: function.pci().to_string(),
                card: function.card().name().to_owned(),
                kinds: names.map(|name| Kind { name: name.to_owned(), ..Kind::default() }).collect(),
                stamps: OnceLock::new(),
            }
        });
    }

    fn refused(&self, task: &Task<'_>, _: Code) {
        if let Some((_, kind)) = self.find(task) {
            kind.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn submitted(&self, task: &Task<'_>) {
        let Some((counted, kind)) = self.find(task) else { return };
        // What handlers post is submitted by another thread than the rest.
        kind.submitted.fetch_add(1, Ordering::Relaxed);
        let stamp = &counted.stamps()[task.number() as usize % REMEMBERED];
        stamp.submitted.store(cycles(), Ordering::Relaxed);
        stamp.begun.store(0, Ordering::Relaxed);
        stamp.number.store(task.number(), Ordering::Release);
    }

    fn begun(&self, task: &Task<'_>) {
        if let Some(stamp) = self.find(task).and_then(|(counted, _)| counted.stamp(task)) {
            stamp.begun.store(cycles(), Ordering::Relaxed);
        }
    }

    fn ended(&self, task: &Task<'_>, result: Result<u64, Code>) {
        let Some((counted, kind)) = self.find(task) else { return };
        match result {
            Ok(value) => {
                grow(&kind.succeeded, 1);
                if crate::instrument::tells_bytes(task) {
                    grow(&kind.bytes, value);
                }
            }
            Err(_) => grow(&kind.failed, 1),
        }
        if let Some(begun) = counted.stamp(task).map(|stamp| stamp.begun.load(Ordering::Relaxed))
            && begun != 0
        {
            kind.work.add(self.nanos(cycles().saturating_sub(begun)));
        }
        if !task.is_called() {
            self.through(counted, kind, task);
        }
    }

    fn delivered(&self, task: &Task<'_>) {
        if let Some((counted, kind)) = self.find(task) {
            self.through(counted, kind, task);
        }
    }
}
