//! Frames between two processes: out of a send queue here, over the wire of two ports, into a receive queue of this command
//! once more.
//!
//! The other process answers frames that are marked with the number it has got, so that no more are on the way than the
//! wire has room for. The yardstick is what a program would write for itself: copies into slots of shared memory, which
//! another process copies out again. Beside it stands what `dpdk-testpmd` makes of the same over memif.

use std::time::Instant;

use softdpu::card::{EngineKind, Machine};
use softdpu::eth::Frame;
use softdpu::{Device, Session};

use super::queues::Queues;
use super::{Limits, NAME, PATIENCE, SHORTEST, memif};
use crate::bench::comch::{Peer, Slots};
use crate::bench::lane::{leave_out, length, text};
use crate::bench::measure::{Lane, Measured, TimedLane, measure};
use crate::bench::options::Options;
use crate::bench::{Beside, Row};
use crate::card::CardOptions;
use crate::message::Failure;
use crate::session;

/// Bytes of an answer: the count of frames behind the header. Frames have room for a mark there.
const ANSWER: usize = SHORTEST as usize + 8;
/// The mark.
const MARKED: u8 = 2;
const PLAIN: u8 = 1;
/// Bytes, and frames, on the way at most: half of what the wire has room for, and more than the cache of one processor.
const ON_THE_WAY: u64 = 2 << 20;
const MOST: u32 = 16 << 10;
/// Answers that are taken at once; there are four on the way.
const ANSWERS: usize = 16;
/// Looks in vain after which the other process sleeps until a frame comes.
const LOOKS: u32 = 1 << 16;
/// Turns of a row and of the other tool. Odd, for their middle.
const TURNS: usize = 3;

/// All rows that the options ask for.
pub(super) fn rows(
    session: &Session,
    (here, there): (&Device, &Device),
    options: &Options,
    limits: Limits,
) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for &size in &options.frame_sizes {
        if !(ANSWER as u64..=u64::from(limits.longest)).contains(&size) {
            leave_out(
                "eth between processes",
                size,
                format_args!("frames have {ANSWER} to {} bytes", limits.longest),
            );
            continue;
        }
        let on_the_way = u32::try_from(ON_THE_WAY / size).unwrap_or(u32::MAX).min(MOST);
        let depths = (on_the_way, on_the_way.min(limits.deepest));
        rows.push(one(session, (here, there), options, length(size)?, depths)?);
    }
    Ok(rows)
}

fn one(
    session: &Session,
    (here, there): (&Device, &Device),
    options: &Options,
    bytes: usize,
    (depth, queue): (u32, u32),
) -> Result<Row, String> {
    let pci = there.function().pci().to_string();
    let frames = || Wire::new(session, here, options, (&pci, bytes), (depth, queue));
    // Twice as many slots as sources, as the wire has room for.
    let slots = || Slots::new(options, bytes, depth);
    // The other tool takes seconds: it is not for every bench.
    let with_tool = options.engine == Some(EngineKind::EthTxq) && memif::is_installed();
    let turns = if with_tool { TURNS } else { 1 };
    let (mut measured, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..turns {
        let turn = measure(1, options.time / turns as u32, frames, slots)?;
        if with_tool {
            theirs.extend(memif::measure(bytes).map(|ns| (ns / turn.engine_ns, ns)));
        }
        measured.push(turn);
    }
    measured.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    theirs.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(row(&measured[measured.len() / 2], theirs.get(theirs.len() / 2).copied(), bytes, depth))
}

fn row(measured: &Measured, theirs: Option<(f64, f64)>, bytes: usize, depth: u32) -> Row {
    let per_second = |ns: f64| bytes as f64 / ns * 1e9;
    let beside = theirs.map(|(ratio, ns)| Beside {
        tool: memif::NAME,
        ns_per_task: ns,
        bytes_per_s: per_second(ns),
        ratio,
    });
    Row {
        engine: NAME,
        op: "wire",
        size: bytes as u64,
        depth,
        threads: 1,
        face: "call",
        wait: "poll",
        ns_per_task: measured.engine_ns,
        bytes_per_s: per_second(measured.engine_ns),
        yardstick: "slots",
        yardstick_bytes_per_s: per_second(measured.yardstick_ns),
        ratio: measured.ratio,
        p50_ns: measured.p50_ns,
        p99_ns: measured.p99_ns,
        p999_ns: measured.p999_ns,
        reach: None,
        beside: beside.into_iter().collect(),
    }
}

/// This end, and the process at the other one.
struct Wire {
    queues: Queues,
    answers: Vec<Frame>,
    bytes: usize,
    depth: u64,
    sent: u64,
    answered: u64,
    peer: Peer,
}

impl Wire {
    fn new(
        session: &Session,
        here: &Device,
        options: &Options,
        (there, bytes): (&str, usize),
        (depth, queue): (u32, u32),
    ) -> Result<Self, String> {
        let peer = Peer::of_frames(options, there, bytes, queue)?;
        let queues = Queues::new(session, (here, here), bytes, queue)?;
        let answers = Vec::with_capacity(ANSWERS);
        Ok(Self { queues, answers, bytes, depth: depth.into(), sent: 0, answered: 0, peer })
    }

    /// Sends this many, and waits until the other process has got them.
    fn frames(&mut self, count: u64) -> Result<(), String> {
        let (end, every) = (self.sent + count, (self.depth / 4).max(1));
        let (mut idle, mut since) = (0u32, Instant::now());
        while self.answered < end {
            while self.sent < end && self.sent - self.answered < self.depth {
                let is_marked = self.sent + 1 == end || (self.sent + 1).is_multiple_of(every);
                if !self.queues.send(self.bytes, &[if is_marked { MARKED } else { PLAIN }])? {
                    break;
                }
                self.sent += 1;
            }
            idle = if self.hear() { 0 } else { idle.wrapping_add(1) };
            if idle == 1 {
                since = Instant::now();
            } else if idle % 65536 == 65535 {
                self.peer.check()?;
                if since.elapsed() > PATIENCE {
                    let missing = self.sent - self.answered;
                    return Err(format!(
                        "{missing} frames of {} bytes were not answered within {PATIENCE:?}",
                        self.bytes
                    ));
                }
            }
        }
        Ok(())
    }

    /// Takes answers; was there one?
    fn hear(&mut self) -> bool {
        self.queues.pe.progress();
        self.queues.receiver.take(&mut self.answers, ANSWERS);
        let before = self.answered;
        for frame in self.answers.drain(..) {
            if let Some(count) = frame.bytes().get(SHORTEST as usize..).and_then(|b| b.first_chunk())
                && frame.buf.data_len() == ANSWER
            {
                self.answered = self.answered.max(u64::from_ne_bytes(*count)).min(self.sent);
            }
        }
        self.answered > before
    }
}

impl Lane for Wire {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        self.frames(tasks)
    }
}

impl TimedLane for Wire {
    /// One at a time, from its submission until the answer is here.
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        (0..tasks).try_for_each(|_| {
            let start = Instant::now();
            self.frames(1)?;
            latencies.push(start.elapsed().as_nanos() as u64);
            Ok(())
        })
    }
}

/// The other process: receives and answers, on this function. It ends with its input, whatever the one that started it
/// came to; what it has needs no more care.
pub(crate) fn serve(
    pci: &str,
    bytes: usize,
    depth: u32,
    ready: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let machine: Machine = CardOptions::default().machine().map_err(Failure::into_text)?;
    let session = session::open(machine);
    let device = session.device(pci).and_then(|device| device.open()).map_err(text)?;
    let mut queues = Queues::new(&session, (&device, &device), bytes.max(ANSWER), depth)?;
    std::thread::spawn(end_with_input);
    ready()?;
    let mut arrived: Vec<Frame> = Vec::with_capacity(depth as usize);
    let (mut got, mut owes, mut idle) = (0u64, false, 0u32);
    loop {
        if owes || idle < LOOKS {
            queues.pe.progress();
        } else {
            arrived.extend(queues.pe.run(queues.receiver.next()));
        }
        queues.receiver.take(&mut arrived, depth as usize);
        idle = if arrived.is_empty() { idle.saturating_add(1) } else { 0 };
        // Whoever else sends to this port does not count.
        for frame in arrived.drain(..).filter(|frame| frame.buf.data_len() == bytes) {
            got += 1;
            owes |= frame.bytes().get(SHORTEST as usize) == Some(&MARKED);
        }
        if owes && queues.send(ANSWER, &got.to_ne_bytes())? {
            owes = false;
        }
    }
}

/// The other process ends when nobody listens any more.
fn end_with_input() {
    std::io::stdin().lines().for_each(drop);
    std::process::exit(0)
}
