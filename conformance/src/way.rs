//! Ways to run SoftDPU, and what runs on them.

use softdpu::prelude::*;
use softdpu::{Engine, State};
use std::marker::PhantomData;

/// A way to run SoftDPU: who carries the work out, and which engine's tasks are carried out.
pub trait Way {
    /// The tasks.
    type Subject: Subject;

    /// Who carries them out.
    fn board() -> Board;
}

/// The board without threads.
#[derive(Debug)]
pub struct Inline<S>(PhantomData<S>);

/// The board with threads.
#[derive(Debug)]
pub struct Threads<S>(PhantomData<S>);

impl<S: Subject> Way for Inline<S> {
    type Subject = S;
    fn board() -> Board {
        Board::inline()
    }
}

impl<S: Subject> Way for Threads<S> {
    type Subject = S;
    fn board() -> Board {
        Board::threads()
    }
}

/// An engine's tasks, numbered, with results that can be checked.
pub trait Subject: std::fmt::Debug + Send + Sized + 'static {
    /// Their engine.
    type Engine: Engine;
    /// Their type.
    type Task: Task<Engine = Self::Engine, Output = u64> + std::fmt::Debug;

    /// The capability a device needs.
    const KIND: EngineKind;

    /// Memory for `count` tasks in flight.
    fn new(device: &Device, count: usize) -> Self;
    /// Configuration of a context with `tasks` slots.
    fn config(tasks: u32, handler: Option<Handler<Self::Task>>) -> <Self::Engine as Engine>::Config;
    /// The task with this number; `None` when no buffers are left.
    fn task(&self, number: u64) -> Option<Self::Task>;
    /// Panics unless the task was carried out and has this number.
    fn check(number: u64, done: Done<Self::Task>);
    /// The number of a task.
    fn number(task: &Self::Task) -> u64;
    /// Makes a task fly once more.
    fn again(task: Self::Task) -> Self::Task;
    /// A task that is refused at submit.
    fn wrong(&self) -> Self::Task;
    /// Are all buffers back?
    fn is_whole(&self) -> bool;
}

/// Everything open, one progress engine.
#[derive(Debug)]
pub struct Rig<S: Subject> {
    /// The session.
    pub session: Session,
    /// A device that has the engine.
    pub device: Device,
    /// The tasks' memory.
    pub subject: S,
    /// The progress engine.
    pub pe: ProgressEngine,
}

impl<S: Subject> Rig<S> {
    /// On the board of `W`.
    ///
    /// # Panics
    /// When something is refused.
    pub fn new<W: Way<Subject = S>>() -> Rig<S> {
        let session =
            Session::builder().profile(softdpu::card::Profile::All).board(W::board()).open().unwrap();
        let device = session.first_with(S::KIND).unwrap().open().unwrap();
        let subject = S::new(&device, 64);
        let pe = ProgressEngine::new(&session).unwrap();
        Rig { session, device, subject, pe }
    }

    /// A running context.
    ///
    /// # Panics
    /// When it is refused.
    pub fn start(&mut self, tasks: u32) -> Context<S::Engine> {
        self.start_with(S::config(tasks, None))
    }

    /// A running context.
    ///
    /// # Panics
    /// When it is refused.
    pub fn start_with(&mut self, config: <S::Engine as Engine>::Config) -> Context<S::Engine> {
        let context = Context::start(&mut self.pe, &self.device, config).unwrap().wait(&mut self.pe).unwrap();
        assert_eq!(context.state(), State::Running);
        context
    }

    /// Progresses until nothing of `context` flies; the number of tasks that landed.
    pub fn land(&mut self, context: &Context<S::Engine>) -> usize {
        let mut landed = 0;
        while context.in_flight() > 0 {
            landed += self.pe.progress();
        }
        landed
    }
}
