//! Contexts of the Rust face: typed by their engine, submitted to through `&mut`, stopped by value.

use crate::batch::Batch;
use crate::context::{Core, State};
use crate::engine::Engine;
use crate::inflight::InFlight;
use crate::job::{empty, fill};
use crate::progress::{TO_FUTURE, TO_HANDLER};
use crate::pump::ProgressEngine;
use crate::session::Device;
use crate::slot::Slot;
use crate::task::{Rejected, Task};
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use softdpu_status::{Code, Error, Result};

pub use crate::ending::{Starting, Stopping};
pub(crate) use crate::ending::{give_up, request_stop, sweep_graveyard};
pub use crate::ready::Ready;

/// A running engine on a device.
///
/// # Threads
/// One thread submits at a time, which `&mut` sees to. The context moves between threads freely but is not shared; it
/// need not be on the thread that progresses its [`ProgressEngine`].
///
/// # Life
/// [`Context::start`] gives a context that is starting, [`Starting::wait`] (or awaiting it) one that runs.
/// [`Context::stop`] takes it away. Dropping it asks for a stop and leaves the rest to the progress engine. A DMA context
/// also stops when one of its tasks fails; [`Context::state`] tells.
///
/// ```
/// use softdpu::dma::{Config, Dma, Memcpy};
/// use softdpu::prelude::*;
///
/// # fn main() -> softdpu::Result<()> {
/// let session = Session::builder().board(Board::inline()).open()?;
/// let device = session.first_with(EngineKind::Dma)?.open()?;
/// let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
/// let mut pe = ProgressEngine::new(&session)?;
/// let config = Config { memcpy: 16, ..Config::default() };
/// let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.wait(&mut pe)?;
///
/// let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
/// src.push_slice(b"from here to there")?;
/// let done = pe.run(dma.submit(Memcpy { src, dst })?);
/// assert_eq!(done.result, Ok(18));
/// assert_eq!(done.task.dst.as_slice(), Some(&b"from here to there"[..]));
/// dma.stop().wait(&mut pe)?;
/// # Ok(()) }
/// ```
pub struct Context<E: Engine> {
    core: &'static Core,
    engine: PhantomData<fn() -> E>,
    not_sync: PhantomData<Cell<()>>,
}

impl<E: Engine> Context<E> {
    /// Starts an engine on `device`, to be progressed by `pe`.
    ///
    /// ```
    /// use softdpu::dma::{Config, Dma};
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// let mut pe = ProgressEngine::new(&session)?;
    /// let dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
    /// assert_eq!(dma.state(), State::Running);
    ///
    /// let too_many = Config { memcpy: u32::MAX, ..Config::default() };
    /// let refused = Context::<Dma>::start(&mut pe, &device, too_many).unwrap_err();
    /// assert_eq!(refused.class(), Class::Parameter);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// NotSupported when the device (or the plane its handle is restricted to) lacks the engine, InvalidValue for a
    /// configuration outside the device's limits, NoMemory.
    pub fn start(pe: &mut ProgressEngine, device: &Device, config: E::Config) -> Result<Starting<E>> {
        sweep_graveyard();
        if !device.allows(E::INFO.kind) {
            log::error!(target: "softdpu::ctx", "device {}: this handle is restricted to the {:?} plane, which has no {} engine",
                device.function().pci(), device.plane(), E::INFO.name);
            return Err(Error::new(Code::NotSupported, "the handle's plane lacks this engine"));
        }
        let core = Core::make(E::INFO, device.shared().clone(), pe.pe().board(), false)?;
        // From here on, dropping the context cleans up.
        let context = Context { core, engine: PhantomData, not_sync: PhantomData };
        core.connect(pe.pe())?;
        let board = pe.pe().board();
        core.start(|| {
            let (work, n) = E::build(device.shared(), config)?;
            Ok((board.fit(E::INFO, device.shared(), n, work)?, vec![(0, n)]))
        })?;
        Ok(Starting::new(context))
    }

    /// Where it is in its life.
    ///
    /// ```
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let dma = Context::<softdpu::dma::Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
    /// assert_eq!(dma.state(), State::Running);
    /// drop(pe); // stops what it progressed
    /// assert_eq!(dma.state(), State::Idle);
    /// # Ok(()) }
    /// ```
    pub fn state(&self) -> State {
        self.core.state()
    }

    /// Tasks submitted whose completion was not reported yet. Another thread's progress may lower it at any time.
    ///
    /// ```
    /// # use softdpu::dma::Memcpy;
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let mut dma = Context::<softdpu::dma::Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
    /// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
    /// # src.push_slice(b"x")?;
    /// let task = dma.submit(Memcpy { src, dst })?;
    /// assert_eq!(dma.in_flight(), 1);
    /// pe.run(task);
    /// assert_eq!(dma.in_flight(), 0);
    /// # Ok(()) }
    /// ```
    pub fn in_flight(&self) -> usize {
        self.core.in_flight() as usize
    }

    /// Submits a task; the result is taken from the returned handle: awaited, polled, or ignored.
    ///
    /// A refused task comes back in the error, which turns into an [`Error`] with `?` where the task may go.
    ///
    /// ```
    /// # use softdpu::dma::Memcpy;
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let mut dma = Context::<softdpu::dma::Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
    /// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(8000..)?);
    /// src.advance(4096)?;
    /// let refused = dma.submit(Memcpy { src, dst }).unwrap_err();
    /// assert_eq!(refused.error.code(), Code::InvalidValue); // 4096 bytes into 192
    /// let Memcpy { mut src, dst } = refused.back;
    /// src.set_data(..192)?;
    /// assert_eq!(pe.run(dma.submit(Memcpy { src, dst })?).result, Ok(192));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The task back with: BadState (not running), Full (all tasks in flight: progress, then again, or see
    /// [`Context::ready`]), or what the engine refuses (InvalidValue, NotPermitted).
    pub fn submit<T: Task<Engine = E>>(&mut self, task: T) -> Result<InFlight<T>, Rejected<T>> {
        self.launch(task, TO_FUTURE).map(|slot| InFlight::new(self.core, slot))
    }

    /// Submits a task whose result goes to the handler in the configuration (without one it is dropped when it lands).
    ///
    /// ```
    /// use softdpu::dma::{Config, Dma, Memcpy};
    /// use softdpu::prelude::*;
    /// use std::sync::mpsc;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
    /// # src.push_slice(b"bytes")?;
    /// let (tell, told) = mpsc::channel();
    /// let handler = move |done: Done<Memcpy>, _: &mut Outbox<'_, Dma>| {
    ///     tell.send(done.result).ok();
    ///     Next::Free
    /// };
    /// let config = Config { memcpy: 16, on_memcpy: Some(Box::new(handler)), ..Config::default() };
    /// let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.wait(&mut pe)?;
    /// dma.post(Memcpy { src, dst })?;
    /// while pe.progress() == 0 {}
    /// assert_eq!(told.recv().unwrap(), Ok(5));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Context::submit`].
    #[inline]
    pub fn post<T: Task<Engine = E>>(&mut self, task: T) -> Result<(), Rejected<T>> {
        self.launch(task, TO_HANDLER).map(|_| ())
    }

    #[inline]
    fn launch<T: Task<Engine = E>>(&mut self, task: T, to: u8) -> Result<&'static Slot, Rejected<T>> {
        if !self.core.is_running() {
            let error = Error::new(Code::BadState, "the context is not running");
            return Err(Rejected { error, back: task });
        }
        let Some(slot) = self.core.bench().free_slot() else {
            self.core.tell_full();
            let error = Error::new(Code::Full, "all tasks are in flight; progress, then try again");
            return Err(Rejected { error, back: task });
        };
        fill::<E>(slot, task.into_job());
        if let Err(error) = self.core.work().check(slot) {
            return Err(Rejected { error, back: T::from_job(empty::<E>(slot)) });
        }
        slot.set_op(to);
        self.core.launch(slot, self.core.lane());
        self.core.rouse();
        Ok(slot)
    }

    /// Many tasks, one after the other, with one doorbell.
    ///
    /// ```
    /// # use softdpu::dma::Memcpy;
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let mut dma = Context::<softdpu::dma::Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
    /// let pool = Memory::heap(1 << 16).access(Access::LOCAL_READ_WRITE).register(&[&device])?.pool(64)?;
    /// let mut batch = dma.batch();
    /// let mut flying = Vec::new();
    /// while !batch.is_full() {
    ///     let (mut src, dst) = (pool.take().unwrap(), pool.take().unwrap());
    ///     src.push_slice(b"one of many")?;
    ///     flying.push(batch.submit(Memcpy { src, dst })?);
    /// }
    /// assert_eq!(batch.finish(), 64);
    /// for task in flying {
    ///     assert_eq!(pe.run(task).result, Ok(11));
    /// }
    /// # Ok(()) }
    /// ```
    pub fn batch(&mut self) -> Batch<'_, E> {
        Batch::new(self)
    }

    /// Stops: what flies comes back, finished or flushed. Wait for the returned value, or drop it.
    ///
    /// ```
    /// # use softdpu::dma::Memcpy;
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let mut dma = Context::<softdpu::dma::Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
    /// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
    /// # src.push_slice(b"bytes")?;
    /// let task = dma.submit(Memcpy { src, dst })?;
    /// dma.stop().wait(&mut pe)?;
    /// let done = task.try_take().expect("everything is back after a stop");
    /// assert_eq!(done.result.unwrap_err().code(), Code::IoFailed); // flushed: nobody progressed before the stop
    /// # Ok(()) }
    /// ```
    ///
    /// Nothing can be submitted afterwards:
    ///
    /// ```compile_fail,E0382
    /// # use softdpu::dma::{Dma, Memcpy};
    /// # use softdpu::prelude::*;
    /// fn late(mut dma: Context<Dma>, task: Memcpy) {
    ///     let stopping = dma.stop();
    ///     dma.submit(task);
    /// }
    /// ```
    pub fn stop(self) -> Stopping<E> {
        request_stop(self.core);
        self.core.rouse();
        Stopping::new(self)
    }

    pub(crate) fn core(&self) -> &'static Core {
        self.core
    }
}

impl<E: Engine> fmt::Debug for Context<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = E::INFO.name;
        write!(f, "Context({name} {:p}, {:?}, {} in flight)", self.core, self.state(), self.in_flight())
    }
}

impl<E: Engine> Drop for Context<E> {
    fn drop(&mut self) {
        request_stop(self.core);
        // Before it is given up: afterwards it may be gone.
        self.core.rouse();
        give_up(self.core);
        sweep_graveyard();
    }
}
