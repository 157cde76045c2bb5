//! Tests of several processes: each runs in a process and a runtime folder of its own, and starts further processes that
//! play a role.

use softdpu_card::Machine;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::typed::Context;
use softdpu_sync_event::{Config, SyncEvent, SyncEvents};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Says which test runs inside.
const INSIDE: &str = "SYNC_EVENT_TEST";
/// Says which role a process plays, and with what.
const ROLE: &str = "SYNC_EVENT_ROLE";
const WITH: &str = "SYNC_EVENT_WITH";

const WATCHDOG: Duration = Duration::from_secs(120);

/// Runs `body` in a process and a folder of its own.
pub(crate) fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var(INSIDE).is_ok_and(|name| name == test) {
        return body();
    }
    let folder = std::env::temp_dir().join(format!("softdpu-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = itself(test);
    command.env("SOFTDPU_RUNTIME_DIR", folder.join("runtime")).env(INSIDE, test);
    let status = end(&mut command.spawn().unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(status, Some(0), "{test}");
}

fn itself(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--include-ignored", "--test-threads=1"]);
    command
}

/// Waits for a process, not for ever. Its exit status, none when it was killed.
pub(crate) fn end(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > WATCHDOG {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("a process did not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A process that plays a role, which the test `role` of the same file hands out.
pub(crate) fn command(role: &str, with: &[u8]) -> Command {
    let mut command = itself("role");
    let hex: String = with.iter().map(|b| format!("{b:02x}")).collect();
    command.env(ROLE, role).env(WITH, hex);
    command
}

pub(crate) fn spawn(role: &str, with: &[u8]) -> Child {
    command(role, with).spawn().unwrap()
}

/// The role of this process, and what it was given.
pub(crate) fn role() -> Option<(String, Vec<u8>)> {
    let hex = std::env::var(WITH).ok()?;
    let with = (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
    Some((std::env::var(ROLE).ok()?, with))
}

/// A file in this test's folder, for bytes that go from one process to another.
pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("SOFTDPU_RUNTIME_DIR").unwrap()).with_file_name(name)
}

/// Waits until another process has put a file there, complete.
pub(crate) fn await_file(name: &str) -> Vec<u8> {
    let begun = Instant::now();
    loop {
        match std::fs::read(file(name)) {
            Ok(bytes) => return bytes,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
        assert!(begun.elapsed() < WATCHDOG, "{name} does not come");
    }
}

/// Puts a file there, complete from the first moment.
pub(crate) fn put_file(name: &str, bytes: &[u8]) {
    std::fs::write(file("unfinished"), bytes).unwrap();
    std::fs::rename(file("unfinished"), file(name)).unwrap();
}

pub(crate) fn device() -> (Session, Device) {
    let session = Session::new(Machine::builder().build().unwrap(), softdpu_board::threads());
    let device = session.devices()[0].open().unwrap();
    (session, device)
}

/// An event with a context on it.
pub(crate) fn context(event: &SyncEvent) -> (ProgressEngine, Context<SyncEvents>) {
    let (session, device) = device();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let context = Context::start(&mut pe, &device, Config::of(event)).unwrap().wait(&mut pe).unwrap();
    (pe, context)
}
