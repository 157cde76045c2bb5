//! The service thread's side of a server: who calls, who gets a seat, who has hung up.

use super::ServerSetup;
use crate::bell::Bell;
use crate::caps::Caps;
use crate::connection::{Connection, Parts, Side};
use crate::event::Post;
use crate::inlet::Inlet;
use crate::layout::{Shape, Terms};
use crate::ready::Ready;
use crate::todo::Todo;
use crate::wire::{self, Kind, Refusal};
use softdpu_link::{Answer, Desk, LineHandle, Peer, Ringer, Segment, Tie};
use softdpu_memory::device::Device;
use softdpu_room::hardware::Alarm;
use softdpu_status::{Code, Error, Result};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What hardware and service thread share.
#[derive(Debug)]
pub(super) struct Hall {
    name: String,
    host_text: String,
    device: Weak<Device>,
    mine: Terms,
    streams: u32,
    seats: u32,
    bell: Bell,
    ready: Ready,
    todo: Arc<Todo>,
    post: Arc<Post>,
    guests: Mutex<Guests>,
}

#[derive(Debug, Default)]
struct Guests {
    closed: bool,
    free: Vec<u32>,
    /// Seats that were never given out begin here.
    fresh: u32,
    arrived: Vec<(Arc<Connection>, Inlet)>,
    /// Lines of those without a connection yet, to hang up when the server stops.
    lines: Vec<(u32, LineHandle)>,
}

impl Hall {
    pub(super) fn open(
        setup: &ServerSetup,
        device: &Arc<Device>,
        caps: Caps,
        alarm: &Arc<Alarm>,
        post: &Arc<Post>,
    ) -> Result<Arc<Hall>> {
        Ok(Arc::new(Hall {
            name: setup.name.escape_ascii().to_string(),
            host_text: setup.host_text.clone(),
            device: Arc::downgrade(device),
            mine: setup.ends.terms,
            streams: caps.max_streams,
            seats: caps.max_clients,
            bell: Bell::of(alarm)?,
            ready: Ready::create(caps.max_clients)?,
            todo: Todo::new(alarm.clone()),
            post: post.clone(),
            guests: Mutex::default(),
        }))
    }

    pub(super) fn todo(&self) -> &Todo {
        &self.todo
    }

    pub(super) fn ready(&self) -> &Ready {
        &self.ready
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who arrived since the last look.
    pub(super) fn arrivals(&self) -> Vec<(Arc<Connection>, Inlet)> {
        core::mem::take(&mut self.guests().arrived)
    }

    /// A seat is free again.
    pub(super) fn leave(&self, seat: u32) {
        self.guests().free.push(seat);
    }

    /// Nobody is taken from now on; whoever waits is sent away.
    pub(super) fn close(&self) {
        let mut guests = self.guests();
        guests.closed = true;
        let arrived = core::mem::take(&mut guests.arrived);
        let lines = core::mem::take(&mut guests.lines);
        drop(guests);
        arrived.iter().for_each(|(connection, _)| connection.hang_up());
        lines.iter().for_each(|(_, line)| line.hang_up());
    }

    fn seat(&self) -> Result<u32, Refusal> {
        let mut guests = self.guests();
        if guests.closed {
            return Err(Refusal::Closed);
        }
        if let Some(seat) = guests.free.pop() {
            return Ok(seat);
        }
        if guests.fresh == self.seats {
            return Err(Refusal::Full);
        }
        guests.fresh += 1;
        Ok(guests.fresh - 1)
    }

    fn welcome(self: &Arc<Self>, peer: &Peer, request: &[u8]) -> Result<Answer> {
        let bad = Error::new(Code::InvalidValue, "not a client's question");
        let ([msg, queue], _) = wire::read(Kind::Hello, request).ok_or(bad)?;
        let theirs = Terms::check(msg, queue).ok_or(bad)?;
        let seat = match self.seat() {
            Ok(seat) => seat,
            Err(why) => {
                log::warn!(target: crate::LOG, "server `{}`: a client of process {} is refused: {}", self.name,
                    peer.pid, Refusal::text(why as u32));
                return Ok(Answer {
                    bytes: wire::packet(Kind::Refused, &[why as u32], &[]),
                    ..Answer::default()
                });
            }
        };
        // From here on the seat goes back when the guest is dropped.
        let guest = Guest { hall: self.clone(), peer: *peer, theirs, seat, connection: None, line: None };
        let [page, event] = self.bell.owned_fds()?;
        let board = self.ready.fd().try_clone_to_owned();
        let board = board.map_err(|_| Error::new(Code::NoMemory, "no descriptor for the board"))?;
        let numbers = [self.mine.msg, self.mine.queue, seat, self.seats, self.bell.word];
        Ok(Answer {
            bytes: wire::packet(Kind::Welcome, &numbers, &[]),
            fds: vec![page, event, board],
            tie: Some(Box::new(guest)),
        })
    }
}

/// Answers for the hall.
pub(super) struct Entrance(pub(super) Arc<Hall>);

impl Desk for Entrance {
    fn ask(&self, peer: &Peer, request: &[u8], _: Vec<OwnedFd>) -> Answer {
        if wire::kind_of(request) == Some(Kind::Probe as u16) {
            let bytes = wire::packet(Kind::Probed, &[], self.0.host_text.as_bytes());
            return Answer { bytes, ..Answer::default() };
        }
        self.0.welcome(peer, request).unwrap_or_else(|error| {
            log::error!(target: crate::LOG, "server `{}`: process {} called with {} bytes: {error}", self.0.name,
                peer.pid, request.len());
            Answer::default()
        })
    }
}

/// Watches the line to a client, before and after it has a connection.
struct Guest {
    hall: Arc<Hall>,
    peer: Peer,
    theirs: Terms,
    seat: u32,
    connection: Option<Arc<Connection>>,
    line: Option<LineHandle>,
}

impl Guest {
    fn join(&mut self, bytes: &[u8], fds: Vec<OwnedFd>) -> Result<()> {
        let bad = Error::new(Code::InvalidValue, "not a client's second packet");
        let ([up, down, word], _) = wire::read(Kind::Join, bytes).ok_or(bad)?;
        let [segment, page, event]: [OwnedFd; 3] = fds.try_into().map_err(|_| bad)?;
        let shape = Shape::check(up, down, Terms::shape(self.theirs, self.hall.mine))?;
        let (connection, inlet) = Connection::new(Parts {
            seat: self.seat,
            side: Side::Server,
            device: self.hall.device.clone(),
            peer: self.peer.pid,
            mine: self.hall.mine,
            theirs: self.theirs,
            segment: Segment::from_fd(segment, shape.bytes())?,
            shape,
            ringer: Ringer::accept(page, word, event)?,
            ready: None,
            todo: self.hall.todo.clone(),
            post: self.hall.post.clone(),
            streams: self.hall.streams,
        });
        if let Some(line) = self.line.take() {
            connection.set_line(line);
        }
        let mut guests = self.hall.guests();
        guests.lines.retain(|(seat, _)| *seat != self.seat);
        if guests.closed {
            return Err(Error::new(Code::ConnectionAborted, "the server is being stopped"));
        }
        guests.arrived.push((connection.clone(), inlet));
        drop(guests);
        self.connection = Some(connection);
        self.hall.todo.look_at(self.seat);
        Ok(())
    }
}

impl Tie for Guest {
    fn tied(&mut self, line: LineHandle) {
        let mut guests = self.hall.guests();
        if guests.closed {
            drop(guests);
            return line.hang_up();
        }
        guests.lines.push((self.seat, line.clone()));
        drop(guests);
        self.line = Some(line);
    }

    fn message(&mut self, bytes: &[u8], fds: Vec<OwnedFd>) -> Option<Vec<u8>> {
        if let Some(connection) = &self.connection {
            if !connection.parcel(bytes, fds) {
                connection.hang_up();
            }
            return None;
        }
        let line = self.line.clone();
        if let Err(error) = self.join(bytes, fds) {
            log::error!(target: crate::LOG, "server `{}`: a client of process {} is sent away: {error}", self.hall.name,
                self.peer.pid);
            if let Some(line) = line {
                line.hang_up();
            }
        }
        None
    }

    fn gone(&mut self) {
        if let Some(connection) = &self.connection {
            connection.lose();
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        if self.connection.is_none() {
            let mut guests = self.hall.guests();
            guests.lines.retain(|(seat, _)| *seat != self.seat);
            guests.free.push(self.seat);
        }
    }
}
