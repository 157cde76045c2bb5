//! Peers that share nothing but the network, against bare libfabric and plain TCP in the same run.
//!
//! `cargo run --release -p softdpu-rdma --example net_speed` starts itself three times as the peers, each with its own way
//! of moving bytes; the one with our engine has a runtime folder of its own, as another machine has. The contestants take
//! turns, round after round, while the others sleep; who is measured makes progress at both ends all the time. What is
//! shown are medians; the ratio is that of the same round. `bare` is the fabric's endpoint with nothing above it: messages
//! of the same size (at most 256 KiB) for what is moved, a message there and one back for what is asked. An argument
//! chooses rows by a part of their names.

mod plain;

use softdpu_memory::{Access, Memory, RemoteMemory};
use softdpu_rdma::bare::{self, Bare, SHORTEST};
use softdpu_rdma::{Connection, Endpoint, FetchAdd, Options, Rdma, Read, Receive, Send, Write};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::Task;
use softdpu_room::typed::Context;
use softdpu_status::Result;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const BYTES: usize = 32 << 20;
/// What tasks go round in, as the buffers of the bare endpoint do.
const ROUND: usize = 2 << 20;
pub(crate) const TIME: Duration = Duration::from_millis(200);
const ROUNDS: usize = 5;
/// A message of this length sends the peer to sleep.
const STOP: usize = 1;

struct Side {
    device: Device,
    pe: ProgressEngine,
    rdma: Context<Rdma>,
    connection: Connection,
    memory: Memory,
}

fn side() -> Result<Side> {
    let machine = softdpu_card::Machine::builder().build().expect("the default machine");
    let session = Session::new(machine, softdpu_board::threads());
    let device = session.devices()[0].open()?;
    let mut pe = ProgressEngine::new(&session)?;
    let peers = Access::RDMA_READ | Access::RDMA_WRITE | Access::RDMA_ATOMIC;
    let endpoint = Endpoint::new(device.shared(), Options { peers, sends: 128, ..Options::default() })?;
    let rdma = Context::<Rdma>::start(&mut pe, &device, endpoint.config())?.wait(&mut pe)?;
    let memory = Memory::heap(BYTES).access(Access::LOCAL_READ_WRITE | peers).register(&[device.shared()])?;
    let connection = endpoint.export()?;
    Ok(Side { device, pe, rdma, connection, memory })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.trim().len() / 2).map(|at| digit(2 * at)).collect()
}

fn read_line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).expect("a line");
    line
}

/// A peer waits for its next measurement. False: there is none.
pub(crate) fn told_to_go() -> bool {
    !read_line(&mut std::io::stdin().lock()).is_empty()
}

/// Lends memory, and sends messages back until it is told to end.
fn peer() -> Result<()> {
    let mut side = side()?;
    let export = side.memory.export_rdma(side.device.shared())?;
    println!("{} {}", hex(side.connection.description()), hex(export.bytes()));
    side.connection.join(&unhex(&read_line(&mut std::io::stdin().lock())))?;
    println!("ready");
    let room = |side: &Side| side.memory.alias(0..4096);
    let mut receive = side.rdma.submit(Receive { dst: Some(room(&side)?), message: None }).expect("a task");
    let to = side.connection.target();
    let mut answers = VecDeque::new();
    while told_to_go() {
        let mut on = true;
        while on {
            side.pe.progress();
            receive = match receive.try_take() {
                Ok(done) => {
                    on = done.result? != STOP as u64;
                    let src = done.task.dst.filter(|_| on);
                    let next = Receive { dst: Some(room(&side)?), message: None };
                    let next = side.rdma.submit(next).expect("a task");
                    if on {
                        answers
                            .push_back(side.rdma.submit(Send { to, src, immediate: None }).expect("a task"));
                    }
                    next
                }
                Err(still) => still,
            };
            if answers.front().is_some_and(softdpu_room::inflight::InFlight::is_done) {
                answers.pop_front();
            }
        }
    }
    Ok(())
}

/// Keeps `flying` tasks under way for a while; gives how many were done.
fn stream<T: Task<Engine = Rdma> + std::fmt::Debug>(
    side: &mut Side,
    flying: usize,
    mut make: impl FnMut(&Side, usize) -> T,
) -> u32 {
    let (start, mut done, mut begun) = (Instant::now(), 0, 0);
    let mut tasks = VecDeque::new();
    while start.elapsed() < TIME || !tasks.is_empty() {
        while tasks.len() < flying && start.elapsed() < TIME {
            tasks.push_back(side.rdma.submit(make(side, begun)).expect("a task"));
            begun += 1;
        }
        side.pe.progress();
        while let Some(task) = tasks.pop_front() {
            match task.try_take() {
                Ok(finished) => {
                    assert!(finished.result.is_ok(), "a task failed");
                    done += 1;
                }
                Err(still) => {
                    tasks.push_front(still);
                    break;
                }
            }
        }
    }
    done
}

/// A peer of one kind; it ends with this side.
struct Peer {
    child: Child,
    from: BufReader<ChildStdout>,
    folder: PathBuf,
}

impl Peer {
    fn new(kind: &str) -> Peer {
        let name = format!("softdpu-net-speed-{}-{kind}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .arg(kind)
            .env("SOFTDPU_RUNTIME_DIR", &folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a peer");
        let from = BufReader::new(child.stdout.take().expect("its output"));
        Peer { child, from, folder }
    }

    fn hear(&mut self) -> String {
        read_line(&mut self.from).trim().to_owned()
    }

    fn say(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().expect("its input"), "{line}").expect("a line");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("peer") => return peer(),
        Some("bare") => {
            bare::serve(|port| println!("{port}")).expect("libfabric");
            return Ok(());
        }
        Some("plain") => {
            plain::peer();
            return Ok(());
        }
        _ => {}
    }
    let (mut theirs, mut barely, mut plainly) = (Peer::new("peer"), Peer::new("bare"), Peer::new("plain"));
    let mut bare = Bare::dial(barely.hear().parse().expect("a port")).expect("libfabric");
    let mut plain = plain::Plain::new(&plainly.hear());
    let mut side = side()?;
    let line = theirs.hear();
    let mut words = line.split_whitespace().map(unhex);
    side.connection.join(&words.next().expect("a description"))?;
    let remote = RemoteMemory::import(side.device.shared(), &words.next().expect("a descriptor"))?;
    theirs.say(&hex(side.connection.description()));
    assert_eq!(theirs.hear(), "ready");
    println!("{:<34} {:>10} {:>10} {:>7} {:>10}", "medians of 5 rounds", "SoftDPU", "bare", "ratio", "TCP");
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for row in ROWS.iter().filter(|row| row.name().contains(&wanted)) {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            theirs.say("go");
            let ours = measure(&mut side, &remote, row.what, row.len, row.flying);
            stop(&mut side)?;
            let pings = matches!(row.what, What::Message | What::Ask | What::Add);
            let bare = if pings { ping(&mut bare, row.len) } else { flood(&mut bare, row.len) };
            plainly.say("go");
            let plain = if pings { plain.ping(row.len) } else { plain.stream() };
            rounds.push([ours, bare, ours / bare, plain]);
        }
        let median = |which: usize| {
            let mut all: Vec<f64> = rounds.iter().map(|round| round[which]).collect();
            all.sort_by(f64::total_cmp);
            all[ROUNDS / 2]
        };
        let unit = |n: f64| match row.what {
            What::Write | What::Read => format!("{:.3} GB/s", n / 1e9),
            _ => format!("{n:.2} us"),
        };
        let [ours, bare, ratio, plain] = [0, 1, 2, 3].map(median);
        println!("{:<34} {:>10} {:>10} {ratio:>7.2} {:>10}", row.name(), unit(ours), unit(bare), unit(plain));
    }
    drop(side);
    Ok(())
}

#[derive(Clone, Copy)]
enum What {
    Message,
    Ask,
    Add,
    Write,
    Read,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Message => "message and answer",
            What::Ask => "write and its completion",
            What::Add => "fetch and add",
            What::Write => "writes",
            What::Read => "reads",
        }
    }
}

struct Row {
    what: What,
    len: usize,
    flying: usize,
}

impl Row {
    fn name(&self) -> String {
        format!("{}, {} B, {} in flight", self.what.name(), self.len, self.flying)
    }
}

const ROWS: [Row; 12] = {
    const fn row(what: What, len: usize, flying: usize) -> Row {
        Row { what, len, flying }
    }
    [
        row(What::Message, 64, 1),
        row(What::Ask, 8, 1),
        row(What::Add, 8, 1),
        row(What::Write, 64, 64),
        row(What::Write, 4096, 64),
        row(What::Write, 64 << 10, 32),
        row(What::Write, 1 << 20, 8),
        row(What::Write, 8 << 20, 2),
        row(What::Read, 4096, 64),
        row(What::Read, 64 << 10, 16),
        row(What::Read, 1 << 20, 4),
        row(What::Read, 8 << 20, 2),
    ]
};

fn data(side: &Side, at: usize, len: usize) -> softdpu_memory::Buf {
    let mut buf = side.memory.alias(at..at + len).expect("a window");
    buf.set_data(..len).expect("data");
    buf
}

fn send(side: &mut Side, len: usize) -> Result<()> {
    let to = side.connection.target();
    let send = Send { to, src: Some(data(side, 0, len)), immediate: None };
    let send = side.rdma.submit(send).expect("a task");
    side.pe.run(send).result.map(drop)
}

/// Sends the peer to sleep.
fn stop(side: &mut Side) -> Result<()> {
    send(side, STOP)
}

/// Microseconds of one, or bytes per second of many.
fn measure(side: &mut Side, remote: &RemoteMemory, what: What, len: usize, flying: usize) -> f64 {
    let to = side.connection.target();
    let places = (ROUND / len).max(1);
    let at = |k: usize| k % places * len..(k % places + 1) * len;
    let there = |k: usize| remote.buf(at(k)).expect("a window");
    let start = Instant::now();
    let n = match what {
        What::Message => messages(side, len),
        What::Add => stream(side, flying, |_, _| FetchAdd { to, word: there(0), add: 1 }),
        What::Ask | What::Write => stream(side, flying, |side, k| Write {
            to,
            src: data(side, at(k).start, len),
            dst: there(k),
            immediate: None,
        }),
        What::Read => stream(side, flying, |side, k| {
            let mut src = there(k);
            src.set_data(..len).expect("data");
            Read { from: to, src, dst: side.memory.alias(at(k)).expect("a window") }
        }),
    };
    let time = start.elapsed().as_secs_f64();
    match what {
        What::Write | What::Read => f64::from(n) * len as f64 / time,
        _ => time * 1e6 / f64::from(n),
    }
}

/// Of bare messages, microseconds there and back.
fn ping(bare: &mut Bare, len: usize) -> f64 {
    let len = len.max(SHORTEST);
    let (start, mut n) = (Instant::now(), 0);
    while start.elapsed() < TIME {
        bare.say(len, len as u32).expect("the peer");
        while bare.hear().expect("the peer") == 0 {}
        n += 1;
    }
    let time = start.elapsed().as_secs_f64() * 1e6 / f64::from(n);
    bare.rest().expect("the peer");
    time
}

/// Of bare messages one way, bytes per second.
fn flood(bare: &mut Bare, len: usize) -> f64 {
    let (start, mut bytes) = (Instant::now(), 0);
    while start.elapsed() < TIME {
        bare.say(len, 0).expect("the peer");
        bytes += len;
    }
    bare.say(len, 1).expect("the peer");
    while bare.hear().expect("the peer") == 0 {}
    let rate = (bytes + len) as f64 / start.elapsed().as_secs_f64();
    bare.rest().expect("the peer");
    rate
}

fn messages(side: &mut Side, len: usize) -> u32 {
    let to = side.connection.target();
    let (start, mut n) = (Instant::now(), 0);
    while start.elapsed() < TIME {
        let dst = side.memory.alias(4096..8192).ok();
        let mut waits = side.rdma.submit(Receive { dst, message: None }).expect("a task");
        let send = Send { to, src: Some(data(side, 0, len)), immediate: None };
        let send = side.rdma.submit(send).expect("a task");
        while let Err(still) = waits.try_take() {
            waits = still;
            side.pe.progress();
        }
        drop(send);
        n += 1;
    }
    n
}
