//! One-sided access to memory of another process, against memcpy in the same run.
//!
//! `cargo run --release -p softdpu-rdma --example rdma_speed` starts itself a second time as the peer, which lends memory
//! and answers pings by polling its own memory. Rates count the processor time of the measuring thread, so that other
//! load disturbs them little; messages and latency also depend on the peer and on the machine being free.

use softdpu_memory::{Access, Memory, RemoteMemory};
use softdpu_rdma::{Connection, Endpoint, FetchAdd, Options, Rdma, Read, Receive, Send, Target, Write};
use softdpu_room::inflight::InFlight;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::Task;
use softdpu_room::typed::Context;
use softdpu_status::Result;
use std::io::{BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BYTES: usize = 64 << 20;
const FLYING: usize = 32;
const TIME: Duration = Duration::from_millis(400);

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
    let endpoint = Endpoint::new(device.shared(), Options { peers, sends: 64, ..Options::default() })?;
    let rdma = Context::<Rdma>::start(&mut pe, &device, endpoint.config())?.wait(&mut pe)?;
    let memory =
        Memory::memfd(BYTES).access(Access::LOCAL_READ_WRITE | peers).register(&[device.shared()])?;
    let connection = endpoint.export()?;
    Ok(Side { device, pe, rdma, connection, memory })
}

/// Processor time of this thread.
fn spent() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.trim().len() / 2).map(|at| digit(2 * at)).collect()
}

fn read_line(from: &mut impl std::io::BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).expect("a line");
    line
}

/// Lends memory, answers pings, sends messages back.
fn peer() -> Result<()> {
    let mut side = side()?;
    let export = side.memory.export_rdma(side.device.shared())?;
    println!("{} {}", hex(side.connection.description()), hex(export.bytes()));
    let mut stdin = BufReader::new(std::io::stdin());
    let line = read_line(&mut stdin);
    let mut words = line.split_whitespace().map(unhex);
    side.connection.join(&words.next().expect("a description"))?;
    let back = RemoteMemory::import(side.device.shared(), &words.next().expect("a descriptor"))?;
    println!("ready");
    // Messages: all that come are dropped, until the other side hangs up; pings in between.
    let mut flying = Vec::new();
    for at in 0..64 {
        let dst = side.memory.alias(BYTES / 2 + at * 64..BYTES / 2 + (at + 1) * 64)?;
        flying.push(side.rdma.submit(Receive { dst: Some(dst), message: None })?);
    }
    let target = side.connection.target();
    let mut ping = side.memory.alias(BYTES - 4096..BYTES - 4088)?;
    ping.advance(8)?;
    let mut seen = 0u64;
    loop {
        let mut bytes = [0; 8];
        ping.read_at(0, &mut bytes)?;
        let now = u64::from_le_bytes(bytes);
        if now == u64::MAX {
            return Ok(());
        }
        if now != seen {
            seen = now;
            let mut src = side.memory.alias(BYTES - 8192..BYTES - 8184)?;
            src.push_slice(&bytes)?;
            let dst = back.buf(BYTES - 4096..BYTES - 4088)?;
            let write = side.rdma.submit(Write { to: target, src, dst, immediate: None })?;
            side.pe.run(write).result?;
        }
        side.pe.progress();
        for at in 0..flying.len() {
            let task: InFlight<Receive> = flying.swap_remove(at);
            flying.push(match task.try_take() {
                Ok(done) => {
                    let mut receive = done.task;
                    receive.dst.iter_mut().for_each(|dst| dst.reset());
                    side.rdma.submit(receive)?
                }
                Err(task) => task,
            });
        }
    }
}

/// Keeps tasks flying for a while; gives how many there were per second.
fn rate<T: Task<Engine = Rdma> + std::fmt::Debug>(
    pe: &mut ProgressEngine,
    rdma: &mut Context<Rdma>,
    tasks: Vec<T>,
    again: impl Fn(&mut T),
) -> f64 {
    let mut flying: Vec<InFlight<T>> =
        tasks.into_iter().map(|task| rdma.submit(task).expect("submitted")).collect();
    let (start, mut done) = (spent(), 0u64);
    while spent() - start < TIME {
        pe.progress();
        for at in 0..flying.len() {
            let task = flying.swap_remove(at);
            flying.push(match task.try_take() {
                Ok(finished) => {
                    finished.result.expect("success");
                    let mut task = finished.task;
                    again(&mut task);
                    done += 1;
                    rdma.submit(task).expect("submitted")
                }
                Err(task) => task,
            });
        }
    }
    let rate = done as f64 / (spent() - start).as_secs_f64();
    for task in flying {
        drop(pe.run(task));
    }
    rate
}

fn memcpy_rate(len: usize) -> f64 {
    let (from, mut to) = (vec![1u8; len * 2], vec![0u8; len * 2]);
    let (start, mut done) = (spent(), 0u64);
    while spent() - start < TIME / 2 {
        for _ in 0..(1 << 20 >> len.ilog2()).max(1) {
            to[..len].copy_from_slice(std::hint::black_box(&from[..len]));
            std::hint::black_box(&mut to);
            done += 1;
        }
    }
    done as f64 / (spent() - start).as_secs_f64()
}

fn measure() -> Result<()> {
    let program = std::env::current_exe().expect("a path");
    #[expect(
        clippy::zombie_processes,
        reason = "waited for at the end; every other way out ends this process, too"
    )]
    let mut child = Command::new(program)
        .arg("peer")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut from_child = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut to_child = child.stdin.take().expect("a pipe");
    let Side { device, pe, rdma, connection, memory } = side()?;
    let export = memory.export_rdma(device.shared())?;
    let line = read_line(&mut from_child);
    let mut words = line.split_whitespace().map(unhex);
    connection.join(&words.next().expect("a description"))?;
    let remote = RemoteMemory::import(device.shared(), &words.next().expect("a descriptor"))?;
    writeln!(to_child, "{} {}", hex(connection.description()), hex(export.bytes())).expect("the peer reads");
    read_line(&mut from_child);
    let mut here = Side { device, pe, rdma, connection, memory };
    rates(&mut here, &remote)?;
    latency(&mut here, &remote)?;
    let mut src = here.memory.alias(BYTES - 8192..BYTES - 8184)?;
    src.push_slice(&u64::MAX.to_le_bytes())?;
    let dst = remote.buf(BYTES - 4096..BYTES - 4088)?;
    let last = here.rdma.submit(Write { to: here.connection.target(), src, dst, immediate: None })?;
    here.pe.run(last).result?;
    child.wait().expect("the peer ends");
    Ok(())
}

fn rates(here: &mut Side, remote: &RemoteMemory) -> Result<()> {
    let Side { pe, rdma, connection, memory, .. } = here;
    let to: Target = connection.target();
    println!("reach: {:?}", remote.reach());
    println!(
        "{:>9} {:>14} {:>10} {:>14} {:>10} {:>12}",
        "bytes", "writes/s", "of memcpy", "reads/s", "of memcpy", "GB/s write"
    );
    for len in [8, 64, 4096, 65536, 1 << 20, 4 << 20, 16 << 20] {
        let count = FLYING.min((BYTES / 2) / len).min(if len >= 1 << 20 { 2 } else { FLYING });
        let writes = (0..count).map(|at| {
            let mut src = memory.alias(at * len..(at + 1) * len).expect("a window");
            src.advance(len).expect("room");
            Write { to, src, dst: remote.buf(at * len..(at + 1) * len).expect("a window"), immediate: None }
        });
        let write = rate(pe, rdma, writes.collect(), |_| ());
        let reads = (0..count).map(|at| {
            let mut src = remote.buf(at * len..(at + 1) * len).expect("a window");
            src.set_data(..len).expect("inside");
            Read { from: to, src, dst: memory.alias(at * len..(at + 1) * len).expect("a window") }
        });
        let read = rate(pe, rdma, reads.collect(), |task| task.dst.reset());
        let memcpy = memcpy_rate(len);
        println!(
            "{len:>9} {write:>14.0} {:>10.2} {read:>14.0} {:>10.2} {:>12.2}",
            write / memcpy,
            read / memcpy,
            write * len as f64 / 1e9
        );
    }
    let word = |_| FetchAdd { to, word: remote.buf(BYTES - 64..BYTES - 56).expect("a window"), add: 1 };
    println!("fetch and add: {:.0}/s", rate(pe, rdma, (0..FLYING).map(word).collect(), |_| ()));
    let sends = (0..FLYING).map(|at| {
        let mut src = memory.alias(at * 64..(at + 1) * 64).expect("a window");
        src.advance(64).expect("room");
        Send { to, src: Some(src), immediate: None }
    });
    println!("64 B messages: {:.0}/s", rate(pe, rdma, sends.collect(), |_| ()));
    Ok(())
}

fn latency(here: &mut Side, remote: &RemoteMemory) -> Result<()> {
    let Side { pe, rdma, connection, memory, .. } = here;
    let to: Target = connection.target();
    // Latency: a number goes there, and the peer writes it back.
    let mut pong = memory.alias(BYTES - 4096..BYTES - 4088)?;
    pong.advance(8)?;
    let rounds = 20_000u64;
    let start = Instant::now();
    for round in 1..=rounds {
        let mut src = memory.alias(BYTES - 8192..BYTES - 8184)?;
        src.push_slice(&round.to_le_bytes())?;
        let write =
            rdma.submit(Write { to, src, dst: remote.buf(BYTES - 4096..BYTES - 4088)?, immediate: None })?;
        pe.run(write).result?;
        let mut bytes = [0; 8];
        while u64::from_le_bytes(bytes) != round {
            pong.read_at(0, &mut bytes)?;
        }
    }
    println!("8 B latency, one way: {:.3} us", start.elapsed().as_secs_f64() * 1e6 / rounds as f64 / 2.0);
    Ok(())
}

fn main() -> Result<()> {
    if std::env::args().nth(1).is_some_and(|arg| arg == "peer") {
        return peer();
    }
    // A runtime folder of its own, which the peer inherits.
    let folder = std::env::temp_dir().join(format!("softdpu-rdma-speed-{}", std::process::id()));
    if std::env::var_os("SOFTDPU_RUNTIME_DIR").is_none() {
        let program = std::env::current_exe().expect("a path");
        let status = Command::new(program).env("SOFTDPU_RUNTIME_DIR", &folder).status().expect("a child");
        let _ = std::fs::remove_dir_all(&folder);
        std::process::exit(status.code().unwrap_or(1));
    }
    measure()
}
