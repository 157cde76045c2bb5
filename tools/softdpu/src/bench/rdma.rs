//! RDMA on the measuring bench: memory of another process is written, read and added to, and messages are sent.
//!
//! The peers are this command once more ([`peer`]). What the initiator does is measured against what processors do without
//! an engine: the C library's memcpy into memory of the same kind, plain writes there and back, additions while nobody
//! else adds. Beside that stands the tool of another library ([`others`]). All tasks of a row use the same window at
//! either end, as such tools do.

mod contended;
mod end;
mod network;
mod others;
mod peer;
mod rounds;

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Instant;

use softdpu::card::{EngineKind, Machine, Side};
use softdpu::memory::Memory;
use softdpu::rdma::{FetchAdd, Rdma, Read, Send, Write};
use softdpu::{Buf, Device, InFlight, RemoteBuf, Session, Task};

use super::dma::tasks_in;
use super::lane::{leave_out, length, text};
use super::measure::{Lane, Measured, TimedLane, measure};
use super::memcpy::Yardstick;
use super::options::Options;
use super::{Beside, Row};
use crate::session;
use end::{End, Half, Plan};
pub(crate) use peer::{PEER, main as peer};
use peer::{Peer, Role};
use rounds::{Rounds, Way};

/// Turns of a row and another tool, if there is one.
const TURNS: u32 = 3;
/// Most transfers that such a tool is asked for per turn.
const MOST: u64 = 20_000_000;
/// Messages are measured up to this size.
const MOST_MESSAGE: u64 = 1024;
/// Receives that a peer has posted for messages at least: so few stay in the cache, and nobody waits for one.
const RECEIVES: u32 = 64;
/// Bytes of a word that is waited for, or added to.
const WORD: usize = 8;
/// Where, in memory that is written, words to be sent lie.
const PLACES: usize = 64;

/// What all rows are made with.
#[derive(Clone, Copy)]
struct With<'a> {
    session: &'a Session,
    device: &'a Device,
    options: &'a Options,
    /// Is there another tool?
    others: bool,
}

/// All rows that the options ask for, on one thread: per size and depth a write, a read and, of short ones, a message;
/// then the latency of a word, and a word that several processes add to.
pub(crate) fn rows(machine: &Machine, options: &Options) -> Result<Vec<Row>, String> {
    let session = session::open(machine.clone());
    let device = open(&session, machine, Side::Host)?;
    let longest = u64::from(device.function().limits().rdma.max_message_size);
    if options.network {
        return network::rows(With { session: &session, device: &device, options, others: false }, longest);
    }
    let others = others::is_installed();
    if !others {
        eprintln!("softdpu: rdma stands alone: {} is not installed", others::UCX);
    }
    let with = With { session: &session, device: &device, options, others };
    let mut rows = Vec::new();
    for &size in &options.sizes {
        if size > longest {
            leave_out("rdma", size, format_args!("the device takes at most {longest} bytes per task"));
            continue;
        }
        for &depth in &options.depths {
            rows.push(with.transfers::<Write>(size, depth)?);
            rows.push(with.transfers::<Read>(size, depth)?);
            if size <= MOST_MESSAGE {
                rows.push(with.transfers::<Send>(size, depth)?);
            }
        }
    }
    rows.push(with.latency()?);
    rows.push(contended::contended(with)?);
    Ok(rows)
}

impl With<'_> {
    fn transfers<T: Transfer>(self, size: u64, depth: u32) -> Result<Row, String> {
        let bytes = length(size)?;
        let lane = || Transfers::<T>::new(self, bytes, depth);
        let copies = || Yardstick::new(tasks_in(Memory::memfd, self.device, bytes, 1)?);
        self.row((T::OP, "memcpy"), (size, depth), lane, copies)
    }

    /// How long a word takes to the other process, whose answer is waited for: half of a round.
    fn latency(self) -> Result<Row, String> {
        let rounds = &Mutex::new(Rounds::new(self)?);
        let way = |plain| move || Ok(Way { rounds, plain });
        self.row(("latency", "plain_write"), (WORD as u64, 1), way(false), way(true))
    }

    fn row<E: TimedLane, Y: Lane>(
        self,
        (op, yardstick): (&'static str, &'static str),
        (size, depth): (u64, u32),
        lane: impl Fn() -> Result<E, String> + Sync,
        against: impl Fn() -> Result<Y, String> + Sync,
    ) -> Result<Row, String> {
        let turns = if self.others { TURNS } else { 1 };
        let time = self.options.time / turns;
        let (mut measured, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..turns {
            let turn = measure(1, time, &lane, &against)?;
            if self.others {
                // As many as the row's tasks were, without the yardstick.
                let count = ((time.as_nanos() as f64 / 2.0 / turn.engine_ns) as u64).clamp(100, MOST);
                let ours = alone(&mut lane()?, count)?;
                let ns = others::measure(op, length(size)?, depth, count)?;
                theirs.push((ns / ours, ns));
            }
            measured.push(turn);
        }
        // The middle one of an odd number.
        measured.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        theirs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let beside = theirs.get(theirs.len() / 2).map(|&(ratio, ns)| (others::UCX, ns, ratio));
        Ok(row((op, yardstick), (size, depth, 1), measured[measured.len() / 2], beside))
    }
}

/// Nanoseconds per task of one run, as another tool measures: nothing else washes the caches meanwhile.
fn alone(lane: &mut impl Lane, count: u64) -> Result<f64, String> {
    lane.run(others::warm_up(count))?;
    let start = Instant::now();
    lane.run(count)?;
    Ok(start.elapsed().as_nanos() as f64 / count as f64)
}

/// A row of the table; `beside` is a name, nanoseconds per task of one thread, and the ratio to that.
fn row(
    (op, yardstick): (&'static str, &'static str),
    (size, depth, threads): (u64, u32, u32),
    measured: Measured,
    beside: Option<(&'static str, f64, f64)>,
) -> Row {
    let per_second = |ns: f64| size as f64 * f64::from(threads) / ns * 1e9;
    let beside = beside.map(|(tool, ns_per_task, ratio)| Beside {
        tool,
        ns_per_task,
        bytes_per_s: per_second(ns_per_task),
        ratio,
    });
    Row {
        engine: EngineKind::Rdma.name(),
        op,
        size,
        depth,
        threads,
        face: "call",
        wait: "poll",
        ns_per_task: measured.engine_ns,
        bytes_per_s: per_second(measured.engine_ns),
        yardstick,
        yardstick_bytes_per_s: per_second(measured.yardstick_ns),
        ratio: measured.ratio,
        p50_ns: measured.p50_ns,
        p99_ns: measured.p99_ns,
        p999_ns: measured.p999_ns,
        reach: None,
        beside: beside.into_iter().collect(),
    }
}

/// The first function of a side that has RDMA; any one where the side is not seen.
fn open(session: &Session, machine: &Machine, side: Side) -> Result<Device, String> {
    let able = || machine.functions().iter().filter(|f| f.supports(EngineKind::Rdma));
    let function = able().find(|f| f.side() == side).or_else(|| able().next());
    let function = function.ok_or("no device has RDMA")?;
    session.device(&function.pci().to_string()).and_then(|d| d.open()).map_err(text)
}

/// A process in this role, and this end of a connection to it.
fn connect(with: With<'_>, role: Role, (here, there): (Plan, Plan)) -> Result<(End, Peer), String> {
    let mut peer = Peer::start(&with.options.card, role, there)?;
    let half = Half::new(with.session, with.device, here)?;
    let card = peer.line()?;
    half.cards().iter().try_for_each(|card| peer.tell(card))?;
    let end = half.join(with.device, &[card])?;
    peer.ready()?;
    Ok((end, peer))
}

/// A task between a window here and one there.
trait Transfer: Task<Engine = Rdma> {
    const OP: &'static str;
    /// What the peer does meanwhile.
    const PEER: Role = Role::Lend;

    fn between(end: &End, here: Buf, there: RemoteBuf) -> Result<Self, String>;
    /// As it was before it ran.
    fn renew(&mut self);

    /// How many receives the peer posts.
    fn receives(depth: u32) -> u32 {
        if Self::PEER == Role::Take { RECEIVES.max(2 * depth).min(depth.max(4 * RECEIVES)) } else { 1 }
    }
}

impl Transfer for Write {
    const OP: &'static str = "write";

    fn between(end: &End, here: Buf, there: RemoteBuf) -> Result<Self, String> {
        Ok(Write { to: end.connections[0].target(), src: here, dst: there, immediate: None })
    }

    fn renew(&mut self) {}
}

impl Transfer for Read {
    const OP: &'static str = "read";

    fn between(end: &End, mut here: Buf, mut there: RemoteBuf) -> Result<Self, String> {
        here.reset();
        there.set_data(..).map_err(|e| e.to_string())?;
        Ok(Read { from: end.connections[0].target(), src: there, dst: here })
    }

    fn renew(&mut self) {
        self.dst.reset();
    }
}

impl Transfer for Send {
    const OP: &'static str = "send";
    const PEER: Role = Role::Take;

    fn between(end: &End, here: Buf, _: RemoteBuf) -> Result<Self, String> {
        Ok(Send { to: end.connections[0].target(), src: Some(here), immediate: None })
    }

    fn renew(&mut self) {}
}

impl Transfer for FetchAdd {
    const OP: &'static str = "fetch_add";

    fn between(end: &End, _: Buf, there: RemoteBuf) -> Result<Self, String> {
        Ok(FetchAdd { to: end.connections[0].target(), word: there, add: 1 })
    }

    fn renew(&mut self) {}
}

/// Tasks of one kind, some in flight.
struct Transfers<T: Task> {
    // Before the peer.
    end: End,
    tasks: Vec<T>,
    peer: Peer,
}

impl<T: Transfer> Transfers<T> {
    fn new(with: With<'_>, bytes: usize, depth: u32) -> Result<Self, String> {
        let stride = bytes.next_multiple_of(64);
        let receives = T::receives(depth);
        let here = Plan { bytes: stride, depth, links: 1 };
        let there = Plan { bytes: stride * receives as usize, depth: receives, links: 1 };
        let (end, peer) = connect(with, T::PEER, (here, there))?;
        Self::over((end, peer), bytes, depth)
    }

    /// As many as fly at once, between the beginnings of the memory of either end.
    fn over((end, peer): (End, Peer), bytes: usize, depth: u32) -> Result<Self, String> {
        let task = |_| {
            let mut near = end.memory.alias(..bytes).map_err(|e| e.to_string())?;
            near.set_data(..).map_err(|e| e.to_string())?;
            let far = end.remote.buf(..bytes).map_err(|e| e.to_string())?;
            T::between(&end, near, far)
        };
        let tasks = (0..depth).map(task).collect::<Result<Vec<_>, String>>()?;
        Ok(Self { end, tasks, peer })
    }

    /// Tasks of one connection come back in the order in which they were submitted, so the oldest is the one to ask for.
    /// `start` and `note` stand for the clock, which costs as much as a short task: rates are measured without.
    fn go<S>(&mut self, tasks: u64, start: impl Fn() -> S, mut note: impl FnMut(S)) -> Result<(), String> {
        let Self { end, tasks: idle, .. } = self;
        let mut left = tasks;
        let mut flying: VecDeque<(InFlight<T>, S)> = VecDeque::with_capacity(idle.len());
        loop {
            while left > 0
                && let Some(task) = idle.pop()
            {
                let began = start();
                let flight = end.context.submit(task).map_err(|refused| text(refused.error))?;
                flying.push_back((flight, began));
                left -= 1;
            }
            if flying.is_empty() {
                return Ok(());
            }
            end.pe.progress();
            while let Some((flight, began)) = flying.pop_front_if(|(flight, _)| flight.is_done()) {
                if let Ok(done) = flight.try_take() {
                    done.result.map_err(text)?;
                    note(began);
                    let mut task = done.task;
                    task.renew();
                    idle.push(task);
                }
            }
        }
    }
}

impl<T: Transfer> Lane for Transfers<T> {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        self.go(tasks, || (), |()| ())
    }
}

impl<T: Transfer> TimedLane for Transfers<T> {
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        self.go(tasks, Instant::now, |began| latencies.push(began.elapsed().as_nanos() as u64))
    }
}
