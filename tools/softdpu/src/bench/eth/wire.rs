//! Frames between two processes: out of a send queue here, over the wire of two ports, into a receive queue of this command
//! once more; in batches, and as single tasks that are awaited one by one ([`single`]).
//!
//! The other process answers frames that are marked with the number it has got, so that no more are on the way than the
//! wire has room for. The yardstick is what a program would write for itself: copies into slots of shared memory, which
//! another process copies out again. Beside it stands what `dpdk-testpmd` makes of the same over memif.

mod single;

use std::collections::VecDeque;
use std::time::Instant;

use softdpu::card::{EngineKind, Machine};
use softdpu::eth::{Frame, Send};
use softdpu::{Device, InFlight, Session};

use super::queues::{Queues, is_marked};
use super::{Limits, NAME, PATIENCE, SHORTEST, memif};
use crate::bench::comch::{Peer, Slots};
use crate::bench::lane::{leave_out, length, text};
use crate::bench::measure::{Lane, Measured, TimedLane, measure};
use crate::bench::options::{Face, Options};
use crate::bench::place::{self, Place, Taken};
use crate::bench::{Beside, Row};
use crate::card::CardOptions;
use crate::message::Failure;
use crate::session;

/// Bytes of an answer: the count of frames behind the header. Frames have room for a mark there.
const ANSWER: usize = SHORTEST as usize + 8;
/// Bytes, and frames, on the way at most: what the wire has room for, whose sender learns of room a quarter of it late.
/// That is more than the cache of one processor, out of which another one gets lines slowly.
const ON_THE_WAY: u64 = 11 << 18;
/// Bytes that a frame takes on the way beside its own, at most.
const AROUND: u64 = 16;
/// Tasks in the queues: more would not stay in the cache beside their frames.
const TASKS: u32 = 256;
/// Frames of a batch, and answers that are taken at once.
const BATCH: usize = 64;
/// Looks in vain after which the other process sleeps until a frame comes.
const LOOKS: u32 = 1 << 16;
/// Turns of a row and of the other tool. Odd, for their middle.
const TURNS: usize = 3;

/// How both ends go about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Sends in batches, and takes as many frames as there are.
    Batches,
    /// Sends and frames are awaited one by one.
    Single,
}

impl Way {
    const ALL: [Way; 2] = [Way::Batches, Way::Single];

    /// As the row, and the other process's command line, have it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Way::Batches => "call",
            Way::Single => Face::Future.name(),
        }
    }

    /// The way with this name.
    pub(crate) fn named(name: &str) -> Option<Way> {
        Way::ALL.into_iter().find(|way| way.name() == name)
    }
}

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
        let depth = u32::try_from(ON_THE_WAY / (size + AROUND)).unwrap_or(u32::MAX);
        let depths = (depth, TASKS.min(limits.deepest));
        for way in Way::ALL {
            rows.push(one(session, (here, there), options, (length(size)?, way), depths)?);
        }
    }
    Ok(rows)
}

fn one(
    session: &Session,
    (here, there): (&Device, &Device),
    options: &Options,
    (bytes, way): (usize, Way),
    (depth, queue): (u32, u32),
) -> Result<Row, String> {
    let pci = there.function().pci().to_string();
    let frames = || Wire::new(session, here, options, (&pci, bytes, way), (depth, queue));
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
    let beside = theirs.get(theirs.len() / 2).copied();
    Ok(row(&measured[measured.len() / 2], beside, (bytes, way), depth))
}

fn row(measured: &Measured, theirs: Option<(f64, f64)>, (bytes, way): (usize, Way), depth: u32) -> Row {
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
        face: way.name(),
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

/// How far a run is.
struct Count {
    sent: u64,
    answered: u64,
    /// Frames on the way at most.
    depth: u64,
    /// Where the run ends.
    end: u64,
}

impl Count {
    /// How many frames may be sent now before the next one that is marked, and whether that may be sent, too. The last of
    /// a run is, and four of those on the way.
    fn room(&self) -> (u64, bool) {
        let every = (self.depth / 4).max(1);
        let mark = ((self.sent / every + 1) * every).min(self.end);
        let room = self.depth.saturating_sub(self.sent - self.answered).min(self.end - self.sent);
        let plain = mark.saturating_sub(self.sent + 1).min(room);
        (plain, room > plain)
    }

    /// Takes an answer; what is none does not count.
    fn note(&mut self, frame: &Frame) {
        if let Some(count) = frame.bytes().get(SHORTEST as usize..).and_then(|bytes| bytes.first_chunk())
            && frame.buf.data_len() == ANSWER
        {
            self.answered = self.answered.max(u64::from_ne_bytes(*count)).min(self.sent);
        }
    }
}

/// This end, and the process at the other one.
struct Wire {
    queues: Queues,
    answers: Vec<Frame>,
    bytes: usize,
    way: Way,
    count: Count,
    /// Single sends that were not awaited yet.
    flying: VecDeque<InFlight<Send>>,
    _taken: Taken,
    peer: Peer,
}

impl Wire {
    fn new(
        session: &Session,
        here: &Device,
        options: &Options,
        (there, bytes, way): (&str, usize, Way),
        (depth, queue): (u32, u32),
    ) -> Result<Self, String> {
        let peer = Peer::of_frames(options, (there, way), bytes, queue)?;
        let queues = Queues::new(session, (here, here), bytes, queue)?;
        let count = Count { sent: 0, answered: 0, depth: depth.into(), end: 0 };
        let flying = VecDeque::with_capacity(queue as usize);
        let taken = place::take(Place::Here);
        Ok(Self {
            _taken: taken,
            queues,
            answers: Vec::with_capacity(BATCH),
            bytes,
            way,
            count,
            flying,
            peer,
        })
    }

    /// Sends this many, and waits until the other process has got them.
    fn frames(&mut self, count: u64) -> Result<(), String> {
        self.count.end = self.count.sent + count;
        let (mut idle, mut since) = (0u32, Instant::now());
        while self.count.answered < self.count.end {
            match self.way {
                Way::Batches => self.send_batch()?,
                Way::Single => single::send(&mut self.queues, &mut self.flying, &mut self.count, self.bytes)?,
            }
            idle = if self.hear() { 0 } else { idle.wrapping_add(1) };
            if idle == 1 {
                since = Instant::now();
            } else if idle % 65536 == 65535 {
                self.peer.check()?;
                if since.elapsed() > PATIENCE {
                    let missing = self.count.sent - self.count.answered;
                    return Err(format!(
                        "{missing} frames of {} bytes were not answered within {PATIENCE:?}",
                        self.bytes
                    ));
                }
            }
        }
        Ok(())
    }

    fn send_batch(&mut self) -> Result<(), String> {
        let (plain, marked) = self.count.room();
        let sent = self.queues.send_many(self.bytes, plain.min(BATCH as u64) as usize)? as u64;
        self.count.sent += sent;
        if marked && sent == plain && self.queues.send_one(self.bytes, &[])? {
            self.count.sent += 1;
        }
        Ok(())
    }

    /// Takes answers; was there one?
    fn hear(&mut self) -> bool {
        self.queues.pe.progress();
        self.queues.receiver.take(&mut self.answers, BATCH);
        let before = self.count.answered;
        self.answers.drain(..).for_each(|frame| self.count.note(&frame));
        self.count.answered > before
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
    (pci, way): (&str, Way),
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
    let _taken = place::take(Place::There);
    match way {
        Way::Batches => answer(&mut queues, bytes, depth as usize),
        Way::Single => single::answer(&mut queues, bytes),
    }
}

fn answer(queues: &mut Queues, bytes: usize, depth: usize) -> Result<(), String> {
    let mut arrived: Vec<Frame> = Vec::with_capacity(depth);
    let (mut got, mut owes, mut idle) = (0u64, false, 0u32);
    loop {
        if owes || idle < LOOKS {
            queues.pe.progress();
        } else {
            arrived.extend(queues.pe.run(queues.receiver.next()));
        }
        queues.receiver.take(&mut arrived, depth);
        idle = if arrived.is_empty() { idle.saturating_add(1) } else { 0 };
        // Whoever else sends to this port does not count.
        for frame in arrived.drain(..).filter(|frame| frame.buf.data_len() == bytes) {
            got += 1;
            owes |= is_marked(&frame.bytes());
        }
        if owes && queues.send_one(ANSWER, &got.to_ne_bytes())? {
            owes = false;
        }
    }
}

/// The other process ends when nobody listens any more.
fn end_with_input() {
    std::io::stdin().lines().for_each(drop);
    std::process::exit(0)
}
