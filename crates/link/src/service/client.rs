//! Asking other processes. The caller waits; the answer comes from the other's service thread.

use super::{Topic, check_fork, turn, wire};
use crate::folder::Folder;
use crate::names;
use crate::owner::Owner;
use crate::socket::Line;
use rustix::io::Errno;
use softdpu_status::{Code, Error, Result};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Sends a request to a process (this one, too) and waits for its answer: its bytes, its descriptors, and the line, which
/// is still there if the answer has a tie. Any thread but the service thread.
///
/// # Errors
/// NotFound (no such process in the runtime folder), NotPermitted (it belongs to another user), TimeOut, ConnectionReset
/// (it hung up without an answer), NotSupported (it serves no such topic), UnsupportedVersion, InvalidValue (more than
/// [`MAX_REQUEST`](super::MAX_REQUEST) bytes or [`MAX_FDS`](crate::MAX_FDS) descriptors), NoMemory (descriptors), BadState
/// (on the service thread, or in a child forked too late), Driver (runtime folder). Whoever asks knows what for, and logs
/// it; lines here tell of what the code does not.
pub fn ask(
    owner: Owner,
    topic: Topic,
    request: &[u8],
    fds: &[BorrowedFd<'_>],
    timeout: Duration,
) -> Result<(Vec<u8>, Vec<OwnedFd>, Line)> {
    exchange(&names::of_process(owner), topic, request, fds, timeout)
}

/// As [`ask`], to whoever listens on a name in the runtime folder.
///
/// # Errors
/// NotFound: nobody listens. The others as [`ask`].
pub fn call(
    name: &str,
    request: &[u8],
    fds: &[BorrowedFd<'_>],
    timeout: Duration,
) -> Result<(Vec<u8>, Vec<OwnedFd>, Line)> {
    exchange(&names::of_listener(name), wire::NAMED, request, fds, timeout)
}

fn exchange(
    file: &str,
    topic: Topic,
    request: &[u8],
    fds: &[BorrowedFd<'_>],
    timeout: Duration,
) -> Result<(Vec<u8>, Vec<OwnedFd>, Line)> {
    check_fork()?;
    if turn::is_here() {
        log::error!(target: crate::LOG, "request to {file} on the thread that answers requests");
        return Err(Error::new(Code::BadState, "the service thread must not wait"));
    }
    let Some(packet) = wire::request(topic, request) else {
        log::error!(target: crate::LOG, "request of {} bytes to {file}, at most {}", request.len(), wire::MAX_REQUEST);
        return Err(Error::new(Code::InvalidValue, "request too long"));
    };
    let deadline = Instant::now().checked_add(timeout);
    let line = open(file, deadline)?;
    line.send(&packet, fds)?;
    let Some((packet, fds)) = line.receive(deadline)? else { return Err(too_late()) };
    Ok((wire::read_answer(packet)?, fds, line))
}

fn too_late() -> Error {
    Error::new(Code::TimeOut, "no answer in time")
}

/// A connection to somebody alive of this user.
fn open(file: &str, deadline: Option<Instant>) -> Result<Line> {
    let folder = Folder::of_process()?;
    let absent = Error::new(Code::NotFound, "nobody answers there");
    let socket = loop {
        match names::connect_to(folder, file) {
            Ok(socket) => break socket,
            Err(Errno::NOENT | Errno::CONNREFUSED) => return Err(absent),
            Err(Errno::ACCESS | Errno::PERM) => {
                return Err(Error::new(Code::NotPermitted, "belongs to another user"));
            }
            // Too many wait there: nothing to wait on but time.
            Err(Errno::AGAIN) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                return Err(too_late());
            }
            Err(Errno::AGAIN) => std::thread::sleep(Duration::from_millis(1)),
            Err(Errno::INTR) => {}
            Err(errno) => {
                log::error!(target: crate::LOG, "connection to {file} in {}: {errno}", folder.path().display());
                let short = matches!(errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS);
                let code = if short { Code::NoMemory } else { Code::OperatingSystem };
                return Err(Error::new(code, "cannot connect"));
            }
        }
    };
    let line = Line::over(socket)?;
    let peer = line.peer();
    if !peer.is_ours() {
        log::error!(target: crate::LOG, "{file}: process {} belongs to user {}, this one to another", peer.pid, peer.uid);
        return Err(Error::new(Code::NotPermitted, "belongs to another user"));
    }
    if names::is_dead(&peer, file) { Err(absent) } else { Ok(line) }
}
