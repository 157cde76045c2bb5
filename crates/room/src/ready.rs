//! Back-pressure: is there a free slot, and waiting for one.

use crate::engine::Engine;
use crate::inflight::InFlight;
use crate::task::{Rejected, Task};
use crate::typed::Context;
use crate::waiters::{Place, Until};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::Poll;
use softdpu_status::{Code, Error, Result};

impl<E: Engine> Context<E> {
    /// Would a submit be refused now, because every slot is taken? A slot is taken from the submit until its handler has
    /// returned, or until its result was taken from (or dropped with) its [`InFlight`].
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
    /// let config = Config { memcpy: 1, ..Config::default() };
    /// let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.wait(&mut pe)?;
    /// let task = dma.submit(Memcpy { src, dst })?;
    /// pe.progress();
    /// assert!(dma.is_full()); // landed, but its result is still there
    /// drop(task);
    /// assert!(!dma.is_full());
    /// # Ok(()) }
    /// ```
    pub fn is_full(&self) -> bool {
        self.core().bench().free_slot().is_none()
    }

    /// Back-pressure: a future that is ready when a task can be submitted without being refused as Full. Slots become
    /// free when handlers return, and when results are taken from (or dropped with) their [`InFlight`].
    ///
    /// ```
    /// # use softdpu::dma::{Config, Dma, Memcpy};
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let config = Config { memcpy: 4, ..Config::default() };
    /// # let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.wait(&mut pe)?;
    /// let pool = Memory::heap(1 << 16).access(Access::LOCAL_READ_WRITE).register(&[&device])?.pool(64)?;
    /// let copied = pe.run(async {
    ///     for _ in 0..100 {
    ///         let (mut src, dst) = (pool.take().unwrap(), pool.take().unwrap());
    ///         src.push_slice(b"a hundred through four slots")?;
    ///         dma.ready().await?;
    ///         dma.post(Memcpy { src, dst })?;
    ///     }
    ///     Ok::<_, Error>(())
    /// });
    /// assert_eq!(copied, Ok(()));
    /// # Ok(()) }
    /// ```
    pub fn ready(&mut self) -> Ready<'_, E> {
        Ready { context: self, place: Place::default() }
    }

    /// Waits for a free slot, then submits: [`Context::submit`] that is never refused as Full.
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
    /// let done = pe.run(async {
    ///     let flying = dma.submit_ready(Memcpy { src, dst }).await?;
    ///     Ok::<_, Error>(flying.await)
    /// })?;
    /// assert_eq!(done.result, Ok(5));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Context::submit`], without Full.
    pub async fn submit_ready<T: Task<Engine = E>>(&mut self, task: T) -> Result<InFlight<T>, Rejected<T>> {
        match self.ready().await {
            Ok(()) => self.submit(task),
            Err(error) => Err(Rejected { error, back: task }),
        }
    }
}

/// Waits for a free slot: see [`Context::ready`].
#[must_use = "futures do nothing unless awaited"]
pub struct Ready<'a, E: Engine> {
    context: &'a mut Context<E>,
    place: Place,
}

impl<E: Engine> fmt::Debug for Ready<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ready({:?})", self.context)
    }
}

impl<E: Engine> Future for Ready<'_, E> {
    /// BadState when the context does not run.
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut core::task::Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let core = this.context.core();
        this.place.poll(cx, core, Until::Free, || {
            if !core.is_running() {
                Some(Err(Error::new(Code::BadState, "the context is not running")))
            } else {
                core.bench().free_slot().map(|_| Ok(()))
            }
        })
    }
}
