//! What is known of a task.

use crate::place::Place;
use crate::table::NONE;

/// One pool of tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskPool {
    pub(crate) size: u32,
    pub(crate) good: usize,
    pub(crate) bad: usize,
}

/// Whose a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Held,
    Flying,
    Freed,
    /// Its context was destroyed.
    Gone,
}

/// What a kind of task does with its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// The destination becomes what the source is.
    Copy,
    /// As long as the source, and may be empty.
    Crypt,
    /// At least 20 bytes.
    Hash,
    /// Reads and writes, how much is not known.
    Other,
    /// With a peer: what it reads may be empty, and what it writes another process's.
    Peer,
    /// The same, and it waits until the peer is ready for it.
    Send,
    /// It waits for something to happen, as long as that takes.
    Wait,
}

impl Style {
    /// Nothing has to be so before it is submitted.
    pub(crate) fn is_far(self) -> bool {
        matches!(self, Style::Peer | Style::Send | Style::Wait)
    }

    pub(crate) fn of(what: &str) -> Style {
        match what {
            "memcpy" => Style::Copy,
            "encrypt" | "decrypt" => Style::Crypt,
            "hash" => Style::Hash,
            "compress" | "decompress" | "LZ4 stream" | "LZ4 block" => Style::Other,
            "galois multiplication" | "redundancy" | "update" | "recovery" => Style::Other,
            "send" | "send with immediate data" | "write with immediate data" | "produce" => Style::Send,
            "receive" | "post receive" | "packet receive" | "wait" | "wait not" => Style::Wait,
            _ => Style::Peer,
        }
    }
}

/// Memory that a task uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Range {
    pub(crate) begin: usize,
    pub(crate) end: usize,
}

impl Range {
    pub(crate) fn new(begin: usize, len: u64) -> Range {
        Range { begin, end: begin.saturating_add(usize::try_from(len).unwrap_or(usize::MAX)) }
    }

    pub(crate) fn meets(self, other: Range) -> bool {
        self.begin < other.end && other.begin < self.end
    }

    pub(crate) fn len(self) -> usize {
        self.end.saturating_sub(self.begin)
    }
}

/// A buffer of a task: its handle and, if it is known, its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) at: usize,
    pub(crate) number: u32,
}

impl Use {
    /// No buffer.
    pub(crate) const NOTHING: Use = Use { at: 0, number: NONE };
}

/// What was found when a task was looked at in full, for the next time: while its buffers are what they were, it is fine
/// again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) holds: bool,
    /// A digest of its source can be taken.
    pub(crate) local: bool,
    /// Versions of the buffers, and the bytes of data in them.
    pub(crate) versions: [u32; 2],
    pub(crate) data: [usize; 2],
    /// The one line that it reads and the one that it writes.
    pub(crate) lines: [u16; 2],
}

/// A task of a kind that the checker knows.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) phase: Phase,
    /// It has been in flight and come back.
    pub(crate) ran: bool,
    pub(crate) style: Style,
    pub(crate) src: Use,
    pub(crate) dst: Use,
    pub(crate) reads: Range,
    pub(crate) writes: Range,
    pub(crate) plan: Plan,
    /// For how many looks of the watchdog it has been in flight.
    pub(crate) looks: u32,
    /// The library refused it when it was submitted last.
    pub(crate) refused: bool,
    /// Most bytes of data that its device takes.
    pub(crate) most: u64,
    /// The RDMA connection that it was made for.
    pub(crate) link: usize,
    /// It took off by its plan.
    pub(crate) planned: bool,
    /// What was read at submit had this digest, if it was taken.
    pub(crate) digest: Option<u64>,
    /// The program's callbacks.
    pub(crate) good: usize,
    pub(crate) bad: usize,
    /// Where it was freed or submitted last.
    pub(crate) at: Place,
    /// Its own handle, and its context's.
    pub(crate) handle: usize,
    pub(crate) ctx: usize,
    pub(crate) what: &'static str,
    pub(crate) number: u64,
    pub(crate) made: Place,
}

impl Task {
    pub(crate) fn words(&self) -> String {
        format!("{} task (task {}, made at {})", self.what, self.number, self.made)
    }

    /// Whether two tasks in flight together disturb each other.
    pub(crate) fn disturbs(&self, other: &Task) -> bool {
        self.writes.meets(other.writes) || self.writes.meets(other.reads) || self.reads.meets(other.writes)
    }
}
