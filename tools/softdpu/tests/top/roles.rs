//! Processes to look at: this test program again, in a role.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Lines, Write, stdin, stdout};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;

use crate::common;

const ROLE: &str = "SOFTDPU_TOP_ROLE";

/// A process in a role, which is ready; killed on drop.
pub(crate) struct Process {
    child: Child,
    pipes: Option<(ChildStdin, Lines<BufReader<ChildStdout>>)>,
}

fn myself(role: &str, folder: &Path) -> Command {
    let mut command = common::command(env::current_exe().unwrap(), folder);
    command.args(["--exact", "roles::roles", "--nocapture"]).env(ROLE, role);
    command
}

/// Runs a role to its end.
pub(crate) fn run(role: &str, folder: &Path, change: impl FnOnce(&mut Command)) -> Output {
    let mut command = myself(role, folder);
    change(&mut command);
    common::output(&mut command)
}

impl Process {
    pub(crate) fn start(role: &str, folder: &Path) -> Process {
        Process::spawn(myself(role, folder))
    }

    /// Starts one under another name.
    pub(crate) fn start_as(name: &str, role: &str, folder: &Path) -> Process {
        let mut command = myself(role, folder);
        command.arg0(name);
        Process::spawn(command)
    }

    fn spawn(mut command: Command) -> Process {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let pipes = Some((child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines()));
        let mut process = Process { child, pipes };
        assert_eq!(process.hear(), "ready");
        process
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next thing it said.
    pub(crate) fn hear(&mut self) -> String {
        let lines = &mut self.pipes.as_mut().unwrap().1;
        let mut said = lines.map(Result::unwrap).filter_map(|line| Some(line.split_once('@')?.1.to_owned()));
        said.next().expect("the process ended without a word")
    }

    pub(crate) fn tell(&mut self, what: &str) {
        writeln!(self.pipes.as_mut().unwrap().0, "{what}").unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Lets it end by itself.
    pub(crate) fn end(&mut self) {
        // Roles end with their standard input; their last words must find a reader.
        let (input, lines) = self.pipes.take().unwrap();
        drop(input);
        lines.for_each(drop);
        assert!(self.child.wait().unwrap().success());
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn roles() {
    let Ok(role) = env::var(ROLE) else { return };
    let _watchdog = common::watchdog("roles");
    match role.as_str() {
        "copy" => copy(),
        "three" => three(),
        "export" => export(),
        "import" => import(),
        "maps" => maps(),
        "nowhere" => nowhere(),
        "frames" => crate::ports::frames(),
        other => panic!("no role {other}"),
    }
}

pub(crate) fn say(what: &str) {
    println!("@{what}");
    stdout().flush().unwrap();
}

/// Lines of standard input.
pub(crate) fn listen() -> Receiver<String> {
    let (tell, told) = channel();
    thread::spawn(move || stdin().lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
    told
}

fn device() -> (Session, Device) {
    let session = Session::builder().open().unwrap();
    let device = session.first_with(EngineKind::Dma).unwrap().open().unwrap();
    (session, device)
}

/// Copies, a few thousand times a second, until standard input ends.
fn copy() {
    let told = listen();
    let (session, device) = device();
    let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default()).unwrap().wait(&mut pe).unwrap();
    let (mut src, mut dst) = (memory.buf(..4096).unwrap(), memory.buf(4096..).unwrap());
    src.push_slice(&[7; 4096]).unwrap();
    let mut is_ready = false;
    while told.try_recv() != Err(TryRecvError::Disconnected) {
        for _ in 0..8 {
            let done = pe.run(dma.submit(Memcpy { src, dst }).unwrap());
            assert_eq!(done.result, Ok(4096));
            (src, dst) = (done.task.src, done.task.dst);
            dst.reset();
        }
        if !is_ready {
            say("ready");
            is_ready = true;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Three contexts without tasks; stops one when told.
fn three() {
    let told = listen();
    let (session, device) = device();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let mut start =
        || Context::<Dma>::start(&mut pe, &device, Config::default()).unwrap().wait(&mut pe).unwrap();
    let all = [start(), start(), start()];
    say("ready");
    told.recv().unwrap();
    let [one, _two, _three] = all;
    one.stop().wait(&mut pe).unwrap();
    say("stopped");
    while told.recv().is_ok() {}
}

fn export() {
    let (_session, device) = device();
    let memory = Memory::memfd(65536).access(Access::PCI_READ_WRITE).register(&[&device]).unwrap();
    let export = memory.export(&device).unwrap();
    fs::write("letter", export.bytes()).unwrap();
    say("ready");
    while listen().recv().is_ok() {}
}

fn import() {
    let (_session, device) = device();
    let _remote = RemoteMemory::import(&device, &fs::read("letter").unwrap()).unwrap();
    say("ready");
    while listen().recv().is_ok() {}
}

/// More maps than fit into a packet, and a context, so that it answers.
fn maps() {
    let (session, device) = device();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let _dma = Context::<Dma>::start(&mut pe, &device, Config::default()).unwrap().wait(&mut pe).unwrap();
    let _maps: Vec<Memory> = (1..=500)
        .map(|n| Memory::heap(n * 8).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap())
        .collect();
    say("ready");
    while listen().recv().is_ok() {}
}

struct Stderr;

impl log::Log for Stderr {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        eprintln!("log: {} {}", record.level(), record.args());
    }
    fn flush(&self) {}
}

/// Starts contexts and copies where there can be no runtime folder.
fn nowhere() {
    log::set_logger(&Stderr).unwrap();
    log::set_max_level(log::LevelFilter::Warn);
    let (session, device) = device();
    let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    for _ in 0..3 {
        let mut dma =
            Context::<Dma>::start(&mut pe, &device, Config::default()).unwrap().wait(&mut pe).unwrap();
        let (mut src, dst) = (memory.buf(..4096).unwrap(), memory.buf(4096..).unwrap());
        src.push_slice(b"bytes").unwrap();
        assert_eq!(pe.run(dma.submit(Memcpy { src, dst }).unwrap()).result, Ok(5));
        dma.stop().wait(&mut pe).unwrap();
    }
}
