//! Servers and clients of the Rust face for tests: what they are told goes into a mailbox.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod process;

use core::task::Poll;
use softdpu_card::{EngineKind, Machine};
use softdpu_comch::{
    ClientSetup, ComchClient, ComchServer, Connection, Ends, Event, Found, Listener, Message, Peer, Say,
    ServerSetup,
};
use softdpu_room::context::Core;
use softdpu_room::inflight::InFlight;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::typed::Context;
use softdpu_status::Result;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// What happened, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    Connected,
    Disconnected,
    Message(Vec<u8>),
    New(u32),
    Expired(u32),
}

#[derive(Default)]
pub(crate) struct Mail {
    words: Mutex<VecDeque<Word>>,
    peers: Mutex<Vec<Arc<Connection>>>,
    refuse: bool,
}

impl Listener for Mail {
    fn tell(&self, _: &'static Core, event: Event) {
        let word = match event {
            Event::Connected(connection) => {
                if self.refuse {
                    connection.disconnect().unwrap();
                }
                self.peers.lock().unwrap().push(connection);
                Word::Connected
            }
            Event::Disconnected(connection) => {
                self.peers.lock().unwrap().retain(|other| !Arc::ptr_eq(other, &connection));
                Word::Disconnected
            }
            Event::Message(..) => panic!("messages come by another way"),
            Event::NewConsumer(_, id) => Word::New(id),
            Event::ExpiredConsumer(_, id) => Word::Expired(id),
        };
        self.words.lock().unwrap().push_back(word);
    }

    fn message(&self, _: &'static Core, _: &Arc<Connection>, message: Message) -> Option<Message> {
        self.words.lock().unwrap().push_back(Word::Message(message.bytes().to_vec()));
        Some(message)
    }
}

impl Mail {
    pub(crate) fn next(&self) -> Option<Word> {
        self.words.lock().unwrap().pop_front()
    }

    pub(crate) fn all(&self) -> Vec<Word> {
        self.words.lock().unwrap().drain(..).collect()
    }

    pub(crate) fn peer(&self, at: usize) -> Peer {
        Peer::of(&self.peers.lock().unwrap()[at])
    }

    pub(crate) fn peers(&self) -> usize {
        self.peers.lock().unwrap().len()
    }
}

/// Numbers of an end; 0 for the defaults.
#[derive(Clone, Copy, Default)]
pub(crate) struct Numbers {
    pub(crate) msg: u32,
    pub(crate) queue: u32,
    pub(crate) tasks: u32,
}

pub(crate) fn session(topology: &str) -> Session {
    let builder = Machine::builder();
    let builder = if topology.is_empty() { builder } else { builder.config_text(topology) };
    Session::new(builder.build().unwrap(), softdpu_room::session::inline())
}

fn device(session: &Session, host: bool) -> Device {
    let card =
        |device: &&softdpu_room::session::DeviceInfo| device.function().representors().is_empty() == host;
    let devices = session.devices();
    let mut fitting = devices.iter().filter(card);
    fitting.find(|device| device.function().supports(EngineKind::Comch)).unwrap().open().unwrap()
}

pub(crate) struct Server {
    pub(crate) device: Device,
    pub(crate) pe: ProgressEngine,
    pub(crate) context: Context<ComchServer>,
    pub(crate) mail: Arc<Mail>,
}

impl Server {
    pub(crate) fn start(session: &Session, name: &str, numbers: Numbers) -> Result<Server> {
        Server::with(session, name, numbers, Mail::default())
    }

    pub(crate) fn refusing(session: &Session, name: &str) -> Server {
        Server::with(session, name, Numbers::default(), Mail { refuse: true, ..Mail::default() }).unwrap()
    }

    fn with(session: &Session, name: &str, numbers: Numbers, mail: Mail) -> Result<Server> {
        let device = device(session, false);
        let representor = device.function().representors()[0].clone();
        let mail = Arc::new(mail);
        let setup = ServerSetup {
            name: name.into(),
            host_function: representor.vhca_id(),
            host_text: representor.pci().to_string(),
            ends: Ends::new(device.function(), numbers.msg, numbers.queue, numbers.tasks, mail.clone())?,
        };
        let mut pe = ProgressEngine::new(session)?;
        let context = Context::start(&mut pe, &device, Some(setup))?.wait(&mut pe)?;
        Ok(Server { device, pe, context, mail })
    }

    pub(crate) fn say(&mut self, at: usize, bytes: &[u8]) -> InFlight<Say<ComchServer>> {
        let peer = self.mail.peer(at);
        self.context.submit(Say::new(&peer, bytes)).map_err(|refused| refused.error).unwrap()
    }
}

pub(crate) struct Client {
    pub(crate) device: Device,
    pub(crate) pe: ProgressEngine,
    pub(crate) context: Context<ComchClient>,
    pub(crate) mail: Arc<Mail>,
    pub(crate) peer: Peer,
}

impl Client {
    /// `serve` makes the server progress meanwhile.
    pub(crate) fn start(
        session: &Session,
        name: &str,
        numbers: Numbers,
        serve: impl FnMut(),
    ) -> Result<Client> {
        let device = device(session, true);
        let pe = ProgressEngine::new(session)?;
        Client::on(device, pe, name, numbers, serve)
    }

    pub(crate) fn on(
        device: Device,
        mut pe: ProgressEngine,
        name: &str,
        numbers: Numbers,
        mut serve: impl FnMut(),
    ) -> Result<Client> {
        let (mail, found) = (Arc::new(Mail::default()), Arc::new(Found::default()));
        let ends = Ends::new(device.function(), numbers.msg, numbers.queue, numbers.tasks, mail.clone())?;
        let setup = ClientSetup { server: name.into(), ends, found: found.clone() };
        let mut starting = core::pin::pin!(Context::<ComchClient>::start(&mut pe, &device, Some(setup))?);
        let connection = found.get();
        let mut started = None;
        process::until("the start of a client", || {
            serve();
            pe.progress();
            let mut context = core::task::Context::from_waker(core::task::Waker::noop());
            if let Poll::Ready(now) = starting.as_mut().poll(&mut context) {
                started = Some(now);
            }
            started.is_some()
        });
        let context = started.unwrap()?;
        let peer = Peer::of(&connection.unwrap());
        Ok(Client { device, pe, context, mail, peer })
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) -> InFlight<Say<ComchClient>> {
        self.context.submit(Say::new(&self.peer, bytes)).map_err(|refused| refused.error).unwrap()
    }
}

/// One of several things that a test does at the same time.
pub(crate) type Job<'a> = core::pin::Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Polls all of them until all are through.
pub(crate) async fn all<const N: usize>(jobs: [Job<'_>; N]) {
    let mut jobs = jobs.map(Some);
    core::future::poll_fn(|cx| {
        for job in &mut jobs {
            if job.as_mut().is_some_and(|job| job.as_mut().poll(cx).is_ready()) {
                *job = None;
            }
        }
        if jobs.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
