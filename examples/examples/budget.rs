//! What `cargo xtask budget` counts on the Rust face: copies of 64 bytes, 32 in flight, everything on one thread.
//!
//! `budget handler N` posts each task again from its handler; `budget future N` submits it, polls the future once in
//! vain, progresses, and polls it again. What a program does for itself stands in functions named `program_*`, which
//! are not counted, nor is what they call; functions named `driver_*` only call others, which are.

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::memory::Memory;
use softdpu::{Access, Context, Device, Done, InFlight, Next, Outbox, ProgressEngine, Rejected, Session};
use std::cell::Cell;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Poll, Waker};

const BYTES: usize = 64;
const DEPTH: usize = 32;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [way, count] = arguments.as_slice() else { return Err("usage: budget handler|future N".into()) };
    let count: u64 = count.parse()?;
    let session = Session::new(softdpu::card::Machine::from_env()?, softdpu_board::inline());
    let device =
        session.devices().into_iter().find(|d| d.caps::<Dma>().is_ok()).ok_or("no DMA engine")?.open()?;
    let memory =
        Memory::heap(2 * DEPTH * BYTES).access(Access::LOCAL_READ_WRITE).register(&[device.shared()])?;
    let mut pe = ProgressEngine::new(&session)?;
    let mut tasks = Vec::new();
    for i in 0..DEPTH {
        let window = |n: usize| memory.buf(n * BYTES..(n + 1) * BYTES);
        let mut task = Memcpy { src: window(2 * i)?, dst: window(2 * i + 1)? };
        task.src.push_slice(&[i as u8; BYTES])?;
        tasks.push(task);
    }
    match way.as_str() {
        "handler" => driver_handler(&mut pe, &device, tasks, count)?,
        "future" => driver_future(&mut pe, &device, tasks, count)?,
        _ => return Err("neither handler nor future".into()),
    }
    Ok(())
}

/// What the measured program keeps for itself.
#[derive(Default)]
struct Bench {
    left: u64,
    idle: Vec<Memcpy>,
    flying: Vec<InFlight<Memcpy>>,
}

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

#[inline(never)]
fn program_handler(mut done: Done<Memcpy>, _: &mut Outbox<'_, Dma>) -> Next<Memcpy> {
    assert!(matches!(done.result, Ok(64)));
    done.task.dst.reset();
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(1));
    if left > 0 { Next::Again(done.task) } else { Next::Free }
}

fn driver_handler(
    pe: &mut ProgressEngine,
    device: &Device,
    tasks: Vec<Memcpy>,
    count: u64,
) -> Result<(), Failure> {
    let config =
        Config { memcpy: DEPTH as u32, on_memcpy: Some(Box::new(program_handler)), ..Config::default() };
    let mut context = Context::<Dma>::start(pe, device, config)?.wait(pe)?;
    LEFT.set(count.saturating_sub(DEPTH as u64));
    for task in tasks {
        context.post(task).map_err(|r| r.error)?;
    }
    while context.in_flight() > 0 {
        pe.progress();
    }
    context.stop().wait(pe)?;
    Ok(())
}

/// The next task to submit in this round.
#[inline(never)]
fn program_next(bench: &mut Bench) -> Option<Memcpy> {
    bench.left = bench.left.checked_sub(1)?;
    bench.idle.pop()
}

#[inline(never)]
fn program_keeps(bench: &mut Bench, task: InFlight<Memcpy>, pending: bool) {
    assert!(pending, "nothing completes before progress is called");
    bench.flying.push(task);
}

#[inline(never)]
fn program_flying(bench: &mut Bench) -> Option<InFlight<Memcpy>> {
    bench.flying.pop()
}

#[inline(never)]
fn program_takes(bench: &mut Bench, done: Poll<Done<Memcpy>>) {
    let Poll::Ready(mut done) = done else { panic!("a small copy is ready after one progress call") };
    assert!(matches!(done.result, Ok(64)));
    done.task.dst.reset();
    bench.idle.push(done.task);
}

/// The library's part of the round trip, apart from the driver's.
#[inline(never)]
fn submit(context: &mut Context<Dma>, task: Memcpy) -> Result<InFlight<Memcpy>, Rejected<Memcpy>> {
    context.submit(task)
}

#[inline(never)]
fn poll(task: &mut InFlight<Memcpy>, cx: &mut std::task::Context<'_>) -> Poll<Done<Memcpy>> {
    Pin::new(task).poll(cx)
}

fn driver_future(
    pe: &mut ProgressEngine,
    device: &Device,
    tasks: Vec<Memcpy>,
    count: u64,
) -> Result<(), Failure> {
    let config = Config { memcpy: DEPTH as u32, ..Config::default() };
    let mut context = Context::<Dma>::start(pe, device, config)?.wait(pe)?;
    let mut cx = std::task::Context::from_waker(Waker::noop());
    let mut bench =
        Bench { left: count / DEPTH as u64 * DEPTH as u64, idle: tasks, flying: Vec::with_capacity(DEPTH) };
    while bench.left > 0 {
        for _ in 0..DEPTH {
            let Some(task) = program_next(&mut bench) else { break };
            let mut task = submit(&mut context, task).map_err(|r| r.error)?;
            let pending = poll(&mut task, &mut cx).is_pending();
            program_keeps(&mut bench, task, pending);
        }
        pe.progress();
        while let Some(mut task) = program_flying(&mut bench) {
            let done = poll(&mut task, &mut cx);
            program_takes(&mut bench, done);
        }
    }
    context.stop().wait(pe)?;
    Ok(())
}
