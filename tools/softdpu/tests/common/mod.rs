//! What the tests of the command share: a folder per test, running programs, a watchdog.

#![allow(dead_code, reason = "each test file uses a part of this")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

/// Ends the whole test program when a test hangs. Dropped at the end of the test.
pub(crate) struct Watchdog(#[expect(dead_code, reason = "closing the channel is the signal")] Sender<()>);

pub(crate) fn watchdog(test: &'static str) -> Watchdog {
    watchdog_after(Duration::from_secs(300), test)
}

/// For tests that build.
pub(crate) fn watchdog_after(limit: Duration, test: &'static str) -> Watchdog {
    let (alive, gone) = channel::<()>();
    thread::spawn(move || {
        if gone.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            eprintln!("{test}: still running after {} s", limit.as_secs());
            std::process::abort();
        }
    });
    Watchdog(alive)
}

/// An empty folder; its name has a blank, because users' folders do.
pub(crate) fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli {test} {}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A command that starts in `folder`, without what the surrounding shell may say about cards and libraries.
pub(crate) fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for variable in ["SIDE", "PROFILE", "CONFIG", "STRICT", "LOG", "TRACE", "METRICS"] {
        command.env_remove(format!("SOFTDPU_{variable}"));
    }
    for variable in ["LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "CC", "CXX"] {
        command.env_remove(variable);
    }
    command.env("SOFTDPU_RUNTIME_DIR", folder.join("runtime")).current_dir(folder);
    command
}

/// The command under test. The library it needs is up to date.
pub(crate) fn softdpu(folder: &Path) -> Command {
    softdpu_sdk::kit_for_tests().unwrap_or_else(|e| panic!("{e}"));
    command(env!("CARGO_BIN_EXE_softdpu"), folder)
}

pub(crate) fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

/// Runs a command that must succeed; gives back its stdout.
pub(crate) fn ok(command: &mut Command) -> String {
    let output = output(command);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{error}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that must end with `status`; gives back its stderr.
pub(crate) fn fails(command: &mut Command, status: i32) -> String {
    let output = output(command);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{command:?}: {error}");
    error
}

/// Whether a program can be started; says so when it cannot.
pub(crate) fn present(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

/// The words that pkg-config prints for some modules.
pub(crate) fn pkg_config(path: &Path, modules: &[&str]) -> Vec<String> {
    words_of(Command::new("pkg-config").args(["--cflags", "--libs"]).args(modules), path)
}

/// The words that a pkg-config command prints.
pub(crate) fn words_of(command: &mut Command, path: &Path) -> Vec<String> {
    shell_words(&ok(command.env("PKG_CONFIG_PATH", path)))
}

/// Splits what pkg-config prints: blanks inside a word are escaped with a backslash.
fn shell_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut characters = text.trim().chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => words.last_mut().unwrap().extend(characters.next()),
            ' ' => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}
