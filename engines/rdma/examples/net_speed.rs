//! Peers that share nothing but the network, against plain TCP in the same run.
//!
//! `cargo run --release -p softdpu-rdma --example net_speed` starts itself a second time as the peer, with a runtime
//! folder of its own. Both make progress all the time; what is measured is wall time, so the machine should be free.
//! `fi_pingpong -e msg -p tcp`, of libfabric's own tools, measures what lies below.

use softdpu_memory::{Access, Memory, RemoteMemory};
use softdpu_rdma::{Connection, Endpoint, FetchAdd, Options, Rdma, Read, Receive, Send, Write};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::Task;
use softdpu_room::typed::Context;
use softdpu_status::Result;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const BYTES: usize = 32 << 20;
const TIME: Duration = Duration::from_millis(1000);

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

/// Lends memory, and sends messages back until the other side hangs up; plain TCP before.
fn peer() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("an address"));
    plain_peer(&mut listener.accept().expect("a peer").0);
    let mut side = side()?;
    let export = side.memory.export_rdma(side.device.shared())?;
    println!("{} {}", hex(side.connection.description()), hex(export.bytes()));
    let mut stdin = BufReader::new(std::io::stdin());
    side.connection.join(&unhex(&read_line(&mut stdin)))?;
    println!("ready");
    let room = |side: &Side| side.memory.alias(0..4096);
    let mut receive = side.rdma.submit(Receive { dst: Some(room(&side)?), message: None }).expect("a task");
    let to = side.connection.target();
    let mut answers = Vec::new();
    while side.connection.is_connected() {
        side.pe.progress();
        receive = match receive.try_take() {
            Ok(done) => {
                if done.result.is_err() {
                    break;
                }
                let src = done.task.dst;
                answers.push(side.rdma.submit(Send { to, src, immediate: None }).expect("a task"));
                side.rdma.submit(Receive { dst: Some(room(&side)?), message: None }).expect("a task")
            }
            Err(still) => still,
        };
        answers.retain(|answer: &softdpu_room::inflight::InFlight<Send>| !answer.is_done());
    }
    Ok(())
}

fn plain_peer(stream: &mut TcpStream) {
    stream.set_nodelay(true).expect("an option");
    stream.set_nonblocking(true).expect("an option");
    let mut buf = vec![0; 1 << 20];
    let mut all = 0u64;
    let mut first = true;
    loop {
        match stream.read(&mut buf) {
            Ok(0) => return,
            // Pings come one by one; the stream of bytes begins with a long piece.
            Ok(n) if first && n <= 64 => stream.write_all(&buf[..n]).expect("an answer"),
            Ok(n) => {
                first = false;
                all += n as u64;
                if buf[n - 1] == 0xff {
                    stream.write_all(&all.to_le_bytes()).expect("an answer");
                }
            }
            Err(_) => std::hint::spin_loop(),
        }
    }
}

fn plain(address: &str) {
    let mut stream = TcpStream::connect(address.trim()).expect("the peer");
    stream.set_nodelay(true).expect("an option");
    stream.set_nonblocking(true).expect("an option");
    let read_exact = |stream: &mut TcpStream, buf: &mut [u8]| {
        let mut at = 0;
        while at < buf.len() {
            match stream.read(&mut buf[at..]) {
                Ok(n) => at += n,
                Err(_) => std::hint::spin_loop(),
            }
        }
    };
    let (start, mut n) = (Instant::now(), 0);
    while start.elapsed() < TIME {
        stream.write_all(&[1; 64]).expect("a ping");
        read_exact(&mut stream, &mut [0; 64]);
        n += 1;
    }
    row("plain TCP, 64 B there and back", us(start, n));
    stream.set_nonblocking(false).expect("an option");
    let mut buf = vec![0; 64 << 10];
    let (start, mut bytes) = (Instant::now(), 0);
    while start.elapsed() < TIME {
        stream.write_all(&buf).expect("bytes");
        bytes += buf.len();
    }
    *buf.last_mut().expect("a byte") = 0xff;
    stream.write_all(&buf).expect("bytes");
    stream.read_exact(&mut [0; 8]).expect("an answer");
    row("plain TCP, 64 KiB pieces", rate(start, bytes + buf.len()));
}

fn us(start: Instant, n: u32) -> String {
    format!("{:.2} us", start.elapsed().as_secs_f64() * 1e6 / f64::from(n))
}

fn rate(start: Instant, bytes: usize) -> String {
    format!("{:.2} GB/s", bytes as f64 / start.elapsed().as_secs_f64() / 1e9)
}

fn row(what: &str, value: String) {
    println!("{what:<40} {value}");
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

/// Ends with this side.
struct Peer(Child, PathBuf);

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_dir_all(&self.1);
    }
}

fn main() -> Result<()> {
    if std::env::args().any(|arg| arg == "peer") {
        return peer();
    }
    let folder = std::env::temp_dir().join(format!("softdpu-net-speed-{}", std::process::id()));
    let child = Command::new(std::env::current_exe().expect("this program"))
        .arg("peer")
        .env("SOFTDPU_RUNTIME_DIR", &folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut peer = Peer(child.expect("a peer"), folder);
    let child = &mut peer.0;
    let mut from = BufReader::new(child.stdout.take().expect("its output"));
    plain(&read_line(&mut from));
    let mut side = side()?;
    let line = read_line(&mut from);
    let mut words = line.split_whitespace().map(unhex);
    side.connection.join(&words.next().expect("a description"))?;
    let remote = RemoteMemory::import(side.device.shared(), &words.next().expect("a descriptor"))?;
    writeln!(child.stdin.as_mut().expect("its input"), "{}", hex(side.connection.description()))
        .expect("a line");
    assert_eq!(read_line(&mut from).trim(), "ready");
    let measured = measure(&mut side, &remote);
    drop(side);
    measured
}

fn data(side: &Side, at: usize, len: usize) -> softdpu_memory::Buf {
    let mut buf = side.memory.alias(at..at + len).expect("a window");
    buf.set_data(..len).expect("data");
    buf
}

fn measure(side: &mut Side, remote: &RemoteMemory) -> Result<()> {
    let to = side.connection.target();
    let (start, mut n) = (Instant::now(), 0);
    while start.elapsed() < TIME {
        let dst = Some(side.memory.alias(4096..8192)?);
        let receive = side.rdma.submit(Receive { dst, message: None }).expect("a task");
        let send = Send { to, src: Some(data(side, 0, 64)), immediate: None };
        let send = side.rdma.submit(send).expect("a task");
        let mut waits = receive;
        while let Err(still) = waits.try_take() {
            waits = still;
            side.pe.progress();
        }
        drop(send);
        n += 1;
    }
    row("message, 64 B there and back", us(start, n));
    let start = Instant::now();
    let n = stream(side, 1, |side, _| Write {
        to,
        src: data(side, 0, 8),
        dst: remote.buf(0..8).expect("a window"),
        immediate: None,
    });
    row("write with completion, 8 B", us(start, n));
    let start = Instant::now();
    let n = stream(side, 1, |_, _| FetchAdd { to, word: remote.buf(0..8).expect("a window"), add: 1 });
    row("fetch and add", us(start, n));
    for (len, flying) in [(64, 64), (4096, 64), (64 << 10, 32), (1 << 20, 8), (8 << 20, 2)] {
        let places = BYTES / len / 2;
        let start = Instant::now();
        let n = stream(side, flying, |side, k| Write {
            to,
            src: data(side, k % places * len, len),
            dst: remote.buf(k % places * len..(k % places + 1) * len).expect("a window"),
            immediate: None,
        });
        let million = f64::from(n) / start.elapsed().as_secs_f64() / 1e6;
        let bytes = rate(start, n as usize * len);
        row(&format!("writes of {len} B, {flying} in flight"), format!("{bytes}, {million:.3} M/s"));
    }
    for (len, flying) in [(4096, 64), (64 << 10, 16), (1 << 20, 4)] {
        let places = BYTES / len / 2;
        let start = Instant::now();
        let n = stream(side, flying, |side, k| {
            let mut src = remote.buf(k % places * len..(k % places + 1) * len).expect("a window");
            src.set_data(..len).expect("data");
            Read {
                from: to,
                src,
                dst: side.memory.alias(k % places * len..(k % places + 1) * len).expect("a window"),
            }
        });
        row(&format!("reads of {len} B, {flying} in flight"), rate(start, n as usize * len));
    }
    Ok(())
}
