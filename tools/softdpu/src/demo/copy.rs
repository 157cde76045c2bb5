//! The seven phases on the Rust interface.

use std::time::{Duration, Instant};

use softdpu::card::{EngineKind, Machine};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::memory::{Buf, Memory};
use softdpu::{Access, Context, Device, InFlight, ProgressEngine, Session};

use super::SUBMIT;
use super::pipeline::Pipeline;
use super::source::Source;
use super::stages::{Bar, COMPARE, Stage, Stages};
use super::two_sides::TwoSides;
use crate::card::CardOptions;
use crate::output::bytes_text;
use crate::session;

/// Copies in flight at most.
const PAIRS: usize = 8;
/// Bytes per copy, unless the device takes less.
const PIECE: usize = 1 << 20;

/// Source and destination of one copy, and what the source was filled with.
#[derive(Debug)]
struct Pair {
    task: Memcpy,
    original: Vec<u8>,
}

/// What a run of copies added up to.
#[derive(Debug, Default)]
struct Sum {
    tasks: u64,
    read: u64,
    copied: u64,
    equal: u64,
    copying: Duration,
    comparing: Duration,
    /// Where the first difference is.
    difference: Option<u64>,
}

/// Where copies go on to.
#[derive(Debug)]
struct Onward {
    pipeline: Pipeline,
    sides: TwoSides,
}

impl Onward {
    fn feed(&mut self, pe: &mut ProgressEngine, bytes: &[u8]) {
        self.pipeline.feed(pe, bytes);
        self.sides.feed(bytes);
    }

    fn finish(&mut self, pe: &mut ProgressEngine) {
        self.pipeline.finish(pe);
        self.sides.finish(self.pipeline.digest());
    }
}

/// Takes everything that `source` has through the card: the copy of each round goes on through the compute engines and to
/// the other side, so that the source is read once and no more than a few pieces are in memory.
pub(crate) fn copy_all(
    options: &CardOptions,
    machine: Machine,
    source: &mut Source,
    stages: &mut Stages,
) -> Result<(), String> {
    let create = || {
        let session = session::open(machine);
        let pe = ProgressEngine::new(&session).map_err(text)?;
        Ok((session, pe))
    };
    let (session, mut pe) = stages.phase("create", create, |(session, _)| {
        let count = session.devices().len();
        format!("a session, which sees {count} devices, and a progress engine, which delivers completions")
    })?;
    let (device, mut dma) =
        stages.phase("open", || open(&session, &mut pe), |(device, _)| explain_device(device))?;
    let most = device.function().limits().dma.max_buf_size;
    let piece = usize::try_from(most).map_or(PIECE, |most| most.min(PIECE));
    let memory =
        stages.phase("register", || register(&device, piece), |memory| explain_memory(memory, &device))?;
    let construct = || (0..PAIRS).map(|i| pair(&memory, piece, i)).collect::<Result<Vec<_>, _>>();
    let mut pairs = stages.phase("construct", construct, |pairs| {
        format!("{} pairs of buffers: windows of {} on that memory", pairs.len(), bytes_text(piece as u64))
    })?;
    let pipeline = Pipeline::open(&session, &mut pe, &device).map_err(|e| format!("compute engines: {e}"))?;
    let mut onward = Onward { pipeline, sides: TwoSides::open(options, session.machine()) };
    let mut bar = Bar::new(source.len(), stages.is_aloud());
    let sum = copies(&mut dma, &mut pe, &mut pairs, source, (piece, &mut bar, &mut onward))?;
    onward.finish(&mut pe);
    drop(bar);
    report(&sum, stages)?;
    let reclaim = || {
        drop(pairs);
        let clean = memory.is_unclaimed();
        drop(memory);
        if clean { Ok(()) } else { Err("buffers are still out".to_owned()) }
    };
    stages.phase("reclaim", reclaim, |()| "the buffers first, then the memory they stood on".to_owned())?;
    let release = || {
        let outcome = onward.pipeline.stop(&mut pe);
        let stopped = dma.stop().wait(&mut pe).map_err(text);
        drop((pe, device, session));
        stopped.and(outcome)
    };
    let outcome = stages.phase("release", release, |_| {
        "the context stopped, then device and session closed: the reverse of the order they came in"
            .to_owned()
    })?;
    let computed = outcome.report(stages);
    let shared = onward.sides.report(stages);
    match sum.difference {
        None => computed.and(shared),
        Some(at) => Err(format!("the copy differs from the original at byte {at}")),
    }
}

/// The first device that can copy, and its engine, running.
fn open(session: &Session, pe: &mut ProgressEngine) -> Result<(Device, Context<Dma>), String> {
    let device = session.first_with(EngineKind::Dma).and_then(|d| d.open()).map_err(text)?;
    let config = Config { memcpy: PAIRS as u32, ..Config::default() };
    let dma = Context::<Dma>::start(pe, &device, config).and_then(|s| s.wait(pe)).map_err(text)?;
    Ok((device, dma))
}

fn explain_device(device: &Device) -> String {
    format!(
        "{}, the first device with a DMA engine;\na context of that engine, running: up to {} per task",
        device.function(),
        bytes_text(device.function().limits().dma.max_buf_size)
    )
}

fn text(error: softdpu::Error) -> String {
    error.to_string()
}

fn register(device: &Device, piece: usize) -> Result<Memory, String> {
    let memory = Memory::heap(2 * PAIRS * piece).access(Access::LOCAL_READ_WRITE);
    memory.register(&[device.shared()]).map_err(text)
}

fn explain_memory(memory: &Memory, device: &Device) -> String {
    let key = memory.mkey(device.shared()).unwrap_or(0);
    let address = memory.device_addr(device.shared()).unwrap_or(0);
    format!(
        "{} of memory with the device: key {key:#x};\naddress {:#x} of the program is {address:#x} of the card",
        bytes_text(memory.len() as u64),
        memory.host_addr()
    )
}

fn pair(memory: &Memory, piece: usize, i: usize) -> Result<Pair, String> {
    let window = |n: usize| memory.buf(n * piece..(n + 1) * piece).map_err(|e| e.to_string());
    let task = Memcpy { src: window(2 * i)?, dst: window(2 * i + 1)? };
    Ok(Pair { task, original: Vec::with_capacity(piece) })
}

/// Fills, copies and compares, a round of pairs at a time, until the source is empty or something differs. Copies go on
/// from there.
fn copies(
    dma: &mut Context<Dma>,
    pe: &mut ProgressEngine,
    pairs: &mut Vec<Pair>,
    source: &mut Source,
    (piece, bar, onward): (usize, &mut Bar, &mut Onward),
) -> Result<Sum, String> {
    let mut sum = Sum::default();
    let (mut idle, mut filled) = (std::mem::take(pairs), Vec::new());
    loop {
        while let Some(mut pair) = idle.pop() {
            source.read(&mut pair.original, piece)?;
            if pair.original.is_empty() {
                idle.push(pair);
                break;
            }
            sum.read += pair.original.len() as u64;
            refill(&mut pair.task.src, &pair.original)?;
            pair.task.dst.reset();
            filled.push(pair);
        }
        if filled.is_empty() || sum.difference.is_some() {
            break;
        }
        let start = Instant::now();
        let done = fly(dma, pe, &mut filled)?;
        sum.copying += start.elapsed();
        let start = Instant::now();
        for (pair, copied) in &done {
            compare(pair, *copied, &mut sum);
        }
        sum.comparing += start.elapsed();
        for (pair, _) in done {
            onward.feed(pe, pair.task.dst.as_slice().unwrap_or_default());
            idle.push(pair);
        }
        bar.at(sum.copied);
    }
    idle.append(&mut filled);
    *pairs = idle;
    Ok(sum)
}

fn refill(source: &mut Buf, bytes: &[u8]) -> Result<(), String> {
    source.reset();
    source.push_slice(bytes).map_err(|e| e.to_string())
}

/// Submits a copy for each pair and progresses until all are back, in the order of submission.
fn fly(
    dma: &mut Context<Dma>,
    pe: &mut ProgressEngine,
    pairs: &mut Vec<Pair>,
) -> Result<Vec<(Pair, u64)>, String> {
    let mut flying: Vec<(InFlight<Memcpy>, Vec<u8>)> = Vec::with_capacity(pairs.len());
    for pair in pairs.drain(..) {
        let flight = dma.submit(pair.task).map_err(|refused| format!("submit: {}", refused.error))?;
        flying.push((flight, pair.original));
    }
    let mut back = Vec::with_capacity(flying.len());
    for (flight, original) in flying {
        let done = pe.run(flight);
        let copied = done.result.map_err(|e| format!("submit: a copy failed: {e}"))?;
        back.push((Pair { task: done.task, original }, copied));
    }
    Ok(back)
}

fn compare(pair: &Pair, copied: u64, sum: &mut Sum) {
    let copy = pair.task.dst.as_slice().unwrap_or_default();
    let same = copy.iter().zip(&pair.original).take_while(|(a, b)| a == b).count() as u64;
    let whole = copy.len() == pair.original.len() && copied == copy.len() as u64 && same == copied;
    if !whole && sum.difference.is_none() {
        sum.difference = Some(sum.copied + same);
    }
    sum.tasks += 1;
    sum.copied += copied;
    sum.equal += same;
}

/// The fifth phase, and the comparison that is no phase of a program but the point of the demonstration.
fn report(sum: &Sum, stages: &mut Stages) -> Result<(), String> {
    let seconds = sum.copying.as_secs_f64();
    let rate = if seconds > 0.0 { sum.copied as f64 / seconds / 1e9 } else { 0.0 };
    let explanation = match sum.tasks {
        0 => "nothing: there are no bytes to copy".to_owned(),
        n => format!("{n} copies, {} in {seconds:.4} s: {rate:.2} GB/s", bytes_text(sum.copied)),
    };
    let ok = sum.copied == sum.read;
    let submit = Stage { name: SUBMIT, bytes_in: sum.read, bytes_out: sum.copied, seconds, ok };
    stages.finished(submit, explanation)?;
    let seconds = sum.comparing.as_secs_f64();
    let ok = sum.difference.is_none();
    let compare = Stage { name: COMPARE, bytes_in: sum.copied, bytes_out: sum.equal, seconds, ok };
    stages.finished(compare, format!("{} of {} bytes are equal", sum.equal, sum.read))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy that is not one must not pass for one.
    #[test]
    fn differences_are_found_where_they_are() {
        let session = session::open(Machine::builder().build().unwrap());
        let device = session.first_with(EngineKind::Dma).and_then(|d| d.open()).unwrap();
        let memory = register(&device, 4096).unwrap();
        let compared = |original: &[u8], copy: &[u8], copied: u64| {
            let mut pair = pair(&memory, 4096, 0).unwrap();
            pair.original.extend_from_slice(original);
            pair.task.dst.push_slice(copy).unwrap();
            let mut sum = Sum { copied: 1000, ..Sum::default() };
            compare(&pair, copied, &mut sum);
            sum.difference
        };
        assert_eq!(compared(b"abcdef", b"abcdef", 6), None);
        assert_eq!(compared(b"abcdef", b"abcxef", 6), Some(1003));
        assert_eq!(compared(b"abcdef", b"abcde", 5), Some(1005), "too short");
        assert_eq!(compared(b"abcdef", b"abcdefg", 7), Some(1006), "too long");
        assert_eq!(compared(b"abcdef", b"abcdef", 5), Some(1006), "a wrong count");
    }
}
