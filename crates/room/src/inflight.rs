//! A task in flight, as its submitter sees it.

use crate::context::Core;
use crate::engine::Engine;
use crate::flight;
use crate::job::empty;
use crate::slot::Slot;
use crate::sync::Ordering;
use crate::task::{Done, Task};
use crate::{typed, waiters};
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};

/// A task in flight, made by [`Context::submit`](crate::typed::Context::submit).
///
/// A future, which can also be asked with [`InFlight::try_take`]. It may be dropped or leaked at any time: the task goes
/// on, and its buffers are released when it lands. A leaked one keeps its slot and buffers for good, no more. It moves
/// freely between threads, and may be awaited on a thread that neither submits nor progresses.
///
/// ```
/// # use softdpu::dma::{Dma, Memcpy};
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let mut dma = Context::<Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
/// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
/// # src.push_slice(b"bytes")?;
/// let mut flying = dma.submit(Memcpy { src, dst })?;
/// let done = loop {
///     match flying.try_take() {
///         Ok(done) => break done,
///         Err(still) => flying = still,
///     }
///     pe.progress();
/// };
/// assert_eq!(done.result, Ok(5));
/// pe.run(async { dma.submit(done.task)?.await.result })?; // same buffers, nothing allocated
/// # Ok(()) }
/// ```
#[must_use = "dropping it disowns the task: it goes on, but nobody learns how it went"]
pub struct InFlight<T: Task> {
    core: &'static Core,
    slot: Option<&'static Slot>,
    task: PhantomData<fn() -> T>,
}

impl<T: Task> InFlight<T> {
    pub(crate) fn new(core: &'static Core, slot: &'static Slot) -> InFlight<T> {
        InFlight { core, slot: Some(slot), task: PhantomData }
    }

    #[inline]
    fn collect(core: &'static Core, slot: &'static Slot) -> Done<T> {
        let task = T::from_job(empty::<T::Engine>(slot));
        let result = slot.outcome().map(T::output);
        let over = core.buried.load(Ordering::Relaxed) != 0;
        slot.flight.set(flight::FREE);
        if over || waiters::any() {
            Self::collected(core, over);
        }
        Done { task, result }
    }

    /// The slot was waited for, or was perhaps the last one of a context that is over.
    #[cold]
    fn collected(core: &'static Core, over: bool) {
        waiters::slot_is_back(core);
        if over {
            typed::sweep_graveyard();
        }
    }

    /// The finished task, if it is back. See the example [above](InFlight).
    ///
    /// # Errors
    /// The handle itself while the task flies.
    pub fn try_take(mut self) -> Result<Done<T>, InFlight<T>> {
        match self.slot {
            Some(slot) if slot.flight.try_take() => {
                self.slot = None;
                Ok(Self::collect(self.core, slot))
            }
            _ => Err(self),
        }
    }

    /// Is the task back? Once it is, it stays so.
    ///
    /// ```
    /// # use softdpu::dma::{Dma, Memcpy};
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let mut dma = Context::<Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
    /// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
    /// # src.push_slice(b"bytes")?;
    /// let flying = dma.submit(Memcpy { src, dst })?;
    /// assert!(!flying.is_done());
    /// pe.progress();
    /// assert!(flying.is_done());
    /// # Ok(()) }
    /// ```
    pub fn is_done(&self) -> bool {
        self.slot.is_some_and(|s| s.flight.state() == flight::DONE)
    }

    /// The name of the engine it flies in, for messages.
    ///
    /// ```
    /// # use softdpu::dma::{Dma, Memcpy};
    /// # use softdpu::prelude::*;
    /// fn describe(flying: &InFlight<Memcpy>) -> String {
    ///     format!("a {} task, {}", flying.engine(), if flying.is_done() { "back" } else { "in flight" })
    /// }
    /// ```
    pub fn engine(&self) -> &'static str {
        // Not the context's: it may be gone once the task was taken.
        <T::Engine as Engine>::INFO.name
    }
}

impl<T: Task> fmt::Debug for InFlight<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.slot {
            None => "taken",
            Some(_) if self.is_done() => "back",
            Some(_) => "in flight",
        };
        write!(f, "InFlight({}, {state})", self.engine())
    }
}

impl<T: Task> Future for InFlight<T> {
    type Output = Done<T>;

    /// # Panics
    /// When polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Done<T>> {
        let Some(slot) = self.slot else { panic!("a task in flight was polled after it was ready") };
        if slot.flight.take_or_park(cx.waker()) {
            self.slot = None;
            Poll::Ready(Self::collect(self.core, slot))
        } else {
            Poll::Pending
        }
    }
}

impl<T: Task> Drop for InFlight<T> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take()
            && slot.flight.abandon()
        {
            drop(Self::collect(self.core, slot));
        }
    }
}
