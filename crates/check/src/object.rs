//! What is known of an object of the program.

use crate::place::Place;
use crate::rules::{self, Rule};

/// What an object is. The numbers are those of `shim.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Device = 1,
    Engine = 2,
    Context = 3,
    Map = 4,
    Inventory = 5,
    Buffer = 6,
    Task = 7,
    Pool = 8,
    /// A connection; never reported as left over, since it ends with its context.
    Link = 9,
    Graph = 10,
    /// An instance of a graph.
    Run = 11,
    Representor = 12,
    /// A message queue.
    Queue = 13,
    /// Ports and pipes, their configurations, and what stands for all of it while it is initialised.
    Flow = 14,
    /// A sync event of a peer.
    Remote = 15,
}

impl Kind {
    pub(crate) fn from(number: u32) -> Option<Kind> {
        let all = [
            Kind::Device,
            Kind::Engine,
            Kind::Context,
            Kind::Map,
            Kind::Inventory,
            Kind::Buffer,
            Kind::Task,
            Kind::Pool,
            Kind::Link,
            Kind::Graph,
            Kind::Run,
            Kind::Representor,
            Kind::Queue,
            Kind::Flow,
            Kind::Remote,
        ];
        all.into_iter().find(|kind| *kind as u32 == number)
    }

    /// The rule that its destruction breaks while others hang on it.
    pub(crate) fn in_use(self) -> Option<&'static Rule> {
        Some(match self {
            Kind::Device | Kind::Representor => &rules::DEVICE_IN_USE,
            Kind::Engine => &rules::ENGINE_IN_USE,
            Kind::Map => &rules::MAP_IN_USE,
            Kind::Inventory => &rules::INVENTORY_IN_USE,
            Kind::Pool => &rules::POOL_IN_USE,
            Kind::Graph => &rules::GRAPH_IN_USE,
            Kind::Queue => &rules::CONTEXT_IN_USE,
            Kind::Context | Kind::Buffer | Kind::Task | Kind::Link | Kind::Run => return None,
            Kind::Flow | Kind::Remote => return None,
        })
    }
}

/// One object of the program, alive or, until its address is used again, dead.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    pub(crate) what: String,
    pub(crate) number: u64,
    /// Tells it from others that have its handle later.
    pub(crate) born: u32,
    pub(crate) made: Place,
    pub(crate) died: Option<Place>,
    pub(crate) started: bool,
    /// Of a map: it is being destroyed.
    pub(crate) lifted: bool,
    /// Of a map: its range was set.
    pub(crate) ranged: bool,
    /// Of a context: it was asked to stop and could not at once; for how many looks of the watchdog it has not.
    pub(crate) stopping: Option<u32>,
    /// Of a context: most bytes of data of one task.
    pub(crate) most: u64,
    pub(crate) parents: Vec<usize>,
    /// Rights of a memory map; devices of this side may read and write at first.
    pub(crate) rights: u32,
    /// Tasks that were submitted with the buffer, not all of them the last time they were.
    pub(crate) users: Vec<u32>,
    /// Another one after each change of a buffer.
    pub(crate) version: u32,
    /// Its handle.
    pub(crate) at: usize,
    /// Where it was submitted last.
    pub(crate) made_last: Place,
    /// Of a buffer: its window, where its data begins, whether it was ever part of a list.
    pub(crate) head: usize,
    pub(crate) len: usize,
    pub(crate) data: usize,
    pub(crate) listed: bool,
    /// Its bytes can be read and are the program's own.
    pub(crate) local: bool,
    /// How often a device was opened: all who open it get the same handle.
    pub(crate) opens: u32,
}

/// Rights of a map: devices of this side may write.
pub(crate) const LOCAL_WRITE: u32 = 1;

impl Object {
    /// How messages call it.
    pub(crate) fn words(&self) -> String {
        format!("{} ({} {}, made at {})", self.what, self.what, self.number, self.made)
    }
}
