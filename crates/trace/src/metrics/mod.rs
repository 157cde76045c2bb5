//! Metrics: how many tasks, how they went and how long they took, per context and task kind.
//!
//! An observer that counts while tasks fly: exactly, without a lock and without leaving anything out. Who may ask: `top`,
//! Prometheus (`page.rs`), which get what stands there at that moment.
//!
//! Durations are taken of every task as long as tasks are worth it. Where a context has more than about a million of them a
//! second, looking at the clock would be a great part of each: then every second is measured, every fourth and so on to every
//! sixteenth, chosen by a hash of its number, and stands in the histograms for those between. For tasks that are measured a
//! context remembers when they were submitted; one in whose place [`REMEMBERED`] later ones come while it flies is not
//! measured, which is counted.

mod page;
mod report;
mod serve;

pub use page::page;
pub use serve::{VARIABLE, Where, start};

use crate::histogram::Histogram;
use crate::sync::{AtomicU64, Ordering};
use softdpu_room::instrument::{self, Observer, TaskId};
use softdpu_room::sys::cycles;
use softdpu_status::Code;
use std::sync::{Once, OnceLock};

/// Tasks of a context whose beginning is remembered.
pub const REMEMBERED: usize = 1024;
/// Contexts that are counted; of later ones only how many there are.
const CONTEXTS: usize = 4096;
/// Where tasks follow each other faster than this, in nanoseconds, half as many are measured, and twice as many where they
/// are slower than twice this.
const WORTH: u64 = 500;
/// One of so many is measured at least, less one.
const FEWEST: u64 = 15;

/// Counts of one task kind of a context.
#[derive(Debug, Default)]
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) submitted: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) succeeded: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) bytes: AtomicU64,
    /// Ended, without its duration being known, though it was to be measured.
    pub(crate) unknown: AtomicU64,
    /// From submit to report, in nanoseconds.
    pub(crate) times: Histogram,
    /// From begun to ended: on its way through the engine.
    pub(crate) work: Histogram,
}

impl Kind {
    /// Tasks that are through and stand in the histograms.
    fn through(&self) -> u64 {
        let [succeeded, failed, unknown] =
            [&self.succeeded, &self.failed, &self.unknown].map(|count| count.load(Ordering::Relaxed));
        (succeeded + failed).saturating_sub(unknown)
    }
}

/// When a task was submitted and begun and for how long it was carried out, by the cycle counter.
#[derive(Debug, Default)]
struct Stamp {
    /// 0: nobody's.
    number: AtomicU64,
    submitted: AtomicU64,
    /// 0: not begun.
    begun: AtomicU64,
    /// For how long it was carried out, where that is known before it ends; else 0.
    took: AtomicU64,
}

/// Counts of one context.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) number: u32,
    pub(crate) id: usize,
    pub(crate) engine: &'static str,
    pub(crate) device: String,
    pub(crate) card: String,
    /// Its engine reports numbers of bytes.
    bytes: bool,
    /// Handlers may post tasks while another thread submits.
    posts: bool,
    /// One for each kind, and one for tasks of which the kind is not known.
    pub(crate) kinds: Vec<Kind>,
    /// One less than the power of two of which one task is measured.
    mask: AtomicU64,
    /// When the last one that was measured was reported.
    last: AtomicU64,
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

    #[inline(always)]
    fn nanos(&self, counts: u64) -> u64 {
        ((u128::from(counts) * u128::from(self.rate)) >> 32) as u64
    }

    #[inline(always)]
    fn find(&self, task: &TaskId) -> Option<(&Counted, &Kind)> {
        let counted = self.contexts.get(task.context as usize)?.get()?;
        let last = counted.kinds.len() - 1;
        Some((counted, &counted.kinds[usize::from(task.kind).min(last)]))
    }

    /// How it went.
    #[inline(always)]
    fn count(counted: &Counted, kind: &Kind, result: Result<u64, Code>) {
        match result {
            Ok(value) => {
                grow(&kind.succeeded, 1);
                if counted.bytes {
                    grow(&kind.bytes, value);
                }
            }
            Err(_) => grow(&kind.failed, 1),
        }
    }

    /// It is through with the engine; it was measured.
    fn work_over(&self, kind: &Kind, stamp: &Stamp) {
        if stamp.took.load(Ordering::Relaxed) == 0 {
            stamp.work_until_now();
        }
        let took = stamp.took.load(Ordering::Relaxed);
        if took != 0 {
            kind.work.add_up_to(self.nanos(took), kind.through());
        }
    }

    fn stamp(&self, task: &TaskId) -> Option<&Stamp> {
        self.find(task).and_then(|(counted, _)| counted.stamp(task))
    }

    /// It is the program's again, now; it was measured.
    fn measured(&self, counted: &Counted, kind: &Kind, stamp: &Stamp, now: u64) {
        let since = stamp.submitted.load(Ordering::Relaxed);
        stamp.number.store(0, Ordering::Relaxed);
        kind.times.add_up_to(self.nanos(now.saturating_sub(since)), kind.through());
        // Are tasks of this context worth it?
        let mask = counted.mask.load(Ordering::Relaxed);
        let gap = self.nanos(now.saturating_sub(counted.last.load(Ordering::Relaxed))) / (mask + 1);
        counted.last.store(now, Ordering::Relaxed);
        let wanted = match gap {
            _ if gap < WORTH => (mask << 1 | 1).min(FEWEST),
            _ if gap > 2 * WORTH => mask >> 1,
            _ => mask,
        };
        counted.mask.store(wanted, Ordering::Relaxed);
    }
}

impl Stamp {
    fn begin(&self, at: u64) {
        self.begun.store(at, Ordering::Relaxed);
    }

    fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed) != 0
    }

    /// From its beginning until now it was carried out.
    fn work_until_now(&self) {
        if self.has_begun() {
            let took = cycles().saturating_sub(self.begun.load(Ordering::Relaxed));
            self.took.store(took.max(1), Ordering::Relaxed);
        }
    }
}

impl Counted {
    #[inline(always)]
    fn place(&self, task: &TaskId) -> &Stamp {
        let stamps = self.stamps.get_or_init(|| (0..REMEMBERED).map(|_| Stamp::default()).collect());
        &stamps[task.number as usize % REMEMBERED]
    }

    /// What is remembered of a task, if it is measured.
    #[inline(always)]
    fn stamp(&self, task: &TaskId) -> Option<&Stamp> {
        let stamp = self.place(task);
        // Acquire: what was written before its number belongs to it.
        (stamp.number.load(Ordering::Acquire) == task.number).then_some(stamp)
    }
}

impl Observer for &'static Metrics {
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
                bytes: crate::instrument::tells_bytes(info.kind),
                posts: !context.is_local(),
                kinds: names.map(|name| Kind { name: name.to_owned(), ..Kind::default() }).collect(),
                mask: AtomicU64::new(0),
                last: AtomicU64::new(0),
                stamps: OnceLock::new(),
            }
        });
    }

    fn refused(&self, task: &TaskId, _: Code) {
        if let Some((_, kind)) = self.find(task) {
            kind.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn submitted(&self, task: &TaskId) {
        let Some((counted, kind)) = self.find(task) else { return };
        if counted.posts {
            // What handlers post is submitted by another thread than the rest.
            kind.submitted.fetch_add(1, Ordering::Relaxed);
        } else {
            grow(&kind.submitted, 1);
        }
        if task.draw() & counted.mask.load(Ordering::Relaxed) != 0 {
            return;
        }
        let stamp = counted.place(task);
        if stamp.number.load(Ordering::Relaxed) != 0 {
            // That one is still in flight.
            kind.unknown.fetch_add(1, Ordering::Relaxed);
        }
        stamp.submitted.store(cycles(), Ordering::Relaxed);
        stamp.begin(0);
        stamp.took.store(0, Ordering::Relaxed);
        stamp.number.store(task.number, Ordering::Release);
    }

    fn begun(&self, task: &TaskId) {
        if let Some(stamp) = self.stamp(task) {
            stamp.begin(cycles());
        }
    }

    fn worked(&self, task: &TaskId) {
        if let Some(stamp) = self.stamp(task) {
            stamp.work_until_now();
        }
    }

    fn carried_out(&self, task: &TaskId, since: u64) {
        if since != 0
            && let Some(stamp) = self.stamp(task)
        {
            stamp.begin(since);
            stamp.work_until_now();
        }
    }

    fn part(&self, task: &TaskId, over: bool) {
        match self.stamp(task) {
            Some(stamp) if over => stamp.work_until_now(),
            Some(stamp) if !stamp.has_begun() => stamp.begin(cycles()),
            _ => {}
        }
    }

    fn ended(&self, task: &TaskId, result: Result<u64, Code>, called: bool) {
        let Some((counted, kind)) = self.find(task) else { return };
        Metrics::count(counted, kind, result);
        if let Some(stamp) = counted.stamp(task) {
            self.work_over(kind, stamp);
            if !called {
                self.measured(counted, kind, stamp, cycles());
            }
        }
    }

    fn delivered(&self, task: &TaskId) {
        if let Some((counted, kind)) = self.find(task)
            && let Some(stamp) = counted.stamp(task)
        {
            self.measured(counted, kind, stamp, cycles());
        }
    }

    fn forgotten(&self, task: &TaskId) {
        self.delivered(task);
    }

    fn at_once(&self, task: &TaskId, since: u64, value: u64) {
        let Some((counted, kind)) = self.find(task) else { return };
        Metrics::count(counted, kind, Ok(value));
        if let Some(stamp) = counted.stamp(task) {
            let now = cycles();
            if since != 0 {
                kind.work.add_up_to(self.nanos(now.saturating_sub(since)), kind.through());
            }
            self.measured(counted, kind, stamp, now);
        }
    }

    fn wants_returns(&self) -> bool {
        false
    }
}
