//! The thread of the network, `softdpu-fabric`: it answers peers whatever the program is doing, looks after connections
//! while their engines do not turn, and notices who is gone. There is one per process, from the first door or connection
//! on; it sleeps while nothing comes.

use super::door::Door;
use super::line::Line;
use crate::control::lock;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// Those who came through a door and have not said what they want.
const MOST_STRANGERS: usize = 256;

/// Something to be done by the thread.
type Command = Box<dyn FnOnce(&mut Loop) + Send>;

struct Hub {
    commands: Mutex<Vec<Command>>,
    bell: OwnedFd,
    process: u32,
}

static HUB: OnceLock<core::result::Result<Hub, Error>> = OnceLock::new();

/// What the thread looks after.
#[derive(Default)]
pub(super) struct Loop {
    pub(super) doors: Vec<Door>,
    pub(super) lines: Vec<Line>,
}

/// Lets the thread do something; starts it if need be.
///
/// # Errors
/// NoMemory (no thread, no descriptors), BadState (in a child that was forked off).
pub(super) fn call(command: impl FnOnce(&mut Loop) + Send + 'static) -> Result<()> {
    let hub = HUB.get_or_init(start).as_ref().map_err(|&error| error)?;
    if hub.process != std::process::id() {
        return Err(Error::new(Code::BadState, "the network's thread is that of the parent process"));
    }
    lock(&hub.commands).push(Box::new(command));
    ring(hub);
    Ok(())
}

/// Lets the thread look at its connections.
pub(super) fn wake() {
    if let Some(Ok(hub)) = HUB.get() {
        ring(hub);
    }
}

fn ring(hub: &Hub) {
    // A counter that is full says the same.
    let _ = rustix::io::write(&hub.bell, &1u64.to_ne_bytes());
}

fn start() -> core::result::Result<Hub, Error> {
    let failed = |what: String| {
        log::error!(target: crate::LOG, "the network's thread cannot be started: {what}");
        Error::new(Code::NoMemory, "no thread for the network")
    };
    let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
        .map_err(|errno| failed(errno.to_string()))?;
    let spawn = || std::thread::Builder::new().name("softdpu-fabric".into()).spawn(run);
    softdpu_link::with_signals_blocked(spawn).map_err(|error| failed(error.to_string()))?;
    Ok(Hub { commands: Mutex::default(), bell, process: std::process::id() })
}

/// Who a descriptor is of.
#[derive(Clone, Copy)]
enum Who {
    Bell,
    Door(usize),
    Stream(usize),
    Fabric(usize),
}

fn run() {
    let hub = loop {
        match HUB.get() {
            Some(Ok(hub)) => break hub,
            Some(Err(_)) => return,
            None => std::thread::yield_now(),
        }
    };
    let mut this = Loop::default();
    loop {
        for command in core::mem::take(&mut *lock(&hub.commands)) {
            command(&mut this);
        }
        let now = Instant::now();
        for line in &mut this.lines {
            if line.is_due(now) {
                line.step(now);
            }
        }
        this.lines.retain(|line| !line.is_over());
        let due = this.lines.iter().filter_map(Line::due).min();
        let ready = this.sleep(hub, due.map(|due| due.saturating_duration_since(Instant::now())));
        let now = Instant::now();
        for who in ready {
            match who {
                Who::Bell => {
                    let _ = rustix::io::read(&hub.bell, &mut [0; 8]);
                    this.lines.iter_mut().for_each(|line| line.heard(now));
                }
                Who::Door(at) => this.open(at, now),
                Who::Stream(at) => this.lines[at].readable(now),
                Who::Fabric(at) => this.lines[at].woken(now),
            }
        }
    }
}

impl Loop {
    /// Sleeps until something comes, or for this time.
    fn sleep(&self, hub: &Hub, time: Option<std::time::Duration>) -> Vec<Who> {
        let mut who = vec![Who::Bell];
        let mut fds = vec![PollFd::from_borrowed_fd(hub.bell.as_fd(), PollFlags::IN)];
        for (at, door) in self.doors.iter().enumerate() {
            who.push(Who::Door(at));
            fds.push(PollFd::from_borrowed_fd(door.listener.as_fd(), PollFlags::IN));
        }
        for (at, line) in self.lines.iter().enumerate() {
            let streams = line.stream().map(|fd| (Who::Stream(at), fd));
            let fabric = line.wakes().map(|fd| (Who::Fabric(at), fd));
            for (whose, fd) in streams.into_iter().chain(fabric) {
                who.push(whose);
                fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
            }
        }
        let time = time.map(|t| Timespec { tv_sec: t.as_secs() as _, tv_nsec: t.subsec_nanos() as _ });
        if poll(&mut fds, time.as_ref()).is_err() {
            return Vec::new();
        }
        let ready = fds.iter().zip(who).filter(|(fd, _)| !fd.revents().is_empty());
        ready.map(|(_, who)| who).collect()
    }

    /// Lets in whoever stands at a door.
    fn open(&mut self, at: usize, now: Instant) {
        let Some(door) = self.doors.get(at) else { return };
        while let Some(line) = door.accept(now) {
            // Beyond that they are turned away: it is more than ever come at once in earnest.
            if self.lines.iter().filter(|line| line.is_of_stranger()).count() < MOST_STRANGERS {
                self.lines.push(line);
            }
        }
    }
}
