//! Mixed traffic between two machines for a while, one of which is killed again and again: no wrong byte, no task that
//! does not come back, nothing that is left behind. `SOFTDPU_SOAK_SECONDS` says for how long (20), every tenth second or,
//! of short runs, every third one is somebody's last.

mod common;

use common::machine::{Machines, Peer, has_fabric, hex, offer, on_machine, unhex};
use common::{Folder, Side, options};
use softdpu_memory::{Access, Buf, Memory, RemoteMemory};
use softdpu_rdma::{FetchAdd, Happening, Options, Rdma, Read, Receive, Send, Target, Write};
use softdpu_room::inflight::InFlight;
use softdpu_room::task::Task;
use std::io::BufRead as _;
use std::time::{Duration, Instant};

const SECONDS: &str = "SOFTDPU_SOAK_SECONDS";
/// Name of the other machine.
const OTHER: &str = "SOAK_TEST_OTHER";

/// Layout of the memory of each side: a counter; a part for each lane of the peer; for each own lane what it writes and
/// what it reads back; a message out and one in.
const LANES: usize = 3;
const LONGEST: usize = 700_000;
const THERE: usize = 4096;
const HERE: usize = THERE + LANES * LONGEST;
const OUT: usize = HERE + 2 * LANES * LONGEST;
const MESSAGE: usize = 300_000;
const BYTES: usize = OUT + 2 * MESSAGE;

fn seconds() -> u64 {
    std::env::var(SECONDS).ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

/// Ends the process when the whole takes much longer than it may.
fn watchdog() {
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(seconds() + 120));
        eprintln!("watchdog: the soak hangs");
        std::process::abort();
    });
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 >> 29
    }

    /// Short ones and long ones alike.
    fn len(&mut self, most: usize) -> usize {
        let bits = self.next() % 20;
        ((self.next() as usize & ((2 << bits) - 1)) % most).max(1)
    }
}

fn pattern(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state = state.wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(17);
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// A side with more memory than the others have.
fn side(which: usize, kind: fn(usize) -> softdpu_memory::MemoryBuilder) -> Side {
    let mut side = common::side(which, Options { connections: 8, ..options() });
    let access = Access::LOCAL_READ_WRITE | common::all_rights();
    side.memory = kind(BYTES).access(access).register(&[side.device.shared()]).unwrap();
    side
}

fn filled(side: &Side, at: usize, bytes: &[u8]) -> Buf {
    side.filled(at, bytes)
}

/// Where a lane is.
enum State {
    Idle,
    Writes(InFlight<Write>, u64, usize),
    Reads(InFlight<Read>, u64, usize),
    Adds(InFlight<FetchAdd>),
}

/// One that writes to its part of the peer's memory, reads that back, and adds to the peer's counter.
struct Lane {
    number: usize,
    state: State,
    random: Random,
    before: u64,
    done: u64,
}

/// A task came back as a failure.
struct Failed;

/// What came of a task: the task itself, and what it gave.
type Outcome<T> = Result<(T, <T as Task>::Output), Failed>;

fn came<T: Task<Engine = Rdma>>(task: InFlight<T>) -> Result<Outcome<T>, InFlight<T>> {
    task.try_take().map(|done| done.result.map(|output| (done.task, output)).map_err(|_| Failed))
}

impl Lane {
    fn new(number: usize, seed: u64) -> Lane {
        let random = Random(seed * 1000 + number as u64);
        Lane { number, state: State::Idle, random, before: 0, done: 0 }
    }

    fn go_on(&mut self, side: &mut Side, remote: &RemoteMemory, to: Target) -> Result<(), Failed> {
        let (there, here) = (THERE + self.number * LONGEST, HERE + 2 * self.number * LONGEST);
        self.state = match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => {
                let (seed, len) = (self.random.next(), self.random.len(LONGEST));
                let src = filled(side, here, &pattern(seed, len));
                let dst = remote.buf(there..there + len).unwrap();
                let write = side.rdma.submit(Write { to, src, dst, immediate: None }).map_err(|_| Failed)?;
                State::Writes(write, seed, len)
            }
            State::Writes(write, seed, len) => match came(write) {
                Err(write) => State::Writes(write, seed, len),
                Ok(outcome) => {
                    outcome?;
                    let mut src = remote.buf(there..there + len).unwrap();
                    src.set_data(..len).unwrap();
                    let dst = side.room(here + LONGEST, len);
                    let read = side.rdma.submit(Read { from: to, src, dst }).map_err(|_| Failed)?;
                    State::Reads(read, seed, len)
                }
            },
            State::Reads(read, seed, len) => match came(read) {
                Err(read) => State::Reads(read, seed, len),
                Ok(outcome) => {
                    let (read, _) = outcome?;
                    assert!(read.dst.to_vec() == pattern(seed, len), "{len} wrong bytes");
                    let word = remote.buf(0..8).unwrap();
                    State::Adds(side.rdma.submit(FetchAdd { to, word, add: 1 }).map_err(|_| Failed)?)
                }
            },
            State::Adds(add) => match came(add) {
                Err(add) => State::Adds(add),
                Ok(outcome) => {
                    let (_, before) = outcome?;
                    assert!(self.done == 0 || before > self.before, "the counter went back");
                    (self.before, self.done) = (before, self.done + 1);
                    State::Idle
                }
            },
        };
        Ok(())
    }

    /// Whatever flies comes back.
    fn finish(self, side: &mut Side) -> u64 {
        match self.state {
            State::Idle => {}
            State::Writes(task, ..) => drop(side.pe.run(task)),
            State::Reads(task, ..) => drop(side.pe.run(task)),
            State::Adds(task) => drop(side.pe.run(task)),
        }
        self.done
    }
}

/// The one that may be killed at any moment.
#[test]
#[ignore = "run by the other test, in a process of its own"]
fn peer() {
    watchdog();
    let mut b = side(2, Memory::memfd);
    let mut lines = std::io::stdin().lock().lines().map(Result::unwrap);
    let (connection, _export) = offer(&b, &mut lines);
    let remote = b.import(&unhex(&lines.next().unwrap()));
    println!("joined");
    let to = connection.target();
    let mut lanes: Vec<_> = (0..LANES).map(|number| Lane::new(number, std::process::id().into())).collect();
    let room = |b: &Side| Receive { dst: Some(b.room(OUT, MESSAGE)), message: None };
    let mut receive = b.rdma.submit(room(&b)).unwrap();
    let mut answer: Option<InFlight<Send>> = None;
    while !matches!(b.endpoint.happened(), Some(Happening::Ended(_))) {
        b.pe.progress();
        for lane in &mut lanes {
            if lane.go_on(&mut b, &remote, to).is_err() {
                // The other side has hung up; that is told next.
                lane.state = State::Idle;
                break;
            }
        }
        // The buffer is the answer's until that is through.
        if answer.as_ref().is_some_and(|answer| !answer.is_done()) {
            continue;
        }
        receive = match receive.try_take() {
            Err(still) => still,
            Ok(done) if done.result.is_ok() => {
                answer = b.rdma.submit(Send { to, src: done.task.dst, immediate: None }).ok();
                b.rdma.submit(Receive { dst: Some(b.room(OUT + MESSAGE, MESSAGE)), message: None }).unwrap()
            }
            Ok(_) => break,
        };
    }
    for lane in lanes {
        lane.finish(&mut b);
    }
}

/// Descriptors and threads of this process, and its memory in MiB.
fn belongings() -> (usize, usize, usize) {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    (count("/proc/self/fd"), count("/proc/self/task"), pages / 256)
}

fn start_peer() -> Peer {
    match std::env::var(OTHER) {
        Ok(name) => Peer::start(on_machine(&name), "soak"),
        Err(_) => Peer::new("soak"),
    }
}

/// The one that stays.
#[test]
#[ignore = "run by the other test, in a process of its own"]
fn survivor() {
    watchdog();
    let total = Duration::from_secs(seconds());
    let life = Duration::from_secs(if seconds() < 60 { 3 } else { 10 });
    let mut a = side(0, Memory::heap);
    let export = a.memory.export_rdma(a.device.shared()).unwrap();
    let start = Instant::now();
    let (mut done, mut messages, mut lives) = (0, 0u64, 0u64);
    let mut random = Random(7);
    let mut receive: Option<InFlight<Receive>> = None;
    let mut early = None;
    while start.elapsed() < total {
        lives += 1;
        let mut peer = start_peer();
        let (connection, remote) = peer.connect(&a);
        let to = connection.target();
        peer.say(&hex(export.bytes()));
        peer.hear("joined");
        let mut lanes: Vec<_> = (0..LANES).map(|number| Lane::new(number, lives)).collect();
        let mut message: Option<(InFlight<Send>, u64, usize)> = None;
        // Not at a round number: any moment may be the last one.
        let end = Instant::now() + life + Duration::from_micros(random.next() % 50_000);
        while Instant::now() < end {
            a.pe.progress();
            let alive = lanes.iter_mut().all(|lane| lane.go_on(&mut a, &remote, to).is_ok());
            assert!(alive, "a task failed while the peer was alive");
            let waits = receive.take().unwrap_or_else(|| {
                a.rdma.submit(Receive { dst: Some(a.room(OUT + MESSAGE, MESSAGE)), message: None }).unwrap()
            });
            match waits.try_take() {
                Err(still) => receive = Some(still),
                Ok(got) => {
                    let (_, seed, len) = message.take().expect("a message out of nowhere");
                    assert_eq!(got.result, Ok(len as u64));
                    assert!(got.task.dst.unwrap().to_vec() == pattern(seed, len), "{len} wrong bytes");
                    messages += 1;
                }
            }
            if message.is_none() {
                let (seed, len) = (random.next(), random.len(MESSAGE));
                let src = Some(filled(&a, OUT, &pattern(seed, len)));
                message = Some((a.rdma.submit(Send { to, src, immediate: None }).unwrap(), seed, len));
            }
        }
        assert!(peer.child.try_wait().unwrap().is_none(), "the peer ended by itself");
        peer.child.kill().unwrap();
        done += lanes.into_iter().map(|lane| lane.finish(&mut a)).sum::<u64>();
        if let Some((send, ..)) = message {
            drop(a.pe.run(send));
        }
        while !matches!(a.endpoint.happened(), Some(Happening::Ended(id)) if id == connection.id()) {
            a.pe.progress();
        }
        // The answer may have come with the peer's last words.
        receive = receive.take().and_then(|receive| receive.try_take().err());
        drop((connection, remote, peer));
        // The network's thread closes what is over in its own time.
        std::thread::sleep(Duration::from_millis(100));
        let now = belongings();
        println!("life {lives}: {done} rounds, {messages} messages, fds, threads, MiB: {now:?}");
        match early {
            None if lives >= 2 => early = Some(now),
            Some((fds, threads, mib)) => {
                assert!(now.0 <= fds && now.1 <= threads, "left behind: {early:?}, then {now:?}");
                assert!(now.2 < mib + 24, "memory grows: {early:?}, then {now:?}");
            }
            None => {}
        }
    }
    assert!(done > 0 && messages > 0 && early.is_some());
}

#[test]
fn mixed_traffic_while_peers_are_killed() {
    if !has_fabric() {
        return;
    }
    watchdog();
    let folder = Folder::new();
    // Without namespaces the two share a network, and nothing else.
    let machines = Machines::new().inspect_err(|why| eprintln!("no machines of their own: {why}")).ok();
    let mut command = match &machines {
        Some(machines) => machines.command(0),
        None => std::process::Command::new(std::env::current_exe().unwrap()),
    };
    if let Some(machines) = &machines {
        command.env(OTHER, machines.name(1));
    }
    command.args(["survivor", "--exact", "--nocapture", "--include-ignored"]);
    let status = command.env("SOFTDPU_RUNTIME_DIR", &folder.0).status().unwrap();
    assert!(status.success(), "{status}");
}
