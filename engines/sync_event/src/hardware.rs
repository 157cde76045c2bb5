//! The engine: carries out what is done at once, and keeps waits until they are satisfied.
//!
//! A wait is looked at in every turn; while the program sleeps, workers of the card turn. So nobody has to tell it of a
//! change, which may come from any process. Waits hold nobody back.

use crate::caps::Caps;
use crate::cell::LOG;
use crate::condition::Condition;
use crate::event::SyncEvent;
use crate::live::Live;
use crate::task::{Job, What};
use core::convert::Infallible;
use softdpu_card::{EngineKind, Function};
use softdpu_memory::device::Device;
use softdpu_room::engine::{Engine, EngineInfo, Work};
use softdpu_room::hardware::{Hardware, Peered, Port, Ticket, Turn};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// The sync event engine: tasks on one event.
#[derive(Debug)]
pub struct SyncEvents;

/// Configuration of a context.
#[derive(Debug, Default)]
pub struct Config {
    /// The event; needed.
    pub event: Option<SyncEvent>,
    /// Tasks in flight at once; 0 stands for 16.
    pub tasks: u32,
}

impl Config {
    /// Tasks on this event.
    pub fn of(event: &SyncEvent) -> Config {
        Config { event: Some(event.clone()), tasks: 0 }
    }
}

impl Engine for SyncEvents {
    const INFO: &'static EngineInfo = &EngineInfo {
        name: "sync_event",
        kind: EngineKind::SyncEvent,
        tasks: &["get", "notify_set", "notify_add", "wait_eq", "wait_neq"],
        fatal: false,
    };
    type Caps = Caps;
    type Config = Config;
    type Job = Job;
    type Event = Infallible;

    fn caps(function: &Function) -> Result<Caps> {
        Caps::of(function)
    }

    fn class(_: &Job) -> Option<u8> {
        None
    }

    fn build(device: &Arc<Device>, config: Config) -> Result<(Box<dyn Work>, u32)> {
        let Some(event) = config.event else {
            log::error!(target: LOG, "context on {}: the configuration has no event", device.function().pci());
            return Err(Error::new(Code::InvalidValue, "the configuration has no event"));
        };
        let limit = Caps::of(device.function())?.max_num_tasks;
        let count = Self::INFO.room_for(device, config.tasks, 16, limit)?;
        Ok((Waits::on(event.live().clone(), count, false)?, count))
    }
}

/// A context's tasks on an event.
#[derive(Debug)]
pub(crate) struct Waits {
    live: Arc<Live>,
    /// Has room for every task there is.
    waiting: Vec<(Condition, Ticket<SyncEvents>)>,
    /// All waits were found unsatisfied by this value.
    seen: Option<u64>,
    /// Nobody turns while the program sleeps.
    unwatched: bool,
    /// The event ends with the context (C).
    ends: bool,
}

impl Waits {
    /// On an event, for so many tasks.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn on(live: Arc<Live>, tasks: u32, ends: bool) -> Result<Box<dyn Work>> {
        let mut waiting = Vec::new();
        let no_memory = |_| Error::new(Code::NoMemory, "no memory for tasks of a sync event");
        waiting.try_reserve_exact(tasks as usize).map_err(no_memory)?;
        Ok(Peered::new(Waits { live, waiting, seen: None, unwatched: false, ends }, ()))
    }

    /// Carries out what can be done at once; a wait that must be kept comes back.
    fn carry_out(&self, what: What) -> core::result::Result<Result<u64>, Condition> {
        let cell = self.live.cell();
        Ok(match what {
            What::Get => cell.get(),
            What::Set(to) => cell.set(to).map(|()| 0),
            What::Add(by) => cell.add(by),
            What::Wait(condition) if !condition.is_for_tasks() => refuse(&condition).map(|()| 0),
            What::Wait(condition) => match cell.get() {
                Ok(value) if !condition.holds(value) => return Err(condition),
                seen => seen,
            },
        })
    }
}

fn refuse(condition: &Condition) -> Result<()> {
    if condition.is_for_tasks() {
        return Ok(());
    }
    log::error!(target: LOG, "wait task: mask {:#018x}, allowed are 0, 1, 2, 4 or 8 whole bytes 0xff in a row", condition.mask);
    Err(Error::new(Code::InvalidValue, "a mask that wait tasks do not take"))
}

impl Hardware for Waits {
    type Engine = SyncEvents;
    type Desk = ();

    fn check((): &(), job: &Job) -> Result<()> {
        match &job.what {
            What::Wait(condition) => refuse(condition),
            _ => Ok(()),
        }
    }

    fn turn(&mut self, port: &mut Port<'_, SyncEvents>) -> Turn {
        self.unwatched = port.core().board().has_no_workers();
        let stopping = port.is_stopping();
        let mut turn = Turn::Idle;
        while let Some(mut ticket) = port.take() {
            turn = Turn::Busy;
            let job = *port.job(&mut ticket);
            if stopping {
                port.complete(ticket, Err(Code::IoFailed));
                continue;
            }
            match self.carry_out(job.what) {
                Ok(result) => {
                    if let Ok(value) = result {
                        job.out.put(value);
                    }
                    port.complete(ticket, result.map_err(|e| e.code()));
                }
                Err(condition) => {
                    self.waiting.push((condition, ticket));
                    // It was not looked at with the others.
                    self.seen = None;
                }
            }
        }
        if self.waiting.is_empty() {
            return turn;
        }
        let value = if stopping { Err(Code::IoFailed) } else { self.live.cell().get().map_err(|e| e.code()) };
        if self.seen.is_some() && self.seen == value.ok() {
            return turn;
        }
        let through = |condition: &Condition| value.map_or(true, |v| condition.holds(v));
        for (_, ticket) in self.waiting.extract_if(.., |(condition, _)| through(condition)) {
            port.complete(ticket, value);
            turn = Turn::Busy;
        }
        self.seen = value.ok();
        turn
    }

    fn is_pending(&mut self) -> bool {
        !self.waiting.is_empty()
            && (self.unwatched || self.seen.is_none() || self.seen != self.live.cell().get().ok())
    }

    fn idle(&mut self) {
        if self.ends {
            self.live.end();
        }
    }
}
