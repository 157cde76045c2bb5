//! Running a tool that a test needs: to its end, or until it is clear that there will be none.

use rustix::process::{Pid, Signal};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Runs to the end with nothing on standard input, or kills what does not come to one within `limit`.
///
/// # Panics
/// When the command cannot be started.
pub fn output_of(mut command: Command, limit: Duration) -> Output {
    // What it starts ends with it, and keeps no pipe open.
    let command_line = command.process_group(0).stdin(Stdio::null());
    let child = command_line.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let pid = Pid::from_child(&child);
    let waiter = thread::spawn(move || child.wait_with_output().expect("a child of ours"));
    let end = Instant::now() + limit;
    while !waiter.is_finished() && Instant::now() < end {
        thread::sleep(Duration::from_millis(5));
    }
    if !waiter.is_finished() {
        // It may have ended a moment ago.
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
    waiter.join().expect("the thread that waits")
}

/// What a command printed; it must succeed within `limit`.
///
/// # Panics
/// When it does not; the message has all it said.
pub fn printed(command: Command, limit: Duration) -> String {
    let shown = format!("{command:?}");
    let done = output_of(command, limit);
    let (out, error) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success(), "{shown}: {}\n{out}\n{error}", done.status);
    out
}

/// What a program wrote, as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Command {
        let mut sh = Command::new("sh");
        sh.args(["-c", line]);
        sh
    }

    #[test]
    fn what_is_printed_comes_back() {
        assert_eq!(printed(shell("cat; echo said; echo aside >&2"), Duration::from_secs(60)), "said\n");
        let done = output_of(shell("echo no >&2; exit 3"), Duration::from_secs(60));
        assert_eq!((done.status.code(), text(&done.stderr).as_str()), (Some(3), "no\n"));
    }

    #[test]
    fn what_does_not_end_is_ended() {
        let done = output_of(shell("echo begun; sleep 600; :"), Duration::from_millis(200));
        assert_eq!(done.status.code(), None, "a signal ended it");
    }
}
