//! `softdpu run`: starts a program with the card.

use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use lexopt::Parser;
use lexopt::prelude::*;
use softdpu_sdk::Kit;

use crate::card::CardOptions;
use crate::faults::FaultOptions;
use crate::message::{Failure, Outcome};
use crate::output;
use crate::record::Recording;
use crate::trace::Tracing;

const HELP: &str = "\
Runs a program with the software card.

Usage: softdpu run [OPTIONS] [--] PROGRAM [ARGUMENTS]

The program finds the library of the development kit, before any other of the same name, and sees the card
that the options and the environment describe. It takes this command's place: process id, signals and exit
status are its own.

Options:
  --side dpu|host|both        the functions it sees (default both)
  --profile all|bf2|bf3|cx7   the card that is imitated (default all)
  --config FILE               a topology file
  --strict                    imitate the limits of real machines, such as locked memory
  --check                     say what the program does wrong with the card, one line each on stderr,
                              with object, rule, numbers and what to do; at the end what it left behind
  --fail-on-misuse            with --check: status 1 instead of 0 when something was found
  --json-report FILE          with --check: what was found as JSON; processes that the program starts
                              write FILE.PID
  --faults FILE               make tasks fail as this plan says (docs/faults.md)
  --seed N                    follow the schedule N: how long tasks wait, and which pass which where the contract
                              promises no order, is decided by N; the card has no workers. Everything repeats
                              in programs with one thread, what happens in one context in others
  --only LIST                 with --seed: only these waits, as 'softdpu explore' prints them
  --trace FILE                write what becomes of every task, and of those of processes that the program
                              starts, to FILE, which viewers of Chrome and Perfetto and 'softdpu trace' read
  --trace-limit MIB           with --trace: its greatest length (default 256)
  --metrics WHERE             count tasks and how long they take, for 'softdpu top'; WHERE: top (nobody else),
                              HOST:PORT (Prometheus asks there for /metrics), or a path such as ./metrics.prom
                              (a file for it, written each second; %p in it: number of the process)
  --probes                    have tasks come by the probes softdpu:task_submitted, task_begun, task_ended and
                              others, at which bpftrace and perf can look on
  --record FILE               write every call of the program, what it gave and what it got, to FILE, which
                              'softdpu replay' prints and repeats; processes that it starts write FILE.PID
  --record-limit MIB          with --record: its greatest length (default 1024)
  -h, --help                  this text

Exit status: the program's own; 126 when it cannot be executed, 127 when there is no such program;
1 when there is no library, 2 for wrong use. The options are checked before the program starts.
";

pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let mut setup = Setup::default();
    let program = loop {
        match arguments.next()? {
            Some(Short('h') | Long("help")) => return output::print(HELP),
            Some(Long(name)) if Setup::NAMES.contains(&name) => {
                let name = name.to_owned();
                setup.set(&name, &mut arguments)?;
            }
            Some(Value(program)) => break program,
            Some(other) => return Err(other.unexpected().into()),
            None => return Err(Failure::usage("run: no program given")),
        }
    };
    let program_arguments: Vec<OsString> = arguments.raw_args()?.collect();
    let mut command = setup.command(&program)?;
    Err(cannot_start(&program, &command.args(program_arguments).exec()))
}

/// The options that say with what a program is started.
#[derive(Debug, Default)]
pub(crate) struct Setup {
    card: CardOptions,
    check: Check,
    tracing: Tracing,
    faults: FaultOptions,
    recording: Recording,
}

impl Setup {
    /// Long options that belong here.
    pub(crate) const NAMES: [&str; 16] = [
        "side",
        "profile",
        "config",
        "strict",
        "check",
        "fail-on-misuse",
        "json-report",
        "faults",
        "seed",
        "only",
        "trace",
        "trace-limit",
        "metrics",
        "probes",
        "record",
        "record-limit",
    ];

    /// Takes one of [`Self::NAMES`], and its value if it has one.
    pub(crate) fn set(&mut self, name: &str, arguments: &mut Parser) -> Result<(), Failure> {
        match name {
            "strict" => self.card.set_strict(),
            "check" => self.check.on = true,
            "fail-on-misuse" => self.check.fail = true,
            "json-report" => self.check.report = Some(arguments.value()?),
            "trace" => self.tracing.file = Some(arguments.value()?),
            "trace-limit" => self.tracing.limit = Some(arguments.value()?),
            "metrics" => self.tracing.metrics = Some(arguments.value()?),
            "probes" => self.tracing.probes = true,
            "record" => self.recording.file = Some(arguments.value()?),
            "record-limit" => self.recording.limit = Some(arguments.value()?),
            _ if FaultOptions::NAMES.contains(&name) => self.faults.set(name, arguments.value()?)?,
            _ => self.card.set(name, arguments.value()?)?,
        }
        Ok(())
    }

    /// The program with the card; all options are checked.
    pub(crate) fn command(self, program: &OsString) -> Result<Command, Failure> {
        self.card.machine()?;
        let faults = self.faults.environment()?;
        let kit = Kit::locate()?;
        // The recorder stands before the checker, so that what is recorded is what the program does.
        let before = [self.recording.library(&kit, program)?, self.check.library(&kit, program)?];
        let mut command = Command::new(program);
        command
            .env("LD_LIBRARY_PATH", library_path(&kit.lib_dir())?)
            .envs(preload(before.into_iter().flatten()))
            .envs(self.card.environment())
            .envs(self.check.environment()?)
            .envs(self.recording.environment()?)
            .envs(faults)
            .envs(self.tracing.environment()?);
        Ok(command)
    }
}

/// The variable that loads libraries before the program's own, by their bare names, which the library path leads to: a path
/// with a blank would be taken for two.
fn preload<'a>(libraries: impl Iterator<Item = &'a str>) -> Option<(&'static str, OsString)> {
    let libraries: Vec<&str> = libraries.collect();
    if libraries.is_empty() {
        return None;
    }
    let mut preload = OsString::from(libraries.join(":"));
    if let Some(before) = env::var_os("LD_PRELOAD").filter(|v| !v.is_empty()) {
        preload.push(":");
        preload.push(before);
    }
    Some(("LD_PRELOAD", preload))
}

/// That a library can stand before the program's own.
pub(crate) fn can_load(
    built: bool,
    name: &'static str,
    option: &str,
    program: &OsString,
) -> Result<&'static str, Failure> {
    if !built {
        return Err(Failure::failed(format!("run: {name} was not built; build it with: cargo build")));
    }
    if is_static(program) {
        let program = program.display();
        return Err(Failure::failed(format!(
            "run: '{program}' is statically linked: {option} works on programs that load the shared library"
        )));
    }
    Ok(name)
}

/// What `--check` and its companions say.
#[derive(Debug, Default)]
struct Check {
    on: bool,
    fail: bool,
    report: Option<OsString>,
}

impl Check {
    /// The library that is loaded into the program.
    fn library(&self, kit: &Kit, program: &OsString) -> Result<Option<&'static str>, Failure> {
        let name = softdpu_sdk::CHECK_LIBRARY;
        self.on.then(|| can_load(kit.check_library().is_some(), name, "--check", program)).transpose()
    }

    /// The variables that tell it what to do.
    fn environment(self) -> Result<Vec<(&'static str, OsString)>, Failure> {
        if !self.on {
            return match (self.fail, self.report) {
                (false, None) => Ok(Vec::new()),
                _ => Err(Failure::usage("run: --fail-on-misuse and --json-report go with --check")),
            };
        }
        // The program takes the place of this process.
        let mut all = vec![("SOFTDPU_CHECK_PID", std::process::id().to_string().into())];
        if self.fail {
            all.push(("SOFTDPU_CHECK_FAIL", "1".into()));
        }
        if let Some(report) = self.report {
            let report = std::path::absolute(&report)
                .map_err(|e| Failure::failed(format!("run: {}: {e}", report.display())))?;
            all.push(("SOFTDPU_CHECK_REPORT", report.into()));
        }
        Ok(all)
    }
}

/// Whether the file is a program without a dynamic linker, which would load nothing before it. What cannot be read or is
/// none of ours is left to the system to judge.
fn is_static(program: &OsString) -> bool {
    let bare = !program.as_encoded_bytes().contains(&b'/');
    let found = match bare {
        true => env::var_os("PATH").and_then(|path| {
            env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
        }),
        false => Some(program.into()),
    };
    found.and_then(|path| std::fs::read(path).ok()).is_some_and(|elf| lacks_interpreter(&elf) == Some(true))
}

/// Looks through the program headers of a 64-bit little-endian ELF file for the name of a dynamic linker.
fn lacks_interpreter(elf: &[u8]) -> Option<bool> {
    const INTERPRETER: u32 = 3;
    let number = |at: usize, n: usize| -> Option<u64> {
        Some(elf.get(at..at.checked_add(n)?)?.iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b)))
    };
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for i in 0..count {
        let at = usize::try_from(table.checked_add(i * size)?).ok()?;
        if number(at, 4)? == u64::from(INTERPRETER) {
            return Some(false);
        }
    }
    Some(true)
}

/// The kit before everything that was there.
pub(crate) fn library_path(kit: &Path) -> Result<OsString, Failure> {
    let before = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let before = env::split_paths(&before).filter(|p| !p.as_os_str().is_empty());
    let all = std::iter::once(kit.to_owned()).chain(before);
    env::join_paths(all).map_err(|_| {
        Failure::failed(format!(
            "the kit's path holds a colon, which a library path cannot: {}",
            kit.display()
        ))
    })
}

/// The statuses that shells and `env` give.
fn cannot_start(program: &OsString, error: &std::io::Error) -> Failure {
    let status = if error.kind() == ErrorKind::NotFound { 127 } else { 126 };
    let name = program.display();
    // The commonest slip: a file of the current folder, named without its folder.
    let bare = !program.as_encoded_bytes().contains(&b'/');
    let hint = if bare && Path::new(program).is_file() {
        format!("; did you mean ./{name}?")
    } else {
        String::new()
    };
    Failure::with_status(format!("cannot run '{name}': {error}{hint}"), status)
}
