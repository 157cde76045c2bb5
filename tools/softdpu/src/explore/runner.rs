//! Runs the program once, alone with its runtime folder, and says how it ended.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use softdpu_faults::start;

use crate::faults::FaultOptions;
use crate::message::Failure;

/// Lines of its output that are shown of a program that failed.
const LAST_LINES: usize = 12;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// Not in time; it was killed.
    Never(Duration),
}

impl Ending {
    fn of(status: ExitStatus) -> Ending {
        match status.code() {
            Some(code) => Ending::Status(code),
            None => Ending::Signal(status.signal().unwrap_or(0)),
        }
    }

    pub(super) fn is_failure(self) -> bool {
        self != Ending::Status(0)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Status(status) => write!(f, "ends with status {status}"),
            Ending::Signal(signal) => write!(f, "is ended by signal {signal}"),
            Ending::Never(time) => write!(f, "does not end within {} s", time.as_secs()),
        }
    }
}

/// What is run, and how.
#[derive(Debug)]
pub(super) struct Runner {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(&'static str, OsString)>,
    timeout: Duration,
    folder: PathBuf,
    runs: AtomicU64,
}

impl Runner {
    pub(super) fn new(
        program: &OsString,
        arguments: &[OsString],
        environment: Vec<(&'static str, OsString)>,
        timeout: Duration,
    ) -> Result<Runner, Failure> {
        let folder = std::env::temp_dir().join(format!("softdpu-explore-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|e| Failure::failed(format!("{}: {e}", folder.display())))?;
        let (program, arguments) = (program.clone(), arguments.to_vec());
        Ok(Runner { program, arguments, environment, timeout, folder, runs: AtomicU64::new(0) })
    }

    /// A file of this name in the folder of the search.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// One run. With `record`, what was done to the program is written there.
    pub(super) fn run(&self, options: &FaultOptions, record: Option<&PathBuf>) -> Result<Ending, Failure> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let runtime = self.file(&format!("runtime-{number}"));
        let seed = options.seed.unwrap_or(0);
        let words = self.file(&format!("output-{seed}"));
        let failed = |e: std::io::Error| Failure::failed(format!("{}: {e}", self.program.display()));
        let out = File::create(&words).map_err(failed)?;
        let err = out.try_clone().map_err(failed)?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(options.environment()?)
            .env("SOFTDPU_RUNTIME_DIR", &runtime)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0);
        if let Some(record) = record {
            command.env(start::RECORD, record);
        }
        let ending = self.wait(&mut command);
        // It may never have been made.
        let _ = fs::remove_dir_all(&runtime);
        let ending = ending.map_err(failed)?;
        if !ending.is_failure() {
            let _ = fs::remove_file(&words);
        }
        Ok(ending)
    }

    fn wait(&self, command: &mut Command) -> std::io::Result<Ending> {
        let mut child = command.spawn()?;
        let begun = Instant::now();
        let mut nap = Duration::from_micros(500);
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let group = group.ok_or_else(|| std::io::Error::other("a process without a number"))?;
        // Only looked at, so that its number stays its own until the group is gone.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let late = loop {
            if waitid(WaitId::Pid(group), look)?.is_some() {
                break false;
            }
            if begun.elapsed() > self.timeout {
                break true;
            }
            std::thread::sleep(nap);
            nap = (nap * 3 / 2).min(Duration::from_millis(20));
        };
        // What it started and left behind, too; it has a process group of its own.
        let _ = kill_process_group(group, Signal::KILL);
        let status = child.wait()?;
        Ok(if late { Ending::Never(self.timeout) } else { Ending::of(status) })
    }

    /// The end of what the program wrote under this seed the last time it failed.
    pub(super) fn last_words(&self, seed: u64) -> String {
        let text = fs::read(self.file(&format!("output-{seed}"))).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // What stays behind is a folder in the place for such folders.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
