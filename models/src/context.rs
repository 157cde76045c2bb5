//! A context, as far as lanes, progress engines and workers look at it; its functions are the room's.

use crate::board::{Bell, Board};
use crate::engine::{MOST_TOGETHER, Shape};
use crate::flight;
use crate::handle::Kept;
use crate::lane::{Claims, Lane};
use crate::pe::Pe;
use crate::slot::Slot;
use crate::sync::{AtomicPtr, AtomicU8, AtomicU32, Ordering};
use softdpu_status::{Code, Result};
use std::sync::atomic::AtomicBool;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    Idle = 0,
    Starting = 1,
    Running = 2,
    Stopping = 3,
}

impl State {
    fn from(n: u8) -> State {
        [State::Idle, State::Starting, State::Running, State::Stopping][usize::from(n & 3)]
    }
}

const RUNNING: u8 = State::Running as u8;
pub(crate) const ACTIVE: u8 = 1;
pub(crate) const WATCHED: u8 = 2;
pub(crate) const SPLIT_FROM: u64 = 64 << 10;
const PART_BYTES: u64 = 256 << 10;
/// A large task of two parts.
pub(crate) const PARTS: u64 = 128 << 10;
/// A large task of two steps.
pub(crate) const STEPS: u64 = 512 << 10;
/// A large task that a worker carries out whole.
pub(crate) const WHOLE: u64 = 1 << 20;
/// A small task.
pub(crate) const SMALL: u64 = 8;

/// See the module.
#[derive(Debug)]
pub(crate) struct Core {
    state: AtomicU8,
    pub(crate) active: AtomicU8,
    local: bool,
    board: &'static dyn Board,
    pub(crate) abandoned: AtomicU8,
    pub(crate) buried: AtomicU8,
    pub(crate) pe: AtomicPtr<Pe>,
    pub(crate) next: AtomicPtr<Core>,
    pub(crate) idle_visits: AtomicU32,
    seen: AtomicU32,
    alone: AtomicU8,
    lane: Lane,
    bell: Bell,
    /// Given up: whoever reaches it now is wrong.
    pub(crate) retired: AtomicBool,
}

impl Core {
    /// A running context of the Rust face, connected to `pe`.
    pub(crate) fn running(pe: &'static Pe) -> Kept<Core> {
        Kept::new(Core {
            state: AtomicU8::new(RUNNING),
            active: AtomicU8::new(0),
            local: false,
            board: crate::board::none(),
            abandoned: AtomicU8::new(0),
            buried: AtomicU8::new(0),
            pe: AtomicPtr::new(std::ptr::from_ref(pe).cast_mut()),
            next: AtomicPtr::new(std::ptr::null_mut()),
            idle_visits: AtomicU32::new(0),
            seen: AtomicU32::new(0),
            alone: AtomicU8::new(0),
            lane: Lane::new(2, false).expect("there is memory"),
            bell: Bell::new(),
            retired: AtomicBool::new(false),
        })
    }

    pub(crate) fn is_local(&self) -> bool {
        self.local
    }

    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    pub(crate) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// The engine's end, as far as the context notices.
    pub(crate) fn disconnect(&self) {
        self.pe.store(std::ptr::null_mut(), Ordering::Relaxed);
    }

    pub(crate) fn lanes(&self) -> impl Iterator<Item = &Lane> {
        assert!(!self.retired.load(Ordering::Relaxed), "a context that was given up is looked at");
        std::iter::once(&self.lane)
    }

    pub(crate) fn set_state(&self, state: State) {
        self.state.store(state as u8, Ordering::Release);
    }

    pub(crate) fn board(&self) -> &'static dyn Board {
        self.board
    }

    pub(crate) fn call_state(&self, _: State, _: State) {}

    /// What only engines with peers have; the models' one computes.
    pub(crate) fn is_held_up(&self) -> bool {
        false
    }

    /// See above.
    pub(crate) fn needs_turn(&self) -> bool {
        false
    }

    /// See above.
    pub(crate) fn needs_turns(&self) -> bool {
        false
    }

    /// See above.
    pub(crate) fn may_rest(&self) -> bool {
        true
    }

    fn tasks_held(&self) -> u32 {
        0
    }

    pub(crate) fn work(&self) -> &Work {
        &Work
    }

    pub(crate) fn info(&self) -> &'static Info {
        &Info { tasks: &["task"] }
    }

    /// Nobody looks on.
    pub(crate) fn tell_flushed(&self, _: &Slot) {}
}

/// What its engine says of itself.
#[derive(Debug)]
pub(crate) struct Info {
    pub(crate) tasks: &'static [&'static str],
}

/// An engine that counts how often it carries out what.
#[derive(Debug)]
pub(crate) struct Work;

#[allow(clippy::unused_self, reason = "the shape of the room's trait")]
impl Work {
    pub(crate) fn quick(&self, slot: &Slot) -> Option<u64> {
        let bytes = slot.bytes.get();
        (bytes < SPLIT_FROM).then(|| {
            slot.job.update(|n| n + 1);
            bytes
        })
    }
    pub(crate) fn shape(&self, slot: &Slot) -> Shape {
        match slot.bytes.get() {
            PARTS => Shape::Parts,
            STEPS => Shape::Steps,
            WHOLE => Shape::Whole,
            _ => Shape::Small,
        }
    }
    fn together(&self) -> usize {
        1
    }
    fn abandon(&self, _: &Slot) {}
    fn run_many(&self, slots: &[&'static Slot]) {
        slots.iter().for_each(|slot| self.run(slot));
    }
    pub(crate) fn discard(&self, slot: &Slot) {
        slot.empty();
    }
    fn run(&self, slot: &Slot) {
        slot.job.update(|n| n + 1);
        slot.finish(Ok(slot.bytes.get()));
    }
    fn open(&self, slot: &Slot) -> Result<u64, Code> {
        Ok(slot.bytes.get())
    }
    fn part(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code> {
        assert_eq!(len, SPLIT_FROM, "the measure of another task");
        slot.done[(from / len) as usize].update(|n| n + 1);
        Ok(())
    }
    fn step(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code> {
        assert_eq!(len, PART_BYTES, "the measure of another task");
        // Steps have the job to themselves, one after the other.
        slot.job.update(|n| n);
        slot.done[(from / len) as usize].update(|n| n + 1);
        Ok(())
    }
    fn close(&self, slot: &Slot, total: u64) -> Result<u64, Code> {
        slot.job.update(|n| n + 1);
        Ok(total)
    }
    fn turn(&self, _: &'static Core) -> bool {
        false
    }
    fn unordered(&self) -> bool {
        false
    }
    pub(crate) fn idle(&self, _: &'static Core) {}
}

pub(crate) use cut::active;
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    reason = "as in the room; not every model uses all of it"
)]
mod cut {
    use super::*;
    const OPENED_AT_ONCE: u32 = 64;
    #[derive(PartialEq, Eq, Clone, Copy)]
    pub(crate) enum Visit {
        Nothing,
        Worked,
    }
    include!(concat!(env!("OUT_DIR"), "/cut_context.rs"));
    include!(concat!(env!("OUT_DIR"), "/cut_part_bytes.rs"));
    include!(concat!(env!("OUT_DIR"), "/cut_carry.rs"));
    include!(concat!(env!("OUT_DIR"), "/cut_active.rs"));
    include!(concat!(env!("OUT_DIR"), "/cut_prepare.rs"));
}
