//! The DMA engine on the measuring bench: copies of one size, some in flight, again and again.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use softdpu::card::{EngineKind, Machine};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::memory::Memory;
use softdpu::{Access, Context, Device, Done, Next, ProgressEngine, Session};

use super::Row;
use super::measure::{Lane, TimedLane, measure};
use super::memcpy::Yardstick;
use super::options::{Face, Options, Wait};
use crate::session;

/// All rows that the options ask for.
pub(crate) fn rows(machine: &Machine, options: &Options) -> Result<Vec<Row>, String> {
    let session = session::open(machine.clone());
    let device = session.first_with(EngineKind::Dma).and_then(|d| d.open()).map_err(text)?;
    let limit = device.function().limits().dma.max_buf_size;
    let mut rows = Vec::new();
    for &size in &options.sizes {
        if size > limit {
            eprintln!("softdpu: size {size} is left out: the device takes at most {limit} bytes per task");
            continue;
        }
        for (&threads, &depth) in
            options.threads.iter().flat_map(|t| options.depths.iter().map(move |d| (t, d)))
        {
            for (face, wait) in ways(options) {
                rows.push(row(&session, &device, options, Shape { size, depth, threads, face, wait })?);
            }
        }
    }
    Ok(rows)
}

/// A future is run by the progress engine, which looks for a while and then sleeps; the others as asked.
fn ways(options: &Options) -> impl Iterator<Item = (Face, Wait)> + '_ {
    options.faces.iter().flat_map(|&face| {
        let waits = if face == Face::Future { &[Wait::Event][..] } else { &options.waits };
        waits.iter().map(move |&wait| (face, wait))
    })
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    size: u64,
    depth: u32,
    threads: u32,
    face: Face,
    wait: Wait,
}

fn row(session: &Session, device: &Device, options: &Options, shape: Shape) -> Result<Row, String> {
    let Shape { size, depth, threads, face, wait } = shape;
    let bytes = usize::try_from(size).map_err(|_| format!("size {size} does not fit this machine"))?;
    if std::io::stderr().is_terminal() {
        eprint!("\r{:70}\rdma memcpy: {size} bytes, depth {depth}, threads {threads} ... ", "");
    }
    let engine = || DmaLane::new(session, device, bytes, shape);
    let yardstick = || Yardstick::new(tasks(device, bytes, depth)?);
    let measured = measure(threads, options.time, engine, yardstick);
    if std::io::stderr().is_terminal() {
        eprint!("\r{:70}\r", "");
    }
    let measured = measured?;
    let per_second = |ns: f64| size as f64 * f64::from(threads) / ns * 1e9;
    Ok(Row {
        engine: "dma",
        op: "memcpy",
        size,
        depth,
        threads,
        face: face.name(),
        wait: wait.name(),
        ns_per_task: measured.engine_ns,
        bytes_per_s: per_second(measured.engine_ns),
        yardstick: "memcpy",
        yardstick_bytes_per_s: per_second(measured.yardstick_ns),
        ratio: measured.ratio,
        p50_ns: measured.p50_ns,
        p99_ns: measured.p99_ns,
        p999_ns: measured.p999_ns,
    })
}

fn text(error: softdpu::Error) -> String {
    error.to_string()
}

/// As many tasks as fly at once, each with windows of its own that begin on a cache line, the sources filled.
fn tasks(device: &Device, size: usize, depth: u32) -> Result<Vec<Memcpy>, String> {
    let stride = size.next_multiple_of(64);
    let memory = Memory::heap(2 * depth as usize * stride).access(Access::LOCAL_READ_WRITE);
    let memory = memory.register(&[device.shared()]).map_err(text)?;
    let window = |n: usize| memory.buf(n * stride..n * stride + size).map_err(|e| e.to_string());
    let task = |i: usize| -> Result<Memcpy, String> {
        let mut task = Memcpy { src: window(2 * i)?, dst: window(2 * i + 1)? };
        for buf in [&mut task.src, &mut task.dst] {
            // Pages that were never written would all be the one zero page.
            buf.set_data(..).map_err(|e| e.to_string())?;
            buf.as_mut_slice().ok_or("the memory is not private")?.fill(i as u8 | 1);
        }
        task.dst.reset();
        Ok(task)
    };
    (0..depth as usize).map(task).collect()
}

/// What the handler and the submitting side both look at. The counts are plain loads and stores in practice: one
/// thread does both.
#[derive(Debug, Default)]
struct Shared {
    /// Tasks still to be submitted in this run.
    left: AtomicU64,
    /// Tasks that came back and were not submitted again.
    parked: AtomicU64,
    failed: AtomicBool,
    timing: AtomicBool,
    rest: Mutex<Rest>,
}

#[derive(Debug, Default)]
struct Rest {
    tasks: Vec<Memcpy>,
    /// Submission times; tasks of one context are reported in the order of their submission.
    started: VecDeque<Instant>,
    latencies: Vec<u64>,
    failure: Option<String>,
}

impl Shared {
    fn rest<T>(&self, with: impl FnOnce(&mut Rest) -> T) -> T {
        with(&mut self.rest.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes one task back; gives it out again when more are to be done.
    fn landed(&self, done: Done<Memcpy>) -> Next<Memcpy> {
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
        task.dst.reset();
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
struct DmaLane {
    dma: Context<Dma>,
    pe: ProgressEngine,
    shared: Arc<Shared>,
    shape: Shape,
}

impl DmaLane {
    fn new(session: &Session, device: &Device, size: usize, shape: Shape) -> Result<Self, String> {
        let mut pe = ProgressEngine::new(session).map_err(text)?;
        let shared = Arc::new(Shared::default());
        let in_handler = Arc::clone(&shared);
        let config =
            Config { memcpy: shape.depth, on_memcpy: Some(Box::new(move |done, _| in_handler.landed(done))) };
        let dma =
            Context::<Dma>::start(&mut pe, device, config).and_then(|s| s.wait(&mut pe)).map_err(text)?;
        shared.rest(|rest| tasks(device, size, shape.depth).map(|tasks| rest.tasks = tasks))?;
        Ok(Self { dma, pe, shared, shape })
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
            self.dma.post(task).map_err(|refused| text(refused.error))?;
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
        let Self { dma, pe, shared, shape } = self;
        let mut idle = shared.rest(|rest| std::mem::take(&mut rest.tasks));
        let mut left = tasks;
        let result = pe.run(async {
            let mut flying = VecDeque::with_capacity(shape.depth as usize);
            loop {
                while let Some(task) = idle.pop_if(|_| left > 0) {
                    left -= 1;
                    let started = latencies.as_ref().map(|_| Instant::now());
                    flying.push_back((dma.submit(task).map_err(|refused| text(refused.error))?, started));
                }
                let Some((flight, started)) = flying.pop_front() else { return Ok(()) };
                let mut done = flight.await;
                if let (Some(latencies), Some(started)) = (&mut latencies, started) {
                    latencies.push(started.elapsed().as_nanos() as u64);
                }
                done.result.map_err(text)?;
                done.task.dst.reset();
                idle.push(done.task);
            }
        });
        shared.rest(|rest| rest.tasks = idle);
        result
    }
}

impl Lane for DmaLane {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        match self.shape.face {
            Face::Handler => self.by_handler(tasks),
            Face::Future => self.by_future(tasks, None),
        }
    }
}

impl TimedLane for DmaLane {
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
