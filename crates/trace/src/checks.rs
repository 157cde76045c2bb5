//! Checks of programs of the Rust face: an observer of the room that says what a program does wrong with its contexts,
//! where the compiler cannot. Programs of the C face have check mode, which knows more.
//!
//! Nothing is said on the way of a task: hooks count, and a thread looks at the counts four times a second.

use crate::sync::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};
use softdpu_room::instrument::{self, Context, Observer, TaskId};
use softdpu_status::{Class, Code};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);
/// Looks after which tasks that nobody progresses are worth a line.
const STILL: u32 = 4;
/// Looks after which a handler has been running for too long.
const LONG: u32 = 8;
/// Submits in a row that are refused for the same reason before that is worth a line.
const STUBBORN: u32 = 100;

/// Looks that see only submits without a place before that is worth a line.
const DRY: u32 = 2;
/// Failures that are remembered until somebody hears of them.
const FAILURES: usize = 256;

/// Something that a program does wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule: `never-progressed`, `callback-blocks`, `retry-parameter`, `tasks-not-freed`, `result-ignored` or
    /// `never-freed`.
    pub rule: &'static str,
    /// The number of the context, from 1, in the order in which contexts started.
    pub context: u32,
    /// Object, numbers, and what to do.
    pub text: String,
}

impl core::fmt::Display for Finding {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.rule, self.text)
    }
}

/// What is known of a context.
#[derive(Debug, Default)]
struct Seen {
    number: u32,
    words: String,
    /// Its tasks are carried out by threads of this process: none of them waits for a peer.
    computes: AtomicBool,
    idle: AtomicBool,
    /// Anything that happened.
    steps: AtomicU64,
    flying: AtomicI64,
    /// Tasks and parts that are being carried out.
    busy: AtomicI64,
    /// Handlers that are running, and that ever began.
    inside: AtomicI64,
    entered: AtomicU64,
    /// Refusals in a row, and their code.
    refusals: AtomicU32,
    code: AtomicU32,
    /// Submits in a row that found no place.
    full: AtomicU32,
    /// Tasks that failed, and nobody may have heard of it.
    failed: Mutex<Vec<(u64, Code)>>,
    /// What the last look saw, and for how many looks it has been the same.
    last: Mutex<Look>,
}

#[derive(Debug, Default)]
struct Look {
    steps: u64,
    entered: u64,
    still: u32,
    inside: u32,
    stubborn: bool,
    full: u32,
    /// Looks in a row that saw nothing but submits without a place, while nothing flew.
    dry: u32,
}

#[derive(Debug, Default)]
struct Checker {
    /// By number.
    contexts: RwLock<Vec<Option<Arc<Seen>>>>,
    findings: Mutex<Vec<Finding>>,
}

static CHECKER: OnceLock<Arc<Checker>> = OnceLock::new();

/// Has contexts of this process that start from now on checked.
///
/// # Errors
/// When there is no thread to be had.
pub fn start() -> io::Result<()> {
    static STARTING: Mutex<()> = Mutex::new(());
    let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if CHECKER.get().is_some() {
        return Ok(());
    }
    let checker = Arc::new(Checker::default());
    let its = Arc::clone(&checker);
    softdpu_link::with_signals_blocked(|| {
        std::thread::Builder::new().name("softdpu-check".into()).spawn(move || {
            loop {
                std::thread::sleep(LOOK);
                its.look();
            }
        })
    })?;
    instrument::observe(Arc::clone(&checker) as Arc<dyn Observer>);
    let _ = CHECKER.set(checker);
    Ok(())
}

/// What was found so far.
pub fn findings() -> Vec<Finding> {
    CHECKER.get().map(|checker| checker.findings().clone()).unwrap_or_default()
}

/// What was found, and what is left at what is the end of the program, or of a part of it: contexts that did not end.
pub fn finish() -> Vec<Finding> {
    if let Some(checker) = CHECKER.get() {
        checker.leaks();
    }
    findings()
}

impl Checker {
    fn findings(&self) -> MutexGuard<'_, Vec<Finding>> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something once of each context.
    fn add(&self, rule: &'static str, seen: &Seen, numbers: core::fmt::Arguments<'_>) {
        let context = seen.number;
        let finding = Finding { rule, context, text: format!("{}: {numbers}", seen.words) };
        let mut all = self.findings();
        if all.iter().any(|known| (known.rule, known.context) == (rule, context)) {
            return;
        }
        all.push(finding.clone());
        drop(all);
        log::warn!(target: "softdpu::check", "{finding}");
    }

    fn all(&self) -> Vec<Arc<Seen>> {
        self.contexts.read().unwrap_or_else(PoisonError::into_inner).iter().flatten().cloned().collect()
    }

    fn with(&self, number: u32, f: impl FnOnce(&Seen)) {
        let contexts = self.contexts.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(seen)) = contexts.get(number as usize) {
            seen.steps.fetch_add(1, Relaxed);
            f(seen);
        }
    }

    fn look(&self) {
        for seen in self.all() {
            self.look_at(&seen);
        }
    }

    fn look_at(&self, seen: &Seen) {
        let mut last = seen.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (steps, entered) = (seen.steps.load(Relaxed), seen.entered.load(Relaxed));
        let inside = seen.inside.load(Relaxed) > 0;
        last.still = if steps == last.steps { last.still + 1 } else { 0 };
        last.inside = if inside && entered == last.entered { last.inside + 1 } else { 0 };
        (last.steps, last.entered) = (steps, entered);
        let flying = seen.flying.load(Relaxed);
        let waits = flying > 0 && seen.busy.load(Relaxed) <= 0 && seen.computes.load(Relaxed);
        if last.still == STILL && waits && !inside {
            self.add(
                "never-progressed",
                seen,
                format_args!(
                    "{flying} tasks in flight, nothing for 1 s: progress its engine, or await tasks with `run` or `drive`"
                ),
            );
        }
        if last.inside == LONG {
            self.add(
                "callback-blocks",
                seen,
                format_args!(
                    "2 s in one handler: let handlers return soon, nothing else of the engine is reported meanwhile"
                ),
            );
        }
        let full = seen.full.load(Relaxed);
        let dry = flying <= 0 && full >= STUBBORN && full > last.full;
        last.dry = if dry { last.dry + 1 } else { 0 };
        last.full = full;
        if last.dry == DRY {
            self.add(
                "tasks-not-freed",
                seen,
                format_args!(
                    "{full} submits in a row refused with DOCA_ERROR_FULL, nothing in flight: ended tasks keep their places until \
                     their results are taken or dropped; take them, or ask for more tasks in the configuration"
                ),
            );
        }
        if seen.refusals.load(Relaxed) >= STUBBORN && !core::mem::replace(&mut last.stubborn, true) {
            let code = seen.code.load(Relaxed);
            let code = i32::try_from(code).ok().and_then(Code::from_number);
            let code = code.map_or("unknown", Code::name);
            self.add(
                "retry-parameter",
                seen,
                format_args!(
                    "{STUBBORN} submits in a row refused with {code}: such an error does not pass, `Error::is_retryable` tells"
                ),
            );
        }
    }

    fn leaks(&self) {
        for seen in self.all().iter().filter(|seen| !seen.idle.load(Relaxed)) {
            let flying = seen.flying.load(Relaxed);
            self.add(
                "never-freed",
                seen,
                format_args!(
                    "still there at the end, {flying} tasks in flight: stop or drop it and progress, and forget nothing"
                ),
            );
        }
    }
}

/// One is over. It may have been forgotten already, when nothing flew any more.
fn less(count: &AtomicI64) {
    _ = count.fetch_update(Relaxed, Relaxed, |n| (n > 0).then(|| n - 1));
}

impl Observer for Checker {
    fn started(&self, context: &Context<'_>) {
        let number = context.number();
        let function = context.core().device().function();
        let words = format!("{} context {number} on {}", context.engine().name, function.pci());
        let seen = Seen { number, words, computes: context.computes().into(), ..Seen::default() };
        let mut contexts = self.contexts.write().unwrap_or_else(PoisonError::into_inner);
        let at = number as usize;
        if contexts.len() <= at {
            contexts.resize(at + 1, None);
        }
        contexts[at] = Some(Arc::new(seen));
    }

    fn idle(&self, context: &Context<'_>) {
        self.with(context.number(), |seen| seen.idle.store(true, Relaxed));
    }

    fn refused(&self, task: &TaskId, code: Code) {
        self.with(task.context, |seen| {
            if code == Code::Full {
                seen.full.fetch_add(1, Relaxed);
            }
            let code_now = code.number().unsigned_abs();
            let same = seen.code.swap(code_now, Relaxed) == code_now && code.class() == Class::Parameter;
            if same {
                seen.refusals.fetch_add(1, Relaxed);
            } else {
                seen.refusals.store(1, Relaxed);
            }
        });
    }

    fn submitted(&self, task: &TaskId) {
        self.with(task.context, |seen| {
            seen.flying.fetch_add(1, Relaxed);
            seen.code.store(0, Relaxed);
            seen.full.store(0, Relaxed);
        });
    }

    fn begun(&self, task: &TaskId) {
        self.with(task.context, |seen| _ = seen.busy.fetch_add(1, Relaxed));
    }

    fn worked(&self, task: &TaskId) {
        self.with(task.context, |seen| less(&seen.busy));
    }

    fn part(&self, task: &TaskId, over: bool) {
        self.with(task.context, |seen| {
            if over {
                less(&seen.busy);
            } else {
                seen.busy.fetch_add(1, Relaxed);
            }
        });
    }

    fn ended(&self, task: &TaskId, result: Result<u64, Code>, called: bool) {
        self.with(task.context, |seen| {
            if let (Err(code), false) = (result, called) {
                let mut failed = seen.failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.len() >= FAILURES {
                    failed.remove(0);
                }
                failed.push((task.number, code));
            }
            if seen.flying.fetch_sub(1, Relaxed) == 1 {
                // What was begun and failed was never told to have worked.
                seen.busy.store(0, Relaxed);
            }
        });
    }

    fn forgotten(&self, task: &TaskId) {
        self.with(task.context, |seen| {
            let mut failed = seen.failed.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(at) = failed.iter().rposition(|(number, _)| *number == task.number) else { return };
            let (number, code) = failed.swap_remove(at);
            drop(failed);
            let name = code.name();
            self.add(
                "result-ignored",
                seen,
                format_args!("task {number} failed with {name} after its future was dropped: await it, or post it to a handler"),
            );
        });
    }

    fn delivered(&self, task: &TaskId) {
        self.with(task.context, |seen| {
            seen.inside.fetch_add(1, Relaxed);
            seen.entered.fetch_add(1, Relaxed);
        });
    }

    fn returned(&self, task: &TaskId) {
        self.with(task.context, |seen| _ = seen.inside.fetch_sub(1, Relaxed));
    }
}
