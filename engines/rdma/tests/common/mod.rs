//! A side of a connection in the Rust face, and what every test needs around it.
#![allow(dead_code, reason = "no test uses all of it")]

pub(crate) mod machine;

use softdpu_memory::{Access, Memory, RemoteMemory};
use softdpu_rdma::{Config, Connection, Endpoint, Happening, Options, Rdma};
use softdpu_room::inflight::InFlight;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::{Done, Task};
use softdpu_room::typed::Context;
use std::path::PathBuf;
use std::sync::Once;
use std::time::{Duration, Instant};

pub(crate) const BYTES: usize = 1 << 20;
pub(crate) const PEERS: Access = Access::RDMA_READ;

/// All rights of peers.
pub(crate) fn all_rights() -> Access {
    Access::RDMA_READ | Access::RDMA_WRITE | Access::RDMA_ATOMIC
}

/// A test that hangs ends the process.
pub(crate) fn watchdog() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(120));
            eprintln!("watchdog: a test hangs");
            std::process::abort();
        });
    });
}

/// The runtime folder of this test program: the binary runs itself with one of its own. True in the outer process, whose
/// tests have run in the inner one already.
pub(crate) fn in_own_folder(test: &str) -> bool {
    in_own_folder_with(test, &[])
}

/// The same, with these variables set.
pub(crate) fn in_own_folder_with(test: &str, variables: &[(&str, &str)]) -> bool {
    watchdog();
    if std::env::var_os("RDMA_TEST_INNER").is_some() {
        return false;
    }
    let folder = Folder::new();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1", "--include-ignored"])
        .env("RDMA_TEST_INNER", "1")
        .env("SOFTDPU_RUNTIME_DIR", &folder.0)
        .envs(variables.iter().copied())
        .status()
        .unwrap();
    assert!(status.success(), "{test} in its own folder: {status}");
    true
}

pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: std::sync::Mutex<u32> = std::sync::Mutex::new(0);
        let mut number = NEXT.lock().unwrap();
        *number += 1;
        Folder(std::env::temp_dir().join(format!("softdpu-rdma-test-{}-{number}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) struct Side {
    pub(crate) session: Session,
    pub(crate) device: Device,
    pub(crate) pe: ProgressEngine,
    pub(crate) rdma: Context<Rdma>,
    pub(crate) endpoint: Endpoint,
    pub(crate) memory: Memory,
}

pub(crate) fn side(which: usize, options: Options) -> Side {
    side_on(softdpu_card::Machine::builder(), which, options)
}

/// The same on a machine of another kind.
pub(crate) fn side_on(machine: softdpu_card::MachineBuilder, which: usize, options: Options) -> Side {
    side_with(machine, which, options, |config| config)
}

/// The same, with handlers.
pub(crate) fn side_with(
    machine: softdpu_card::MachineBuilder,
    which: usize,
    options: Options,
    handlers: impl FnOnce(Config) -> Config,
) -> Side {
    let session = Session::new(machine.build().unwrap(), softdpu_board::threads());
    let device = session.devices()[which].open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let endpoint = Endpoint::new(device.shared(), options).unwrap();
    let config = handlers(endpoint.config());
    let rdma = Context::<Rdma>::start(&mut pe, &device, config).unwrap().wait(&mut pe).unwrap();
    let access = Access::LOCAL_READ_WRITE | all_rights();
    let memory = Memory::memfd(BYTES).access(access).register(&[device.shared()]).unwrap();
    Side { session, device, pe, rdma, endpoint, memory }
}

pub(crate) fn options() -> Options {
    Options { peers: all_rights(), ..Options::default() }
}

impl Side {
    pub(crate) fn import(&self, bytes: &[u8]) -> RemoteMemory {
        RemoteMemory::import(self.device.shared(), bytes).unwrap()
    }

    pub(crate) fn filled(&self, at: usize, bytes: &[u8]) -> softdpu_memory::Buf {
        let mut buf = self.memory.alias(at..at + bytes.len().max(1)).unwrap();
        buf.push_slice(bytes).unwrap();
        buf
    }

    pub(crate) fn room(&self, at: usize, len: usize) -> softdpu_memory::Buf {
        self.memory.alias(at..at + len).unwrap()
    }
}

/// Makes progress on both until the task is through.
pub(crate) fn both<T: Task<Engine = Rdma>>(a: &mut Side, b: &mut Side, mut task: InFlight<T>) -> Done<T> {
    loop {
        a.pe.progress();
        b.pe.progress();
        match task.try_take() {
            Ok(done) => return done,
            Err(still) => task = still,
        }
    }
}

/// Two sides in one process, connected.
pub(crate) fn pair() -> (Side, Side, Connection, Connection) {
    joined(side(0, options()), side(2, options()))
}

/// These two, connected.
pub(crate) fn joined(a: Side, b: Side) -> (Side, Side, Connection, Connection) {
    let (ab, ba) = (a.endpoint.export().unwrap(), b.endpoint.export().unwrap());
    ab.join(ba.description()).unwrap();
    ba.join(ab.description()).unwrap();
    (a, b, ab, ba)
}

/// The next happening, with progress on both sides.
pub(crate) fn happening(a: &mut Side, other: &mut Side) -> Happening {
    loop {
        a.pe.progress();
        other.pe.progress();
        if let Some(happening) = a.endpoint.happened() {
            return happening;
        }
    }
}

/// Waits for something that the other process does.
pub(crate) fn until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Since when.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Another process that lends memory until this value goes.
pub(crate) struct Lender {
    child: std::process::Child,
    /// Its output, which it can write to as long as it lives.
    _lines: std::io::Lines<std::io::BufReader<std::process::ChildStdout>>,
    pub(crate) export: Vec<u8>,
}

/// Starts one: its test of the name `lend_memory` calls [`lend`].
pub(crate) fn lender() -> Lender {
    use std::io::BufRead as _;
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["lend_memory", "--exact", "--nocapture", "--include-ignored"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    // The test harness writes to the same place.
    let text = lines
        .by_ref()
        .map(Result::unwrap)
        .find_map(|line| line.split_once("export ").map(|(_, text)| text.trim().to_owned()))
        .expect("the lender ended early");
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
    Lender { child, _lines: lines, export: (0..text.len() / 2).map(byte).collect() }
}

/// What it does.
pub(crate) fn lend() {
    watchdog();
    let side = side(2, options());
    let export = side.memory.export_rdma(side.device.shared()).unwrap();
    let text: String = export.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("export {text}");
    // Until the other end closes.
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

impl Drop for Lender {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Between two attempts.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// Is the library there that connections over the network need?
pub(crate) fn fabric() -> Result<(), &'static str> {
    let there = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().any(|entry| {
        entry.file_name().to_string_lossy().starts_with("libfabric.so")
            || entry.path().join("libfabric.so.1").exists()
    });
    if there { Ok(()) } else { Err("libfabric is not installed") }
}
