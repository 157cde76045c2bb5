//! The files in the runtime folder by which processes find each other.
//!
//! | file | what |
//! |---|---|
//! | `<pid>-<started>.sock` | the socket of a process |
//! | `name-<checksum>.sock` | the socket that listens on a name |
//! | `new-<pid>-<started>-<n>.sock` | a socket that is being made; then it gets its name by renaming |
//! | `lock` | held by whoever renames or removes |
//!
//! A file is dead when a connection to it is refused, or when the process that listened has ended while a child of it
//! holds the socket open. Dead files are replaced or removed, under the lock only: so nobody removes a file that somebody
//! else has just put there, and of two that want the same name one wins. The lock is a record lock, which neither
//! outlives its process nor is inherited by a child.

use crate::folder::Folder;
use crate::owner::{Life, Owner};
use crate::socket::Peer;
use crate::sync::{AtomicU64, Ordering};
use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, chmodat, fcntl_lock, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;
/// How long somebody may take to rename a file.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the end of a process looks whether the lock is free.
const EXIT_TRIES: u32 = 50;

/// The name of a process's socket.
pub(crate) fn of_process(owner: Owner) -> String {
    format!("{}-{}.sock", owner.pid, owner.started)
}

/// The name of the socket that listens on `name`.
pub(crate) fn of_listener(name: &str) -> String {
    format!("name-{:032x}.sock", crate::number::checksum128(name.as_bytes()))
}

/// What a file name says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Process(Owner),
    Listener,
    New(Owner),
}

fn kind(file: &str) -> Option<Kind> {
    let stem = file.strip_suffix(".sock")?;
    let owner = |text: &str| {
        let (pid, started) = text.split_once('-')?;
        Some(Owner { pid: pid.parse().ok()?, started: started.parse().ok()? })
    };
    if let Some(sum) = stem.strip_prefix("name-") {
        return (sum.len() == 32).then_some(Kind::Listener);
    }
    if let Some(rest) = stem.strip_prefix("new-") {
        return rest.rsplit_once('-').and_then(|(rest, _)| owner(rest)).map(Kind::New);
    }
    owner(stem).map(Kind::Process)
}

/// A listening socket with its file. Dropping it removes the file, if it is still this one's.
#[derive(Debug)]
pub(crate) struct Door {
    folder: &'static Folder,
    file: String,
    /// Device and inode of the file.
    place: (u64, u64),
    /// Who may remove it: not a child that inherited this value.
    pid: u32,
}

impl Door {
    /// Listens on a file.
    ///
    /// # Errors
    /// AlreadyExist (somebody living does), TimeOut (the lock is held), NoMemory (descriptors), Driver; one log line.
    pub(crate) fn open(folder: &'static Folder, file: String) -> Result<(Door, OwnedFd)> {
        let _lock = Lock::take(folder, PATIENCE)?;
        if probe(folder, &file) == State::Alive {
            log::error!(target: crate::LOG, "runtime folder {}: a living process listens on {file}", folder.path().display());
            return Err(Error::new(Code::AlreadyExist, "somebody listens there already"));
        }
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let owner = Owner::this_process()?;
        let new =
            format!("new-{}-{}-{}.sock", owner.pid, owner.started, COUNT.fetch_add(1, Ordering::Relaxed));
        let make = || -> Result<_, Errno> {
            let socket = socket()?;
            bind(&socket, &SocketAddrUnix::new(folder.short_path(&new))?)?;
            chmodat(folder.dir(), &new, Mode::RUSR | Mode::WUSR, AtFlags::empty())?;
            listen(&socket, BACKLOG)?;
            let about = statat(folder.dir(), &new, AtFlags::SYMLINK_NOFOLLOW)?;
            renameat(folder.dir(), &new, folder.dir(), &file)?;
            Ok((socket, (about.st_dev, about.st_ino)))
        };
        let (socket, place) = make().map_err(|errno| {
            let _ = unlinkat(folder.dir(), &new, AtFlags::empty());
            log::error!(target: crate::LOG, "socket {file} in runtime folder {}: {errno}", folder.path().display());
            let short = matches!(errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS);
            Error::new(if short { Code::NoMemory } else { Code::Driver }, "cannot listen")
        })?;
        Ok((Door { folder, file, place, pid: owner.pid }, socket))
    }
}

impl Door {
    /// Removes the file when the process ends. Where the lock is held all the time, or by a process that was killed, the
    /// file stays: it is dead with its socket, and whoever comes next removes it.
    pub(crate) fn close_at_exit(&self) {
        for _ in 0..EXIT_TRIES {
            match Lock::take(self.folder, Duration::ZERO) {
                Ok(lock) => return self.remove(lock),
                Err(error) if error.code() == Code::TimeOut => std::thread::sleep(Duration::from_millis(1)),
                Err(_) => return,
            }
        }
    }

    fn remove(&self, _lock: Lock) {
        let about = statat(self.folder.dir(), &self.file, AtFlags::SYMLINK_NOFOLLOW);
        if self.pid == std::process::id()
            && about.is_ok_and(|about| (about.st_dev, about.st_ino) == self.place)
        {
            let _ = unlinkat(self.folder.dir(), &self.file, AtFlags::empty());
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if self.pid != std::process::id() {
            return;
        }
        // Without the lock the file stays: it is dead with its socket, and whoever comes next removes it.
        if let Ok(lock) = Lock::take(self.folder, PATIENCE) {
            self.remove(lock);
        }
    }
}

fn socket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

/// A non-blocking connection to a file. AGAIN: too many wait there already.
pub(crate) fn connect_to(folder: &Folder, file: &str) -> Result<OwnedFd, Errno> {
    let socket = socket()?;
    connect(&socket, &SocketAddrUnix::new(folder.short_path(file))?)?;
    Ok(socket)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Alive,
    Dead,
    Absent,
}

/// Does somebody living listen there? When in doubt, yes.
fn probe(folder: &Folder, file: &str) -> State {
    match connect_to(folder, file) {
        Ok(socket) => match crate::sys::peer_of(socket.as_fd()) {
            Ok(peer) if is_dead(&peer, file) => State::Dead,
            _ => State::Alive,
        },
        Err(Errno::CONNREFUSED) => State::Dead,
        Err(Errno::NOENT) => State::Absent,
        Err(_) => State::Alive,
    }
}

/// Has the process that listened ended? A process of another namespace has number 0 and cannot be looked up.
pub(crate) fn is_dead(listener: &Peer, file: &str) -> bool {
    match kind(file) {
        _ if listener.pid == 0 => false,
        Some(Kind::Process(owner) | Kind::New(owner)) if owner.pid == listener.pid => !owner.is_alive(),
        _ => crate::owner::life_of(listener.pid) == Life::Over,
    }
}

/// Removes dead files. Those of processes that seem to live are looked at only if `all`, since that wakes them.
pub(crate) fn sweep(folder: &Folder, all: bool) -> Vec<Owner> {
    let mut living = Vec::new();
    let mut dead = Vec::new();
    for file in folder.names() {
        let Some(kind) = kind(&file) else { continue };
        if let Kind::Process(owner) | Kind::New(owner) = kind
            && (!all || matches!(kind, Kind::New(_)))
            && owner.is_alive()
        {
            continue;
        }
        match (probe(folder, &file), kind) {
            (State::Dead, _) => dead.push(file),
            (State::Alive, Kind::Process(owner)) => living.push(owner),
            _ => {}
        }
    }
    if !dead.is_empty()
        && let Ok(_lock) = Lock::take(folder, Duration::ZERO)
    {
        // Somebody may have replaced it meanwhile.
        for file in dead.iter().filter(|file| probe(folder, file) == State::Dead) {
            let _ = unlinkat(folder.dir(), file, AtFlags::empty());
        }
    }
    living.sort_unstable();
    living
}

/// The right to rename and remove. Record locks belong to processes, so threads have a mutex besides.
struct Lock {
    _threads: MutexGuard<'static, ()>,
    _file: OwnedFd,
}

impl Lock {
    fn take(folder: &Folder, patience: Duration) -> Result<Lock> {
        static THREADS: Mutex<()> = Mutex::new(());
        let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        let fail = |errno: Errno| {
            log::error!(target: crate::LOG, "lock of runtime folder {}: {errno}", folder.path().display());
            Error::new(Code::Driver, "runtime folder cannot be locked")
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(folder.dir(), "lock", flags, Mode::RUSR | Mode::WUSR).map_err(fail)?;
        let deadline = Instant::now() + patience;
        loop {
            match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock { _threads: threads, _file: file }),
                Err(Errno::AGAIN | Errno::ACCESS) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(Errno::AGAIN | Errno::ACCESS) => {
                    if !patience.is_zero() {
                        log::error!(target: crate::LOG, "lock of runtime folder {}: held for {patience:?}", folder.path().display());
                    }
                    return Err(Error::new(Code::TimeOut, "runtime folder is locked"));
                }
                Err(errno) => return Err(fail(errno)),
            }
        }
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
