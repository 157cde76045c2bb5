//! The hardware of a client: one connection, found by name.

mod call;

use crate::caps::Caps;
use crate::connection::{Connection, Phase};
use crate::engine::{ComchClient, Ends};
use crate::event::{Event, Post};
use crate::send::SendJob;
use crate::store::Store;
use crate::talk::{Heard, Talk, take_in};
use crate::todo::Todo;
use softdpu_memory::device::Device;
use softdpu_room::context::Core;
use softdpu_room::engine::Work;
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Turn};
use softdpu_room::touch::Tell;
use softdpu_status::{Code, Error, Result};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a server may take before the client gives up.
const PATIENCE: Duration = Duration::from_secs(5);
/// Submitted messages taken in hand per turn.
const AT_ONCE: u32 = 64;

/// What a client is asked to be.
#[derive(Clone)]
pub struct ClientSetup {
    /// The server's name.
    pub server: Vec<u8>,
    /// What both ends have.
    pub ends: Ends,
    /// Where the connection is put while the client runs.
    pub found: Arc<Found>,
}

impl std::fmt::Debug for ClientSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClientSetup({}, {:?})", self.server.escape_ascii(), self.ends)
    }
}

/// The connection of a client, for its face.
#[derive(Debug, Default)]
pub struct Found(Mutex<Option<Arc<Connection>>>);

impl Found {
    /// The connection, from the start on.
    pub fn get(&self) -> Option<Arc<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, connection: Option<Arc<Connection>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = connection;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Calling(Instant),
    Running,
    /// The connection is over.
    Over,
}

/// See the module.
pub(crate) struct Client {
    setup: ClientSetup,
    device: Arc<Device>,
    store: Arc<Store>,
    post: Arc<Post>,
    talk: Option<Talk<ComchClient>>,
    todo: Option<Arc<Todo>>,
    stage: Stage,
    /// What is still to be told after the connection was lost.
    last_words: VecDeque<Event>,
}

impl Client {
    /// The work of a client on `device`.
    ///
    /// # Errors
    /// NotSupported (no client can run there), NoMemory.
    pub(crate) fn work(device: &Arc<Device>, setup: ClientSetup) -> Result<Box<dyn Work>> {
        if !Caps::of(device.function())?.client {
            return Err(Error::new(Code::NotSupported, "clients run on the host"));
        }
        let store = Arc::new(Store::new(setup.ends.tasks, setup.ends.terms.msg)?);
        let client = Client {
            post: Post::new(setup.ends.listener.clone(), setup.ends.terms.msg),
            device: device.clone(),
            store: store.clone(),
            talk: None,
            todo: None,
            stage: Stage::Over,
            last_words: VecDeque::new(),
            setup,
        };
        Ok(Peered::new(client, store))
    }

    /// Waits for the server. True: it is through with that.
    fn call_on(&mut self, port: &mut Port<'_, ComchClient>) {
        let (Stage::Calling(until), Some(talk)) = (self.stage, &mut self.talk) else { return port.give_up() };
        let name = self.setup.server.escape_ascii();
        if talk.connection.is_accepted() {
            talk.connection.set_phase(Phase::Up);
            self.stage = Stage::Running;
            port.hold(true);
            return port.run();
        }
        if talk.connection.is_lost() {
            log::error!(target: crate::LOG, "client {port}: server `{name}` went away before it took the client",
                port = self.device.function());
        } else if Instant::now() >= until {
            log::error!(target: crate::LOG, "client {}: server `{name}` has not answered for {} s (its program must call progress)",
                self.device.function(), PATIENCE.as_secs());
        } else {
            return;
        }
        talk.cut(&self.store);
        self.stage = Stage::Over;
        port.give_up();
    }

    fn take_tasks(&mut self, port: &mut Port<'_, ComchClient>) -> Turn {
        let mut turn = Turn::Idle;
        for _ in 0..AT_ONCE {
            let Some(ticket) = port.take() else { break };
            turn = Turn::Busy;
            let (talk, running) = (&mut self.talk, self.stage == Stage::Running);
            take_in(port, ticket, |_, number| {
                talk.as_mut().filter(|talk| running && talk.connection.number() == number)
            });
        }
        turn
    }

    /// The connection is over, with or without our doing.
    fn over(&mut self, port: &mut Port<'_, ComchClient>) {
        if let Some(talk) = &mut self.talk {
            talk.end(port, &self.store);
            talk.connection.streams.end_all();
        }
        self.stage = Stage::Over;
        port.hold(false);
    }
}

impl Client {
    /// The connection ended without our doing: what is to be told of that.
    #[cold]
    fn lost(&mut self, port: &mut Port<'_, ComchClient>) -> Option<Event> {
        let connection = self.talk.as_ref()?.connection.clone();
        let gone = connection.streams.end_all();
        if self.setup.ends.listener.wants_consumers() {
            self.last_words.extend(gone.iter().map(|id| Event::ExpiredConsumer(connection.clone(), *id)));
        }
        if self.setup.ends.listener.wants_end() {
            self.last_words.push_back(Event::Disconnected(connection.clone()));
        }
        if !connection.is_lost() {
            log::info!(target: crate::LOG, "server `{}` ended the connection", self.setup.server.escape_ascii());
        }
        self.over(port);
        let first = self.last_words.pop_front();
        if self.last_words.is_empty() {
            port.stop();
        }
        first
    }
}

impl Hardware for Client {
    type Engine = ComchClient;
    type Desk = Arc<Store>;
    const GATED: bool = true;
    const SETTLES: bool = true;

    fn start(&mut self, alarm: &Arc<Alarm>) -> Result<Begun> {
        let todo = Todo::new(alarm.clone());
        // Nothing that goes wrong here is the start's to answer: a client is starting, or idle again.
        if let Ok((connection, inlet)) = call::place(&self.setup, &self.device, &todo, &self.post) {
            self.setup.found.set(Some(connection.clone()));
            self.talk = Some(Talk::new(connection, inlet));
            self.stage = Stage::Calling(Instant::now() + PATIENCE);
            // Whoever sleeps until then is woken.
            let alarm = alarm.clone();
            softdpu_link::after(PATIENCE, move || alarm.ring());
        }
        self.todo = Some(todo);
        Ok(Begun::Later)
    }

    fn turn(&mut self, port: &mut Port<'_, ComchClient>) -> Turn {
        port.rely_on_alarm(true);
        if port.core().state() == softdpu_room::context::State::Starting {
            self.call_on(port);
            return Turn::Idle;
        }
        let turn = self.take_tasks(port);
        if let Some(todo) = &self.todo
            && todo.is_noted()
        {
            todo.take();
        }
        let (Some(talk), Stage::Running) = (&mut self.talk, self.stage) else { return turn };
        if !port.is_stopping() {
            talk.pump(port, &self.store);
            return turn;
        }
        talk.leave(true);
        if talk.leave_on(port, &self.store) {
            self.over(port);
        }
        turn
    }

    fn event(&mut self, port: &mut Port<'_, ComchClient>) -> Option<Event> {
        if port.is_stopping() {
            return None;
        }
        if let Some(event) = self.last_words.pop_front() {
            if self.last_words.is_empty() {
                port.stop();
            }
            return Some(event);
        }
        let (Some(talk), Stage::Running) = (&mut self.talk, self.stage) else { return None };
        match talk.hear() {
            Heard::Nothing => None,
            Heard::Event(event) => Some(event),
            Heard::Over => self.lost(port),
        }
    }

    fn tell(core: &'static Core, event: Event) {
        Post::tell(core, event);
    }

    fn is_pending(&mut self) -> bool {
        let calling = matches!(self.stage, Stage::Calling(_));
        let news = self.talk.as_ref().is_some_and(|talk| match self.stage {
            Stage::Calling(until) => {
                talk.connection.is_accepted() || talk.connection.is_lost() || Instant::now() >= until
            }
            Stage::Running => talk.has_news(),
            Stage::Over => false,
        });
        news || !self.last_words.is_empty()
            || self.stage == Stage::Over
            || !calling && self.todo.as_ref().is_some_and(|todo| todo.is_noted())
    }

    fn idle(&mut self) {
        if let Some(talk) = &mut self.talk {
            talk.cut(&self.store);
            talk.connection.streams.end_all();
            self.setup.ends.listener.forget(&talk.connection);
        }
        self.setup.found.set(None);
        self.setup.ends.listener.idle();
    }

    fn sever(&mut self, _: &mut Port<'_, ComchClient>, job: &SendJob) -> bool {
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
