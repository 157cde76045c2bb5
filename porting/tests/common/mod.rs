//! What the tests share: programs on "a card" are children, since the libraries are loaded once per process and read the
//! environment.
#![allow(dead_code, reason = "each test file uses a part of it")]

use softdpu::prelude::*;
use softdpu_card_bridge::Card;
use std::env;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const LAST_RESORT: Duration = Duration::from_secs(300);

/// A runtime folder that goes with this value.
pub(crate) struct Runtime(pub(crate) PathBuf);

impl Runtime {
    pub(crate) fn new(name: &str) -> Runtime {
        Runtime(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("card-{}-{name}", std::process::id())))
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// This program again, with SoftDPU's own C libraries in the place of a card's.
pub(crate) fn program(runtime: &Runtime) -> Command {
    let kit = softdpu_sdk::kit_for_tests().unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .env("SOFTDPU_CARD_LIBRARIES", kit.lib_dir())
        .env("SOFTDPU_RUNTIME_DIR", &runtime.0)
        .env_remove("SOFTDPU_FAULTS")
        .stdin(Stdio::null());
    command
}

/// Waits for a child, whose output comes back; one that takes too long is ended.
pub(crate) fn finish(mut child: Child) -> (bool, String) {
    let mut out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let end = Instant::now() + LAST_RESORT;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > end {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    (status.success(), reader.join().unwrap().unwrap())
}

/// Runs the tests of this program that are marked as children, all of them in one process: `count` of them, once on a
/// board with worker threads and once on one without.
pub(crate) fn run_children(count: usize) {
    for threads in ["no", "yes"] {
        let runtime = Runtime::new(threads);
        let child = program(&runtime)
            .args(["--ignored", "--test-threads=2"])
            .env("WITH_THREADS", threads)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (success, text) = finish(child);
        assert!(success, "threads: {threads}\n{text}");
        assert!(text.contains(&format!(" {count} passed")), "all of them ran: {text}");
    }
}

/// Runs one of them in a process of its own, with and without worker threads, where both sides of the card are seen.
pub(crate) fn run_child(name: &str) {
    run_child_on("both", name);
}

/// The same where one side is seen.
pub(crate) fn run_child_on(side: &str, name: &str) {
    for threads in ["no", "yes"] {
        let runtime = Runtime::new(&format!("{name}-{side}-{threads}"));
        let child = program(&runtime)
            .env("SOFTDPU_SIDE", side)
            .args(["--ignored", "--exact", name, "--nocapture"])
            .env("WITH_THREADS", threads)
            .env("ALONE", "yes")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (success, text) = finish(child);
        assert!(success && text.contains("1 passed"), "threads: {threads}\n{text}");
    }
}

/// Runs another test of this program as a child of a child: a second process on the same card. Where this one sees the card's
/// own side alone, it sees the host's.
pub(crate) fn start_peer(name: &str, letter: &str) -> Child {
    let side = env::var("SOFTDPU_SIDE").unwrap();
    Command::new(env::current_exe().unwrap())
        .env("SOFTDPU_SIDE", if side == "dpu" { "host" } else { &side })
        .args(["--ignored", "--exact", name, "--nocapture"])
        .env("LETTER", letter)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a child of a child was told; none where this is not one.
pub(crate) fn letter() -> Option<String> {
    env::var("LETTER").ok()
}

/// Bytes as text, for the environment.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// A session on the card, as the environment wants it.
pub(crate) fn session() -> Session {
    let card = Card::load().unwrap();
    match env::var("WITH_THREADS").as_deref() {
        Ok("yes") => card.session().unwrap(),
        _ => card.session_without_threads().unwrap(),
    }
}

pub(crate) struct Rig {
    pub(crate) device: Device,
    pub(crate) memory: Memory,
    pub(crate) pe: ProgressEngine,
}

pub(crate) fn rig(bytes: usize) -> Rig {
    let session = session();
    let device = session.first_with(EngineKind::Dma).unwrap().open().unwrap();
    let memory = Memory::heap(bytes).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    let pe = ProgressEngine::new(&session).unwrap();
    Rig { device, memory, pe }
}
