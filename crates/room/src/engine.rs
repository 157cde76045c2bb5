//! What an engine is: the only traits an engine folder implements.

use crate::context::Core;
use crate::gate::Gate;
use crate::hardware::Begun;
use crate::slot::Slot;
use crate::touch::Tell;
use crate::watch::Watched;
use softdpu_card::{EngineKind, Function};
use softdpu_memory::device::Device;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// What the room knows of an engine without knowing its jobs.
#[derive(Debug)]
pub struct EngineInfo {
    /// Name as in plans, tables and messages.
    pub name: &'static str,
    /// Which capability of a device it needs.
    pub kind: EngineKind,
    /// Names of its task kinds, by number.
    pub tasks: &'static [&'static str],
    /// Does a failed task stop the context?
    pub fatal: bool,
}

impl EngineInfo {
    /// How many tasks a context on `device` has room for: what was asked for, or `usual` when nothing was.
    ///
    /// # Errors
    /// InvalidValue when that is more than `limit`, what the device takes; the log names both.
    pub fn room_for(&self, device: &Device, asked: u32, usual: u32, limit: u32) -> Result<u32> {
        let count = if asked == 0 { usual } else { asked };
        if count > limit {
            let (name, pci) = (self.name, device.function().pci());
            log::error!(target: &format!("softdpu::{name}"),
                "{name} context on {pci}: {count} tasks asked for, limit {limit}");
            return Err(Error::new(Code::InvalidValue, "more tasks than the device takes"));
        }
        Ok(count)
    }
}

/// An engine: names and types.
pub trait Engine: Sized + Send + Sync + 'static {
    /// What the room knows of it.
    const INFO: &'static EngineInfo;
    /// What a device can do with it.
    type Caps;
    /// Configuration of a context of the Rust face.
    type Config: Default;
    /// The closed set of its jobs; at most [`crate::slot::JOB_BYTES`] bytes. Parts of one job are carried out by several
    /// threads at once.
    type Job: Send + Sync + 'static;
    /// What reaches the program besides completions.
    type Event: Send + 'static;

    /// Capabilities of a device.
    ///
    /// # Errors
    /// NotSupported when it has no such engine.
    fn caps(function: &Function) -> Result<Self::Caps>;

    /// The software hardware behind a context on `device`, and how many tasks may fly.
    ///
    /// # Errors
    /// NotSupported when the device lacks the engine, InvalidValue for a configuration out of its limits.
    fn build(device: &Arc<Device>, config: Self::Config) -> Result<(Box<dyn Work>, u32)>;

    /// Which of [`EngineInfo::tasks`] a job is; asked for instruments only.
    fn kind(job: &Self::Job) -> Option<usize> {
        let _ = job;
        None
    }

    /// Engines with peers or waits: jobs of one class (0 to 7) complete in the order in which the engine completes them,
    /// whatever an instrument does; those of none in any order.
    fn class(job: &Self::Job) -> Option<u8> {
        let _ = job;
        Some(0)
    }
}

/// How a job wants to be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Shape {
    /// At once, by whoever has the lane: at most a few hundred KiB of work.
    Small,
    /// In parts that several threads carry out at the same time ([`Compute::part`]).
    Parts,
    /// In steps, one after the other, by changing threads ([`Compute::step`]).
    Steps,
    /// Whole, by a worker of the card, because it is long and cannot be cut ([`Compute::run`]). Boards without workers
    /// carry it out inside progress.
    Whole,
}

/// Most small jobs carried out together.
pub const MOST_TOGETHER: usize = 16;

/// An engine whose jobs are computed: they take memory and give memory, and wait for nobody.
///
/// Jobs are carried out in any order and reported in submission order.
pub trait Compute: Send + Sync + 'static {
    /// Its engine.
    type Engine: Engine;
    /// Handlers of its task kinds (Rust face).
    type Handlers: Send;

    /// Hands a landed job to the handler of its kind; gives it back to fly again, or nothing.
    fn deliver(
        handlers: &mut Self::Handlers,
        job: <Self::Engine as Engine>::Job,
        result: Result<u64>,
        outbox: &mut crate::job::Outbox<'_, Self::Engine>,
    ) -> Option<<Self::Engine as Engine>::Job>;

    /// How the job wants to be carried out. Looked at when its turn comes.
    fn shape(&self, job: &<Self::Engine as Engine>::Job) -> Shape {
        let _ = job;
        Shape::Small
    }

    /// What a checked submit refuses.
    ///
    /// # Errors
    /// The status the submit answers.
    fn check(&self, job: &<Self::Engine as Engine>::Job) -> Result<()>;

    /// The whole job. A panic is caught and completes it with UNEXPECTED.
    ///
    /// # Errors
    /// The reason of the failure; see [`Compute::status`].
    fn run(&self, job: &mut <Self::Engine as Engine>::Job) -> Result<u64>;

    /// The whole job where that is short and cannot panic; `None` leaves it to [`Compute::run`].
    #[inline(always)]
    fn quick(&self, job: &mut <Self::Engine as Engine>::Job) -> Option<u64> {
        let _ = job;
        None
    }

    /// Is [`Compute::quick_alone`] worth a look at the queues?
    const ALONE: bool = false;

    /// As [`Compute::quick`], for engines that rather carry several jobs out together: asked when no other one waits.
    #[inline(always)]
    fn quick_alone(&self, job: &mut <Self::Engine as Engine>::Job) -> Option<u64> {
        let _ = job;
        None
    }

    /// How many small jobs are best carried out together, at most [`MOST_TOGETHER`]; 1 for engines that gain nothing.
    fn together(&self) -> usize {
        1
    }

    /// Several small jobs in one go; `results` has one place for each. A panic completes all of them with UNEXPECTED.
    fn run_many(&self, jobs: &mut [&mut <Self::Engine as Engine>::Job], results: &mut [Result<u64>]) {
        for (job, result) in jobs.iter_mut().zip(results) {
            *result = self.run(job);
        }
    }

    /// Before the first part or step: checks the job and gives its total.
    ///
    /// # Errors
    /// As [`Compute::run`].
    fn open(&self, job: &<Self::Engine as Engine>::Job) -> Result<u64> {
        let _ = job;
        Err(Error::new(Code::Unexpected, "the job has no parts"))
    }

    /// Bytes `[from, from + len)` of a job in steps, one after the other, from changing threads.
    ///
    /// # Errors
    /// As [`Compute::run`]; the remaining steps are left out then.
    fn step(&self, job: &mut <Self::Engine as Engine>::Job, from: u64, len: u64) -> Result<()> {
        let _ = (job, from, len);
        Ok(())
    }

    /// Bytes `[from, from + len)` of a job in parts; called from several threads at once.
    ///
    /// # Errors
    /// As [`Compute::run`]; the job then fails as a whole.
    fn part(&self, job: &<Self::Engine as Engine>::Job, from: u64, len: u64) -> Result<()> {
        let _ = (job, from, len);
        Ok(())
    }

    /// After the last part or step: what the whole job reports.
    ///
    /// # Errors
    /// As [`Compute::run`].
    fn close(&self, job: &mut <Self::Engine as Engine>::Job, total: u64) -> Result<u64> {
        let _ = job;
        Ok(total)
    }

    /// A job in steps or parts that was begun fails or is flushed instead of reaching [`Compute::close`]: what must not
    /// stay behind of it goes now.
    fn abandon(&self, job: &mut <Self::Engine as Engine>::Job) {
        let _ = job;
    }

    /// What memory, and whose, a job is about; asked for deciders only, before it begins.
    fn touches(&self, job: &<Self::Engine as Engine>::Job, tell: Tell<'_>) {
        let _ = (job, tell);
    }

    /// The status of a failed task, from the reason of the failure.
    fn status(&self, reason: Error) -> Code {
        reason.code()
    }
}

/// The engine of a context, its job type erased: what lanes and landings call.
pub trait Work: Send + Sync {
    /// How the task wants to be carried out.
    fn shape(&self, slot: &Slot) -> Shape;
    /// What a checked submit refuses.
    ///
    /// # Errors
    /// The status the submit answers.
    fn check(&self, slot: &Slot) -> Result<()>;
    /// Carries out a short task without finishing the slot; `None` when it is not that short, or anything speaks against
    /// it.
    fn quick(&self, slot: &Slot) -> Option<u64>;
    /// Carries out the whole task and finishes the slot.
    fn run(&self, slot: &Slot);
    /// Which of its engine's task kinds the slot's job is, where that is known.
    fn kind(&self, slot: &Slot) -> Option<usize> {
        let _ = slot;
        None
    }
    /// Tasks of one class keep their order among each other under instruments; those of none keep none.
    fn class(&self, slot: &Slot) -> Option<u8> {
        let _ = slot;
        Some(0)
    }
    /// Lock holder: the connection that the slot's task needs ends now, as if the peer were gone. False where there is none.
    fn sever(&self, core: &'static Core, slot: &Slot) -> bool {
        let _ = (core, slot);
        false
    }
    /// What the slot's task is about, before it begins.
    fn touches(&self, slot: &Slot, tell: Tell<'_>) {
        let _ = (slot, tell);
    }
    /// Lock holder: from now on, what arrives over the link of the device is lost, or it is not lost any more.
    fn cut(&self, core: &'static Core, on: bool) {
        let _ = (core, on);
    }
    /// Does an admitted task have a place somewhere that only carrying it out gives back?
    fn is_booked(&self) -> bool {
        false
    }
    /// The instruments around it, if there are any.
    fn gate(&self) -> Option<&Gate> {
        None
    }
    /// Who tells the observers around it, if there are any and no gate.
    fn watched(&self) -> Option<&Watched> {
        None
    }
    /// Lock holder: a task of an engine behind a gate, or that is watched, is through.
    fn came_back(&self, slot: &'static Slot) {
        let _ = slot;
    }
    /// Are some tasks through once they are admitted?
    fn settles(&self) -> bool {
        false
    }
    /// Is this one, which is to be submitted? See [`crate::hardware::Hardware::settled`].
    fn settled(&self, slot: &Slot) -> Option<Result<u64, Code>> {
        let _ = slot;
        None
    }
    /// How many small tasks are best carried out together.
    fn together(&self) -> usize {
        1
    }
    /// Carries out several small tasks and finishes their slots.
    fn run_many(&self, slots: &[&'static Slot]) {
        for slot in slots {
            self.run(slot);
        }
    }
    /// Before the first part or step.
    ///
    /// # Errors
    /// The status the task fails with.
    fn open(&self, slot: &Slot) -> Result<u64, Code>;
    /// One part.
    ///
    /// # Errors
    /// The status the task fails with; UNEXPECTED after a panic.
    fn part(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code>;
    /// One step.
    ///
    /// # Errors
    /// As [`Work::part`].
    fn step(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code>;
    /// After the last part or step.
    ///
    /// # Errors
    /// The status the task fails with.
    fn close(&self, slot: &Slot, total: u64) -> Result<u64, Code>;
    /// After the last part or step of a task that fails instead.
    fn abandon(&self, slot: &Slot) {
        let _ = slot;
    }
    /// Drops the job in the slot.
    fn discard(&self, slot: &Slot);
    /// Lands a task of the Rust face that goes to a handler.
    fn handle(&self, core: &'static Core, slot: &'static Slot);
    /// Engines with peers: one turn, with the lane's lock held. True when anything moved.
    fn turn(&self, core: &'static Core) -> bool {
        let _ = core;
        false
    }
    /// Does it complete in its own order? True for engines with peers or waits.
    fn unordered(&self) -> bool {
        false
    }
    /// Engines with peers: before a submit is accepted.
    ///
    /// # Errors
    /// What the submit answers.
    fn admit(&self, slot: &Slot) -> Result<(), Code> {
        let _ = slot;
        Ok(())
    }
    /// The context starts; the state is changed afterwards.
    ///
    /// # Errors
    /// What the start answers; the context stays idle then.
    fn start(&self, core: &'static Core) -> Result<Begun> {
        let _ = core;
        Ok(Begun::Running)
    }
    /// Engines with peers: tells the program of the next event. True when there was one.
    fn event(&self, core: &'static Core) -> bool {
        let _ = core;
        false
    }
    /// Engines with peers: would a turn find something?
    fn is_pending(&self, core: &'static Core) -> bool {
        let _ = core;
        false
    }
    /// Engines with peers: a task was submitted, or a stop asked for, while the progress engine was armed.
    fn rouse(&self) {}
    /// Has the program something of the engine's that must come back before the context may become idle (C)?
    fn is_owed(&self) -> bool {
        false
    }
    /// How many tasks may be added while it runs ([`Core::expand`]).
    fn expansion(&self) -> u32 {
        0
    }
    /// The context becomes idle; nobody else looks at it any more.
    fn idle(&self, core: &'static Core) {
        let _ = core;
    }
}
