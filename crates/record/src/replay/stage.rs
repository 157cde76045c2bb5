//! What all threads of a replay share: the steps, whose turn it is, and what was found.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::compare::Unequal;
use super::memory::Memory;
use super::world::World;
use super::{Difference, Report};
use crate::contract::{CALLBACKS, FUNCTIONS};
use crate::file::{Entry, Kind};

/// A function of the program that the library called before its turn.
#[derive(Clone, Debug)]
pub(super) struct Early {
    pub(super) kind: u16,
    pub(super) function: u64,
    pub(super) words: Vec<u64>,
}

/// Behind the lock.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The step that happens next.
    turn: usize,
    pub(super) world: World,
    pub(super) early: Vec<Early>,
    pub(super) report: Report,
    /// Memory was read whose bytes the record does not have.
    pub(super) unknown: bool,
    /// Nobody goes on.
    pub(super) over: bool,
}

/// The whole replay.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) steps: Vec<Entry<'static>>,
    /// The number of the call that a step belongs to.
    numbers: Vec<usize>,
    places: BTreeMap<u64, String>,
    /// Where the functions are.
    pub(super) found: Vec<usize>,
    pub(super) patience: Duration,
    state: Mutex<State>,
    moved: Condvar,
}

impl Stage {
    pub(super) fn new(
        steps: Vec<Entry<'static>>,
        places: BTreeMap<u64, String>,
        found: Vec<usize>,
        patience: Duration,
    ) -> Self {
        let mut calls = 0;
        let count = |step: &Entry<'_>| {
            calls += usize::from(step.kind == Kind::Call);
            calls
        };
        let numbers = steps.iter().map(count).collect();
        let state = State { world: World::new(Memory::of(&steps)), ..State::default() };
        Self { steps, numbers, places, found, patience, state: Mutex::new(state), moved: Condvar::new() }
    }

    /// The threads of the record.
    pub(super) fn threads(&self) -> Vec<u32> {
        let mut threads = Vec::new();
        for step in &self.steps {
            if !threads.contains(&step.thread) {
                threads.push(step.thread);
            }
        }
        threads
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits until it is a step's turn; `None` when the replay is over. It is also when nothing moves any more.
    pub(super) fn turn(&self, step: usize) -> Option<MutexGuard<'_, State>> {
        let mut state = self.lock();
        let (mut last, mut since) = (state.turn, Instant::now());
        loop {
            if state.over {
                return None;
            }
            if state.turn == step {
                return Some(state);
            }
            if state.turn != last {
                (last, since) = (state.turn, Instant::now());
            } else if since.elapsed() > 2 * self.patience {
                let stuck = state.turn;
                drop(state);
                self.differs(stuck, Unequal::new("the call", "went on", "does not end"));
                return None;
            }
            let waited = self.moved.wait_timeout(state, Duration::from_millis(200));
            state = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    /// A step has happened.
    pub(super) fn done(&self, mut state: MutexGuard<'_, State>) {
        state.turn += 1;
        drop(state);
        self.moved.notify_all();
    }

    /// The first difference ends the replay.
    pub(super) fn differs(&self, step: usize, unequal: Unequal) {
        let mut state = self.lock();
        self.differs_in(&mut state, step, unequal);
    }

    /// The same with the lock.
    pub(super) fn differs_in(&self, state: &mut State, step: usize, unequal: Unequal) {
        let entry = &self.steps[step.min(self.steps.len() - 1)];
        let index = usize::from(entry.index);
        let function = match entry.kind {
            Kind::Called | Kind::Returned => CALLBACKS[index].name,
            Kind::Memory => "memory of a task",
            _ => FUNCTIONS[index].name,
        };
        let number = self.numbers[step.min(self.steps.len() - 1)];
        let call = self.steps[..=step.min(self.steps.len() - 1)].iter().rev();
        let place = call.filter(|s| s.kind == Kind::Call && s.thread == entry.thread).map(|s| s.first).next();
        let place = place.and_then(|place| self.places.get(&place)).cloned().unwrap_or_default();
        let Unequal { recorded, here } = unequal;
        let difference = Difference { call: number, function: function.to_owned(), place, recorded, here };
        state.report.difference.get_or_insert(difference);
        state.over = true;
        self.moved.notify_all();
    }

    /// Waits for the end; threads that are stuck in the library are left there.
    pub(super) fn wait(&self, threads: Vec<JoinHandle<()>>, calls: usize) -> Report {
        let mut since = None;
        while !threads.iter().all(JoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(2));
            let over = self.lock().over;
            if over && since.get_or_insert_with(Instant::now).elapsed() > Duration::from_secs(1) {
                break;
            }
        }
        let mut report = self.lock().report.clone();
        report.calls = calls;
        report
    }
}
