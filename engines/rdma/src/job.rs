//! Tasks in their slots: what is to be done, for which connection, with which buffers, and what came of it.

use crate::task::Owned;
use softdpu_memory::node::Lent;

/// Kinds of tasks; the numbers are those of the room's task kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// A place for a message.
    Receive = 0,
    /// A message.
    Send = 1,
    /// A message with four bytes beside it.
    SendImm = 2,
    /// From the peer's memory.
    Read = 3,
    /// To the peer's memory.
    Write = 4,
    /// To the peer's memory, and a receive there completes.
    WriteImm = 5,
    /// Atomic compare and swap.
    CmpSwap = 6,
    /// Atomic fetch and add.
    FetchAdd = 7,
    /// Value of a sync event of the peer.
    EventGet = 8,
    /// Sets a sync event of the peer.
    EventSet = 9,
    /// Adds to a sync event of the peer.
    EventAdd = 10,
}

impl Op {
    /// All of them, by number.
    pub const ALL: [Op; 11] = [
        Op::Receive,
        Op::Send,
        Op::SendImm,
        Op::Read,
        Op::Write,
        Op::WriteImm,
        Op::CmpSwap,
        Op::FetchAdd,
        Op::EventGet,
        Op::EventSet,
        Op::EventAdd,
    ];

    /// Names, by number, as plans and messages have them.
    pub const NAMES: [&'static str; 11] = [
        "receive",
        "send",
        "send_imm",
        "read",
        "write",
        "write_imm",
        "cmp_swp",
        "fetch_add",
        "sync_event_get",
        "sync_event_notify_set",
        "sync_event_notify_add",
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Op::NAMES[self as usize]
    }
}

/// What ended a receive; the contract's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    /// A send.
    Send = 0,
    /// A send with immediate data.
    SendImm = 1,
    /// A write with immediate data.
    WriteImm = 2,
}

impl Opcode {
    /// Were bytes put into the receive's buffer?
    pub(crate) fn fills(self) -> bool {
        self != Opcode::WriteImm
    }

    pub(crate) fn from_number(n: u32) -> Option<Opcode> {
        [Opcode::Send, Opcode::SendImm, Opcode::WriteImm].into_iter().find(|&o| o as u32 == n)
    }
}

/// Which connection of a context: its slot, and a number no other connection of the context ever has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct ConnRef {
    pub(crate) slot: u32,
    pub(crate) uid: u32,
}

/// A buffer was given that is not one (any more).
pub(crate) const LOCAL_BAD: u8 = 1;
/// See [`LOCAL_BAD`].
pub(crate) const REMOTE_BAD: u8 = 2;

/// A task. Fields stay readable after the task was freed.
#[derive(Debug)]
pub struct Job {
    pub(crate) op: Op,
    pub(crate) flags: u8,
    /// Of a receive: what ended it.
    pub(crate) opcode: Opcode,
    pub(crate) imm: [u8; 4],
    /// Bytes received or read.
    pub(crate) len: u32,
    pub(crate) conn: ConnRef,
    /// C: the connection's handle, as the program gave it or, of a receive, as it is told.
    pub(crate) handle: usize,
    /// Source of a send or write, destination of a receive or read, result of an atomic.
    pub(crate) local: Lent,
    /// The peer's end.
    pub(crate) remote: Lent,
    /// Numbers of atomics: what to add; what to compare with, what to store.
    pub(crate) words: [u64; 2],
    /// Rust: what the task owns.
    pub(crate) owned: Option<Owned>,
}

impl Job {
    /// The local buffer: `Ok(None)` when none was given.
    pub(crate) fn local(&self) -> Result<Option<&'static softdpu_memory::node::Node>, ()> {
        given(self.local, self.flags & LOCAL_BAD != 0)
    }

    /// As [`Job::local`].
    pub(crate) fn remote(&self) -> Result<Option<&'static softdpu_memory::node::Node>, ()> {
        given(self.remote, self.flags & REMOTE_BAD != 0)
    }
}

#[inline]
fn given(lent: Lent, bad: bool) -> Result<Option<&'static softdpu_memory::node::Node>, ()> {
    match lent.node() {
        Some(node) => Ok(Some(node)),
        None if bad || !lent.handle().is_null() => Err(()),
        None => Ok(None),
    }
}
