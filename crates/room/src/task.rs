//! What a program holds before, while and after a task flies.

use crate::engine::Engine;
use crate::job::Outbox;
use softdpu_status::{Error, Result};

/// A task: a plain value that owns its buffers. It moves into a slot when submitted and comes back with the result.
pub trait Task: Sized + Send + 'static {
    /// The only engine that takes it.
    type Engine: Engine;
    /// What success gives besides the task itself.
    type Output: Send;

    #[doc(hidden)]
    fn into_job(self) -> <Self::Engine as Engine>::Job;
    #[doc(hidden)]
    fn from_job(job: <Self::Engine as Engine>::Job) -> Self;
    #[doc(hidden)]
    fn output(raw: u64) -> Self::Output;
}

/// A finished task: everything that was moved in, and how it went.
#[derive(Debug)]
pub struct Done<T: Task> {
    /// The task with its buffers, back on success and on failure.
    pub task: T,
    /// How it went.
    pub result: Result<T::Output>,
}

/// A refused input, which comes back.
#[derive(Debug)]
pub struct Rejected<T> {
    /// Why.
    pub error: Error,
    /// What was refused.
    pub back: T,
}

impl<T> From<Rejected<T>> for Error {
    fn from(rejected: Rejected<T>) -> Error {
        rejected.error
    }
}

/// What a handler wants done with the task it was given.
#[derive(Debug)]
pub enum Next<T> {
    /// Nothing: the handler kept or dropped it.
    Free,
    /// Let it fly again, in the same slot.
    Again(T),
}

/// Gets every finished task that was posted rather than submitted. Runs inside progress, on the thread that calls it;
/// it may post further tasks but not call progress.
pub type Handler<T> = Box<dyn FnMut(Done<T>, &mut Outbox<'_, <T as Task>::Engine>) -> Next<T> + Send>;

impl<E: Engine> Outbox<'_, E> {
    /// Posts a task whose result goes to the handler.
    ///
    /// # Errors
    /// The task back, with BadState (not running) or Full (no slot is free; wait for one to land).
    pub fn post<T: Task<Engine = E>>(&mut self, task: T) -> Result<(), Rejected<T>> {
        self.post_job(task.into_job()).map_err(|(error, job)| Rejected { error, back: T::from_job(job) })
    }
}

/// Hands a landed job to the handler of its task type, if there is one: what an engine's `deliver` comes down to.
#[inline(always)]
pub fn deliver<T: Task>(
    handler: &mut Option<Handler<T>>,
    job: <T::Engine as Engine>::Job,
    result: Result<u64>,
    outbox: &mut Outbox<'_, T::Engine>,
) -> Option<<T::Engine as Engine>::Job> {
    let done = Done { task: T::from_job(job), result: result.map(T::output) };
    match handler.as_mut()?(done, outbox) {
        Next::Free => None,
        Next::Again(task) => Some(task.into_job()),
    }
}
