//! Tests with processes and a runtime folder of their own: the test binary runs itself again.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing here may take longer.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(120);
const ALONE: &str = "SOFTDPU_LINK_TEST";
const ROLE: &str = "SOFTDPU_LINK_ROLE";
const ARGUMENT: &str = "SOFTDPU_LINK_ARGUMENT";

/// An empty folder that nobody else may enter, removed at the end.
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    pub(crate) fn new() -> Temporary {
        let base = std::env::temp_dir();
        let nanos = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let path = (0..).map(|n| base.join(format!("softdpu-link-{}-{nanos}-{n}", std::process::id())));
        let made = |path: &PathBuf| std::fs::DirBuilder::new().mode(0o700).create(path).is_ok();
        Temporary(path.take(1000).find(made).expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn myself(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--include-ignored"]).env_remove(ALONE).env_remove(ROLE);
    command
}

/// Runs the body of a test in a process and with a runtime folder of its own.
pub(crate) fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var(ALONE).as_deref() == Ok(test) {
        return body();
    }
    let (folder, beside) = (Temporary::new(), Temporary::new());
    let words = beside.path().join("words");
    let out = std::fs::File::create_new(&words).unwrap();
    let mut process = myself(test);
    process.env(ALONE, test).env("SOFTDPU_RUNTIME_DIR", folder.path());
    process.stderr(out.try_clone().unwrap()).stdout(out);
    let mut process = Process { child: process.spawn().unwrap(), pipes: None };
    let good = process.wait();
    let words = String::from_utf8_lossy(&std::fs::read(words).unwrap()).into_owned();
    assert!(good, "{test} failed:\n{words}");
    for skipped in words.lines().filter(|line| line.starts_with("skipped: ")) {
        eprintln!("{test}: {skipped}");
    }
}

/// Waits until `done`; fails when that never happens.
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + WATCHDOG;
    while !done() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// In the test `roles` of each file: which role this process has, and with which argument.
pub(crate) fn role() -> Option<(String, String)> {
    Some((std::env::var(ROLE).ok()?, std::env::var(ARGUMENT).unwrap_or_default()))
}

/// A process that plays a role; killed on drop.
pub(crate) struct Process {
    child: Child,
    pipes: Option<(ChildStdin, Lines<BufReader<ChildStdout>>)>,
}

impl Process {
    /// Starts one with the runtime folder of this process.
    pub(crate) fn start(role: &str, argument: &str) -> Process {
        Process::start_with(role, argument, |_| ())
    }

    pub(crate) fn start_with(role: &str, argument: &str, change: impl FnOnce(&mut Command)) -> Process {
        let mut command = myself("roles");
        command.env(ROLE, role).env(ARGUMENT, argument).stdin(Stdio::piped()).stdout(Stdio::piped());
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let pipes = Some((child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines()));
        Process { child, pipes }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next thing it said with [`say`].
    pub(crate) fn hear(&mut self) -> String {
        let lines = &mut self.pipes.as_mut().unwrap().1;
        let said = lines
            .by_ref()
            .map(|l| l.unwrap())
            .find_map(|l| l.split_once('@').map(|(_, said)| said.to_owned()));
        said.expect("the process ended without a word")
    }

    /// Says something to it; see [`listen`].
    pub(crate) fn tell(&mut self, what: &str) {
        writeln!(self.pipes.as_mut().unwrap().0, "{what}").unwrap();
    }

    /// As by `kill -9`.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for its end; was it a success?
    pub(crate) fn wait(&mut self) -> bool {
        let deadline = Instant::now() + WATCHDOG;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            if Instant::now() > deadline {
                self.kill();
                panic!("a process did not end");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A role says something to whoever started it.
pub(crate) fn say(what: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "@{what}").unwrap();
    out.flush().unwrap();
}

/// A role waits for a word of whoever started it; ends with it.
pub(crate) fn listen() -> String {
    let mut line = String::new();
    if std::io::stdin().read_line(&mut line).unwrap() == 0 {
        std::process::exit(0);
    }
    line.trim_end().to_owned()
}

/// Xorshift: the same numbers in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}
