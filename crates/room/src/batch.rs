//! Batches: many tasks, one doorbell.

use crate::engine::Engine;
use crate::inflight::InFlight;
use crate::task::{Rejected, Task};
use crate::typed::Context;
use core::fmt;
use softdpu_status::Result;

/// A run of submits to one context, made by [`Context::batch`].
///
/// The first task of a batch tells the progress engine and, when they sleep, the card's workers; those that follow find
/// both awake and only write their queue entry. A refused task comes back as from [`Context::submit`]; those before it
/// are on their way.
///
/// ```
/// # use softdpu::dma::{Config, Dma, Memcpy};
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let config = Config { memcpy: 8, ..Config::default() };
/// # let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.wait(&mut pe)?;
/// let pool = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device])?.pool(64)?;
/// let pairs = std::iter::from_fn(|| {
///     let (mut src, dst) = (pool.take()?, pool.take()?);
///     src.push_slice(b"one of many").ok()?;
///     Some(Memcpy { src, dst })
/// });
/// let mut batch = dma.batch();
/// let full = batch.extend(pairs).unwrap_err(); // 32 pairs, 8 slots
/// assert_eq!((batch.len(), full.error.code()), (8, Code::Full));
/// # Ok(()) }
/// ```
pub struct Batch<'a, E: Engine> {
    context: &'a mut Context<E>,
    count: usize,
}

impl<E: Engine> fmt::Debug for Batch<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} to {:?})", self.count, self.context)
    }
}

impl<'a, E: Engine> Batch<'a, E> {
    pub(crate) fn new(context: &'a mut Context<E>) -> Batch<'a, E> {
        Batch { context, count: 0 }
    }

    /// As [`Context::submit`].
    ///
    /// # Errors
    /// As [`Context::submit`].
    pub fn submit<T: Task<Engine = E>>(&mut self, task: T) -> Result<InFlight<T>, Rejected<T>> {
        let flying = self.context.submit(task)?;
        self.count += 1;
        Ok(flying)
    }

    /// As [`Context::post`].
    ///
    /// # Errors
    /// As [`Context::submit`].
    pub fn post<T: Task<Engine = E>>(&mut self, task: T) -> Result<(), Rejected<T>> {
        self.context.post(task)?;
        self.count += 1;
        Ok(())
    }

    /// Posts tasks until there are no more or one is refused. The refused one was taken from the iterator.
    ///
    /// # Errors
    /// As [`Context::submit`].
    pub fn extend<T: Task<Engine = E>>(
        &mut self,
        tasks: impl IntoIterator<Item = T>,
    ) -> Result<(), Rejected<T>> {
        tasks.into_iter().try_for_each(|task| self.post(task))
    }

    /// Tasks of this batch so far.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Has nothing been submitted yet?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Would one more be refused now? See [`Context::is_full`].
    pub fn is_full(&self) -> bool {
        self.context.is_full()
    }

    /// Ends the batch; the number of its tasks. Dropping it does the same.
    pub fn finish(self) -> usize {
        self.count
    }
}
