//! Makes tasks fail as a plan says.

use crate::choose::{Programs, chosen};
use crate::plan::{Effect, Fault, Plan, Which};
use crate::record::Record;
use crate::sync::{AtomicUsize, Ordering};
use softdpu_card::PciAddr;
use softdpu_room::instrument::{Begin, Context, Decider, End, Task};
use softdpu_status::Code;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Refusals of a receiver in a row after which a sender gives up.
const RETRIES: u32 = 7;
/// Time between two attempts to send to one that is not ready.
const RETRY_TIMER: Duration = Duration::from_micros(640);
/// With a seed no clock is read: so much time is one turn.
const TURN: Duration = Duration::from_micros(10);

/// The instrument.
#[derive(Debug)]
pub struct Faults {
    plan: Plan,
    seed: Option<u64>,
    record: Record,
    state: Mutex<State>,
    /// Tasks in flight that something is to happen to; the others need no look.
    marked: AtomicUsize,
}

/// What was counted for one fault.
#[derive(Clone, Debug, Default)]
struct Counted {
    /// Tasks (allocations) that it could have been.
    seen: u64,
    fired: u64,
    /// Submissions refused in a row.
    refused: u32,
}

#[derive(Debug, Default)]
struct State {
    counted: Vec<Counted>,
    tasks: HashMap<(u32, u64), Mark>,
    down: Vec<Down>,
    programs: Programs,
}

/// What is to happen to a task in flight.
#[derive(Debug, Default)]
struct Mark {
    error: Option<Code>,
    delay: Option<Wait>,
    lost: bool,
    not_ready: Option<(u32, Wait)>,
    disconnect: bool,
    link_down: Option<Duration>,
}

/// A time to wait, from the first look at it on.
#[derive(Clone, Copy, Debug)]
struct Wait {
    time: Duration,
    since: Option<Instant>,
}

/// A link that is down.
#[derive(Debug)]
struct Down {
    device: PciAddr,
    wait: Wait,
    /// How often it was looked at.
    looks: u64,
}

impl Wait {
    fn new(time: Duration) -> Wait {
        Wait { time, since: None }
    }

    /// Is it over? `waited`: turns so far; `clock`: may time be measured?
    fn is_over(&mut self, waited: u64, clock: bool) -> bool {
        if !clock {
            return u128::from(waited) * TURN.as_nanos() >= self.time.as_nanos();
        }
        self.since.get_or_insert_with(Instant::now).elapsed() >= self.time
    }
}

/// Does a plan's name for an engine mean this one?
pub(crate) fn names(name: &str, engine: &str) -> bool {
    let engine = engine.replace(' ', "_");
    name == "*" || name == engine || matches!(name, "comch" | "eth") && engine.split('_').next() == Some(name)
}

impl Faults {
    /// An instrument that follows `plan`; probabilities are drawn with the seed, or with zero.
    pub fn new(plan: Plan, seed: Option<u64>) -> Faults {
        let state = State { counted: vec![Counted::default(); plan.faults.len()], ..State::default() };
        Faults {
            plan,
            seed,
            record: Record::of_process(),
            state: Mutex::new(state),
            marked: AtomicUsize::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_clock(&self) -> bool {
        self.seed.is_none()
    }

    /// Is it the n-th that the fault is for?
    fn hits(&self, fault: &Fault, n: u64) -> bool {
        match fault.which {
            Which::All => true,
            Which::Number(number) => n == number,
            Which::Every(every) => n.is_multiple_of(every),
            Which::Probability(p) => {
                let draw = crate::mix(&[self.seed.unwrap_or(0), 0xfa, fault.index as u64, n]);
                // 53 bits, as many as the number has.
                ((draw >> 11) as f64) < p * (1u64 << 53) as f64
            }
        }
    }

    /// Is the fault for this task?
    fn is_for(&self, fault: &Fault, task: &Task<'_>) -> bool {
        Self::concerns(fault, &task.context(), task.kind().map(|k| k.1))
            && (fault.peer.is_none() && fault.memory.is_none() || {
                let mut state = self.state();
                chosen(fault, task, &mut state.programs)
            })
    }

    fn concerns(fault: &Fault, context: &Context<'_>, kind: Option<&str>) -> bool {
        names(&fault.engine, context.engine().name)
            && fault.context.is_none_or(|number| number == context.number())
            && fault.op.as_deref().is_none_or(|op| kind == Some(op))
    }

    fn tell(&self, fault: &Fault, n: u64, context: &Context<'_>, task: u64) {
        let (engine, number) = (context.engine().name, context.number());
        log::warn!(target: "softdpu::fault",
            "fault {} of the plan (line {}): {engine} context {number}, task {task}, number {n} of those it is for: {}",
            fault.index, fault.line, fault.effect);
        self.record.write(format_args!("f {} {n} {number} {task} {engine}", fault.index));
    }
}

/// Is the link of a device down? Those that are up again are forgotten.
fn is_down(all: &mut Vec<Down>, device: PciAddr, clock: bool) -> bool {
    let mut any = false;
    all.retain_mut(|down| {
        if down.device != device {
            return true;
        }
        let over = down.wait.is_over(down.looks, clock);
        down.looks += 1;
        any |= !over;
        !over
    });
    any
}

impl Decider for Faults {
    fn admit(&self, task: &Task<'_>) -> Result<(), Code> {
        let context = task.context();
        let mut refused = None;
        for (at, fault) in self.plan.faults.iter().enumerate() {
            let Effect::QueueFull(times) = fault.effect else { continue };
            if !self.is_for(fault, task) {
                continue;
            }
            let mut state = self.state();
            let counted = &mut state.counted[at];
            let n = counted.seen + 1;
            if counted.refused < times && counted.fired < fault.count && self.hits(fault, n) {
                counted.refused += 1;
                refused = Some((fault, n, counted.refused));
                break;
            }
        }
        let Some((fault, n, times)) = refused else { return Ok(()) };
        if times == 1 {
            self.tell(fault, n, &context, task.number());
        }
        // What the engines themselves answer.
        Err(if context.engine().name == "comch producer" { Code::Again } else { Code::Full })
    }

    fn submitted(&self, task: &Task<'_>) {
        let context = task.context();
        let mut fired = Vec::new();
        {
            let all = self.plan.faults.iter().enumerate();
            let concerned: Vec<_> = all
                .filter(|(_, fault)| !matches!(fault.effect, Effect::Alloc(_)) && self.is_for(fault, task))
                .collect();
            let mut state = self.state();
            let mut mark: Option<Mark> = None;
            for (at, fault) in concerned {
                let counted = &mut state.counted[at];
                counted.seen += 1;
                let n = counted.seen;
                if let Effect::QueueFull(_) = fault.effect {
                    counted.fired += u64::from(counted.refused != 0);
                    counted.refused = 0;
                } else if counted.fired < fault.count && self.hits(fault, n) {
                    counted.fired += 1;
                    mark.get_or_insert_default().add(fault.effect);
                    fired.push((fault, n));
                }
            }
            if let Some(mark) = mark {
                state.tasks.insert((context.number(), task.number()), mark);
                self.marked.store(state.tasks.len(), Ordering::Release);
            }
        }
        for (fault, n) in fired {
            self.tell(fault, n, &context, task.number());
        }
    }

    fn may_begin(&self, task: &Task<'_>, waited: u64) -> Begin {
        if self.marked.load(Ordering::Acquire) == 0 {
            return Begin::Now;
        }
        let context = task.context();
        let clock = self.has_clock();
        let sends_frames = context.engine().name == "eth_txq";
        let mut state = self.state();
        let State { tasks, down, .. } = &mut *state;
        let mut mark = tasks.get_mut(&(context.number(), task.number()));
        let device = context.core().device().function().pci();
        if let Some(time) = mark.as_mut().and_then(|mark| mark.link_down.take()) {
            down.push(Down { device, wait: Wait::new(time), looks: 0 });
        }
        if sends_frames && is_down(down, device, clock) {
            return Begin::Never(Ok(0));
        }
        let Some(mark) = mark else { return Begin::Now };
        if let Some((times, wait)) = &mut mark.not_ready {
            if !wait.is_over(waited, clock) {
                return Begin::Later;
            }
            if *times > RETRIES {
                return Begin::Never(Err(Code::IoFailed));
            }
        }
        match (mark.error, mark.lost && sends_frames) {
            _ if mark.disconnect => Begin::Alone,
            (Some(code), _) => Begin::Never(Err(code)),
            (None, true) => Begin::Never(Ok(0)),
            (None, false) => Begin::Now,
        }
    }

    fn may_end(&self, task: &Task<'_>, waited: u64, result: Result<u64, Code>) -> End {
        if self.marked.load(Ordering::Acquire) == 0 {
            return End::Now(result);
        }
        let key = (task.context().number(), task.number());
        let mut state = self.state();
        let Some(mark) = state.tasks.get_mut(&key) else { return End::Now(result) };
        if mark.delay.as_mut().is_some_and(|delay| !delay.is_over(waited, self.has_clock())) {
            return End::Later;
        }
        let lost = mark.lost && task.context().engine().name != "eth_txq";
        state.tasks.remove(&key);
        // A link that is down concerns tasks without a mark, too.
        self.marked.store(state.tasks.len() + state.down.len(), Ordering::Release);
        if lost { End::Lost } else { End::Now(result) }
    }

    fn is_cut(&self, context: &Context<'_>) -> bool {
        // Without a clock looks are what passes: only those of who receives.
        context.engine().name == "eth_rxq"
            && self.marked.load(Ordering::Acquire) != 0
            && is_down(&mut self.state().down, context.core().device().function().pci(), self.has_clock())
    }

    fn may_allocate(&self, context: &Context<'_>, kind: usize) -> Result<(), Code> {
        let name = context.engine().tasks.get(kind).copied();
        let mut fired = None;
        for (at, fault) in self.plan.faults.iter().enumerate() {
            let Effect::Alloc(code) = fault.effect else { continue };
            if !Self::concerns(fault, context, name) {
                continue;
            }
            let mut state = self.state();
            let counted = &mut state.counted[at];
            counted.seen += 1;
            if counted.fired < fault.count && self.hits(fault, counted.seen) {
                counted.fired += 1;
                fired.get_or_insert((fault, counted.seen, code));
            }
        }
        let Some((fault, n, code)) = fired else { return Ok(()) };
        self.tell(fault, n, context, 0);
        Err(code)
    }

    fn allocates(&self) -> bool {
        self.plan.faults.iter().any(|fault| matches!(fault.effect, Effect::Alloc(_)))
    }
}

impl Mark {
    fn add(&mut self, effect: Effect) {
        match effect {
            Effect::Error(code) => self.error = self.error.or(Some(code)),
            Effect::Delay(time) => self.delay = Some(Wait::new(self.delay.map_or(time, |d| d.time + time))),
            Effect::Drop => self.lost = true,
            Effect::NotReady(times) => {
                self.not_ready = Some((times, Wait::new(RETRY_TIMER * times.min(RETRIES + 1))));
            }
            Effect::Disconnect => self.disconnect = true,
            Effect::LinkDown(time) => self.link_down = Some(time),
            Effect::QueueFull(_) | Effect::Alloc(_) => {}
        }
    }
}
