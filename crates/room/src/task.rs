//! What a program holds before, while and after a task flies.

use crate::engine::Engine;
use crate::job::Outbox;
use softdpu_status::{Error, Result};

/// A task: a plain value that owns its buffers. It moves into a slot when submitted and comes back with the result.
///
/// Implemented by the engines' task types alone. Useful as a bound:
///
/// ```
/// use softdpu::dma::Dma;
/// use softdpu::prelude::*;
///
/// /// Submits and waits, whatever the task.
/// fn carry_out<T: Task<Engine = Dma>>(dma: &mut Context<Dma>, pe: &mut ProgressEngine, task: T) -> softdpu::Result<T::Output> {
///     let flying = dma.submit(task)?;
///     pe.run(flying).result
/// }
/// ```
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
///
/// ```
/// # use softdpu::dma::{Config, Dma, Memcpy};
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
/// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
/// # src.push_slice(b"bytes")?;
/// let Done { task: Memcpy { src, dst }, result } = pe.run(dma.submit(Memcpy { src, dst })?);
/// assert_eq!((result, dst.data_len()), (Ok(5), 5));
/// # drop(src);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Done<T: Task> {
    /// The task with its buffers, back on success and on failure.
    pub task: T,
    /// How it went.
    pub result: Result<T::Output>,
}

/// A refused input, which comes back. Turns into its [`Error`] with `?`; the input is dropped then.
///
/// ```
/// # use softdpu::dma::{Config, Dma, Memcpy};
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let (mut first, mut second) = (memory.buf(..10)?, memory.buf(10..20)?);
/// # first.push_slice(b"bytes")?;
/// # second.push_slice(b"bytes")?;
/// # let first = Memcpy { src: first, dst: memory.buf(20..30)? };
/// # let second = Memcpy { src: second, dst: memory.buf(30..40)? };
/// let config = Config { memcpy: 1, ..Config::default() };
/// let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.wait(&mut pe)?;
/// let flying = dma.submit(first)?;
/// let Rejected { error, back } = dma.submit(second).unwrap_err(); // there is one slot
/// assert_eq!((error.code(), error.class()), (Code::Full, Class::Transient));
/// pe.run(flying);
/// assert!(pe.run(dma.submit(back)?).result.is_ok());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Rejected<T> {
    /// Why.
    pub error: Error,
    /// What was refused.
    pub back: T,
}

impl<T> core::fmt::Display for Rejected<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: core::fmt::Debug> std::error::Error for Rejected<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl<T> From<Rejected<T>> for Error {
    fn from(rejected: Rejected<T>) -> Error {
        rejected.error
    }
}

/// What a handler wants done with the task it was given. See [`Handler`].
#[derive(Debug)]
pub enum Next<T> {
    /// Nothing: the handler kept or dropped it.
    Free,
    /// Let it fly again, in the same slot.
    Again(T),
}

/// Gets every finished task that was posted rather than submitted. Runs inside progress, on the thread that calls it;
/// it may post further tasks but not call progress. When it panics, the panic comes out of the progress call; the task
/// it had is gone, everything else goes on.
///
/// ```
/// # use softdpu::dma::{Config, Dma, Memcpy};
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
/// # src.push_slice(b"bytes")?;
/// # use std::sync::atomic::{AtomicU64, Ordering};
/// # static MOVED: AtomicU64 = AtomicU64::new(0);
/// let mut rounds = 0;
/// let handler: Handler<Memcpy> = Box::new(move |done, _outbox| {
///     MOVED.fetch_add(done.result.unwrap_or(0), Ordering::Relaxed);
///     rounds += 1;
///     let Memcpy { src, mut dst } = done.task;
///     dst.reset();
///     if rounds < 10 { Next::Again(Memcpy { src, dst }) } else { Next::Free }
/// });
/// let config = Config { on_memcpy: Some(handler), ..Config::default() };
/// let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.wait(&mut pe)?;
/// dma.post(Memcpy { src, dst })?;
/// while dma.in_flight() > 0 {
///     pe.progress();
/// }
/// assert_eq!(MOVED.load(Ordering::Relaxed), 50);
/// # Ok(()) }
/// ```
pub type Handler<T> = Box<dyn FnMut(Done<T>, &mut Outbox<'_, <T as Task>::Engine>) -> Next<T> + Send>;

impl<E: Engine> Outbox<'_, E> {
    /// Posts a task whose result goes to the handler, on a queue of its own: another thread may submit meanwhile.
    ///
    /// ```
    /// use softdpu::dma::{Dma, Memcpy};
    /// use softdpu::prelude::*;
    ///
    /// /// A handler that lets two copies follow each copy, as long as there are buffers.
    /// fn spreading(pool: BufPool) -> Handler<Memcpy> {
    ///     Box::new(move |_done, outbox| {
    ///         for _ in 0..2 {
    ///             let (Some(mut src), Some(dst)) = (pool.take(), pool.take()) else { break };
    ///             if src.push_slice(b"more").is_err() || outbox.post(Memcpy { src, dst }).is_err() {
    ///                 break;
    ///             }
    ///         }
    ///         Next::Free
    ///     })
    /// }
    /// ```
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
