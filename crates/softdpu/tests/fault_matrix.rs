//! Every engine meets every kind of fault: three tasks each, the second of which is hit. What comes of it is the same for all
//! engines, but for what their tasks are: a failed copy stops its context, frames are lost unnoticed, connections end.
//!
//! Engines come from the list that boards are built from, and faults are those that plans can name, so that neither can be
//! forgotten here. A process has one plan: each pair runs in a process of its own.

mod common;

use core::future::Future;
use core::pin::Pin;
use core::task::{Context as Polled, Poll, Waker};
use softdpu::faults::Plan;
use softdpu::prelude::*;
use softdpu::{Engine, comch, eth, rdma};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

/// A key of a plan, its value, and what a task comes to that is hit.
const FAULTS: &[(&str, &str, Hit)] = &[
    ("error", "\"TIME_OUT\"", Hit::Fails("DOCA_ERROR_TIME_OUT")),
    ("delay_us", "2000", Hit::Nothing),
    ("drop", "true", Hit::Lost),
    ("queue_full", "2", Hit::Refused),
    ("receive_not_ready", "2", Hit::Nothing),
    ("receive_not_ready", "8", Hit::Fails("DOCA_ERROR_IO_FAILED")),
    ("disconnect", "true", Hit::Alone),
    ("link_down_us", "1", Hit::Nothing),
    ("alloc", "\"NO_MEMORY\"", Hit::Never),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hit {
    /// It goes well, if later.
    Nothing,
    /// It fails with this code.
    Fails(&'static str),
    /// It does not come back before its context stops.
    Lost,
    /// Its submit is refused twice.
    Refused,
    /// Its connection ends; without one it fails.
    Alone,
    /// There is nothing of the kind in Rust.
    Never,
}

/// Carries out three tasks and says how each went.
type Driver = fn(&mut Bench) -> Vec<String>;

/// Engines as plans name them.
const DRIVERS: &[(&str, Driver)] = &[
    ("aes_gcm", aes_gcm),
    ("comch_server", |bench| messages(bench, true)),
    ("comch_client", |bench| messages(bench, false)),
    ("comch_producer", |bench| pieces(bench, true)),
    ("comch_consumer", |bench| pieces(bench, false)),
    ("compress", compress),
    ("dma", dma),
    ("erasure_coding", erasure_coding),
    ("eth_rxq", eth_rxq),
    ("eth_txq", eth_txq),
    ("mmap_advise", mmap_advise),
    ("rdma", one_sided),
    ("sha", sha),
    ("sync_event", sync_event),
];

struct Bench {
    session: Session,
    pe: ProgressEngine,
    /// Of the card's side, with every engine.
    device: Device,
    memory: Memory,
}

impl Bench {
    fn new(plan: Plan) -> Bench {
        let session = Session::builder().faults(plan).board(Board::inline()).open().unwrap();
        let device = session.device("03:00.0").unwrap().open().unwrap();
        let access = Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE;
        let memory = Memory::heap(1 << 16).access(access).register(&[&device]).unwrap();
        let pe = ProgressEngine::new(&session).unwrap();
        Bench { session, pe, device, memory }
    }

    fn start<E: Engine>(&mut self, config: E::Config) -> Context<E> {
        Context::<E>::start(&mut self.pe, &self.device, config).unwrap().wait(&mut self.pe).unwrap()
    }

    /// Window `n`, with so many bytes in it.
    fn buf(&self, n: usize, bytes: usize) -> Buf {
        let mut buf = self.memory.alias(n * 4096..(n + 1) * 4096).unwrap();
        buf.push_slice(&vec![7; bytes]).unwrap();
        buf
    }
}

/// Progresses until it is through, for as long as something may still come.
fn wait<F: Future + Unpin>(pe: &mut ProgressEngine, mut future: F) -> Result<F::Output, F> {
    let (begun, mut turns) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_millis(400) || turns < 5000 {
        pe.progress();
        turns += 1;
        if let Poll::Ready(output) = Pin::new(&mut future).poll(&mut Polled::from_waker(Waker::noop())) {
            return Ok(output);
        }
    }
    Err(future)
}

fn said<T>(result: Result<T, Error>) -> String {
    result.map_or_else(|error| error.code().name().to_owned(), |_| "ok".to_owned())
}

/// Three tasks, one after the other; `then` is what must happen for each to come to an end.
fn three<T: Task + core::fmt::Debug>(
    pe: &mut ProgressEngine,
    mut context: Context<T::Engine>,
    mut make: impl FnMut() -> T,
    mut then: impl FnMut(&mut ProgressEngine),
) -> Vec<String>
where
    InFlight<T>: Unpin,
{
    let (mut all, mut lost) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let (mut task, mut refusals) = (make(), 0);
        let flying = loop {
            match context.submit(task) {
                Err(refused) if refused.error.code() == Code::Full && refusals < 5 => {
                    (task, refusals) = (refused.back, refusals + 1);
                }
                other => break other,
            }
        };
        let how = match flying {
            Err(refused) => format!("refused with {}", refused.error.code().name()),
            Ok(flying) => {
                then(pe);
                match wait(pe, flying) {
                    Ok(done) => said(done.result),
                    Err(flying) => {
                        lost.push(flying);
                        "lost".to_owned()
                    }
                }
            }
        };
        all.push(if refusals == 0 { how } else { format!("{refusals} refusals, {how}") });
    }
    context.stop().wait(pe).unwrap();
    for flying in lost {
        let done = flying.try_take().expect("everything is back after a stop");
        assert_eq!(said(done.result), "DOCA_ERROR_IO_FAILED", "flushed");
    }
    all
}

fn dma(bench: &mut Bench) -> Vec<String> {
    let context = bench.start::<softdpu::dma::Dma>(Default::default());
    let tasks: Vec<_> =
        (0..3).map(|_| softdpu::dma::Memcpy { src: bench.buf(0, 64), dst: bench.buf(1, 0) }).collect();
    let mut tasks = tasks.into_iter();
    three(&mut bench.pe, context, || tasks.next().unwrap(), |_| ())
}

fn sha(bench: &mut Bench) -> Vec<String> {
    use softdpu::sha::{Algorithm, Hash, Sha};
    let context = bench.start::<Sha>(Default::default());
    let hash = |_| Hash { algorithm: Algorithm::Sha256, src: bench.buf(0, 64), dst: bench.buf(1, 0) };
    let mut tasks = (0..3).map(hash).collect::<Vec<_>>().into_iter();
    three(&mut bench.pe, context, || tasks.next().unwrap(), |_| ())
}

fn compress(bench: &mut Bench) -> Vec<String> {
    use softdpu::compress::{Compress, CompressDeflate};
    let context = bench.start::<Compress>(Default::default());
    let deflate = |_| CompressDeflate { src: bench.buf(0, 64), dst: bench.buf(1, 0) };
    let mut tasks = (0..3).map(deflate).collect::<Vec<_>>().into_iter();
    three(&mut bench.pe, context, || tasks.next().unwrap(), |_| ())
}

fn aes_gcm(bench: &mut Bench) -> Vec<String> {
    use softdpu::aes_gcm::{AesGcm, Encrypt, Iv, Key, TagLen};
    let context = bench.start::<AesGcm>(Default::default());
    let encrypt = |n: u8| Encrypt {
        src: bench.buf(0, 64),
        dst: bench.buf(1, 0),
        key: Key::new(&[7; 32]).unwrap(),
        iv: Iv::from([n; 12]),
        aad_len: 8,
        tag: TagLen::Bits128,
    };
    let mut tasks = (0..3).map(encrypt).collect::<Vec<_>>().into_iter();
    three(&mut bench.pe, context, || tasks.next().unwrap(), |_| ())
}

fn erasure_coding(bench: &mut Bench) -> Vec<String> {
    use softdpu::erasure_coding::{Create, ErasureCoding, Matrix};
    let context = bench.start::<ErasureCoding>(Default::default());
    let matrix = Matrix::cauchy(2, 1).unwrap();
    let create = |_| Create { matrix: matrix.clone(), data: bench.buf(0, 128), rdnc: bench.buf(1, 0) };
    let mut tasks = (0..3).map(create).collect::<Vec<_>>().into_iter();
    three(&mut bench.pe, context, || tasks.next().unwrap(), |_| ())
}

fn mmap_advise(bench: &mut Bench) -> Vec<String> {
    use softdpu::mmap_advise::{InvalidateCache, MmapAdvise};
    let context = bench.start::<MmapAdvise>(Default::default());
    let mut tasks = (0..3).map(|_| InvalidateCache { buf: bench.buf(0, 64) }).collect::<Vec<_>>().into_iter();
    three(&mut bench.pe, context, || tasks.next().unwrap(), |_| ())
}

fn sync_event(bench: &mut Bench) -> Vec<String> {
    use softdpu::sync_event::{Config, NotifyAdd, SyncEvent, SyncEvents};
    let event = SyncEvent::new(&bench.device).unwrap();
    let context = bench.start::<SyncEvents>(Config::of(&event));
    three(&mut bench.pe, context, || NotifyAdd(1), |_| ())
}

/// Writes into the memory of a peer of the same process.
fn one_sided(bench: &mut Bench) -> Vec<String> {
    let options = rdma::Options { peers: Access::RDMA_READ | Access::RDMA_WRITE, ..Default::default() };
    let far = bench.session.device("b1:00.0").unwrap().open().unwrap();
    let endpoints = [&bench.device, &far].map(|device| rdma::Endpoint::new(device, options).unwrap());
    let context = bench.start::<rdma::Rdma>(endpoints[0].config());
    let theirs = Context::<rdma::Rdma>::start(&mut bench.pe, &far, endpoints[1].config()).unwrap();
    let theirs = theirs.wait(&mut bench.pe).unwrap();
    let [here, there] = [0, 1].map(|n: usize| endpoints[n].export().unwrap());
    here.join(there.description()).unwrap();
    there.join(here.description()).unwrap();
    let access = Access::LOCAL_READ_WRITE | Access::RDMA_READ | Access::RDMA_WRITE;
    let memory = Memory::heap(4096).access(access).register(&[&far]).unwrap();
    let export = memory.export_rdma(&far).unwrap();
    let remote = RemoteMemory::import(&bench.device, export.bytes()).unwrap();
    let write = |n: usize| rdma::Write {
        to: here.target(),
        src: bench.buf(0, 64),
        dst: remote.buf(n * 64..n * 64 + 64).unwrap(),
        immediate: None,
    };
    let mut tasks = (0..3).map(write).collect::<Vec<_>>().into_iter();
    let all = three(&mut bench.pe, context, || tasks.next().unwrap(), |_| ());
    drop((here, there));
    theirs.stop().wait(&mut bench.pe).unwrap();
    all
}

fn ports(bench: &mut Bench) -> (Device, Device, Memory) {
    let [one, two] = ["p0", "p1"].map(|name| bench.session.device(name).unwrap().open().unwrap());
    let memory = Memory::heap(1 << 16).access(Access::LOCAL_READ_WRITE).register(&[&one, &two]).unwrap();
    (one, two, memory)
}

fn frame(memory: &Memory) -> eth::Send {
    let mut frame = memory.alias(..2048).unwrap();
    frame.push_slice(b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\xb5 any payload").unwrap();
    eth::Send { frame, checksums: eth::Checksums::NONE }
}

fn sender(bench: &mut Bench, device: &Device) -> Context<eth::EthTxq> {
    Context::start(&mut bench.pe, device, eth::TxConfig::default()).unwrap().wait(&mut bench.pe).unwrap()
}

fn eth_txq(bench: &mut Bench) -> Vec<String> {
    let (one, _, memory) = ports(bench);
    let context = sender(bench, &one);
    three(&mut bench.pe, context, || frame(&memory), |_| ())
}

fn eth_rxq(bench: &mut Bench) -> Vec<String> {
    let (one, two, memory) = ports(bench);
    let mut sender = sender(bench, &one);
    let start = eth::RxConfig::default().into();
    let context =
        Context::<eth::EthRxq>::start(&mut bench.pe, &two, start).unwrap().wait(&mut bench.pe).unwrap();
    // The first number that no program chose.
    eth::port(&two).steer(Some(eth::Rules::all_to(0x8000).compile().unwrap().into()));
    // The link may be down as long as the first look at it.
    let send = |pe: &mut ProgressEngine| {
        for _ in 0..10 {
            pe.progress();
            std::thread::sleep(Duration::from_micros(10));
        }
        assert_eq!(said(pe.run(sender.submit(frame(&memory)).unwrap()).result), "ok");
    };
    let receive = || eth::Receive::new(memory.alias(4096..8192).unwrap());
    three(&mut bench.pe, context, receive, send)
}

/// Three of what cannot be submitted by hand.
fn three_of<'a>(
    pe: &mut ProgressEngine,
    mut make: impl FnMut(u8) -> Pin<Box<dyn Future<Output = Result<(), Error>> + 'a>>,
) -> Vec<String> {
    (0..3).map(|n| wait(pe, make(n)).map_or_else(|_| "lost".to_owned(), said)).collect()
}

struct Channel {
    server: comch::Server,
    client: comch::Client,
    there: comch::Connection,
}

fn channel(bench: &mut Bench) -> Channel {
    let (host, pe) = (bench.session.device("b1:00.0").unwrap().open().unwrap(), &mut bench.pe);
    let server = comch::Server::builder("matrix").start(pe, &bench.device).unwrap().wait(pe).unwrap();
    let client = comch::Client::builder("matrix").start(pe, &host).unwrap().wait(pe).unwrap();
    let there = pe.run(server.accept()).unwrap();
    Channel { server, client, there }
}

fn messages(bench: &mut Bench, from_server: bool) -> Vec<String> {
    let Channel { server, client, there } = channel(bench);
    let end: &comch::Connection = if from_server { &there } else { &client };
    let all = three_of(&mut bench.pe, |n| Box::pin(async move { end.send([n; 8]).await }));
    drop((client, there));
    server.stop().wait(&mut bench.pe).unwrap();
    all
}

/// Producer and consumer: what is sent, or what arrives.
fn pieces(bench: &mut Bench, sent: bool) -> Vec<String> {
    let Channel { server, client, there } = channel(bench);
    let pe = &mut bench.pe;
    let consumer = there.consumer().memory(&bench.memory).receives(4).start(pe).unwrap().wait(pe).unwrap();
    let producer = client.producer().start(pe).unwrap().wait(pe).unwrap();
    pe.run(client.new_consumer()).unwrap();
    let (consumer, producer, memory) = (&consumer, &producer, &bench.memory);
    let gone = || Error::from(Code::ConnectionReset);
    let all = three_of(pe, |n| {
        Box::pin(async move {
            let window = usize::from(n) * 4096;
            let room = memory.alias(window..window + 4096).unwrap();
            loop {
                let Err(refused) = consumer.post(memory.alias(window..window + 4096).unwrap()) else { break };
                if refused.error.code() != Code::Full {
                    return Err(refused.error);
                }
            }
            drop(room);
            let piece = comch::Payload::imm(&[n; 8]).unwrap();
            if sent {
                return producer.send(consumer.id(), piece).await.map(drop).map_err(|refused| refused.error);
            }
            producer.feed(consumer.id(), piece).await.map_err(|refused| refused.error)?;
            consumer.next().await.ok_or_else(gone)?.map(drop).map_err(|refused| refused.error)
        })
    });
    drop((client, there));
    server.stop().wait(&mut bench.pe).unwrap();
    all
}

/// What three tasks of an engine come to, the second of which is hit.
fn is_right(engine: &str, hit: Hit, all: &[String]) -> bool {
    let fatal = softdpu_engines::ENGINES.iter().any(|info| info.name == engine && info.fatal);
    let last_of = |failed: &'static str| {
        if fatal { vec!["ok", failed, "refused with DOCA_ERROR_BAD_STATE"] } else { vec!["ok", failed, "ok"] }
    };
    let good = vec!["ok"; 3];
    match hit {
        Hit::Nothing | Hit::Never => all == good,
        Hit::Fails(code) => all == last_of(code),
        Hit::Lost if engine == "eth_txq" => all == good,
        Hit::Lost => all == ["ok", "lost", "ok"],
        // The channel's futures wait for room themselves.
        Hit::Refused if engine.starts_with("comch") => all == good,
        Hit::Refused => all == ["ok", "2 refusals, ok", "ok"],
        // What is handed over when it is submitted may arrive before the end does.
        Hit::Alone if engine.starts_with("comch") => {
            all[0] == "ok" && all[2] == "DOCA_ERROR_CONNECTION_RESET"
        }
        Hit::Alone if engine == "rdma" => all[0] == "ok" && all[1] != "ok" && all[2] != "ok",
        Hit::Alone => all == last_of("DOCA_ERROR_IO_FAILED"),
    }
}

const PAIR: &str = "FAULT_MATRIX_PAIR";

/// One pair, in a process of its own.
#[test]
#[ignore = "started by the test of all pairs"]
fn one() {
    common::watchdog();
    let pair = std::env::var(PAIR).unwrap();
    let (engine, fault) = pair.split_once(' ').unwrap();
    let (key, value, hit) = FAULTS[fault.parse::<usize>().unwrap()];
    let plan = format!("[[fault]]\nengine = \"{engine}\"\ntask = 2\n{key} = {value}\n");
    let driver = DRIVERS.iter().find(|driver| driver.0 == engine).unwrap().1;
    let begun = Instant::now();
    let all = driver(&mut Bench::new(Plan::parse(&plan).unwrap()));
    assert!(is_right(engine, hit, &all), "{engine}, {key} = {value}: {all:?}");
    assert!(key != "delay_us" || begun.elapsed() >= Duration::from_millis(2));
}

/// All pairs; and each fault that is to happen does, once.
#[test]
fn every_engine_meets_every_fault() {
    let wanted: BTreeSet<&str> = softdpu_engines::ENGINES
        .iter()
        .flat_map(|info| match info.name {
            "comch" => vec!["comch_server", "comch_client", "comch_producer", "comch_consumer"],
            name => vec![name],
        })
        .collect();
    assert_eq!(wanted, DRIVERS.iter().map(|driver| driver.0).collect(), "an engine without a row");
    let known: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.0).collect();
    let refusal = Plan::parse("[[fault]]\nengine = \"dma\"\n").unwrap_err();
    let keys = refusal.cause().split_once("one of: ").unwrap().1.split(", ").collect();
    assert_eq!(known, keys, "a fault without a column");

    let folder = std::env::temp_dir().join(format!("softdpu-fault-matrix-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut wrong = Vec::new();
    for (engine, _) in DRIVERS {
        for (number, (key, value, hit)) in FAULTS.iter().enumerate() {
            let record = folder.join("record");
            let _ = std::fs::remove_file(&record);
            let run = Command::new(std::env::current_exe().unwrap())
                .args(["one", "--exact", "--ignored", "--nocapture"])
                .env(PAIR, format!("{engine} {number}"))
                .env(softdpu_faults::start::RECORD, &record)
                .env("SOFTDPU_RUNTIME_DIR", folder.join("runtime"))
                .output()
                .unwrap();
            let happened = std::fs::read_to_string(&record).unwrap_or_default();
            let happened = happened.lines().filter(|line| line.starts_with("f 1 2 ")).count();
            if !run.status.success() || happened != usize::from(*hit != Hit::Never) {
                let said = String::from_utf8_lossy(&run.stderr);
                wrong.push(format!(
                    "{engine}, {key} = {value}: happened {happened} times, {}\n{said}",
                    run.status
                ));
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
