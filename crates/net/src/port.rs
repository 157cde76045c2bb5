//! Ports, one object per process and end, and their two sides.

use crate::backend;
use crate::counters::{PortCounters, Totals};
use crate::inlet::{Inlet, InletSetup};
use crate::intake::Intake;
use crate::outlet::Outlet;
use crate::queue::{QueueList, Wants};
use crate::steer::{Classifier, topology};
use crate::sys::interface;
use softdpu_card::{Backend, Function, Plug, Representor};
use softdpu_status::Result;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Longest frame that any port takes, with VLAN tags, without checksum.
pub const MAX_FRAME: usize = 9622;
/// Payload of the longest frame on a wire of the card.
const LOOP_MTU: usize = 9600;
/// Ethernet header and two VLAN tags.
const OVERHEAD: usize = 22;

/// Whether frames get through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Link {
    /// They do.
    Up,
    /// Interface switched off, without carrier, or gone.
    Down,
}

/// One end of a wire, the same in every process that sees the card.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct End {
    pub(crate) card: String,
    pub(crate) hash: u64,
    pub(crate) plug: Plug,
}

/// A network port of the card, in this process. Any thread.
#[derive(Debug)]
pub struct Port {
    function: Arc<Function>,
    name: String,
    end: End,
    backend: Backend,
    /// The other end of the wire.
    other: End,
    queues: Arc<QueueList>,
    totals: Arc<Totals>,
    steering: Mutex<Option<Arc<Classifier>>>,
    /// The rules of the topology.
    given: Option<Arc<Classifier>>,
    pub(crate) intake: Mutex<Weak<Intake>>,
    pub(crate) shared: backend::Shared,
}

/// The ports of this process, by their ends and what is behind them.
type Ports = HashMap<(End, Backend), Weak<Port>>;

static PORTS: Mutex<Option<Ports>> = Mutex::new(None);

/// The port of a function. Opens nothing.
pub fn port(function: &Arc<Function>) -> Arc<Port> {
    let plug = Plug { number: function.vhca_id(), is_representor: false };
    find(function, plug, function.wired_to(), function.iface(), function.backend())
}

/// The port at the card's end of a host function: what the function sends arrives here, unless the topology has it wired
/// otherwise.
pub fn representor_port(function: &Arc<Function>, representor: &Representor) -> Arc<Port> {
    let plug = Plug { number: representor.vhca_id(), is_representor: true };
    find(function, plug, representor.wired_to(), representor.iface(), &Backend::Loop)
}

fn find(function: &Arc<Function>, plug: Plug, other: Plug, name: &str, backend: &Backend) -> Arc<Port> {
    let (card, hash) = (function.card().name().to_owned(), function.card().topology_hash());
    let end = End { card: card.clone(), hash, plug };
    let mut ports = PORTS.lock().unwrap_or_else(PoisonError::into_inner);
    let ports = ports.get_or_insert_with(HashMap::new);
    let key = (end.clone(), backend.clone());
    if let Some(port) = ports.get(&key).and_then(Weak::upgrade) {
        return port;
    }
    ports.retain(|_, port| port.strong_count() > 0);
    // The rules of a function are for its own port.
    let rules = if plug.is_representor { None } else { topology::of(function.steering()) };
    let port = Arc::new(Port {
        function: Arc::clone(function),
        name: name.to_owned(),
        end,
        backend: backend.clone(),
        other: End { card, hash, plug: other },
        queues: Arc::default(),
        totals: Arc::default(),
        steering: Mutex::new(rules.clone()),
        given: rules,
        intake: Mutex::new(Weak::new()),
        shared: backend::Shared::default(),
    });
    ports.insert(key, Arc::downgrade(&port));
    port
}

/// The ports that are in use, by name.
pub(crate) fn ports() -> Vec<Arc<Port>> {
    let mut all: Vec<_> = {
        let ports = PORTS.lock().unwrap_or_else(PoisonError::into_inner);
        ports.iter().flat_map(|ports| ports.values().filter_map(Weak::upgrade)).collect()
    };
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The intake that receives at an end of a wire, in this process.
pub(crate) fn intake_at(end: &End) -> Option<Arc<Intake>> {
    let port = {
        let ports = PORTS.lock().unwrap_or_else(PoisonError::into_inner);
        ports.as_ref()?.get(&(end.clone(), Backend::Loop)).and_then(Weak::upgrade)?
    };
    let intake = port.intake();
    intake.upgrade()
}

impl Port {
    /// The function it belongs to; of a representor's port the card function that shows it.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// Name of its interface, e.g. `p0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is behind it.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Ethernet address.
    pub fn mac(&self) -> [u8; 6] {
        self.function.mac()
    }

    /// Payload of the longest frame, in bytes. Where an interface is behind the port its MTU; asks the kernel then.
    pub fn mtu(&self) -> usize {
        let interface = self.backend.interface().and_then(|name| interface::mtu(name).ok());
        interface.map_or(LOOP_MTU, |mtu| mtu.min(LOOP_MTU))
    }

    /// Bytes of the longest frame, with VLAN tags.
    pub fn longest_frame(&self) -> usize {
        self.mtu() + OVERHEAD
    }

    /// Whether frames get through. Asks the kernel where an interface is behind the port.
    pub fn link(&self) -> Link {
        match self.backend.interface() {
            Some(name) if !interface::is_up(name) => Link::Down,
            _ => Link::Up,
        }
    }

    /// Bits per second.
    pub fn speed(&self) -> u64 {
        self.function.active_rate()
    }

    /// What was counted in this process.
    pub fn counters(&self) -> PortCounters {
        let mut counts = self.totals.read();
        let intake = self.intake().upgrade();
        counts.rx_missed += intake.map_or(0, |intake| intake.bell.missed() + intake.kernel_missed());
        counts
    }

    /// Which queues get which frames from now on; none: as at first, by the rules of the topology, and where it has none
    /// every frame is dropped.
    pub fn steer(&self, rules: Option<Arc<Classifier>>) {
        let rules = rules.or_else(|| self.given.clone());
        let intake = self.intake();
        *self.steering.lock().unwrap_or_else(PoisonError::into_inner) = rules.clone();
        if let Some(intake) = intake.upgrade() {
            intake.steer(rules);
        }
    }

    /// The rules there are.
    pub fn rules(&self) -> Option<Arc<Classifier>> {
        self.steering.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens a receive queue.
    ///
    /// # Errors
    /// With one log line: NotPermitted (it names the capability), NotFound (interface or file), InUse (the interface
    /// belongs to another process), NotSupported (kernel), NoMemory, Full (too many queues), Driver.
    pub fn inlet(self: &Arc<Port>, setup: InletSetup) -> Result<Inlet> {
        let intake = self.receive()?;
        let wants = Wants { hash: setup.hash, timestamp: setup.timestamp, checksums: setup.checksums };
        let queue = self.queues.add(setup.wake, wants)?;
        crate::report::announce();
        Inlet::new(self, intake, queue)
    }

    /// Opens a send queue.
    ///
    /// # Errors
    /// As [`Port::inlet`].
    pub fn outlet(self: &Arc<Port>) -> Result<Outlet> {
        let way = backend::open_outgoing(self)?;
        crate::report::announce();
        Ok(Outlet::new(self, way))
    }

    /// Receive queues.
    pub(crate) fn queue_count(&self) -> usize {
        self.queues.count()
    }

    fn receive(self: &Arc<Port>) -> Result<Arc<Intake>> {
        let mut place = self.intake();
        if let Some(intake) = place.upgrade() {
            return Ok(intake);
        }
        let totals = Arc::clone(&self.totals);
        let intake = Arc::new(Intake::new(Arc::clone(&self.queues), totals, self.rules())?);
        backend::open_incoming(self, &intake)?;
        *place = Arc::downgrade(&intake);
        drop(place);
        if self.backend == Backend::Loop {
            crate::wire::receive_at(&self.end, &intake);
        }
        Ok(intake)
    }

    fn intake(&self) -> MutexGuard<'_, Weak<Intake>> {
        self.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The end that frames of this port arrive at.
    pub(crate) fn other_end(&self) -> &End {
        &self.other
    }

    pub(crate) fn totals(&self) -> &Totals {
        &self.totals
    }
}
