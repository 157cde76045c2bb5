//! Contexts of the Rust face: typed by their engine, submitted to through `&mut`, stopped by value.

use crate::context::{Core, State};
use crate::engine::Engine;
use crate::inflight::InFlight;
use crate::job::{empty, fill};
use crate::pump::ProgressEngine;
use crate::session::Device;
use crate::sync::Ordering;
use crate::task::{Rejected, Task};
use core::cell::Cell;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::Poll;
use softdpu_status::{Code, Error, Result};
use std::sync::Mutex;

/// A running engine on a device. One thread submits at a time; the type moves between threads but is not shared.
///
/// Dropping it asks for a stop and lets the progress engine finish what flies.
#[derive(Debug)]
pub struct Context<E: Engine> {
    core: &'static Core,
    engine: PhantomData<fn() -> E>,
    not_sync: PhantomData<Cell<()>>,
}

impl<E: Engine> Context<E> {
    /// Starts an engine on `device`, to be progressed by `pe`.
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
        let context = Context { core, engine: PhantomData, not_sync: PhantomData };
        core.connect(pe.pe())?;
        core.start(|| E::build(device.shared(), config).map(|(work, n)| (work, vec![(0, n)])))?;
        Ok(Starting { context: Some(context) })
    }

    /// Where it is in its life.
    pub fn state(&self) -> State {
        self.core.state()
    }

    /// Tasks submitted whose completion was not reported yet.
    pub fn in_flight(&self) -> usize {
        self.core.in_flight() as usize
    }

    /// Submits a task; the result is taken from the returned handle: awaited, polled, or ignored.
    ///
    /// # Errors
    /// The task back with: BadState (not running), Full (all tasks in flight: progress, then again), or what the engine
    /// refuses (InvalidValue, NotPermitted).
    pub fn submit<T: Task<Engine = E>>(&mut self, task: T) -> Result<InFlight<T>, Rejected<T>> {
        self.launch(task, crate::progress::TO_FUTURE).map(|slot| InFlight::new(self.core, slot))
    }

    /// Submits a task whose result goes to the handler in the configuration (without one it is dropped when it lands).
    ///
    /// # Errors
    /// As [`Context::submit`].
    #[inline]
    pub fn post<T: Task<Engine = E>>(&mut self, task: T) -> Result<(), Rejected<T>> {
        self.launch(task, crate::progress::TO_HANDLER).map(|_| ())
    }

    #[inline]
    fn launch<T: Task<Engine = E>>(&mut self, task: T, to: u8) -> Result<&'static crate::slot::Slot, Rejected<T>> {
        if !self.core.is_running() {
            let error = Error::new(Code::BadState, "the context is not running");
            return Err(Rejected { error, back: task });
        }
        let Some(slot) = self.core.bench().free_slot() else {
            let error = Error::new(Code::Full, "all tasks are in flight; progress, then try again");
            return Err(Rejected { error, back: task });
        };
        fill::<E>(slot, task.into_job());
        if let Err(error) = self.core.work().check(slot) {
            return Err(Rejected { error, back: T::from_job(empty::<E>(slot)) });
        }
        slot.set_op(to);
        self.core.launch(slot, self.core.lane());
        Ok(slot)
    }

    /// Stops: what flies comes back, finished or flushed. Wait for the returned value, or drop it.
    pub fn stop(self) -> Stopping<E> {
        request_stop(self.core);
        Stopping { context: self }
    }
}

fn request_stop(core: &'static Core) {
    if core.leave_running() {
        core.activate();
    }
}

impl<E: Engine> Drop for Context<E> {
    fn drop(&mut self) {
        request_stop(self.core);
        self.core.abandoned.store(1, Ordering::Release);
        bury_if_over(self.core);
    }
}

/// A context that was asked to start. Engines without peers run at once.
#[derive(Debug)]
#[must_use]
pub struct Starting<E: Engine> {
    context: Option<Context<E>>,
}

impl<E: Engine> Starting<E> {
    /// Progresses until it runs.
    ///
    /// # Errors
    /// BadState when it stopped instead.
    pub fn wait(mut self, pe: &mut ProgressEngine) -> Result<Context<E>> {
        loop {
            if let Some(context) = self.try_take()? {
                return Ok(context);
            }
            pe.wait(None)?;
        }
    }

    fn try_take(&mut self) -> Result<Option<Context<E>>> {
        match self.context.as_ref().map(Context::state) {
            Some(State::Running) => Ok(self.context.take()),
            Some(State::Starting) => Ok(None),
            _ => Err(Error::new(Code::BadState, "the context stopped before it ran")),
        }
    }
}

impl<E: Engine> Future for Starting<E> {
    type Output = Result<Context<E>>;
    fn poll(mut self: Pin<&mut Self>, cx: &mut core::task::Context<'_>) -> Poll<Self::Output> {
        match self.try_take() {
            Ok(Some(context)) => Poll::Ready(Ok(context)),
            Ok(None) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Err(e) => Poll::Ready(Err(e)),
        }
    }
}

/// A context that was asked to stop.
#[derive(Debug)]
pub struct Stopping<E: Engine> {
    context: Context<E>,
}

impl<E: Engine> Stopping<E> {
    /// Progresses until everything that flew is back.
    ///
    /// # Errors
    /// OperatingSystem when sleeping fails.
    pub fn wait(self, pe: &mut ProgressEngine) -> Result<()> {
        while self.context.state() != State::Idle {
            if pe.progress() == 0 && self.context.state() != State::Idle {
                pe.wait(None)?;
            }
        }
        Ok(())
    }

    /// Where it is.
    pub fn state(&self) -> State {
        self.context.state()
    }
}

impl<E: Engine> Future for Stopping<E> {
    type Output = Result<()>;
    fn poll(self: Pin<&mut Self>, cx: &mut core::task::Context<'_>) -> Poll<Self::Output> {
        if self.context.state() == State::Idle {
            return Poll::Ready(Ok(()));
        }
        // Polled again after the next progress: stopping is rare and short.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Contexts whose handle is gone but whose slots may still be held by futures somewhere.
static GRAVEYARD: Mutex<Vec<&'static Core>> = Mutex::new(Vec::new());
/// Orders leaving a progress engine against the engine's own end.
pub(crate) static MEMBERSHIP: Mutex<()> = Mutex::new(());

/// An idle context that nobody will submit to any more leaves its engine.
pub(crate) fn bury_if_over(core: &'static Core) {
    let _guard = MEMBERSHIP.lock().unwrap_or_else(|e| e.into_inner());
    if core.abandoned.load(Ordering::Acquire) == 0
        || core.state() != State::Idle
        || core.buried.swap(1, Ordering::AcqRel) != 0
    {
        return;
    }
    if let Some(pe) = core.engine() {
        pe.connected().retain(|c| !core::ptr::eq(*c, core));
        core.pe.store(core::ptr::null_mut(), Ordering::Relaxed);
    }
    GRAVEYARD.lock().unwrap_or_else(|e| e.into_inner()).push(core);
}

/// Retires buried contexts whose slots are all back.
pub(crate) fn sweep_graveyard() {
    let over: Vec<&'static Core> = {
        let mut graves = GRAVEYARD.lock().unwrap_or_else(|e| e.into_inner());
        if graves.is_empty() {
            return;
        }
        let (over, held): (Vec<_>, Vec<_>) = graves.drain(..).partition(|c| c.all_free());
        *graves = held;
        over
    };
    for core in over {
        crate::handle::retire_core(core);
    }
}
