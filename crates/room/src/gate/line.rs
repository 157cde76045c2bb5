//! Where tasks stand behind a gate.

use crate::slot::Slot;
use softdpu_status::Code;
use std::collections::VecDeque;

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Not begun.
    Waiting,
    /// The engine, or workers, have it.
    Begun,
    /// The engine is through with it.
    Over,
    /// Its completion is lost, until the context stops.
    Lost,
}

/// A task behind the gate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) slot: &'static Slot,
    pub(super) step: Step,
    /// Turn at which it came to this step.
    pub(super) since: u64,
    /// Order it keeps with others of the same class.
    pub(super) class: Option<u8>,
    /// Posted by a handler: reported through the second lane.
    pub(super) posted: bool,
    /// How it went, whatever the engine will say.
    pub(super) instead: Option<Result<u64, Code>>,
}

impl Entry {
    pub(super) fn waiting(slot: &'static Slot, since: u64, class: Option<u8>) -> Entry {
        Entry { slot, step: Step::Waiting, since, class, posted: false, instead: None }
    }

    /// Comes to another step.
    pub(super) fn go(&mut self, step: Step, now: u64) {
        (self.step, self.since) = (step, now);
    }
}

/// Which classes have somebody waiting, whom the others of the class must not pass.
#[derive(Debug, Default)]
pub(super) struct Queues(u8);

impl Queues {
    pub(super) fn is_held(&self, class: Option<u8>) -> bool {
        class.is_some_and(|c| self.0 & 1 << (c & 7) != 0)
    }

    pub(super) fn hold(&mut self, class: Option<u8>) {
        if let Some(c) = class {
            self.0 |= 1 << (c & 7);
        }
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Turns so far.
    turn: u64,
    /// In the order of submission; engines with peers: those not begun, or with a result decided before.
    pub(super) line: VecDeque<Entry>,
    /// Engines with peers: what is through, in the order of completion.
    pub(super) over: VecDeque<Entry>,
    /// Engines with peers: tasks given to the engine that it has not taken.
    pub(super) left: u32,
    /// The engine was told that its link is down.
    pub(super) cut: bool,
    /// Room for those that are given to the engine in one turn.
    pub(super) ready: Vec<&'static Slot>,
}

impl Lines {
    /// The number of the turn that begins.
    pub(super) fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }

    /// Is there one that only turns move on?
    pub(super) fn wait_for_turns(&self) -> bool {
        self.over.iter().any(|e| e.step == Step::Over)
            || self.line.iter().any(|e| match e.step {
                Step::Waiting | Step::Over => true,
                // Parts that this thread could carry out, or a worker is through with all of them.
                Step::Begun => e.slot.is_ready() || e.slot.may_be_claimed(true),
                Step::Lost => false,
            })
    }
}
