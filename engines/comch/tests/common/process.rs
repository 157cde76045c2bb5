//! Tests in processes and runtime folders of their own: the test binary runs itself again.

use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::fs::DirBuilderExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const WATCHDOG: Duration = Duration::from_secs(120);
const ALONE: &str = "SOFTDPU_COMCH_TEST";
const ROLE: &str = "SOFTDPU_COMCH_ROLE";

fn myself(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--include-ignored", "--test-threads=1"]);
    command.env_remove(ALONE).env_remove(ROLE);
    command
}

/// Runs the body of a test in a process and with a runtime folder of its own.
pub(crate) fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var(ALONE).as_deref() == Ok(test) {
        return body();
    }
    let name = format!("softdpu-comch-{}-{}", test.replace("::", "-"), std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    let mut command = myself(test);
    command.env(ALONE, test).env("SOFTDPU_RUNTIME_DIR", &folder);
    let mut process = Process { child: command.spawn().unwrap(), pipes: None };
    let good = process.wait();
    let _ = std::fs::remove_dir_all(&folder);
    assert!(good, "{test} failed");
}

/// Calls `step` until it says yes; fails when that never happens.
pub(crate) fn until(what: &str, mut step: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !step() {
        assert!(begun.elapsed() < WATCHDOG, "{what} did not happen");
        std::thread::yield_now();
    }
}

/// In the test `roles` of a file: which role this process plays.
#[allow(dead_code, reason = "not every file has roles")]
pub(crate) fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// A process that plays a role; killed on drop.
pub(crate) struct Process {
    child: Child,
    pipes: Option<(ChildStdin, Lines<BufReader<ChildStdout>>)>,
}

#[allow(dead_code, reason = "each file uses its part")]
impl Process {
    /// Starts one with the runtime folder of this process.
    pub(crate) fn start(role: &str) -> Process {
        let mut command = myself("roles");
        command.env(ROLE, role).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let pipes = Some((child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines()));
        Process { child, pipes }
    }

    /// The next thing it said with [`say`].
    pub(crate) fn hear(&mut self) -> String {
        let lines = &mut self.pipes.as_mut().unwrap().1;
        let said =
            lines.map(Result::unwrap).find_map(|line| line.split_once('@').map(|(_, said)| said.to_owned()));
        said.expect("the process ended without a word")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// As by `kill -9`.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for its end; was it a success?
    pub(crate) fn wait(&mut self) -> bool {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            if begun.elapsed() > WATCHDOG {
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
#[allow(dead_code, reason = "not every file has roles")]
pub(crate) fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "@{what}").unwrap();
    out.flush().unwrap();
}
