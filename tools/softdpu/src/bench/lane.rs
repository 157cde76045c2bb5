//! An engine on the measuring bench: tasks of one size, some in flight, again and again.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use softdpu::{Context, Device, Done, Handler, Next, ProgressEngine, Session, Starting, Task};

use super::Row;
use super::measure::{Lane, TimedLane, measure};
use super::options::{Face, Options, Wait};

/// A task that can be measured.
pub(crate) trait Subject: Task {
    /// Starts a context for `depth` tasks, whose results go to `handler`.
    fn start(
        pe: &mut ProgressEngine,
        device: &Device,
        depth: u32,
        handler: Handler<Self>,
    ) -> softdpu::Result<Starting<Self::Engine>>;
    /// Makes the task as it was before it ran: its destination is empty.
    fn renew(&mut self);
}

/// What a row measures, besides its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) depth: u32,
    pub(crate) threads: u32,
    face: Face,
    wait: Wait,
}

/// All shapes that the options ask for.
pub(crate) fn shapes(options: &Options) -> impl Iterator<Item = Shape> + '_ {
    let loads = options.threads.iter().flat_map(|t| options.depths.iter().map(move |d| (*t, *d)));
    loads.flat_map(|(threads, depth)| {
        ways(options).map(move |(face, wait)| Shape { depth, threads, face, wait })
    })
}

/// A future is run by the progress engine, which looks for a while and then sleeps; the others as asked.
fn ways(options: &Options) -> impl Iterator<Item = (Face, Wait)> + '_ {
    options.faces.iter().flat_map(|&face| {
        let waits = if face == Face::Future { &[Wait::Event][..] } else { &options.waits };
        waits.iter().map(move |&wait| (face, wait))
    })
}

/// The names of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) engine: &'static str,
    pub(crate) op: &'static str,
    pub(crate) yardstick: &'static str,
}

/// Measures tasks of `size` bytes. `tasks` makes as many as fly at once, `yardstick` its contestant.
pub(crate) fn row<T: Subject, Y: Lane>(
    (session, device): (&Session, &Device),
    options: &Options,
    (names, size, shape): (Names, u64, Shape),
    tasks: impl Fn() -> Result<Vec<T>, String> + Sync,
    yardstick: impl Fn() -> Result<Y, String> + Sync,
) -> Result<Row, String> {
    let Shape { depth, threads, face, wait } = shape;
    let Names { engine, op, yardstick: yardstick_name } = names;
    if std::io::stderr().is_terminal() {
        eprint!("\r{:70}\r{engine} {op}: {size} bytes, depth {depth}, threads {threads} ... ", "");
    }
    let lane = || EngineLane::new(session, device, shape, tasks()?);
    let measured = measure(threads, options.time, lane, yardstick);
    if std::io::stderr().is_terminal() {
        eprint!("\r{:70}\r", "");
    }
    let measured = measured?;
    let per_second = |ns: f64| size as f64 * f64::from(threads) / ns * 1e9;
    Ok(Row {
        engine,
        op,
        size,
        depth,
        threads,
        face: face.name(),
        wait: wait.name(),
        ns_per_task: measured.engine_ns,
        bytes_per_s: per_second(measured.engine_ns),
        yardstick: yardstick_name,
        yardstick_bytes_per_s: per_second(measured.yardstick_ns),
        ratio: measured.ratio,
        reach: None,
        beside: Vec::new(),
        p50_ns: measured.p50_ns,
        p99_ns: measured.p99_ns,
        p999_ns: measured.p999_ns,
    })
}

/// Says that a size is not measured, and why.
pub(crate) fn leave_out(engine: &str, size: u64, why: std::fmt::Arguments<'_>) {
    eprintln!("softdpu: {engine}: size {size} is left out: {why}");
}

/// The number as this machine counts memory.
pub(crate) fn length(size: u64) -> Result<usize, String> {
    usize::try_from(size).map_err(|_| format!("size {size} does not fit this machine"))
}

pub(crate) fn text(error: softdpu::Error) -> String {
    error.to_string()
}

/// What the handler and the submitting side both look at. The counts are plain loads and stores in practice: one
/// thread does both.
#[derive(Debug)]
struct Shared<T> {
    /// Tasks still to be submitted in this run.
    left: AtomicU64,
    /// Tasks that came back and were not submitted again.
    parked: AtomicU64,
    failed: AtomicBool,
    timing: AtomicBool,
    rest: Mutex<Rest<T>>,
}

#[derive(Debug)]
struct Rest<T> {
    tasks: Vec<T>,
    /// Submission times; tasks of one context are reported in the order of their submission.
    started: VecDeque<Instant>,
    latencies: Vec<u64>,
    failure: Option<String>,
}

impl<T: Subject> Shared<T> {
    fn new(tasks: Vec<T>) -> Self {
        let rest = Rest { tasks, started: VecDeque::new(), latencies: Vec::new(), failure: None };
        Self {
            left: AtomicU64::new(0),
            parked: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            timing: AtomicBool::new(false),
            rest: Mutex::new(rest),
        }
    }

    fn rest<R>(&self, with: impl FnOnce(&mut Rest<T>) -> R) -> R {
        with(&mut self.rest.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes one task back; gives it out again when more are to be done.
    fn landed(&self, done: Done<T>) -> Next<T> {
        let mut task = done.task;
        if let Err(error) = done.result {
            self.failed.store(true, Ordering::Relaxed);
            self.rest(|rest| rest.failure = Some(text(error)));
        }
        let timing = self.timing.load(Ordering::Relaxed);
        if timing {
            self.rest(|rest| {
                let started = rest.started.pop_front();
                rest.latencies.extend(started.map(|t| t.elapsed().as_nanos() as u64));
            });
        }
        task.renew();
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 || self.failed.load(Ordering::Relaxed) {
            self.rest(|rest| rest.tasks.push(task));
            self.parked.store(self.parked.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            return Next::Free;
        }
        self.left.store(left - 1, Ordering::Relaxed);
        if timing {
            self.rest(|rest| rest.started.push_back(Instant::now()));
        }
        Next::Again(task)
    }
}

/// One thread's context. Dropped in this order: the context stops before its progress engine goes.
struct EngineLane<T: Subject> {
    context: Context<T::Engine>,
    pe: ProgressEngine,
    shared: Arc<Shared<T>>,
    shape: Shape,
}

impl<T: Subject> EngineLane<T> {
    fn new(session: &Session, device: &Device, shape: Shape, tasks: Vec<T>) -> Result<Self, String> {
        let mut pe = ProgressEngine::new(session).map_err(text)?;
        let shared = Arc::new(Shared::new(tasks));
        let in_handler = Arc::clone(&shared);
        let handler: Handler<T> = Box::new(move |done, _| in_handler.landed(done));
        let start = T::start(&mut pe, device, shape.depth, handler);
        let context = start.and_then(|s| s.wait(&mut pe)).map_err(text)?;
        Ok(Self { context, pe, shared, shape })
    }

    fn by_handler(&mut self, tasks: u64) -> Result<(), String> {
        let flying = tasks.min(u64::from(self.shape.depth));
        self.shared.left.store(tasks - flying, Ordering::Relaxed);
        self.shared.parked.store(0, Ordering::Relaxed);
        let timing = self.shared.timing.load(Ordering::Relaxed);
        for _ in 0..flying {
            let task = self.shared.rest(|rest| {
                if timing {
                    rest.started.push_back(Instant::now());
                }
                rest.tasks.pop()
            });
            let task = task.ok_or("a task is missing")?;
            self.context.post(task).map_err(|refused| text(refused.error))?;
        }
        while self.shared.parked.load(Ordering::Relaxed) < flying {
            match self.shape.wait {
                Wait::Poll => self.pe.progress(),
                Wait::Event => self.pe.wait(None).map_err(text)?,
            };
        }
        self.shared.rest(|rest| rest.failure.take()).map_or(Ok(()), Err)
    }

    fn by_future(&mut self, tasks: u64, mut latencies: Option<&mut Vec<u64>>) -> Result<(), String> {
        let Self { context, pe, shared, shape } = self;
        let mut idle = shared.rest(|rest| std::mem::take(&mut rest.tasks));
        let mut left = tasks;
        let result = pe.run(async {
            let mut flying = VecDeque::with_capacity(shape.depth as usize);
            loop {
                while let Some(task) = idle.pop_if(|_| left > 0) {
                    left -= 1;
                    let started = latencies.as_ref().map(|_| Instant::now());
                    flying.push_back((context.submit(task).map_err(|refused| text(refused.error))?, started));
                }
                let Some((flight, started)) = flying.pop_front() else { return Ok(()) };
                let mut done = flight.await;
                if let (Some(latencies), Some(started)) = (&mut latencies, started) {
                    latencies.push(started.elapsed().as_nanos() as u64);
                }
                done.result.map_err(text)?;
                done.task.renew();
                idle.push(done.task);
            }
        });
        shared.rest(|rest| rest.tasks = idle);
        result
    }
}

impl<T: Subject> Lane for EngineLane<T> {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        match self.shape.face {
            Face::Handler => self.by_handler(tasks),
            Face::Future => self.by_future(tasks, None),
        }
    }
}

impl<T: Subject> TimedLane for EngineLane<T> {
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        if self.shape.face == Face::Future {
            return self.by_future(tasks, Some(latencies));
        }
        self.shared.timing.store(true, Ordering::Relaxed);
        let result = self.by_handler(tasks);
        self.shared.timing.store(false, Ordering::Relaxed);
        self.shared.rest(|rest| latencies.append(&mut rest.latencies));
        result
    }
}
