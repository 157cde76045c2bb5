//! A connection as the engine has it: its way out, its send queue, and how far the task at its front has come.

use crate::conn::Conn;
use crate::inbox::{Outbound, State};
use crate::job::ConnRef;
use crate::net::Way;
use crate::queue::Queue;
use crate::srq::{Claim, Letter};
use softdpu_link::Owner;
use softdpu_memory::copy::Gate;
use std::sync::Arc;
use std::time::Instant;

/// A connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) conn: Arc<Conn>,
    pub(crate) out: Option<Outbound>,
    /// Or the way over the network.
    pub(crate) net: Option<Box<Way>>,
    /// The process of the peer, once the way out is there, and what its context permits peers.
    pub(crate) peer: Option<Owner>,
    pub(crate) rights: u64,
    /// The turn in which it was last seen to be of use.
    looked: u64,
    /// Which sender it takes messages from.
    pub(crate) inbound: Option<u32>,
    pub(crate) queue: Queue,
    /// A task has failed: no other one is carried out.
    pub(crate) failed: bool,
    /// Something was staged and not published.
    pub(crate) dirty: bool,
    pub(crate) front: Front,
}

/// How far the task at the front has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Front {
    /// Its bytes, once they were checked.
    pub(crate) total: Option<u64>,
    pub(crate) done: u64,
    pub(crate) claim: Option<Claim>,
    /// The peer was told of the claim.
    pub(crate) staged: bool,
    /// When the peer had no receive for the first time.
    pub(crate) no_receive: Option<Instant>,
    /// When there was no room for the first time.
    pub(crate) no_room: Option<Instant>,
}

impl Link {
    pub(crate) fn new(conn: Arc<Conn>) -> Link {
        Link {
            conn,
            out: None,
            net: None,
            peer: None,
            rights: 0,
            looked: 0,
            inbound: None,
            queue: Queue::new(),
            failed: false,
            dirty: false,
            front: Front::default(),
        }
    }

    /// Takes one-sided tasks without anything before them? Looks at the peer once per turn.
    #[inline]
    pub(crate) fn is_clear(&mut self, which: ConnRef, turn: u64) -> bool {
        self.conn.here == which && self.queue.is_empty() && (self.looked == turn || self.look(turn))
    }

    #[inline(never)]
    fn look(&mut self, turn: u64) -> bool {
        let good = matches!(self.state(), Some(State::Open | State::Waiting));
        if good {
            self.looked = turn;
        }
        good
    }

    /// A task has failed: no other one is carried out.
    pub(crate) fn fail(&mut self) {
        (self.failed, self.looked) = (true, 0);
    }

    /// Is the peer there, as far as we know?
    #[inline]
    pub(crate) fn state(&self) -> Option<State> {
        if self.failed { None } else { self.out.as_ref().map(Outbound::state) }
    }

    /// Makes what was staged visible.
    #[inline]
    pub(crate) fn publish(&mut self) {
        if self.dirty
            && let Some(out) = &mut self.out
        {
            out.publish();
        }
        self.dirty = false;
    }
}

/// What a step of a task came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is through; so many bytes.
    Done(u64),
    /// It failed; the reason is in the log.
    Failed,
    /// It goes on at the next turn.
    More,
    /// It waits for the peer.
    Wait,
}

/// What every task of a context is held against, and what it may use.
#[derive(Debug)]
pub(crate) struct Tools {
    /// The device's bit in access words.
    pub(crate) device: u64,
    pub(crate) send: Gate,
    pub(crate) receive: Gate,
    /// Transfers of so many bytes bypass the cache.
    pub(crate) stream_from: u64,
    /// How often a message without receive is repeated.
    pub(crate) rnr: u8,
    pub(crate) scratch: Box<[u8]>,
    /// Bytes that this turn may still move.
    pub(crate) budget: u64,
}

/// Claims a receive of the peer for the task at the front.
pub(crate) fn claim(link: &mut Link, tools: &Tools, letter: Letter) -> Result<Claim, Step> {
    if let Some(claim) = link.front.claim {
        return Ok(claim);
    }
    let Some(out) = &mut link.out else { return Err(Step::Failed) };
    match out.state() {
        State::Open => {}
        State::Waiting => return Err(Step::Wait),
        State::Closed => return Err(Step::Failed),
    }
    let mut found = out.claim();
    if found.is_none() {
        out.srq.wait();
        found = out.claim();
    }
    let Some(claim) = found else {
        return Err(if has_waited(link, tools) { Step::Failed } else { Step::Wait });
    };
    link.front.no_receive = None;
    // The receiver may have closed between the look and the claim; then nobody would find the claim.
    if out.state() != State::Open {
        out.srq.unclaim(claim, out.me);
        return Err(Step::Failed);
    }
    out.srq.write(claim, letter);
    link.front.claim = Some(claim);
    Ok(claim)
}

/// Has the message found no receive as often as was allowed?
fn has_waited(link: &mut Link, tools: &Tools) -> bool {
    if tools.rnr >= crate::config::RNR_FOREVER {
        return false;
    }
    let now = Instant::now();
    let since = *link.front.no_receive.get_or_insert(now);
    let over = now.duration_since(since) >= REPEAT * u32::from(tools.rnr);
    if over {
        log::error!(target: crate::LOG, "connection {}: the peer has no receive posted; repeated {} times",
            link.conn.id(), tools.rnr);
    }
    over
}

/// Time between two repeats of a message that finds no receive.
pub(crate) const REPEAT: std::time::Duration = std::time::Duration::from_millis(100);
