//! The engine: names and types.

use crate::caps::Caps;
use crate::conn::Conn;
use crate::job::{Job, Op};
use softdpu_card::{EngineKind, Function};
use softdpu_memory::device::Device;
use softdpu_room::engine::{Engine, EngineInfo, Work};
use softdpu_status::Result;
use std::sync::Arc;

/// The RDMA engine.
#[derive(Debug)]
pub struct Rdma;

/// What happens to connections. Completions come beside it.
#[derive(Clone, Debug)]
pub enum Event {
    /// A peer asks for a connection on a port that is listened to.
    Requested(Arc<Conn>),
    /// A connection of the connection manager takes tasks.
    Established(Arc<Conn>),
    /// An attempt to connect came to nothing.
    Failed(Arc<Conn>),
    /// A connection has ended.
    Ended(Arc<Conn>),
}

impl Engine for Rdma {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "rdma", kind: EngineKind::Rdma, tasks: &Op::NAMES, fatal: false };
    type Caps = Caps;
    type Config = crate::handlers::Config;
    type Job = Job;
    type Event = Event;

    fn caps(function: &Function) -> Result<Caps> {
        Caps::of(function)
    }

    fn kind(job: &Job) -> Option<usize> {
        Some(job.op as usize)
    }

    /// Per connection and direction.
    fn class(job: &Job) -> Option<u8> {
        Some(((job.conn.slot * 2 + u32::from(job.op == Op::Receive)) % 8) as u8)
    }

    fn build(device: &Arc<Device>, config: Self::Config) -> Result<(Box<dyn Work>, u32)> {
        crate::face::build(device, config)
    }
}
