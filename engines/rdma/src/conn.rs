//! A connection, as the program and the engine both hold it.

use crate::addr::Address;
use crate::blob::{LEN, Name};
use crate::control::Control;
use crate::job::ConnRef;
use crate::knock::Knock;
use crate::net::Pipe;
use crate::sync::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use softdpu_link::LineHandle;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Where a connection is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// Described, and waits for a peer's description.
    Exported = 0,
    /// A peer asked for it; to be accepted or rejected.
    Requested = 1,
    /// The peer was asked for it.
    Connecting = 2,
    /// Accepted; the peer has not said yet that it knows.
    Accepted = 3,
    /// Takes tasks.
    Connected = 4,
    /// Over.
    Ended = 5,
}

/// A connection.
#[derive(Debug)]
pub struct Conn {
    pub(crate) here: ConnRef,
    pub(crate) control: Weak<Control>,
    pub(crate) secret: [u8; 16],
    blob: [u8; LEN],
    user: AtomicU64,
    /// Send-side tasks of its slot that were through before it had the slot.
    pub(crate) before: u32,
    /// Messages received; the engine alone counts.
    received: AtomicU32,
    /// C: the object that stands for it.
    pub(crate) handle: AtomicUsize,
    /// The program was told the last there is to tell of it.
    pub(crate) finished: AtomicBool,
    /// It goes over the network, by this provider of the fabric.
    pub(crate) fabric: OnceLock<Arc<str>>,
    /// C: the program has given it up.
    pub(crate) released: AtomicBool,
    phase: AtomicU8,
    more: Mutex<More>,
}

/// What changes while it is being made.
#[derive(Debug, Default)]
pub(crate) struct More {
    /// Who may send to us.
    pub(crate) from: Option<Name>,
    /// Whom we send to.
    pub(crate) to: Option<Name>,
    pub(crate) address: Option<Address>,
    pub(crate) knock: Option<Knock>,
    /// While the peer is asked: the number it would send to us under, and the line it is asked on.
    pub(crate) sender: Option<u32>,
    pub(crate) line: Option<LineHandle>,
    /// The same over the network.
    pub(crate) net: Option<Arc<Pipe>>,
    /// The way over the network on which `from` sends to us.
    pub(crate) inward: Weak<Pipe>,
}

impl Conn {
    pub(crate) fn new(
        control: &Arc<Control>,
        here: ConnRef,
        phase: Phase,
        secret: [u8; 16],
        blob: [u8; LEN],
        before: u32,
    ) -> Arc<Conn> {
        Arc::new(Conn {
            here,
            control: Arc::downgrade(control),
            secret,
            blob,
            user: AtomicU64::new(0),
            before,
            received: AtomicU32::new(0),
            handle: AtomicUsize::new(0),
            finished: AtomicBool::new(false),
            fabric: OnceLock::new(),
            released: AtomicBool::new(false),
            phase: AtomicU8::new(phase as u8),
            more: Mutex::default(),
        })
    }

    /// Its description, for the peer. The bytes stay where they are as long as the connection lives.
    pub fn description(&self) -> &[u8] {
        &self.blob
    }

    /// A number that no other connection of its context ever has.
    pub fn id(&self) -> u32 {
        self.here.uid
    }

    /// The program's value.
    pub fn user_data(&self) -> u64 {
        self.user.load(Ordering::Relaxed)
    }

    /// Sets the program's value.
    pub fn set_user_data(&self, value: u64) {
        self.user.store(value, Ordering::Relaxed);
    }

    /// Where it is in its life.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Exported,
            1 => Phase::Requested,
            2 => Phase::Connecting,
            3 => Phase::Accepted,
            4 => Phase::Connected,
            _ => Phase::Ended,
        }
    }

    /// Moves on from a phase; false when it is in another one.
    pub(crate) fn advance(&self, from: Phase, to: Phase) -> bool {
        self.phase.compare_exchange(from as u8, to as u8, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// It is over. Gives the phase it was in.
    pub(crate) fn end(&self) -> Phase {
        let before = self.phase();
        self.phase.store(Phase::Ended as u8, Ordering::Release);
        before
    }

    /// Nobody asks for it, or is asked, any more: the other end learns of it. Gives the number that the peer would have sent
    /// under.
    pub(crate) fn abandon(&self) -> Option<u32> {
        let (sender, line, knock, net) = {
            let mut more = self.more();
            (more.sender.take(), more.line.take(), more.knock.take(), more.net.take())
        };
        let asked = knock.map(|knock| knock.line);
        line.iter().chain(&asked).for_each(LineHandle::hang_up);
        if let Some(pipe) = net {
            crate::net::reject(pipe);
        }
        sender
    }

    /// The peer's address, of a connection made by the connection manager.
    pub fn address(&self) -> Option<Address> {
        self.more().address.clone()
    }

    /// The process of the peer, as far as it is known.
    pub(crate) fn peer(&self) -> Option<u32> {
        let more = self.more();
        more.to.or(more.from).map(|name| name.owner.pid)
    }

    /// How it reaches the peer, in a word or two.
    pub(crate) fn path(&self) -> String {
        self.fabric.get().map_or_else(|| "local".into(), |provider| format!("network {provider}"))
    }

    /// One more message came.
    pub(crate) fn count_received(&self) {
        self.received.store(self.received.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Messages that came.
    pub(crate) fn received(&self) -> u32 {
        self.received.load(Ordering::Relaxed)
    }

    pub(crate) fn more(&self) -> MutexGuard<'_, More> {
        self.more.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
