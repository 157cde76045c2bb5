//! Ethernet queues on the measuring bench: frames out of a send queue, over the wire of two ports, into a receive queue;
//! in this process and on one thread, or of another process ([`wire`]).
//!
//! In one process a frame is copied twice, into the wire and out of it; the yardstick is one memcpy of as many bytes. Frames per second
//! are what the time per task says.

mod memif;
mod queues;
mod wire;

use std::time::{Duration, Instant};

use softdpu::card::{EngineKind, Function, Machine};
use softdpu::eth::{self, Frame, RxCaps, TxCaps};
use softdpu::memory::Memory;
use softdpu::{Device, Session};
use softdpu_card::Backend;

use queues::Queues;
pub(super) use wire::{Way, serve};

use super::Row;
use super::dma::tasks_in;
use super::lane::{leave_out, length, text};
use super::measure::{Lane, TimedLane, measure};
use super::memcpy::Yardstick;
use super::options::{Options, Wait};
use crate::session;

/// Name of the rows, and on the command line.
pub(crate) const NAME: &str = "eth";

/// An Ethernet header and nothing behind it.
const SHORTEST: u64 = 14;
/// Most bytes on the way, so that the wire has room for them all: long frames are fewer at a time than was asked for.
const MOST_ON_THE_WAY: u64 = 512 << 10;
/// A frame that has not arrived by then is lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// All rows that the options ask for.
pub(crate) fn rows(machine: &Machine, options: &Options) -> Result<Vec<Row>, String> {
    let Some((here, there)) = wired(machine) else {
        let why = "no ports of this card's functions are wired to each other (backend loop)";
        if options.engine.is_some() {
            return Err(why.to_owned());
        }
        eprintln!("softdpu: {NAME} is left out: {why}");
        return Ok(Vec::new());
    };
    let session = session::open(machine.clone());
    let open = |function: &Function| {
        session.device(&function.pci().to_string()).and_then(|device| device.open()).map_err(text)
    };
    let (here, there) = (open(here)?, open(there)?);
    let (tx, rx) = (TxCaps::of(here.function()).map_err(text)?, RxCaps::of(there.function()).map_err(text)?);
    let longest = tx.max_packet_size.min(rx.max_packet_size);
    let limits = Limits { longest, deepest: tx.max_burst_size.min(rx.max_burst_size) };
    let mut rows = Vec::new();
    for &size in &options.frame_sizes {
        if !(SHORTEST..=u64::from(longest)).contains(&size) {
            leave_out(NAME, size, format_args!("frames have {SHORTEST} to {longest} bytes"));
            continue;
        }
        let bytes = length(size)?;
        for &wait in &options.waits {
            for depth in options.depths.iter().map(|depth| *depth.min(&limits.room(size))) {
                rows.push(one(&session, (&here, &there), options, (wait, bytes, depth))?);
            }
        }
    }
    rows.extend(wire::rows(&session, (&here, &there), options, limits)?);
    Ok(rows)
}

/// What both ports can do.
#[derive(Clone, Copy)]
struct Limits {
    /// Bytes of the longest frame.
    longest: u32,
    /// Most frames of a queue at once.
    deepest: u32,
}

impl Limits {
    /// Frames of a size that may be on the way.
    fn room(self, size: u64) -> u32 {
        u32::try_from(MOST_ON_THE_WAY / size).unwrap_or(u32::MAX).min(self.deepest)
    }
}

/// Two functions with a wire between their ports, or one whose port is wired to itself.
fn wired(machine: &Machine) -> Option<(&Function, &Function)> {
    let able = |function: &&Function| {
        let queues = function.supports(EngineKind::EthTxq) && function.supports(EngineKind::EthRxq);
        queues && *function.backend() == Backend::Loop
    };
    let functions = || machine.functions().iter().map(AsRef::as_ref).filter(able);
    functions().find_map(|here| {
        let plug = here.wired_to();
        let there = functions().find(|f| !plug.is_representor && f.vhca_id() == plug.number)?;
        Some((here, there))
    })
}

fn one(
    session: &Session,
    (here, there): (&Device, &Device),
    options: &Options,
    (wait, bytes, depth): (Wait, usize, u32),
) -> Result<Row, String> {
    let frames = || Frames::new(session, (here, there), (wait, bytes, depth));
    let copies = || Yardstick::new(tasks_in(Memory::heap, here, bytes, depth)?);
    let measured = measure(1, options.time, frames, copies)?;
    let per_second = |ns: f64| bytes as f64 / ns * 1e9;
    Ok(Row {
        engine: NAME,
        op: "frame",
        size: bytes as u64,
        depth,
        threads: 1,
        face: "call",
        wait: wait.name(),
        ns_per_task: measured.engine_ns,
        bytes_per_s: per_second(measured.engine_ns),
        yardstick: "memcpy",
        yardstick_bytes_per_s: per_second(measured.yardstick_ns),
        ratio: measured.ratio,
        p50_ns: measured.p50_ns,
        p99_ns: measured.p99_ns,
        p999_ns: measured.p999_ns,
        reach: None,
        beside: Vec::new(),
    })
}

/// Both queues of this process.
struct Frames {
    queues: Queues,
    there: Device,
    arrived: Vec<Frame>,
    wait: Wait,
    bytes: usize,
    depth: u32,
}

impl Frames {
    fn new(
        session: &Session,
        (here, there): (&Device, &Device),
        (wait, bytes, depth): (Wait, usize, u32),
    ) -> Result<Self, String> {
        let queues = Queues::new(session, (here, there), bytes, depth)?;
        let arrived = Vec::with_capacity(depth as usize);
        let mut lane = Self { queues, there: there.clone(), arrived, wait: Wait::Poll, bytes, depth };
        // Once one has come through, sleeping until the next one is safe.
        lane.frames(1, 1)?;
        lane.wait = wait;
        Ok(lane)
    }

    /// How many frames have arrived since the last time. `flying`: some are on the way.
    fn receive(&mut self, flying: bool) -> Result<u64, String> {
        let Queues { pe, sender, receiver, .. } = &mut self.queues;
        match self.wait {
            Wait::Poll => drop(pe.progress()),
            Wait::Event if flying => self.arrived.extend(pe.run(receiver.next())),
            Wait::Event => pe.run(sender.ready()).map_err(text)?,
        }
        receiver.take(&mut self.arrived, self.depth as usize);
        // Whoever else sends to this port does not count.
        let ours = self.arrived.iter().filter(|frame| frame.buf.data_len() == self.bytes).count();
        self.arrived.clear();
        Ok(ours as u64)
    }

    /// Sends and receives this many, `depth` on the way at most.
    fn frames(&mut self, count: u64, depth: u64) -> Result<(), String> {
        let (mut sent, mut arrived) = (0, 0);
        let (mut idle, mut since) = (0u32, Instant::now());
        while arrived < count {
            let room = (count - sent).min(depth.saturating_sub(sent - arrived));
            sent += self.queues.send_many(self.bytes, room as usize)? as u64;
            let got = self.receive(sent > arrived)?;
            arrived = sent.min(arrived + got);
            idle = if got > 0 { 0 } else { idle.wrapping_add(1) };
            if idle == 1 {
                since = Instant::now();
            } else if idle % 1024 == 1023 {
                self.check(since, sent - arrived)?;
            }
        }
        Ok(())
    }

    fn check(&self, since: Instant, missing: u64) -> Result<(), String> {
        let (port, bytes) = (eth::port(&self.there), self.bytes);
        if since.elapsed() < PATIENCE {
            return Ok(());
        }
        Err(format!(
            "{missing} frames of {bytes} bytes did not arrive at {} within {PATIENCE:?}",
            port.name()
        ))
    }
}

impl Lane for Frames {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        self.frames(tasks, self.depth.into())
    }
}

impl TimedLane for Frames {
    /// One at a time, from its submission until the program has it.
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        (0..tasks).try_for_each(|_| {
            let start = Instant::now();
            self.frames(1, 1)?;
            latencies.push(start.elapsed().as_nanos() as u64);
            Ok(())
        })
    }
}
