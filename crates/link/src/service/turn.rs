//! What the service thread does.

use super::callers::Caller;
use super::{Command, Desk, LineHandle, Service, Tie};
use crate::socket::{Line, timespec};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};
use rustix::process::{Resource, getrlimit};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// What the thread watches has numbers; the first are fixed.
const WAKE: u64 = 0;
const OWN: u64 = 1;
pub(super) const FIRST: u64 = 2;

/// Packets of one line, or connections of one listener, before others have their turn.
const ROUND: usize = 16;
/// Pause in accepting when there are no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);
/// Processes we complained about and do not complain about again.
const COMPLAINTS: usize = 1024;

thread_local! {
    static HERE: Cell<bool> = const { Cell::new(false) };
}

/// Is this the service thread?
pub(super) fn is_here() -> bool {
    HERE.get()
}

/// What everything is watched with, and the first thing that is.
pub(super) fn prepare(wake: &OwnedFd) -> Result<OwnedFd, Errno> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, wake, EventData::new_u64(WAKE), EventFlags::IN)?;
    Ok(epoll)
}

/// Who answers a line's request.
#[derive(Clone)]
pub(super) enum Source {
    /// Whoever serves the topic.
    Process,
    Named(Arc<dyn Desk>),
}

pub(super) enum Watched {
    Listener {
        socket: OwnedFd,
        source: Source,
    },
    /// Connected; the request has not come.
    Fresh {
        line: Arc<Line>,
        source: Source,
    },
    Tied {
        line: Arc<Line>,
        tie: Box<dyn Tie>,
    },
    /// A process that has lines.
    Process(u32),
}

pub(super) struct Turn {
    pub(super) service: &'static Service,
    epoll: OwnedFd,
    pub(super) watched: HashMap<u64, Watched>,
    pub(super) callers: BTreeMap<u32, Caller>,
    /// Lines without a request, oldest first; some may be gone.
    fresh: VecDeque<u64>,
    pub(super) lines: usize,
    /// Given up for a moment when there are no descriptors left, to accept and refuse.
    spare: Option<OwnedFd>,
    /// Listeners that wait for descriptors.
    paused: Vec<u64>,
    complaints: HashSet<u32>,
    /// What is to be called, and when; few, in no order.
    timers: Vec<(Instant, Box<dyn FnOnce() + Send>)>,
}

impl Turn {
    pub(super) fn new(service: &'static Service, epoll: OwnedFd, own: OwnedFd) -> Turn {
        let mut turn = Turn {
            service,
            epoll,
            watched: HashMap::new(),
            callers: BTreeMap::new(),
            fresh: VecDeque::new(),
            lines: 0,
            spare: None,
            paused: Vec::new(),
            complaints: HashSet::new(),
            timers: Vec::new(),
        };
        turn.spare = turn.service.wake.try_clone().ok();
        turn.watch(OWN, Watched::Listener { socket: own, source: Source::Process });
        turn
    }

    pub(super) fn run(mut self) {
        HERE.set(true);
        let mut events = Vec::with_capacity(64);
        loop {
            events.clear();
            let pause = self.pause().map(timespec);
            match epoll::wait(&self.epoll, spare_capacity(&mut events), pause.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => {
                    log::error!(target: crate::LOG, "the thread that answers other processes ends: {errno}");
                    return;
                }
            }
            for id in std::mem::take(&mut self.paused) {
                self.rewatch(id);
            }
            self.call_due();
            for event in &events {
                self.serve(event.data.u64());
            }
        }
    }

    /// How long to sleep at most.
    fn pause(&self) -> Option<Duration> {
        let retry = (!self.paused.is_empty()).then_some(PAUSE);
        let first = self.timers.iter().map(|(due, _)| *due).min();
        let timer = first.map(|due| due.saturating_duration_since(Instant::now()));
        retry.into_iter().chain(timer).min()
    }

    /// Calls what is due.
    fn call_due(&mut self) {
        if self.timers.is_empty() {
            return;
        }
        let now = Instant::now();
        let (mut due, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.timers).into_iter().partition(|(due, _)| *due <= now);
        self.timers = rest;
        due.sort_by_key(|(due, _)| *due);
        for (_, f) in due {
            guarded(f);
        }
    }

    fn serve(&mut self, id: u64) {
        if id == WAKE {
            let _ = rustix::io::read(&self.service.wake, &mut [0; 8]);
            return self.obey();
        }
        match self.watched.get(&id) {
            Some(Watched::Listener { .. }) => self.accept(id),
            Some(Watched::Fresh { .. } | Watched::Tied { .. }) => self.read(id, ROUND),
            Some(Watched::Process(pid)) => self.bury(*pid),
            // Dropped earlier in the same round.
            None => {}
        }
    }

    fn obey(&mut self) {
        let commands =
            std::mem::take(&mut *self.service.commands.lock().unwrap_or_else(PoisonError::into_inner));
        for command in commands {
            match command {
                Command::Listen { id, socket, desk } => {
                    self.watch(id, Watched::Listener { socket, source: Source::Named(desk) });
                }
                Command::Unlisten(id) => self.forget(id),
                Command::After(due, f) => self.timers.push((due, f)),
                Command::Keep(line, tie) => {
                    let id = self.service.next();
                    let handle = LineHandle(Arc::downgrade(&line));
                    self.admit(&line);
                    if self.watch(id, Watched::Tied { line, tie }) {
                        self.with_tie(id, |tie| tie.tied(handle));
                    }
                }
            }
        }
    }

    /// Watches something new; false, and it is gone, where the kernel refuses.
    pub(super) fn watch(&mut self, id: u64, what: Watched) -> bool {
        self.watched.insert(id, what);
        self.rewatch(id)
    }

    fn rewatch(&mut self, id: u64) -> bool {
        let fd = match self.watched.get(&id) {
            Some(Watched::Listener { socket, .. }) => socket.as_fd(),
            Some(Watched::Fresh { line, .. } | Watched::Tied { line, .. }) => line.fd(),
            Some(Watched::Process(pid)) => match self.callers.get(pid) {
                Some(caller) => caller.pidfd.as_fd(),
                None => return false,
            },
            None => return false,
        };
        match epoll::add(&self.epoll, fd, EventData::new_u64(id), EventFlags::IN) {
            Ok(()) => true,
            Err(errno) if matches!(self.watched.get(&id), Some(Watched::Listener { .. })) => {
                self.complain(self.service.owner.pid, &format!("listening is interrupted: {errno}"));
                self.paused.push(id);
                false
            }
            Err(errno) => {
                self.complain(self.service.owner.pid, &format!("a connection cannot be watched: {errno}"));
                self.forget(id);
                false
            }
        }
    }

    /// Ends whatever has this number.
    pub(super) fn forget(&mut self, id: u64) {
        let Some(mut what) = self.watched.remove(&id) else { return };
        match &what {
            Watched::Listener { socket, .. } => {
                let _ = epoll::delete(&self.epoll, socket);
            }
            Watched::Fresh { line, .. } | Watched::Tied { line, .. } => {
                // Somebody who is sending may hold the socket for a moment longer.
                let _ = epoll::delete(&self.epoll, line.fd());
                line.hang_up();
                self.dismiss(line);
            }
            Watched::Process(_) => {}
        }
        guarded(move || {
            if let Watched::Tied { tie, .. } = &mut what {
                tie.gone();
            }
            // Desks and ties are dropped here, too.
            drop(what);
        });
    }

    fn accept(&mut self, id: u64) {
        for _ in 0..ROUND {
            let Some(Watched::Listener { socket, source }) = self.watched.get(&id) else { return };
            let source = source.clone();
            match accept_with(socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(connection) => self.receive(connection, source),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(errno) => return self.refuse_one(id, errno),
            }
        }
    }

    /// No descriptors: one connection is accepted with the spare one and ended, so that the caller knows; and then a
    /// pause, so that this thread does not spin.
    fn refuse_one(&mut self, id: u64, errno: Errno) {
        self.complain(self.service.owner.pid, &format!("connections of other processes refused: {errno}"));
        let Some(Watched::Listener { socket, .. }) = self.watched.get(&id) else { return };
        drop(self.spare.take());
        drop(accept_with(socket, SocketFlags::CLOEXEC));
        self.spare = self.service.wake.try_clone().ok();
        let _ = epoll::delete(&self.epoll, socket);
        self.paused.push(id);
    }

    /// A new connection.
    fn receive(&mut self, connection: OwnedFd, source: Source) {
        let Ok(line) = Line::over(connection) else { return };
        let peer = line.peer();
        if !peer.is_ours() {
            return self.complain(peer.pid, &format!("refused: it belongs to user {}", peer.uid));
        }
        let limit = getrlimit(Resource::Nofile).current.map_or(65_536, |n| n.min(65_536)) as usize;
        if self.lines >= limit / 2 {
            return self
                .complain(peer.pid, &format!("refused: {} connections, at most {}", self.lines, limit / 2));
        }
        // Whoever connects and says nothing makes room for others.
        let most = (limit / 8).clamp(16, 1024);
        if self.fresh.len() >= 2 * most {
            // Most of them have asked meanwhile, or are gone.
            self.fresh.retain(|id| matches!(self.watched.get(id), Some(Watched::Fresh { .. })));
        }
        if self.fresh.len() >= 2 * most
            && let Some(oldest) = self.fresh.pop_front()
        {
            self.complain(peer.pid, "connects and asks nothing, its oldest connection is ended");
            self.forget(oldest);
        }
        let id = self.service.next();
        self.admit(&line);
        self.fresh.push_back(id);
        self.watch(id, Watched::Fresh { line: Arc::new(line), source });
    }

    /// Reads what a line has to say.
    pub(super) fn read(&mut self, id: u64, packets: usize) {
        for _ in 0..packets {
            let Some(Watched::Fresh { line, .. } | Watched::Tied { line, .. }) = self.watched.get(&id) else {
                return;
            };
            let line = line.clone();
            match line.try_receive() {
                Ok(None) => return,
                Ok(Some((bytes, fds))) => self.hear(id, &line, &bytes, fds),
                Err(error) => return self.lose(id, &line, &error),
            }
        }
    }

    /// Calls a tie; one that panics loses its line.
    pub(super) fn with_tie(&mut self, id: u64, f: impl FnOnce(&mut dyn Tie)) {
        if let Some(Watched::Tied { tie, .. }) = self.watched.get_mut(&id)
            && !guarded(|| f(&mut **tie))
        {
            self.forget(id);
        }
    }

    /// One line per process that misbehaves.
    pub(super) fn complain(&mut self, pid: u32, what: &str) {
        if self.complaints.len() >= COMPLAINTS {
            self.complaints.clear();
        }
        if self.complaints.insert(pid) {
            log::warn!(target: crate::LOG, "process {pid}: {what}");
        }
    }
}

/// Runs code of another part of the library; false, and one log line, if it panics.
pub(super) fn guarded(f: impl FnOnce()) -> bool {
    let calm = catch_unwind(AssertUnwindSafe(f)).is_ok();
    if !calm {
        log::error!(target: crate::LOG, "a desk that answers other processes panicked; its connection is ended");
    }
    calm
}
