//! The channel on the measuring bench: messages and buffers between two processes.
//!
//! The peer is this command once more ([`peer`]), on the card; another one is at the far end of a yardstick. Messages are
//! measured against packets of a socket between two processes, buffers against copies into slots of shared memory. Either
//! way the other process reads all that arrives. Beside messages whose ends look all the time stands what shared memory
//! does alone, whose cost depends on how far the two processors are from each other: a word there and one back, and slots.

mod peer;
mod slots;
mod socket;

use std::time::Instant;

use softdpu::card::{EngineKind, Machine, Side};
use softdpu::comch::{Client, ConsumerId, Payload, Producer};
use softdpu::memory::Memory;
use softdpu::{Buf, Code, Device, ProgressEngine, Session};

pub(super) use peer::Peer;
use peer::word;
pub(crate) use peer::{PEER, main as peer};
pub(super) use slots::Slots;
use socket::Socket;

use super::dma::tasks_in;
use super::lane::{leave_out, length, text};
use super::measure::{Lane, TimedLane, measure};
use super::options::{Options, Wait};
use super::place::{self, Place, Taken};
use super::{Beside, Row};
use crate::session;

/// Messages that may wait at either end, and messages of one end in flight.
const QUEUE: u32 = 1024;

/// Receives of a consumer for a producer with `depth` buffers: twice as many, so that it need not wait for those that
/// are posted again.
const fn receives(depth: u32) -> u32 {
    2 * depth
}

/// What a row measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    /// One message there and one back.
    RoundTrip,
    /// Messages one way, as many at a time as there is room for.
    Stream,
    /// Buffers into receives that the consumer has posted.
    Produce,
}

impl Op {
    const fn name(self) -> &'static str {
        match self {
            Op::RoundTrip => "round_trip",
            Op::Stream => "stream",
            Op::Produce => "produce",
        }
    }

    /// What the channel aims at, in nanoseconds per task, where a task of the yardstick takes `yardstick` of them. Of
    /// messages it is the short ones whose rate is aimed at; those that wake a sleeper cost about the same in any size.
    fn goal(self, wait: Wait, size: u64, yardstick: f64) -> Option<f64> {
        match (self, wait) {
            (Op::RoundTrip, Wait::Event) => Some(yardstick),
            (Op::RoundTrip, Wait::Poll) if size <= SHORT => Some(yardstick / 5.0),
            // Ten million per second.
            (Op::Stream, _) if size <= SHORT => Some(100.0),
            (Op::Produce, _) => Some(yardstick / 0.8),
            _ => None,
        }
    }
}

/// Messages of a cache line.
const SHORT: u64 = 64;

/// All rows that the options ask for: short sizes as messages, longer ones as buffers.
pub(crate) fn rows(machine: &Machine, options: &Options) -> Result<Vec<Row>, String> {
    let session = session::open(machine.clone());
    let host = match open(&session, machine, Side::Host) {
        Ok(host) => host,
        Err(_) if options.engine.is_none() && machine.functions().iter().all(|f| f.side() != Side::Host) => {
            eprintln!(
                "softdpu: comch is left out: its messages begin at a function of the host, and none is seen"
            );
            return Ok(Vec::new());
        }
        Err(text) => return Err(text),
    };
    let limits = &host.function().limits().comch;
    let (most, longest) = (u64::from(limits.max_msg_size), u64::from(limits.max_stream_buf_size));
    let deepest = options.depths.iter().copied().max().unwrap_or(1).min(limits.max_stream_tasks);
    let mut rows = Vec::new();
    for &size in &options.sizes {
        let mut one = |op, wait, depth| {
            one(&session, &host, options, (op, wait), (size, depth)).map(|row| rows.push(row))
        };
        if size <= most.min(1024) {
            options.message_waits.iter().try_for_each(|&wait| one(Op::RoundTrip, wait, 1))?;
            one(Op::Stream, Wait::Poll, QUEUE)?;
        } else if size <= longest {
            one(Op::Produce, Wait::Poll, deepest)?;
        } else {
            leave_out("comch", size, format_args!("the device takes at most {longest} bytes per buffer"));
        }
    }
    Ok(rows)
}

fn one(
    session: &Session,
    host: &Device,
    options: &Options,
    (op, wait): (Op, Wait),
    (size, depth): (u64, u32),
) -> Result<Row, String> {
    let bytes = length(size)?;
    let ends = || End::new(session, host, options, wait, bytes, depth);
    let socket = || Socket::new(options, op, wait, bytes);
    let (measured, yardstick) = match op {
        Op::RoundTrip => (measure(1, options.time, || ends().map(RoundTrips), socket)?, "seqpacket"),
        Op::Stream => (measure(1, options.time, || ends().map(Stream), socket)?, "seqpacket"),
        Op::Produce => {
            let slots = || Slots::new(options, bytes, depth);
            (measure(1, options.time, || ends().and_then(Produce::new), slots)?, "slots")
        }
    };
    let per_second = |ns: f64| size as f64 / ns * 1e9;
    let beside = |tool, ns, ratio| Beside { tool, ns_per_task: ns, bytes_per_s: per_second(ns), ratio };
    let goal = op.goal(wait, size, measured.yardstick_ns);
    let goal = goal.map(|ns| beside("goal", ns, ns / measured.engine_ns));
    let bare = match (op, wait) {
        (Op::RoundTrip, Wait::Poll) => {
            let line = || Slots::line(options);
            Some(("line", measure(1, options.time / 2, || ends().map(RoundTrips), line)?))
        }
        (Op::Stream, _) => {
            let slots = || Slots::new(options, bytes, depth / 2);
            Some(("slots", measure(1, options.time / 2, || ends().map(Stream), slots)?))
        }
        _ => None,
    };
    let bare = bare.map(|(tool, measured)| beside(tool, measured.yardstick_ns, measured.ratio));
    Ok(Row {
        engine: EngineKind::Comch.name(),
        op: op.name(),
        size,
        depth,
        threads: 1,
        face: "call",
        wait: wait.name(),
        ns_per_task: measured.engine_ns,
        bytes_per_s: per_second(measured.engine_ns),
        yardstick,
        yardstick_bytes_per_s: per_second(measured.yardstick_ns),
        ratio: measured.ratio,
        p50_ns: measured.p50_ns,
        p99_ns: measured.p99_ns,
        p999_ns: measured.p999_ns,
        reach: None,
        beside: goal.into_iter().chain(bare).collect(),
    })
}

/// The first function of a side that has the channel.
fn open(session: &Session, machine: &Machine, side: Side) -> Result<Device, String> {
    let mut able = machine.functions().iter().filter(|f| f.supports(EngineKind::Comch));
    let function = able.find(|f| f.side() == side);
    let function = function.ok_or_else(|| format!("no device of side {} has the channel", side.name()))?;
    session.device(&function.pci().to_string()).and_then(|d| d.open()).map_err(text)
}

/// This end of a connection, and the process at the other one.
struct End {
    // Before its engine, and that before the peer.
    client: Client,
    pe: ProgressEngine,
    device: Device,
    wait: Wait,
    bytes: usize,
    depth: u32,
    _taken: Taken,
    _peer: Peer,
}

impl End {
    fn new(
        session: &Session,
        host: &Device,
        options: &Options,
        wait: Wait,
        bytes: usize,
        depth: u32,
    ) -> Result<Self, String> {
        let peer = Peer::of_channel(options, bytes, depth)?;
        let mut pe = ProgressEngine::new(session).map_err(text)?;
        let client = Client::builder(peer.name()).recv_queue(QUEUE).tasks(QUEUE);
        let client = client.start(&mut pe, host).and_then(|opening| opening.wait(&mut pe)).map_err(text)?;
        let (device, taken) = (host.clone(), place::take(Place::Here));
        Ok(Self { client, pe, device, wait, bytes, depth, _taken: taken, _peer: peer })
    }

    /// Sends a message, waiting for room.
    fn say(&mut self, message: &[u8]) -> Result<(), String> {
        loop {
            match self.client.try_feed(message) {
                Ok(()) => return Ok(()),
                Err(error) if error.code() == Code::Full => drop(self.pe.progress()),
                Err(error) => return Err(text(error)),
            }
        }
    }

    /// Waits for a message.
    fn hear(&mut self) -> Result<(), String> {
        while self.client.try_recv().is_none() {
            match self.wait {
                Wait::Poll => drop(self.pe.progress()),
                Wait::Event => drop(self.pe.wait(None).map_err(text)?),
            }
            if !self.client.is_up() {
                return Err("the second process has left".to_owned());
            }
        }
        Ok(())
    }

    /// Runs `f` while the peer looks for messages all the time, if that is asked for; otherwise it sleeps in between.
    fn awake<R>(&mut self, f: impl FnOnce(&mut Self) -> Result<R, String>) -> Result<R, String> {
        if self.wait == Wait::Poll {
            self.say(&[word::WAKE])?;
        }
        let result = f(self)?;
        if self.wait == Wait::Poll {
            self.say(&[word::SLEEP])?;
        }
        Ok(result)
    }

    /// All that was sent has arrived when this returns.
    fn settle(&mut self) -> Result<(), String> {
        self.say(&[word::ANSWER])?;
        self.hear()
    }
}

struct RoundTrips(End);

impl Lane for RoundTrips {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        let message = word::message(word::ECHO, self.0.bytes);
        self.0.awake(|end| {
            (0..tasks).try_for_each(|_| {
                end.say(&message)?;
                end.hear()
            })
        })
    }
}

impl TimedLane for RoundTrips {
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        timed_trips(&mut self.0, tasks, latencies)
    }
}

fn timed_trips(end: &mut End, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
    let message = word::message(word::ECHO, end.bytes);
    end.awake(|end| {
        (0..tasks).try_for_each(|_| {
            let start = Instant::now();
            end.say(&message)?;
            end.hear()?;
            latencies.push(start.elapsed().as_nanos() as u64);
            Ok(())
        })
    })
}

struct Stream(End);

impl Lane for Stream {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        let message = word::message(word::DROP, self.0.bytes);
        self.0.awake(|end| {
            (0..tasks).try_for_each(|_| end.say(&message))?;
            end.settle()
        })
    }
}

impl TimedLane for Stream {
    /// One at a time, answered: a message on its way cannot be seen to arrive.
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        timed_trips(&mut self.0, tasks, latencies)
    }
}

struct Produce {
    /// None only while it is dropped.
    producer: Option<Producer>,
    to: ConsumerId,
    /// Those that do not fly.
    bufs: Vec<Buf>,
    end: End,
}

impl Produce {
    fn new(mut end: End) -> Result<Self, String> {
        let tasks = tasks_in(Memory::heap, &end.device, end.bytes, end.depth)?;
        let producer = end.client.producer().tasks(end.depth).start(&mut end.pe);
        let producer = producer.and_then(|opening| opening.wait(&mut end.pe)).map_err(text)?;
        let to = end.pe.run(end.client.new_consumer()).ok_or("the second process has no consumer")?;
        Ok(Self { producer: Some(producer), to, bufs: tasks.into_iter().map(|task| task.src).collect(), end })
    }

    /// A buffer that does not fly.
    fn take(&mut self) -> Result<Buf, String> {
        loop {
            while let Some(back) = self.producer.as_ref().and_then(Producer::try_reclaim) {
                back.result.map_err(text)?;
                self.bufs.extend(back.payload.buf);
            }
            match self.bufs.pop() {
                Some(buf) => return Ok(buf),
                None => drop(self.end.pe.progress()),
            }
        }
    }

    fn send(&mut self, imm: &[u8]) -> Result<(), String> {
        let buf = self.take()?;
        let mut payload = Payload::from(buf).with_imm(imm).map_err(text)?;
        let producer = self.producer.as_ref().ok_or("the producer is gone")?;
        loop {
            match producer.try_feed(self.to, payload) {
                Ok(()) => return Ok(()),
                Err(refused) if matches!(refused.error.code(), Code::Full | Code::Again) => {
                    payload = refused.back;
                    self.end.pe.progress();
                }
                Err(refused) => return Err(text(refused.error)),
            }
        }
    }
}

impl Drop for Produce {
    fn drop(&mut self) {
        // Before its connection.
        if let Some(producer) = self.producer.take() {
            let _ = producer.stop().wait(&mut self.end.pe);
        }
    }
}

impl Lane for Produce {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        self.end.say(&[word::WAKE])?;
        for _ in 1..tasks {
            self.send(&[])?;
        }
        self.send(&[word::ANSWER])?;
        self.end.hear()?;
        self.end.say(&[word::SLEEP])
    }
}

impl TimedLane for Produce {
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        self.end.say(&[word::WAKE])?;
        for _ in 0..tasks {
            let start = Instant::now();
            self.send(&[])?;
            while self.producer.as_ref().is_some_and(|producer| producer.in_flight() > 0) {
                self.end.pe.progress();
            }
            latencies.push(start.elapsed().as_nanos() as u64);
        }
        self.end.say(&[word::SLEEP])
    }
}
