//! Who a process is, told apart from a later one with the same number.

use rustix::io::Errno;
use rustix::process::getpid;
use softdpu_status::{Code, Error, Result};
use std::io::ErrorKind;

/// A process, told apart from a later one with the same number by its start time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Owner {
    /// Process number.
    pub pid: u32,
    /// Clock ticks between the start of the machine and that of the process.
    pub started: u64,
}

impl Owner {
    /// This process. Asked anew each time: after a fork the answer is another. Any thread.
    ///
    /// # Errors
    /// Driver when `/proc` cannot tell.
    pub fn this_process() -> Result<Owner> {
        let pid = getpid().as_raw_nonzero().get().unsigned_abs();
        match life("/proc/self/stat") {
            Life::Since(started) => Ok(Owner { pid, started }),
            other => {
                log::error!(target: crate::LOG, "/proc/self/stat does not tell when this process was started: {other:?}");
                Err(Error::new(Code::Driver, "start time of the process unknown"))
            }
        }
    }

    /// The process that has this number now; none when it has ended, or cannot be looked up. Any thread.
    pub fn of(pid: u32) -> Option<Owner> {
        match life_of(pid) {
            Life::Since(started) => Some(Owner { pid, started }),
            Life::Over | Life::Unknown => None,
        }
    }

    /// Does the process exist? One that has ended and was not yet waited for does not; one that cannot be looked up (no
    /// descriptors left) does.
    pub fn is_alive(self) -> bool {
        match life_of(self.pid) {
            Life::Since(started) => started == self.started,
            Life::Over => false,
            Life::Unknown => true,
        }
    }
}

/// What is known about a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Life {
    /// Started then.
    Since(u64),
    Over,
    /// It cannot be looked up.
    Unknown,
}

/// The life of the process that has this number now.
pub(crate) fn life_of(pid: u32) -> Life {
    life(&format!("/proc/{pid}/stat"))
}

/// Field 22 of a process's status line, unless field 3 says that it has ended. The name in field 2 may hold anything, so
/// counting begins behind its end.
fn life(path: &str) -> Life {
    let line = match std::fs::read(path) {
        Ok(line) => line,
        Err(error) if error.kind() == ErrorKind::NotFound => return Life::Over,
        Err(error) if Errno::from_io_error(&error) == Some(Errno::SRCH) => return Life::Over,
        Err(_) => return Life::Unknown,
    };
    let fields = || {
        let name_end = line.iter().rposition(|&b| b == b')')?;
        let mut fields = std::str::from_utf8(&line[name_end + 1..]).ok()?.split_ascii_whitespace();
        Some((fields.next()?, fields.nth(18)?.parse().ok()?))
    };
    match fields() {
        Some(("Z" | "X" | "x", _)) => Life::Over,
        Some((_, started)) => Life::Since(started),
        None => Life::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_itself_and_others() {
        let me = Owner::this_process().unwrap();
        assert_eq!(me.pid, std::process::id());
        assert!(me.is_alive());
        assert!(!Owner { started: me.started + 1, ..me }.is_alive());
        assert!(!Owner { pid: u32::MAX, ..me }.is_alive());
    }

    #[test]
    fn a_process_that_ended_is_not_alive_even_before_it_is_waited_for() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let owner = Owner::of(child.id()).expect("it has just been started");
        assert!(owner.is_alive());
        child.kill().unwrap();
        // It becomes a zombie some time after the signal was sent.
        while owner.is_alive() {
            std::thread::yield_now();
        }
        assert!(std::fs::read(format!("/proc/{}/stat", owner.pid)).is_ok(), "the zombie is there");
        child.wait().unwrap();
        assert!(!owner.is_alive());
        assert_eq!(Owner::of(owner.pid).filter(|other| *other == owner), None);
    }
}
