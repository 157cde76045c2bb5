//! The four engines: names and types. They are one capability of a device, and four kinds of contexts.

use crate::caps::Caps;
use crate::client::{Client, ClientSetup};
use crate::consumer::{Consumer, ConsumerSetup, ReceiveJob};
use crate::event::{Event, Listener};
use crate::layout::Terms;
use crate::producer::{ProduceJob, Producer};
use crate::real::{self, RealHardware};
use crate::send::SendJob;
use crate::server::{Server, ServerSetup};
use crate::streams::Member;
use core::convert::Infallible;
use softdpu_card::{EngineKind, Function};
use softdpu_memory::device::Device;
use softdpu_room::engine::{Engine, EngineInfo, Work};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// The engine as tables and plans name it.
pub const COMCH: &EngineInfo =
    &EngineInfo { name: "comch", kind: EngineKind::Comch, tasks: &["send", "post_recv"], fatal: false };

/// What servers and clients have alike.
#[derive(Clone)]
pub struct Ends {
    pub(crate) terms: Terms,
    pub(crate) tasks: u32,
    pub(crate) listener: Arc<dyn Listener>,
}

impl std::fmt::Debug for Ends {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, {} tasks", self.terms, self.tasks)
    }
}

impl Ends {
    /// Most bytes of a message, messages that may wait, tasks in flight, and who is told of events. 0 stands for the
    /// default: what the device can do, 32 messages, 64 tasks.
    ///
    /// # Errors
    /// InvalidValue: above a limit of the device, with one log line. NotSupported.
    pub fn new(
        function: &Function,
        msg: u32,
        queue: u32,
        tasks: u32,
        listener: Arc<dyn Listener>,
    ) -> Result<Ends> {
        let caps = Caps::of(function)?;
        let pick = |what: &str, value: u32, default: u32, limit: u32| match value {
            0 => Ok(default),
            _ if value <= limit => Ok(value),
            _ => {
                log::error!(target: crate::LOG, "{what}: {value} asked for, {function} takes 1 to {limit}");
                Err(Error::new(Code::InvalidValue, "above a limit of the device"))
            }
        };
        let msg = pick("largest message", msg, caps.max_msg_size, caps.max_msg_size)?;
        let default = caps.default_recv_queue_size();
        let queue = pick("receive queue", queue, default, caps.max_recv_queue_size)?;
        let tasks = pick("send tasks", tasks, caps.max_send_tasks.min(64), caps.max_send_tasks)?;
        Ok(Ends { terms: Terms { msg, queue }, tasks, listener })
    }
}

fn missing<T>() -> Result<T> {
    Err(Error::new(Code::InvalidValue, "the configuration lacks what it is for"))
}

/// A server.
#[derive(Debug)]
pub struct ComchServer;

impl Engine for ComchServer {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "comch server", kind: EngineKind::Comch, tasks: &["send"], fatal: false };
    type Caps = Caps;
    type Config = Option<ServerSetup>;
    type Job = SendJob;
    type Event = Event;

    fn caps(function: &Function) -> Result<Caps> {
        Caps::of(function)
    }

    fn build(device: &Arc<Device>, config: Option<ServerSetup>) -> Result<(Box<dyn Work>, u32)> {
        let Some(setup) = config else { return missing() };
        let tasks = setup.ends.tasks;
        let work = match real::channels_of(device)? {
            Some(channels) => RealHardware::<ComchServer>::server(channels, device, setup)?,
            None => Server::work(device, setup)?,
        };
        Ok((work, tasks))
    }
}

/// A client.
#[derive(Debug)]
pub struct ComchClient;

impl Engine for ComchClient {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "comch client", kind: EngineKind::Comch, tasks: &["send"], fatal: false };
    type Caps = Caps;
    type Config = Option<ClientSetup>;
    type Job = SendJob;
    type Event = Event;

    fn caps(function: &Function) -> Result<Caps> {
        Caps::of(function)
    }

    fn build(device: &Arc<Device>, config: Option<ClientSetup>) -> Result<(Box<dyn Work>, u32)> {
        let Some(setup) = config else { return missing() };
        let tasks = setup.ends.tasks;
        let work = match real::channels_of(device)? {
            Some(channels) => RealHardware::<ComchClient>::client(channels, device, setup),
            None => Client::work(device, setup)?,
        };
        Ok((work, tasks))
    }
}

/// What a producer is asked to be.
#[derive(Debug)]
pub struct ProducerSetup {
    /// Its membership.
    pub member: Arc<Member>,
    /// Sends in flight.
    pub tasks: u32,
}

/// A producer.
#[derive(Debug)]
pub struct ComchProducer;

impl Engine for ComchProducer {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "comch producer", kind: EngineKind::Comch, tasks: &["send"], fatal: false };
    type Caps = Caps;
    type Config = Option<ProducerSetup>;
    type Job = ProduceJob;
    type Event = Infallible;

    fn caps(function: &Function) -> Result<Caps> {
        Caps::of(function)
    }

    fn build(device: &Arc<Device>, config: Option<ProducerSetup>) -> Result<(Box<dyn Work>, u32)> {
        let Some(setup) = config else { return missing() };
        Ok((Producer::work(device, setup.member)?, setup.tasks))
    }
}

/// A consumer.
#[derive(Debug)]
pub struct ComchConsumer;

impl Engine for ComchConsumer {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "comch consumer", kind: EngineKind::Comch, tasks: &["post_recv"], fatal: false };
    type Caps = Caps;
    type Config = Option<ConsumerSetup>;
    type Job = ReceiveJob;
    type Event = Infallible;

    fn caps(function: &Function) -> Result<Caps> {
        Caps::of(function)
    }

    fn build(device: &Arc<Device>, config: Option<ConsumerSetup>) -> Result<(Box<dyn Work>, u32)> {
        let Some(setup) = config else { return missing() };
        let tasks = setup.tasks;
        Ok((Consumer::work(device, setup)?, tasks))
    }
}
