//! Ethernet queues on the measuring bench: frames out of a send queue, over the wire of two ports, into a receive queue,
//! all in this process and on one thread.
//!
//! A frame is copied twice, into the wire and out of it; the yardstick is one memcpy of as many bytes. Frames per second
//! are what the time per task says.

use std::time::{Duration, Instant};

use softdpu::card::{EngineKind, Function, Machine};
use softdpu::eth::{
    self, Checksums, EthTxq, Frame, Receiver, ReceiverConfig, Rules, RxCaps, Send, TxCaps, TxConfig,
};
use softdpu::memory::{BufPool, Memory};
use softdpu::{Access, Context, Device, ProgressEngine, Session};
use softdpu_card::Backend;

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
    let deepest = tx.max_burst_size.min(rx.max_burst_size);
    let mut rows = Vec::new();
    for &size in &options.frame_sizes {
        if !(SHORTEST..=u64::from(longest)).contains(&size) {
            leave_out(NAME, size, format_args!("frames have {SHORTEST} to {longest} bytes"));
            continue;
        }
        let bytes = length(size)?;
        let room = u32::try_from(MOST_ON_THE_WAY / size).unwrap_or(u32::MAX).min(deepest);
        for &wait in &options.waits {
            for depth in options.depths.iter().map(|depth| *depth.min(&room)) {
                rows.push(one(&session, (&here, &there), options, (wait, bytes, depth))?);
            }
        }
    }
    Ok(rows)
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

/// Both queues.
struct Frames {
    // Before their engine.
    sender: Context<EthTxq>,
    receiver: Receiver,
    pe: ProgressEngine,
    /// Its buffers hold frames already.
    pool: BufPool,
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
        let mut pe = ProgressEngine::new(session).map_err(text)?;
        // Those that fly and those that arrived; a send may be reported after its frame is there.
        let count = 4 * depth as usize;
        let stride = bytes.next_multiple_of(64);
        let memory = Memory::heap(count * stride).access(Access::LOCAL_READ_WRITE);
        let memory = memory.register(&[here.shared(), there.shared()]).map_err(text)?;
        let pool = memory.pool(stride).map_err(|e| e.to_string())?;
        let mut bufs: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        let mut frame = vec![1; bytes];
        frame[..SHORTEST as usize].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
        bufs.iter_mut().try_for_each(|buf| buf.push_slice(&frame)).map_err(|e| e.to_string())?;
        drop(bufs);
        let config = TxConfig { tasks: depth, ..TxConfig::default() };
        let sender = Context::<EthTxq>::start(&mut pe, here, config);
        let sender = sender.and_then(|starting| starting.wait(&mut pe)).map_err(text)?;
        let config = ReceiverConfig { depth: depth as usize, ..ReceiverConfig::default() };
        let receiver = Receiver::start(&mut pe, there, pool.clone(), config).map_err(text)?;
        let rules = receiver.number().and_then(|number| Rules::all_to(number).compile()).map_err(text)?;
        eth::port(there).steer(Some(rules.into()));
        let arrived = Vec::with_capacity(depth as usize);
        let there = there.clone();
        let mut lane = Self { sender, receiver, pe, pool, there, arrived, wait: Wait::Poll, bytes, depth };
        // Once one has come through, sleeping until the next one is safe.
        lane.frames(1, 1)?;
        lane.wait = wait;
        Ok(lane)
    }

    /// Sends one frame, unless a send that has arrived was not reported yet.
    fn send(&mut self) -> Result<bool, String> {
        if self.sender.is_full() {
            return Ok(false);
        }
        let Some(mut frame) = self.pool.take() else { return Ok(false) };
        frame.set_data(..self.bytes).map_err(|e| e.to_string())?;
        let task = Send { frame, checksums: Checksums::NONE };
        self.sender.post(task).map(|()| true).map_err(|refused| text(refused.error))
    }

    /// How many frames have arrived since the last time. `flying`: some are on the way.
    fn receive(&mut self, flying: bool) -> Result<u64, String> {
        match self.wait {
            Wait::Poll => drop(self.pe.progress()),
            Wait::Event if flying => self.arrived.extend(self.pe.run(self.receiver.next())),
            Wait::Event => self.pe.run(self.sender.ready()).map_err(text)?,
        }
        self.receiver.take(&mut self.arrived, self.depth as usize);
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
            while sent < count && sent - arrived < depth && self.send()? {
                sent += 1;
            }
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

impl Drop for Frames {
    fn drop(&mut self) {
        eth::port(&self.there).steer(None);
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
