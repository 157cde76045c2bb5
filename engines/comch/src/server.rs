//! The hardware of a server: many connections, looked at only when they have something to say.

mod entrance;
mod seats;

use crate::caps::Caps;
use crate::connection::Connection;
use crate::engine::{ComchServer, Ends};
use crate::event::{Event, Post};
use crate::place;
use crate::send::SendJob;
use crate::store::Store;
use crate::talk::{Heard, take_in};
use entrance::{Entrance, Hall};
use seats::Seats;
use softdpu_link::Listener as Door;
use softdpu_memory::device::Device;
use softdpu_room::context::Core;
use softdpu_room::engine::Work;
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Turn};
use softdpu_room::touch::Tell;
use softdpu_status::{Code, Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// Submitted messages taken in hand per turn.
const AT_ONCE: u32 = 64;

/// What a server is asked to be.
#[derive(Clone)]
pub struct ServerSetup {
    /// Its name.
    pub name: Vec<u8>,
    /// The host function it is for, see [`softdpu_card::Representor::vhca_id`].
    pub host_function: u16,
    /// The same in words, for clients that look for it elsewhere.
    pub host_text: String,
    /// What both ends have.
    pub ends: Ends,
}

impl std::fmt::Debug for ServerSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ServerSetup({} for {}, {:?})", self.name.escape_ascii(), self.host_text, self.ends)
    }
}

/// See the module.
pub(crate) struct Server {
    setup: ServerSetup,
    device: Arc<Device>,
    caps: Caps,
    store: Arc<Store>,
    post: Arc<Post>,
    hall: Option<Arc<Hall>>,
    door: Option<Door>,
    seats: Seats,
    events: VecDeque<Event>,
    closing: bool,
}

impl Server {
    /// The work of a server on `device`.
    ///
    /// # Errors
    /// NotSupported (no server can run there), NoMemory.
    pub(crate) fn work(device: &Arc<Device>, setup: ServerSetup) -> Result<Box<dyn Work>> {
        let caps = Caps::of(device.function())?;
        if !caps.server {
            return Err(Error::new(Code::NotSupported, "servers run on the card"));
        }
        let store = Arc::new(Store::new(setup.ends.tasks, setup.ends.terms.msg)?);
        let server = Server {
            post: Post::new(setup.ends.listener.clone(), setup.ends.terms.msg),
            device: device.clone(),
            caps,
            store: store.clone(),
            hall: None,
            door: None,
            seats: Seats::default(),
            events: VecDeque::new(),
            closing: false,
            setup,
        };
        Ok(Peered::new(server, store))
    }

    /// What the service thread and connections noted.
    fn look_around(&mut self, port: &mut Port<'_, ComchServer>) {
        let Some(hall) = &self.hall else { return };
        if !hall.todo().is_noted() {
            return;
        }
        let noted = hall.todo().take();
        for (connection, inlet) in hall.arrivals() {
            connection.accept();
            self.events.push_back(Event::Connected(connection.clone()));
            self.seats.take_place(connection, inlet, hall.ready());
        }
        for seat in noted {
            let Some(talk) = self.seats.talk(seat) else { continue };
            if talk.connection.phase() == crate::connection::Phase::Leaving && !talk.is_leaving() {
                // Dropped by the program.
                talk.leave(false);
                talk.fail_waiting(port, &self.store, Code::ConnectionReset);
                let connection = talk.connection.clone();
                self.seats.leaves(seat);
                self.events.retain(|event| !Arc::ptr_eq(event.connection(), &connection));
            } else {
                self.seats.look_at(seat);
            }
        }
        port.hold(!self.seats.is_empty());
    }

    fn take_tasks(&mut self, port: &mut Port<'_, ComchServer>) -> Turn {
        let mut turn = Turn::Idle;
        for _ in 0..AT_ONCE {
            let Some(ticket) = port.take() else { break };
            turn = Turn::Busy;
            let seats = &mut self.seats;
            let waits = take_in(port, ticket, |seat, number| {
                seats.talk(seat).filter(|talk| talk.connection.number() == number)
            });
            if let Some(seat) = waits {
                self.seats.pumps(seat);
            }
        }
        turn
    }

    /// A connection is over: its place is free.
    fn part(&mut self, seat: u32, port: &mut Port<'_, ComchServer>) -> Option<Arc<Connection>> {
        let hall = self.hall.as_ref()?;
        let mut talk = self.seats.leave_place(seat, hall.ready())?;
        talk.end(port, &self.store);
        hall.leave(seat);
        port.hold(!self.seats.is_empty());
        Some(talk.connection)
    }

    /// The peer of a connection is gone: what is to be told of that.
    fn lost(&mut self, seat: u32, port: &mut Port<'_, ComchServer>) {
        let Some(connection) = self.part(seat, port) else { return };
        let gone = connection.streams.end_all();
        if self.setup.ends.listener.wants_consumers() {
            self.events.extend(gone.iter().map(|id| Event::ExpiredConsumer(connection.clone(), *id)));
        }
        self.events.push_back(Event::Disconnected(connection));
    }

    fn close(&mut self) {
        if !core::mem::replace(&mut self.closing, true) {
            self.door = None;
            if let Some(hall) = &self.hall {
                hall.close();
            }
            self.events.clear();
            self.seats.all_leave();
        }
    }
}

impl Hardware for Server {
    type Engine = ComchServer;
    type Desk = Arc<Store>;
    const GATED: bool = true;
    const SETTLES: bool = true;

    fn start(&mut self, alarm: &Arc<Alarm>) -> Result<Begun> {
        let hall = Hall::open(&self.setup, &self.device, self.caps, alarm, &self.post)?;
        let name = place::name(self.device.function(), self.setup.host_function, &self.setup.name);
        self.door =
            Some(softdpu_link::listen(&name, Arc::new(Entrance(hall.clone()))).inspect_err(|error| {
                if error.code() == Code::AlreadyExist {
                    log::error!(target: crate::LOG, "server `{}` for {}: there is one of this name already",
                    self.setup.name.escape_ascii(), self.setup.host_text);
                }
            })?);
        self.hall = Some(hall);
        Ok(Begun::Running)
    }

    fn turn(&mut self, port: &mut Port<'_, ComchServer>) -> Turn {
        port.rely_on_alarm(true);
        self.look_around(port);
        let turn = self.take_tasks(port);
        self.seats.pump(port, &self.store);
        if port.is_stopping() {
            self.close();
        }
        for seat in self.seats.leave_on(port, &self.store) {
            if let Some(connection) = self.part(seat, port) {
                connection.streams.end_all();
                self.setup.ends.listener.forget(&connection);
            }
        }
        if self.closing {
            port.hold(!self.seats.is_empty());
        } else if let Some(hall) = &self.hall {
            self.seats.gather(hall.ready());
        }
        turn
    }

    fn event(&mut self, port: &mut Port<'_, ComchServer>) -> Option<Event> {
        if self.closing || port.is_stopping() {
            return None;
        }
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            match self.seats.hear()? {
                (_, Heard::Event(event)) => return Some(event),
                (seat, Heard::Over) => self.lost(seat, port),
                (_, Heard::Nothing) => {}
            }
        }
    }

    fn tell(core: &'static Core, event: Event) {
        Post::tell(core, event);
    }

    fn is_pending(&mut self) -> bool {
        let Some(hall) = &self.hall else { return false };
        !self.events.is_empty()
            || hall.todo().is_noted()
            || !self.closing && self.seats.have_news(hall.ready())
    }

    fn idle(&mut self) {
        self.close();
        for mut talk in self.seats.clear() {
            talk.cut(&self.store);
            talk.connection.streams.end_all();
            self.setup.ends.listener.forget(&talk.connection);
        }
        self.hall = None;
        self.setup.ends.listener.idle();
    }

    fn sever(&mut self, _: &mut Port<'_, ComchServer>, job: &SendJob) -> bool {
        job.sever()
    }

    fn touches(_: &Arc<Store>, job: &SendJob, tell: Tell<'_>) {
        job.touches(tell);
    }

    fn settled(job: &SendJob) -> Option<Result<u64, Code>> {
        job.fate.result()
    }

    fn admit(store: &Arc<Store>, job: &mut SendJob) -> Result<(), Code> {
        job.submit(store);
        Ok(())
    }
}

impl Connection {
    /// Server: drops the client, which is told. What was received and not told is dropped, what waits to be sent fails.
    /// The thread that drives the server.
    ///
    /// # Errors
    /// InUse: producers or consumers of this end are left.
    pub fn disconnect(&self) -> Result<()> {
        if self.streams.children() != 0 {
            log::error!(target: crate::LOG, "connection to process {}: {} are left; destroy them first", self.peer(),
                self.streams.roll());
            return Err(Error::new(Code::InUse, "producers or consumers are left"));
        }
        if self.phase() == crate::connection::Phase::Up {
            self.set_phase(crate::connection::Phase::Leaving);
            self.look();
        }
        Ok(())
    }
}
