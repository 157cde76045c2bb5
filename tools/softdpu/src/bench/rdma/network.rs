//! RDMA over the network: the peer has a runtime folder of its own, as another machine has.
//!
//! The yardstick is the endpoint of libfabric that connections use, with nothing above it: a message of as many bytes
//! there and a short one back for what is written or sent, a short one there and the bytes back for what is read. Beside it
//! stands TCP, used in the same way. While one is measured the peers of the others sleep; its own makes progress all the
//! time.

mod tcp;

use std::io::{BufReader, Lines, Stdin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{TryRecvError, channel};
use std::time::{Duration, Instant};

use softdpu::Task;
use softdpu::rdma::{Read, Send, Write};
use softdpu_rdma::bare::{self, Bare, SHORTEST};

use super::end::{End, Plan};
use super::peer::{Peer, Role};
use super::{MOST_MESSAGE, Transfer, Transfers, With, connect, row};
use crate::bench::lane::{leave_out, length};
use crate::bench::measure::{Lane, TimedLane, measure};
use crate::bench::{Beside, Row};
use tcp::Tcp;

/// A row takes so long at least: a peer needs a moment until it is awake.
const LEAST: Duration = Duration::from_millis(400);
/// What a peer is told: make progress; sleep.
const GO: &str = "go";
const REST: &str = "rest";

/// Per size and depth a write, a read and, of short ones, a message.
pub(super) fn rows(with: With<'_>, longest: u64) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for &size in &with.options.sizes {
        // A yardstick's answer says its length in 32 bits.
        if size > longest.min(u32::MAX.into()) {
            leave_out("rdma", size, format_args!("a task takes at most {longest} bytes"));
            continue;
        }
        for &depth in &with.options.depths {
            rows.push(one::<Write>(with, size, depth)?);
            rows.push(one::<Read>(with, size, depth)?);
            if size <= MOST_MESSAGE {
                rows.push(one::<Send>(with, size, depth)?);
            }
        }
    }
    Ok(rows)
}

fn one<T: Transfer>(with: With<'_>, size: u64, depth: u32) -> Result<Row, String> {
    let bytes = length(size)?;
    let shape = Shape { bytes, depth, back: T::OP == Read::OP };
    let lane = || {
        let receives = T::receives(depth);
        let there = Plan { bytes: bytes.next_multiple_of(64) * receives as usize, depth: receives, links: 1 };
        let here = Plan { bytes: bytes.next_multiple_of(64), depth, links: 1 };
        Ok(Turned(Transfers::<T>::over(connect(with, Role::Turn, (here, there))?, bytes, depth)?))
    };
    let mut tcp = Window::<Tcp>::new(with, Role::Tcp, shape)?;
    let time = with.options.time.max(LEAST);
    let measured = measure(1, time, lane, || Window::<Bare>::new(with, Role::Fabric, shape))?;
    // As long as the row's tasks took.
    let count = ((time.as_nanos() as f64 / 2.0 / measured.engine_ns) as u64).max(1);
    let start = Instant::now();
    tcp.run(count)?;
    let ns_per_task = start.elapsed().as_nanos() as f64 / count as f64;
    let (ratio, bytes_per_s) = (ns_per_task / measured.engine_ns, size as f64 / ns_per_task * 1e9);
    let mut row = row((T::OP, "libfabric"), (size, depth, 1), measured, None);
    row.beside.push(Beside { tool: "tcp", ns_per_task, bytes_per_s, ratio });
    Ok(row)
}

/// Tasks whose peer makes progress while they are carried out.
struct Turned<T: Task>(Transfers<T>);

impl<T: Transfer> Turned<T> {
    fn turned(&mut self, run: impl FnOnce(&mut Transfers<T>) -> Result<(), String>) -> Result<(), String> {
        self.0.peer.tell(GO)?;
        run(&mut self.0)?;
        self.0.peer.tell(REST)
    }
}

impl<T: Transfer> Lane for Turned<T> {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        self.turned(|transfers| transfers.run(tasks))
    }
}

impl<T: Transfer> TimedLane for Turned<T> {
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        self.turned(|transfers| transfers.timed(tasks, latencies))
    }
}

/// The peer of those: takes messages and serves what is asked, as long as it is told to.
pub(super) fn turn(
    end: &mut End,
    gone: &AtomicBool,
    input: Lines<BufReader<Stdin>>,
) -> Result<String, String> {
    let (tell, told) = channel();
    std::thread::spawn(move || input.map_while(Result::ok).all(|line| tell.send(line == GO).is_ok()));
    let mut awake = false;
    loop {
        let word = if awake { told.try_recv() } else { told.recv().map_err(TryRecvError::from) };
        match word {
            Ok(on) => awake = on,
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Ok(String::new()),
        }
        for _ in 0..64 {
            end.pe.progress();
        }
        if gone.load(Ordering::Relaxed) {
            return Ok(String::new());
        }
    }
}

/// A way to move bytes to another process and back that knows no tasks.
trait Way: Sized {
    fn new(port: u16) -> Result<Self, String>;
    /// Sends so many bytes, and asks for some.
    fn say(&mut self, len: usize, answer: u32) -> Result<(), String>;
    /// Bytes that came since the last time.
    fn hear(&mut self) -> Result<usize, String>;
    /// The peer sleeps until the next message.
    fn rest(&mut self) -> Result<(), String>;
}

impl Way for Bare {
    fn new(port: u16) -> Result<Self, String> {
        Bare::dial(port)
    }

    fn say(&mut self, len: usize, answer: u32) -> Result<(), String> {
        Bare::say(self, len, answer)
    }

    fn hear(&mut self) -> Result<usize, String> {
        Bare::hear(self)
    }

    fn rest(&mut self) -> Result<(), String> {
        Bare::rest(self)
    }
}

/// Bytes per task and tasks in flight; do the bytes come back?
#[derive(Clone, Copy)]
struct Shape {
    bytes: usize,
    depth: u32,
    back: bool,
}

/// What a way moves, some of it under way at the same time.
struct Window<W> {
    // Before the peer.
    way: W,
    shape: Shape,
    _peer: Peer,
}

impl<W: Way> Window<W> {
    fn new(with: With<'_>, role: Role, shape: Shape) -> Result<Self, String> {
        let mut peer = Peer::start(&with.options.card, role, Plan { bytes: 0, depth: 1, links: 1 })?;
        let line = peer.line()?;
        let port = line.trim().parse().map_err(|_| format!("a yardstick's peer says '{}'", line.trim()))?;
        Ok(Self { way: W::new(port)?, shape, _peer: peer })
    }
}

impl<W: Way> Lane for Window<W> {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        let Shape { bytes, depth, back } = self.shape;
        let (there, answer) = if back { (SHORTEST, bytes) } else { (bytes.max(SHORTEST), 1) };
        let (mut begun, mut done, mut heard) = (0, 0, 0);
        while done < tasks {
            while begun < tasks && begun - done < u64::from(depth) {
                self.way.say(there, answer as u32)?;
                begun += 1;
            }
            heard += self.way.hear()?;
            while heard >= answer {
                heard -= answer;
                done += 1;
            }
        }
        self.way.rest()
    }
}

/// The other end of such a way.
pub(super) fn serve(role: Role) -> Result<String, String> {
    // Nobody listens any more: then nobody connects either.
    let tell = |port: u16| drop(crate::output::print(&format!("{port}\n")));
    if role == Role::Tcp { tcp::serve(tell) } else { bare::serve(tell) }.map(|()| String::new())
}
