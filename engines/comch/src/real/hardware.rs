//! The hardware of a server or client of a real card: connections and messages, carried by its library.
//!
//! The library tells of everything when it is looked at, and rings nobody: so a progress engine with such a context does
//! not sleep. It cannot be told to hold one connection back, either: what a program leaves unread waits here, and when too
//! much does, the card is not looked at until the program reads on.

mod ending;

use super::{RealChannels, RealEnd, Said, Wanted};
use crate::client::{ClientSetup, Found};
use crate::connection::{Connection, Phase, Side};
use crate::engine::Ends;
use crate::event::{Event, Post};
use crate::send::SendJob;
use crate::server::ServerSetup;
use crate::todo::Todo;
use core::marker::PhantomData;
use softdpu_card::PciAddr;
use softdpu_memory::device::Device;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::{Engine, Work};
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Ticket, Turn};
use softdpu_status::{Code, Error, Result};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// Events that wait for the program before the card is not looked at any more.
const MOST_EVENTS: usize = 4096;

/// Which end, and what only that one has.
enum Role {
    Server { host: PciAddr },
    Client { found: Arc<Found> },
}

/// A connection, and the number that the card's bridge has for it.
struct Seat {
    over: u64,
    connection: Arc<Connection>,
    /// The peer is gone.
    gone: bool,
}

/// A message on its way.
struct Flight<E: Engine> {
    over: u64,
    ticket: Ticket<E>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Starting,
    Running,
    /// Asked to stop: everything that was sent is to be handed over until then.
    Leaving(Instant),
    /// The card was asked to stop.
    Stopping,
    Over,
}

/// See the module.
pub(crate) struct RealHardware<E: Engine> {
    channels: &'static dyn RealChannels,
    device: Arc<Device>,
    role: Role,
    name: Vec<u8>,
    ends: Ends,
    post: Arc<Post>,
    todo: Option<Arc<Todo>>,
    end: Option<Box<dyn RealEnd>>,
    stage: Stage,
    seats: Vec<Seat>,
    flights: HashMap<u64, Flight<E>>,
    events: VecDeque<Event>,
    next: u64,
    engine: PhantomData<fn() -> E>,
}

impl<E: Engine<Job = SendJob, Event = Event>> RealHardware<E> {
    /// A server.
    ///
    /// # Errors
    /// NotFound: the device has no representor of that host function.
    pub(crate) fn server(
        channels: &'static dyn RealChannels,
        device: &Arc<Device>,
        setup: ServerSetup,
    ) -> Result<Box<dyn Work>> {
        let all = device.function().representors();
        let found = all.iter().find(|it| it.vhca_id() == setup.host_function);
        let host = found.map(|it| it.pci()).ok_or(Error::new(Code::NotFound, "no such representor"))?;
        Ok(Self::work(channels, device, Role::Server { host }, setup.name, setup.ends))
    }

    /// A client.
    pub(crate) fn client(
        channels: &'static dyn RealChannels,
        device: &Arc<Device>,
        setup: ClientSetup,
    ) -> Box<dyn Work> {
        Self::work(channels, device, Role::Client { found: setup.found }, setup.server, setup.ends)
    }

    fn work(
        channels: &'static dyn RealChannels,
        device: &Arc<Device>,
        role: Role,
        name: Vec<u8>,
        ends: Ends,
    ) -> Box<dyn Work> {
        let hardware = RealHardware::<E> {
            channels,
            device: device.clone(),
            role,
            name,
            post: Post::new(ends.listener.clone(), ends.terms.msg),
            ends,
            todo: None,
            end: None,
            stage: Stage::Starting,
            seats: Vec::new(),
            flights: HashMap::new(),
            events: VecDeque::new(),
            next: 0,
            engine: PhantomData,
        };
        Peered::new(hardware, ())
    }

    fn connection(&self, side: Side) -> Result<Arc<Connection>> {
        let todo = self.todo.as_ref().ok_or(Error::new(Code::BadState, "not started"))?;
        let device: Weak<Device> = Arc::downgrade(&self.device);
        Connection::real(side, device, self.ends.terms, todo, &self.post)
    }

    fn seat(&mut self, over: u64) -> Option<&mut Seat> {
        self.seats.iter_mut().find(|seat| seat.over == over)
    }

    /// Submitted messages go to the card.
    fn take_tasks(&mut self, port: &mut Port<'_, E>) -> bool {
        let mut any = false;
        while let Some(mut ticket) = port.take() {
            any = true;
            let number = self.next;
            self.next += 1;
            match self.send(port.job(&mut ticket), number) {
                Ok(over) => {
                    self.flights.insert(number, Flight { over, ticket });
                }
                Err(code) => port.complete(ticket, Err(code)),
            }
        }
        any
    }

    fn send(&mut self, job: &SendJob, number: u64) -> Result<u64, Code> {
        let (Some(connection), Some((_, bytes))) = (job.to.get(), &job.owned) else {
            return Err(Code::ConnectionReset);
        };
        let seat = self.seats.iter().find(|seat| core::ptr::eq(&raw const *seat.connection, connection));
        let seat = seat.filter(|seat| !seat.gone).ok_or(Code::ConnectionReset)?;
        if bytes.len() > self.ends.terms.msg as usize {
            log::error!(target: crate::LOG, "message of {} bytes, this end sends at most {}", bytes.len(), self.ends.terms.msg);
            return Err(Code::TooBig);
        }
        let end = self.end.as_mut().ok_or(Code::ConnectionReset)?;
        end.send(seat.over, bytes, number).map_err(|error| error.code())?;
        seat.connection.count_sent(bytes.len());
        Ok(seat.over)
    }

    /// What the card has to say.
    fn look(&mut self, port: &mut Port<'_, E>) -> bool {
        let (Some(end), true) = (&mut self.end, self.events.len() < MOST_EVENTS) else { return false };
        let mut said = Vec::new();
        end.look(&mut said);
        let any = !said.is_empty();
        for said in said {
            match said {
                Said::Running => self.runs(port),
                Said::Idle => self.over(port),
                Said::Connected(over) => self.arrives(over, port),
                Said::Disconnected(over) => {
                    if let Some(seat) = self.seat(over) {
                        seat.gone = true;
                        let connection = seat.connection.clone();
                        self.events.push_back(Event::Disconnected(connection));
                    }
                }
                Said::Message(over, bytes) => self.comes(over, &bytes),
                Said::Sent(number, result) => {
                    if let Some(flight) = self.flights.remove(&number) {
                        port.complete(flight.ticket, result.map(|()| 0).map_err(|error| error.code()));
                    }
                }
            }
        }
        any
    }

    /// A client was taken by its server.
    fn runs(&mut self, port: &mut Port<'_, E>) {
        if self.stage == Stage::Starting {
            self.stage = Stage::Running;
            self.seats.iter().for_each(|seat| seat.connection.set_phase(Phase::Up));
            port.hold(true);
            port.run();
        }
    }

    /// A client came.
    fn arrives(&mut self, over: u64, port: &mut Port<'_, E>) {
        let Some(end) = &mut self.end else { return };
        if !matches!(self.stage, Stage::Running) {
            let _ = end.disconnect(over);
            return;
        }
        match self.connection(Side::Server) {
            Ok(connection) => {
                connection.set_phase(Phase::Up);
                self.events.push_back(Event::Connected(connection.clone()));
                self.seats.push(Seat { over, connection, gone: false });
                port.hold(true);
            }
            Err(error) => {
                log::error!(target: crate::LOG, "a client of server `{}` is refused: {error}", self.name.escape_ascii());
                if let Some(end) = &mut self.end {
                    let _ = end.disconnect(over);
                }
            }
        }
    }

    fn comes(&mut self, over: u64, bytes: &[u8]) {
        let mut message = self.post.take();
        let Some(seat) = self.seat(over) else { return };
        // What the program has given up is not told.
        if seat.connection.phase() != Phase::Up {
            return;
        }
        let Some(room) = message.room().get_mut(..bytes.len()) else {
            log::error!(target: crate::LOG, "a message of {} bytes came, this end takes fewer; it is dropped", bytes.len());
            return;
        };
        room.copy_from_slice(bytes);
        message.set_len(bytes.len());
        let connection = seat.connection.clone();
        connection.count_received(bytes.len());
        self.events.push_back(Event::Message(connection, message));
    }
}

impl<E: Engine<Job = SendJob, Event = Event>> Hardware for RealHardware<E> {
    type Engine = E;
    type Desk = ();

    fn start(&mut self, alarm: &Arc<Alarm>) -> Result<Begun> {
        self.todo = Some(Todo::new(alarm.clone()));
        let wanted = Wanted {
            name: &self.name,
            msg: self.ends.terms.msg,
            queue: self.ends.terms.queue,
            tasks: self.ends.tasks,
        };
        match &self.role {
            Role::Server { host } => {
                self.end = Some(self.channels.server(&self.device, *host, wanted)?);
                self.stage = Stage::Running;
                Ok(Begun::Running)
            }
            Role::Client { found } => {
                let end = self.channels.client(&self.device, wanted)?;
                let connection = self.connection(Side::Client)?;
                found.set(Some(connection.clone()));
                self.seats.push(Seat { over: 0, connection, gone: false });
                self.end = Some(end);
                Ok(Begun::Later)
            }
        }
    }

    fn turn(&mut self, port: &mut Port<'_, E>) -> Turn {
        if let Some(todo) = self.todo.as_ref().filter(|todo| todo.is_noted()) {
            todo.take();
        }
        if port.core().state() == State::Starting && self.stage == Stage::Over {
            port.give_up();
        }
        let mut any = self.take_tasks(port);
        any |= self.look(port);
        any |= self.drop_clients(port);
        if port.is_stopping() {
            // Nothing is told any more, and nothing waits to be read.
            self.events.clear();
            self.leave();
            if self.stage == Stage::Over {
                self.forget_all();
                port.hold(false);
            } else {
                port.hold(!self.seats.is_empty());
            }
        }
        if any { Turn::Busy } else { Turn::Idle }
    }

    fn event(&mut self, port: &mut Port<'_, E>) -> Option<Event> {
        if port.is_stopping() {
            return None;
        }
        // One connection's stay in order: where one of them must wait, so must those behind it.
        let at = self.events.iter().position(|event| !event.connection().is_paused())?;
        let event = self.events.remove(at)?;
        if let Event::Disconnected(connection) = &event {
            connection.set_phase(Phase::Down);
            self.seats.retain(|seat| !Arc::ptr_eq(&seat.connection, connection));
            port.hold(!self.seats.is_empty() && self.stage != Stage::Over);
        }
        if self.stage == Stage::Over && self.events.is_empty() {
            port.stop();
        }
        Some(event)
    }

    fn tell(core: &'static Core, event: Event) {
        Post::tell(core, event);
    }

    /// The card rings nobody.
    fn is_pending(&mut self) -> bool {
        self.end.is_some() || !self.events.is_empty() || self.stage == Stage::Over
    }

    fn idle(&mut self) {
        self.end = None;
        self.stage = Stage::Over;
        self.forget_all();
        if let Role::Client { found } = &self.role {
            found.set(None);
        }
        self.ends.listener.idle();
    }
}
