//! The thread that answers other processes.
//!
//! One thread per process, `softdpu-link`, started when it is first needed. It accepts connections to this process and to
//! the names it listens on, hands requests to desks, and watches the lines that are tied. It sleeps while nobody asks,
//! takes no signals and never runs code of the program. A peer that sends what makes no sense, or does not read its
//! answers, loses its connection; a panic of a desk costs the connection that caused it.
//!
//! Lines end when the peer hangs up, and also when its process dies while some child of it still holds the connection
//! open.

mod answer;
mod callers;
mod client;
mod turn;
mod wire;

pub use client::{ask, call};

use crate::folder::Folder;
use crate::names::{self, Door};
use crate::owner::Owner;
use crate::socket::{Line, Peer};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use rustix::event::{EventfdFlags, eventfd};
use softdpu_status::{Code, Error, Result};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
pub use wire::MAX_REQUEST;

/// What a request to a process is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Topic(pub u16);

impl Topic {
    /// Imports of exported memory.
    pub const EXPORT: Topic = Topic(1);
    /// Synchronization events.
    pub const SYNC_EVENT: Topic = Topic(2);
    /// What a process is doing.
    pub const TOP: Topic = Topic(3);
    /// Queue pairs.
    pub const RDMA: Topic = Topic(4);
}

/// Answers requests.
pub trait Desk: Send + Sync {
    /// One request, on the service thread, with no lock of the service held. Must not block, and must not ask other
    /// processes.
    fn ask(&self, peer: &Peer, request: &[u8], fds: Vec<OwnedFd>) -> Answer;
}

/// What a desk answers.
#[derive(Default)]
pub struct Answer {
    /// At most [`MAX_REQUEST`] bytes; none is an answer, too.
    pub bytes: Vec<u8>,
    /// At most [`MAX_FDS`](crate::socket::MAX_FDS) descriptors; closed here once they are sent.
    pub fds: Vec<OwnedFd>,
    /// Watches the line from now on. Without it the connection ends with the answer.
    pub tie: Option<Box<dyn Tie>>,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Answer({} bytes, {} descriptors, tied: {})",
            self.bytes.len(),
            self.fds.len(),
            self.tie.is_some()
        )
    }
}

/// Watches a line. All calls come on the service thread, one after the other.
pub trait Tie: Send {
    /// The line is tied; the first call.
    fn tied(&mut self, line: LineHandle) {
        let _ = line;
    }

    /// A packet of the peer. What is returned is sent back.
    fn message(&mut self, bytes: &[u8], fds: Vec<OwnedFd>) -> Option<Vec<u8>> {
        let _ = (bytes, fds);
        None
    }

    /// The peer hung up, died or was dropped: called exactly once, the last call; then the tie is dropped.
    /// A peer that is gone before it has its answer leads to this call alone.
    fn gone(&mut self);
}

/// A way to a tied line from any thread. Does not keep it open.
#[derive(Clone, Debug)]
pub struct LineHandle(Weak<Line>);

impl LineHandle {
    /// Sends a packet to the peer; does not wait.
    ///
    /// # Errors
    /// As [`Line::send`]; ConnectionReset when the line has ended, or is that of the process this one was forked from.
    pub fn send(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<()> {
        match self.0.upgrade().filter(|_| is_ours()) {
            Some(line) => line.send(bytes, fds),
            None => Err(Error::new(Code::ConnectionReset, "the line has ended")),
        }
    }

    /// Ends the line; its tie learns of that on the service thread. Nothing happens in a child that was forked since: it
    /// has the same connection, and would end it for its parent.
    pub fn hang_up(&self) {
        if let Some(line) = self.0.upgrade().filter(|_| is_ours()) {
            line.hang_up();
        }
    }
}

/// Answers on a name. Dropping it ends that; lines that were tied meanwhile stay.
#[derive(Debug)]
pub struct Listener {
    door: Option<Door>,
    id: u64,
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The file first: a name that nobody answers is not there.
        drop(self.door.take());
        if let Some(service) = SERVICE.get()
            && is_ours()
        {
            service.tell(Command::Unlisten(self.id));
        }
    }
}

/// What other threads want of the service thread.
enum Command {
    Listen { id: u64, socket: OwnedFd, desk: Arc<dyn Desk> },
    Unlisten(u64),
    Keep(Arc<Line>, Box<dyn Tie>),
    After(Instant, Box<dyn FnOnce() + Send>),
}

/// What the service thread and the others share.
struct Service {
    owner: Owner,
    commands: Mutex<Vec<Command>>,
    wake: OwnedFd,
    /// Numbers for what the thread watches.
    next: AtomicU64,
    door: Door,
}

impl Service {
    fn tell(&self, command: Command) {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).push(command);
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    fn next(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

static SERVICE: OnceLock<Service> = OnceLock::new();
/// The process that started the service, or 0.
static STARTED_BY: AtomicU32 = AtomicU32::new(0);
static DESKS: Mutex<Vec<(Topic, &'static dyn Desk)>> = Mutex::new(Vec::new());

/// Not started, or started by this process.
fn is_ours() -> bool {
    let by = STARTED_BY.load(Ordering::Relaxed);
    by == 0 || by == std::process::id()
}

/// Refuses a child that was forked after the service had been started: it has the connections but not the thread.
fn check_fork() -> Result<()> {
    if is_ours() {
        return Ok(());
    }
    let by = STARTED_BY.load(Ordering::Relaxed);
    log::error!(target: crate::LOG, "process {} was forked from {by}, which shares with other processes already; \
        fork before that, or call exec in the child", std::process::id());
    Err(Error::new(Code::BadState, "forked after sharing had begun"))
}

/// Answers requests about `topic` that other processes send to this one. The first desk of a topic stays. Starts nothing:
/// [`ensure`] does.
pub fn serve(topic: Topic, desk: &'static dyn Desk) {
    let mut desks = DESKS.lock().unwrap_or_else(PoisonError::into_inner);
    if desks.iter().all(|(known, _)| *known != topic) {
        desks.push((topic, desk));
    }
}

/// Makes sure that this process answers others; returns by which name they know it. Any thread.
///
/// # Errors
/// BadState (in a child that was forked after the service had been started), Driver (runtime folder), NoMemory (thread,
/// descriptors), with one log line.
pub fn ensure() -> Result<Owner> {
    started().map(|service| service.owner)
}

fn started() -> Result<&'static Service> {
    static STARTING: Mutex<()> = Mutex::new(());
    check_fork()?;
    if let Some(service) = SERVICE.get() {
        return Ok(service);
    }
    // Said before any lock is held that a child could inherit.
    STARTED_BY.store(std::process::id(), Ordering::Relaxed);
    let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(service) = SERVICE.get() {
        return Ok(service);
    }
    STARTED_BY.store(std::process::id(), Ordering::Relaxed);
    start().inspect_err(|_| STARTED_BY.store(0, Ordering::Relaxed))
}

fn start() -> Result<&'static Service> {
    let folder = Folder::of_process()?;
    let owner = Owner::this_process()?;
    let (door, socket) = Door::open(folder, names::of_process(owner))?;
    let short = |what: &dyn std::fmt::Display| {
        log::error!(target: crate::LOG, "the thread that answers other processes: {what}");
        Error::new(Code::NoMemory, "cannot answer other processes")
    };
    let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(|errno| short(&errno))?;
    let epoll = turn::prepare(&wake).map_err(|errno| short(&errno))?;
    let service =
        Service { owner, commands: Mutex::default(), wake, next: AtomicU64::new(turn::FIRST), door };
    crate::report::begin();
    let (send, receive) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("softdpu-link".to_owned());
    crate::sys::with_signals_blocked(|| {
        thread.spawn(move || {
            // Nothing comes when the service could not be started.
            if let Ok(service) = receive.recv() {
                // Here, because it takes longer the more processes there are.
                names::sweep(folder, false);
                turn::Turn::new(service, epoll, socket).run();
            }
        })
    })
    .map_err(|error| short(&error))?;
    let service = SERVICE.get_or_init(|| service);
    let _ = send.send(service);
    crate::sys::at_exit(close);
    Ok(service)
}

/// The process ends: others need not find out by themselves.
extern "C" fn close() {
    if let Some(service) = SERVICE.get()
        && is_ours()
    {
        service.door.close_at_exit();
    }
}

/// Answers whoever calls `name` in the runtime folder. Any text is a name. Any thread.
///
/// # Errors
/// AlreadyExist: a living process, maybe this one, listens on it. As [`ensure`] besides. With one log line.
pub fn listen(name: &str, desk: Arc<dyn Desk>) -> Result<Listener> {
    let service = started()?;
    let (door, socket) = Door::open(Folder::of_process()?, names::of_listener(name))?;
    let id = service.next();
    service.tell(Command::Listen { id, socket, desk });
    Ok(Listener { door: Some(door), id })
}

/// Has the service thread watch a line that [`ask`] or [`call`] returned. Any thread. Where there can be no service (see
/// [`ensure`]) the line ends and the tie is told so at once, on this thread.
pub fn keep(line: Line, mut tie: Box<dyn Tie>) -> LineHandle {
    let line = Arc::new(line);
    let handle = LineHandle(Arc::downgrade(&line));
    match started() {
        Ok(service) => service.tell(Command::Keep(line, tie)),
        Err(_) => tie.gone(),
    }
    handle
}

/// Has the service thread call `f` after a while; never where there can be no service (see [`ensure`]). Short: others
/// wait for the thread. Any thread.
pub fn after(delay: Duration, f: impl FnOnce() + Send + 'static) {
    if let Ok(service) = started() {
        service.tell(Command::After(Instant::now() + delay, Box::new(f)));
    }
}

/// Processes of this user that answer, in the runtime folder of this one, by their numbers. Removes files of those that
/// have ended.
pub fn processes() -> Vec<Owner> {
    match check_fork().and_then(|()| Folder::of_process()) {
        Ok(folder) => names::sweep(folder, true),
        Err(_) => Vec::new(),
    }
}
