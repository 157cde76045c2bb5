//! One end of a connection on the measuring bench, alike in all processes.

use softdpu::memory::Memory;
use softdpu::rdma::{Config, Connection, Endpoint, Options, Rdma};
use softdpu::{Access, Context, Device, Export, ProgressEngine, RemoteMemory, Session};

use crate::bench::lane::text;

/// What an end is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Bytes that it lends.
    pub(super) bytes: usize,
    /// Tasks in flight, and receives posted.
    pub(super) depth: u32,
    /// Connections.
    pub(super) links: u16,
}

/// An end that is not connected yet.
#[derive(Debug)]
pub(super) struct Half {
    context: Context<Rdma>,
    pe: ProgressEngine,
    connections: Vec<Connection>,
    memory: Memory,
    export: Export,
}

/// A connected end. Dropped in this order: the context before its progress engine.
#[derive(Debug)]
pub(super) struct End {
    pub(super) context: Context<Rdma>,
    pub(super) pe: ProgressEngine,
    pub(super) connections: Vec<Connection>,
    /// Memory of this end, which its peers reach.
    pub(super) memory: Memory,
    /// The same of the peer of the first connection.
    pub(super) remote: RemoteMemory,
    /// As long as it is there, peers may import the memory.
    _export: Export,
}

impl Half {
    pub(super) fn new(session: &Session, device: &Device, plan: Plan) -> Result<Self, String> {
        Self::with(session, device, plan, |config| config)
    }

    /// The same, with handlers of tasks that are posted.
    pub(super) fn with(
        session: &Session,
        device: &Device,
        plan: Plan,
        handlers: impl FnOnce(Config) -> Config,
    ) -> Result<Self, String> {
        let peers = Access::RDMA_READ | Access::RDMA_WRITE | Access::RDMA_ATOMIC;
        let memory = Memory::memfd(plan.bytes).access(Access::LOCAL_READ_WRITE | peers);
        let memory = memory.register(&[device.shared()]).map_err(text)?;
        // Pages that were never written would cost the first tasks.
        let mut all = memory.alias(..).map_err(|e| e.to_string())?;
        for at in (0..plan.bytes).step_by(1 << 20) {
            let ones = vec![1; (1 << 20).min(plan.bytes - at)];
            all.write_at(at, &ones).map_err(|e| e.to_string())?;
        }
        drop(all);
        let (sends, connections) = (plan.depth, plan.links);
        let options = Options { sends, receives: plan.depth, peers, connections, ..Options::default() };
        let mut pe = ProgressEngine::new(session).map_err(text)?;
        let endpoint = Endpoint::new(device, options).map_err(text)?;
        let context = Context::start(&mut pe, device, handlers(endpoint.config()));
        let context = context.and_then(|start| start.wait(&mut pe)).map_err(text)?;
        let connections =
            (0..plan.links).map(|_| endpoint.export().map_err(text)).collect::<Result<_, _>>()?;
        let export = memory.export_rdma(device.shared()).map_err(text)?;
        Ok(Self { context, pe, connections, memory, export })
    }

    /// What its peers need: a line for each.
    pub(super) fn cards(&self) -> Vec<String> {
        self.connections
            .iter()
            .map(|c| format!("{} {}", hex(c.description()), hex(self.export.bytes())))
            .collect()
    }

    /// With as many cards of peers.
    pub(super) fn join(self, device: &Device, cards: &[String]) -> Result<End, String> {
        let read = |card: &String| {
            let (description, letter) = card.split_once(' ')?;
            Some((unhex(description)?, unhex(letter)?))
        };
        let cards =
            cards.iter().map(read).collect::<Option<Vec<_>>>().ok_or("the other end said nonsense")?;
        for (connection, (description, _)) in self.connections.iter().zip(&cards) {
            connection.join(description).map_err(text)?;
        }
        let (_, letter) = cards.first().ok_or("there is no other end")?;
        let remote = RemoteMemory::import(device.shared(), letter).map_err(text)?;
        let Self { context, pe, connections, memory, export } = self;
        Ok(End { context, pe, connections, memory, remote, _export: export })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `None` when it is none, or nothing.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    if text.is_empty() { None } else { (0..text.len()).step_by(2).map(byte).collect() }
}
