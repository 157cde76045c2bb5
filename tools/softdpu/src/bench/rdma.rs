//! RDMA on the measuring bench: one-sided writes and reads in memory of another process.
//!
//! The peer is this command once more: it lends memory and then sleeps, as it may. What the initiator does is measured
//! against the C library's memcpy into memory of the same kind, and beside that against the tool of another library
//! ([`others`]). All tasks of a row use the same window at either end, as such tools do.

mod others;

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use lexopt::Parser;
use softdpu::card::{EngineKind, Machine, Side};
use softdpu::memory::Memory;
use softdpu::rdma::{Connection, Endpoint, Options as EndOptions, Rdma, Read, Write};
use softdpu::{
    Access, Buf, Context, Device, InFlight, ProgressEngine, RemoteBuf, RemoteMemory, Session, Task,
};

use super::dma::tasks_in;
use super::lane::{leave_out, length, text};
use super::measure::{Lane, TimedLane, measure};
use super::memcpy::Yardstick;
use super::options::Options;
use super::{Beside, Row};
use crate::card::CardOptions;
use crate::message::{Failure, Outcome};
use crate::session;

/// Turns of a row and another tool, if there is one.
const TURNS: u32 = 3;
/// Most transfers that such a tool is asked for per turn.
const MOST: u64 = 20_000_000;

/// The sub-command that peers are started with; not for people.
pub(crate) const PEER: &str = "bench-rdma-peer";

/// All rows that the options ask for: per size and depth a write and a read, on one thread.
pub(crate) fn rows(machine: &Machine, options: &Options) -> Result<Vec<Row>, String> {
    let session = session::open(machine.clone());
    let device = open(&session, machine, Side::Host)?;
    let longest = u64::from(device.function().limits().rdma.max_message_size);
    let mut rows = Vec::new();
    let others = others::is_installed();
    if !others {
        eprintln!("softdpu: rdma stands alone: {} is not installed", others::UCX);
    }
    for &size in &options.sizes {
        if size > longest {
            leave_out("rdma", size, format_args!("the device takes at most {longest} bytes per task"));
            continue;
        }
        for &depth in &options.depths {
            let at = (size, depth);
            rows.push(one::<Write>((&session, &device), options, ("write", others), at)?);
            rows.push(one::<Read>((&session, &device), options, ("read", others), at)?);
        }
    }
    Ok(rows)
}

fn one<T: OneSided>(
    (session, device): (&Session, &Device),
    options: &Options,
    (op, others): (&'static str, bool),
    (size, depth): (u64, u32),
) -> Result<Row, String> {
    let bytes = length(size)?;
    let lane = || End::<T>::new(session, device, options, bytes, depth);
    let copies = || Yardstick::new(tasks_in(Memory::memfd, device, bytes, 1)?);
    let per_second = |ns: f64| size as f64 / ns * 1e9;
    let turns = if others { TURNS } else { 1 };
    let time = options.time / turns;
    let (mut measured, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..turns {
        let turn = measure(1, time, lane, copies)?;
        if others {
            // As long as the row's tasks took, without the yardstick.
            let count = (time.as_nanos() as f64 / 2.0 / turn.engine_ns) as u64;
            let ns = others::measure(op, bytes, depth, count.clamp(100, MOST))?;
            theirs.push((ns / turn.engine_ns, ns));
        }
        measured.push(turn);
    }
    // The middle one of an odd number.
    measured.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    theirs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let beside = theirs.get(theirs.len() / 2).map(|&(ratio, ns)| Beside {
        tool: others::UCX,
        ns_per_task: ns,
        bytes_per_s: per_second(ns),
        ratio,
    });
    let measured = measured[measured.len() / 2];
    Ok(Row {
        engine: EngineKind::Rdma.name(),
        op,
        size,
        depth,
        threads: 1,
        face: "call",
        wait: "poll",
        ns_per_task: measured.engine_ns,
        bytes_per_s: per_second(measured.engine_ns),
        yardstick: "memcpy",
        yardstick_bytes_per_s: per_second(measured.yardstick_ns),
        ratio: measured.ratio,
        p50_ns: measured.p50_ns,
        p99_ns: measured.p99_ns,
        p999_ns: measured.p999_ns,
        reach: None,
        beside: beside.into_iter().collect(),
    })
}

/// The first function of a side that has RDMA; any one where the side is not seen.
fn open(session: &Session, machine: &Machine, side: Side) -> Result<Device, String> {
    let able = || machine.functions().iter().filter(|f| f.supports(EngineKind::Rdma));
    let function = able().find(|f| f.side() == side).or_else(|| able().next());
    let function = function.ok_or("no device has RDMA")?;
    session.device(&function.pci().to_string()).and_then(|d| d.open()).map_err(text)
}

/// A task between a window here and one there.
trait OneSided: Task<Engine = Rdma> {
    fn between(connection: &Connection, here: Buf, there: RemoteBuf) -> Result<Self, String>;
    /// As it was before it ran.
    fn renew(&mut self);
}

impl OneSided for Write {
    fn between(connection: &Connection, here: Buf, there: RemoteBuf) -> Result<Self, String> {
        Ok(Write { to: connection.target(), src: here, dst: there, immediate: None })
    }

    fn renew(&mut self) {}
}

impl OneSided for Read {
    fn between(connection: &Connection, mut here: Buf, mut there: RemoteBuf) -> Result<Self, String> {
        here.reset();
        there.set_data(..).map_err(|e| e.to_string())?;
        Ok(Read { from: connection.target(), src: there, dst: here })
    }

    fn renew(&mut self) {
        self.dst.reset();
    }
}

/// This end of a connection, its tasks, and the process at the other end.
struct End<T: Task> {
    // Before its engine, and that before the peer.
    context: Context<Rdma>,
    pe: ProgressEngine,
    tasks: Vec<T>,
    flying: Vec<(InFlight<T>, Instant)>,
    _connection: Connection,
    _remote: RemoteMemory,
    _peer: Peer,
}

impl<T: OneSided> End<T> {
    fn new(
        session: &Session,
        device: &Device,
        options: &Options,
        bytes: usize,
        depth: u32,
    ) -> Result<Self, String> {
        let stride = bytes.next_multiple_of(64);
        let mut peer = Peer::start(&options.card, stride)?;
        let mut pe = ProgressEngine::new(session).map_err(text)?;
        let ends = EndOptions { sends: depth, ..EndOptions::default() };
        let endpoint = Endpoint::new(device, ends).map_err(text)?;
        let context = Context::start(&mut pe, device, endpoint.config());
        let context = context.and_then(|start| start.wait(&mut pe)).map_err(text)?;
        let connection = endpoint.export().map_err(text)?;
        let (description, letter) = (peer.line()?, peer.line()?);
        connection.join(&description).map_err(text)?;
        peer.tell(connection.description())?;
        let remote = RemoteMemory::import(device, &letter).map_err(text)?;
        let here = Memory::memfd(stride).access(Access::LOCAL_READ_WRITE).register(&[device.shared()]);
        let here = here.map_err(text)?;
        let task = |_| {
            let mut near = here.alias(..bytes).map_err(|e| e.to_string())?;
            // Pages that were never written would all be the one zero page.
            near.write_at(0, &vec![1; bytes]).map_err(|e| e.to_string())?;
            near.set_data(..).map_err(|e| e.to_string())?;
            let far = remote.buf(..bytes).map_err(|e| e.to_string())?;
            T::between(&connection, near, far)
        };
        let tasks = (0..depth).map(task).collect::<Result<Vec<_>, String>>()?;
        let flying = Vec::with_capacity(tasks.len());
        Ok(Self { context, pe, tasks, flying, _connection: connection, _remote: remote, _peer: peer })
    }

    fn go(&mut self, tasks: u64, mut note: impl FnMut(Instant)) -> Result<(), String> {
        let mut left = tasks;
        while left > 0 || !self.flying.is_empty() {
            while left > 0
                && let Some(task) = self.tasks.pop()
            {
                let began = Instant::now();
                let flying = self.context.submit(task).map_err(|refused| text(refused.error))?;
                self.flying.push((flying, began));
                left -= 1;
            }
            self.pe.progress();
            for at in (0..self.flying.len()).rev() {
                if !self.flying[at].0.is_done() {
                    continue;
                }
                let (flying, began) = self.flying.swap_remove(at);
                if let Ok(done) = flying.try_take() {
                    done.result.map_err(text)?;
                    note(began);
                    let mut task = done.task;
                    task.renew();
                    self.tasks.push(task);
                }
            }
        }
        Ok(())
    }
}

impl<T: OneSided> Lane for End<T> {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        self.go(tasks, |_| ())
    }
}

impl<T: OneSided> TimedLane for End<T> {
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        self.go(tasks, |began| latencies.push(began.elapsed().as_nanos() as u64))
    }
}

/// A process that lends memory and sleeps; it ends with this.
struct Peer {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start(card: &CardOptions, len: usize) -> Result<Self, String> {
        let command = std::env::current_exe().map_err(|e| format!("this command is not found: {e}"))?;
        let mut started = Command::new(command);
        started.args([PEER, &len.to_string()]).envs(card.environment());
        let process = started.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = process.map_err(|e| format!("no second process: {e}"))?;
        let output = process.stdout.take().ok_or("the second process has no output")?;
        Ok(Self { process, output: BufReader::new(output) })
    }

    /// The bytes it says next.
    fn line(&mut self) -> Result<Vec<u8>, String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        match read.map(|_| unhex(&line)) {
            Ok(Some(bytes)) => Ok(bytes),
            _ => Err("the second process did not begin".to_owned()),
        }
    }

    fn tell(&mut self, bytes: &[u8]) -> Result<(), String> {
        let gone = || "the second process has ended".to_owned();
        let input = self.process.stdin.as_mut().ok_or_else(gone)?;
        writeln!(input, "{}", hex(bytes)).map_err(|_| gone())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of its input tells it to end.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `None` when it is none, or nothing.
fn unhex(line: &str) -> Option<Vec<u8>> {
    let line = line.trim();
    let byte = |at: usize| u8::from_str_radix(line.get(at..at + 2)?, 16).ok();
    if line.is_empty() { None } else { (0..line.len()).step_by(2).map(byte).collect() }
}

/// The peer's part; ends with its input.
pub(crate) fn peer(mut arguments: Parser) -> Outcome {
    let wrong = || Failure::usage(format!("{PEER}: started by 'softdpu bench' alone"));
    let len = arguments.value().ok().and_then(|value| value.into_string().ok());
    let len = len.and_then(|len| len.parse().ok()).ok_or_else(wrong)?;
    lend(len).map_err(Failure::failed)?;
    crate::output::print("")
}

fn lend(len: usize) -> Result<(), String> {
    let machine = CardOptions::default().machine().map_err(Failure::into_text)?;
    let session = session::open(machine.clone());
    let device = open(&session, &machine, Side::Dpu)?;
    let peers = Access::RDMA_READ | Access::RDMA_WRITE;
    let memory = Memory::memfd(len).access(Access::LOCAL_READ_WRITE | peers);
    let memory = memory.register(&[device.shared()]).map_err(text)?;
    // Pages that were never written would cost the first tasks.
    let mut all = memory.buf(..).map_err(|e| e.to_string())?;
    for at in (0..len).step_by(1 << 20) {
        all.write_at(at, &vec![0; (1 << 20).min(len - at)]).map_err(|e| e.to_string())?;
    }
    drop(all);
    let mut pe = ProgressEngine::new(&session).map_err(text)?;
    let endpoint = Endpoint::new(&device, EndOptions { peers, ..EndOptions::default() }).map_err(text)?;
    let context = Context::<Rdma>::start(&mut pe, &device, endpoint.config());
    let _context = context.and_then(|start| start.wait(&mut pe)).map_err(text)?;
    let connection = endpoint.export().map_err(text)?;
    let export = memory.export_rdma(device.shared()).map_err(text)?;
    let lines = format!("{}\n{}\n", hex(connection.description()), hex(export.bytes()));
    crate::output::print(&lines).map_err(Failure::into_text)?;
    let mut input = std::io::stdin().lines();
    let description = input.next().and_then(Result::ok).and_then(|line| unhex(&line));
    connection.join(&description.ok_or("nobody connects")?).map_err(text)?;
    input.for_each(drop);
    Ok(())
}
