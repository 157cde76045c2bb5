//! A line to a peer: a plain stream over which two ends meet, and which ends when one of them does; and the connection
//! of the fabric that it leads to, while no engine looks after that.

use super::meet::{PING, Role};
use super::pipe::Pipe;
use super::pulse::{Beat, DEADLINE, Pulse, deadline};
use crate::control::Control;
use crate::ffi::{Gate, Plug};
use crate::job::ConnRef;
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Between two looks at what is under way.
const NAP: Duration = Duration::from_millis(1);
/// The same at an engine that drives its connections itself, and after how many of them without a turn of it the thread
/// does.
const BUSY: Duration = Duration::from_millis(2);
const QUIET: u32 = 2;
/// What was sent before the end of a line may come for so long after it.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Bytes of a packet at most.
const LONGEST: usize = 1024;
/// Rounds of driving before others have their turn.
const ROUNDS: usize = 64;

/// See the module.
pub(super) struct Line {
    stream: TcpStream,
    input: VecDeque<u8>,
    pub(super) role: Role,
    gate: Option<Gate>,
    pub(super) pipe: Option<Arc<Pipe>>,
    /// Copies of what wakes who waits for the connection.
    wakes: Vec<OwnedFd>,
    /// The engine drives; what it had done at the last look, and for how long it was silent.
    napping: bool,
    turns: u32,
    silent: u32,
    /// The engine was called: how often, since something came.
    called: u32,
    due: Option<Instant>,
    deadline: Option<Instant>,
    /// The stream has ended, or this end leaves: until when the connection goes on.
    ending: Option<Instant>,
    stream_ended: bool,
    over: bool,
    pulse: Pulse,
    /// Of a connection made out of band: whose tasks go this way, if they are ours.
    pub(super) own: Option<(Weak<Control>, ConnRef)>,
    /// Who waits for the peer's answer to whether ours may.
    pub(super) sharing: Option<SyncSender<u32>>,
}

impl Line {
    /// On a stream that is connected. `deadline`: until when the two have to be joined.
    pub(super) fn new(stream: TcpStream, role: Role, deadline: Instant) -> std::io::Result<Line> {
        use rustix::net::sockopt;
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        // A machine that is gone, or cut off, is noticed within seconds.
        sockopt::set_socket_keepalive(&stream, true)?;
        sockopt::set_tcp_keepidle(&stream, Duration::from_secs(1))?;
        sockopt::set_tcp_keepintvl(&stream, Duration::from_secs(1))?;
        sockopt::set_tcp_keepcnt(&stream, 3)?;
        Ok(Line {
            stream,
            input: VecDeque::new(),
            role,
            gate: None,
            pipe: None,
            wakes: Vec::new(),
            napping: false,
            turns: 0,
            silent: QUIET,
            called: 0,
            due: None,
            deadline: Some(deadline),
            ending: None,
            stream_ended: false,
            over: false,
            pulse: Pulse::default(),
            own: None,
            sharing: None,
        })
    }

    /// Has it not said anything?
    pub(super) fn is_of_stranger(&self) -> bool {
        matches!(self.role, Role::Stranger { .. })
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// When it wants to be looked at.
    pub(super) fn due(&self) -> Option<Instant> {
        [self.due, self.deadline, self.ending, self.pulse.due()].into_iter().flatten().min()
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due().is_some_and(|due| due <= now)
    }

    pub(super) fn stream(&self) -> Option<BorrowedFd<'_>> {
        (!self.stream_ended).then(|| self.stream.as_fd())
    }

    pub(super) fn wakes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let gate = self.gate.as_ref().and_then(Gate::wait_fd);
        self.wakes.iter().filter(|_| !self.napping).map(|fd| fd.as_fd()).chain(gate)
    }

    /// The address of the other end, and of this one.
    pub(super) fn ends(&self) -> Option<(IpAddr, IpAddr)> {
        Some((
            self.stream.peer_addr().ok()?.ip().to_canonical(),
            self.stream.local_addr().ok()?.ip().to_canonical(),
        ))
    }

    /// Has the other end not hung up, as far as this machine knows?
    pub(super) fn is_there(&self) -> bool {
        let gone = match self.stream.peek(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        };
        !(gone || self.over || self.stream_ended)
    }

    /// Sends a packet.
    pub(super) fn say(&mut self, bytes: &[u8]) {
        let mut packet = (bytes.len() as u16).to_le_bytes().to_vec();
        packet.extend(bytes);
        // A fresh stream has room for the few short packets that are ever said.
        if !self.stream_ended && self.stream.write_all(&packet).is_err() {
            self.stream_ended = true;
            self.due = Some(Instant::now());
        }
    }

    /// No more is to be said: the peer is heard no longer.
    pub(super) fn hang_up(&mut self) {
        self.over = true;
        self.sharing = None;
        if let Some(pipe) = &self.pipe {
            pipe.set_gone();
        }
    }

    /// A place where the peer connects.
    pub(super) fn set_gate(&mut self, gate: Gate) {
        self.gate = Some(gate);
        self.due = Some(Instant::now());
    }

    /// The connection is there, or being made.
    pub(super) fn set_plug(&mut self, plug: Plug) {
        let copies = plug.wait_fds().into_iter().flatten().map(|fd| fd.try_clone_to_owned());
        self.wakes = copies.filter_map(Result::ok).collect();
        if let Some(pipe) = &self.pipe {
            pipe.lock().set_plug(plug);
        }
        self.due = Some(Instant::now());
    }

    /// The two are joined.
    pub(super) fn joined(&mut self) {
        self.deadline = None;
        self.due = Some(Instant::now());
    }

    /// Somebody rang: perhaps an engine that sleeps, or leaves.
    pub(super) fn heard(&mut self, now: Instant) {
        let watch = |pipe: &Arc<Pipe>| pipe.is_watched() && !self.pulse.is_on();
        let looks = |pipe: &Arc<Pipe>| pipe.is_leaving() || self.napping && pipe.is_asleep() || watch(pipe);
        if self.pipe.as_ref().is_some_and(looks) {
            self.due = Some(now);
        }
    }

    /// Something comes from the fabric.
    pub(super) fn woken(&mut self, now: Instant) {
        self.due = Some(now);
    }

    /// Something comes on the stream.
    pub(super) fn readable(&mut self, now: Instant) {
        let mut bytes = [0; 2 * LONGEST];
        match self.stream.read(&mut bytes) {
            Ok(0) => self.stream_ended = true,
            Ok(n) => self.input.extend(&bytes[..n]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.stream_ended = true,
        }
        while self.input.len() >= 2 && !self.over {
            let len = usize::from(u16::from_le_bytes([self.input[0], self.input[1]]));
            if len > LONGEST {
                log::warn!(target: crate::LOG, "network: a peer sends a packet of {len} bytes, at most {LONGEST}");
                self.stream_ended = true;
                break;
            }
            if self.input.len() < 2 + len {
                break;
            }
            let packet: Vec<u8> = self.input.drain(..2 + len).skip(2).collect();
            self.packet(&packet);
        }
        if self.stream_ended {
            self.due = Some(now);
        }
    }

    /// Looks after it.
    pub(super) fn step(&mut self, now: Instant) {
        self.due = None;
        self.knocked(now);
        if self.pipe.is_some() {
            self.drive(now);
        }
        if self.stream_ended && !self.over && self.ending.is_none() {
            self.ended();
            let goes_on = self.pipe.as_ref().is_some_and(|pipe| pipe.lock().is_open());
            if goes_on {
                self.ending = Some(now + LAST_WORDS);
                self.due = Some(now + NAP);
            } else {
                self.hang_up();
            }
        }
        if self.ending.is_some_and(|end| end <= now) {
            self.hang_up();
        }
        if !self.over && self.deadline.is_some_and(|deadline| deadline <= now) {
            self.deadline = None;
            self.too_late();
        }
    }

    /// Has the peer connected at the gate?
    fn knocked(&mut self, now: Instant) {
        let Some(gate) = &mut self.gate else { return };
        match gate.poll() {
            Ok(Some(plug)) => {
                self.set_plug(plug);
                self.gate = None;
            }
            Ok(None) if gate.may_sleep() => {}
            Ok(None) => self.due = Some(now),
            Err(why) => {
                log::error!(target: crate::LOG, "network: a peer could not connect: {why}");
                self.hang_up();
            }
        }
    }

    /// Drives the connection, unless its engine does.
    fn drive(&mut self, now: Instant) {
        let Some(pipe) = self.pipe.clone() else { return };
        if pipe.is_leaving() {
            return self.leave(&pipe, now);
        }
        if self.pulse.is_due(now) && !self.feel(&pipe, now) {
            return self.hang_up();
        }
        if !self.pulse.is_on() && (pipe.waits() || pipe.is_watched() && pipe.stop_watching()) {
            self.pulse.begin(now);
        }
        let turns = pipe.turns();
        let busy = turns != self.turns && !pipe.is_asleep();
        self.silent = if busy { 0 } else { self.silent + 1 };
        self.turns = turns;
        self.napping = !pipe.is_asleep() && self.silent < QUIET && !self.wakes.is_empty();
        pipe.set_napping(self.napping);
        if self.napping && !pipe.is_asleep() {
            self.due = Some(now + BUSY);
            if pipe.is_opened() {
                self.opened();
            }
            return;
        }
        self.napping = false;
        let mut inner = pipe.lock();
        let mut any = false;
        for _ in 0..ROUNDS {
            if !inner.drive(true) {
                break;
            }
            any = true;
        }
        inner.flush();
        let (opened, over, calls) = (inner.is_open(), inner.is_over(), inner.calls_engine());
        let sleeps = inner.plug().is_none_or(Plug::may_sleep);
        drop(inner);
        if opened {
            pipe.set_opened();
            self.opened();
        }
        if over {
            return self.hang_up();
        }
        if any {
            self.called = 0;
        }
        if calls {
            self.call(&pipe, now);
        }
        if !sleeps {
            self.due = Some(now);
        }
        if self.ending.is_some() {
            self.due = Some(now + NAP);
        }
    }

    /// Looks whether the peer lives. False: it does not.
    fn feel(&mut self, pipe: &Pipe, now: Instant) -> bool {
        let waits = pipe.waits() || pipe.stop_watching();
        match self.pulse.feel(waits, now) {
            Beat::Fine => true,
            Beat::Ask => {
                self.say(&[PING]);
                true
            }
            Beat::Gone(silent) => {
                let peer = self.ends().map_or_else(String::new, |(peer, _)| peer.to_string());
                log::error!(target: crate::LOG,
                    "network: tasks wait for {peer}, whose process has been silent for {} s; at most {} s are allowed ({DEADLINE})",
                    silent.as_secs(), deadline().as_secs());
                false
            }
        }
    }

    /// The peer has answered.
    pub(super) fn alive(&mut self) {
        self.pulse.alive();
    }

    /// The engine has something to do; if it does not come, a worker is to turn it.
    fn call(&mut self, pipe: &Pipe, now: Instant) {
        match self.called {
            0 => pipe.attention.call(),
            1 => pipe.attention.call_worker(),
            _ => return,
        }
        self.called += 1;
        if self.called < 2 {
            self.due = Some(now + NAP);
        }
    }

    /// This end leaves: what it has said is sent before.
    fn leave(&mut self, pipe: &Pipe, now: Instant) {
        let end = *self.ending.get_or_insert(now + LAST_WORDS);
        self.pulse = Pulse::default();
        let mut inner = pipe.lock();
        inner.flush_for_good();
        inner.drive(true);
        if inner.is_drained() || end <= now {
            inner.unplug();
            self.over = true;
        } else {
            self.due = Some(now + NAP);
        }
    }
}
