//! How contexts of the Rust face begin and end: what is waited for, and who clears away what nobody holds any more.

use crate::context::{Core, State, active};
use crate::engine::Engine;
use crate::flight::{self, Landed};
use crate::progress::TO_HANDLER;
use crate::pump::ProgressEngine;
use crate::sync::Ordering;
use crate::typed::Context;
use crate::waiters::{self, Place, Until};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::Poll;
use softdpu_status::{Code, Error, Result};
use std::sync::{Mutex, MutexGuard};

/// A context that was asked to start. Engines without peers run at once; others need progress until they do. A future,
/// too: await it while somebody progresses.
///
/// ```
/// use softdpu::dma::{Config, Dma};
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// let starting = Context::<Dma>::start(&mut pe, &device, Config::default())?;
/// let dma = pe.run(starting)?;
/// assert_eq!(dma.state(), State::Running);
/// # Ok(()) }
/// ```
#[must_use = "dropping it stops the context"]
pub struct Starting<E: Engine> {
    context: Option<Context<E>>,
    place: Place,
}

impl<E: Engine> Starting<E> {
    pub(crate) fn new(context: Context<E>) -> Starting<E> {
        Starting { context: Some(context), place: Place::default() }
    }

    /// Progresses until it runs.
    ///
    /// # Errors
    /// BadState when it stopped instead.
    pub fn wait(self, pe: &mut ProgressEngine) -> Result<Context<E>> {
        pe.run(self)
    }

    fn look(context: &mut Option<Context<E>>) -> Option<Result<Context<E>>> {
        match context.as_ref().map(Context::state) {
            Some(State::Running) => context.take().map(Ok),
            Some(State::Starting) => None,
            _ => Some(Err(Error::new(Code::BadState, "the context stopped before it ran"))),
        }
    }
}

impl<E: Engine> fmt::Debug for Starting<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Starting({:?})", self.context)
    }
}

impl<E: Engine> Future for Starting<E> {
    type Output = Result<Context<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut core::task::Context<'_>) -> Poll<Self::Output> {
        let Starting { context, place } = self.get_mut();
        match context.as_ref().map(Context::core) {
            Some(core) => place.poll(cx, core, Until::Leaves(State::Starting), || Self::look(context)),
            None => Poll::Ready(Err(Error::new(Code::BadState, "the context was given out already"))),
        }
    }
}

/// A context that was asked to stop. A future, too: await it while somebody progresses. Dropping it does not take the
/// stop back.
///
/// ```
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let dma = Context::<softdpu::dma::Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
/// let stopping = dma.stop();
/// assert_eq!(stopping.state(), State::Stopping);
/// pe.run(stopping)?;
/// # Ok(()) }
/// ```
pub struct Stopping<E: Engine> {
    context: Context<E>,
    place: Place,
}

impl<E: Engine> Stopping<E> {
    pub(crate) fn new(context: Context<E>) -> Stopping<E> {
        Stopping { context, place: Place::default() }
    }

    /// Progresses until everything that flew is back. `pe` is the context's progress engine; with another one the wait
    /// is for whoever progresses the right one.
    ///
    /// # Errors
    /// None today; kept for engines that must tell a peer.
    pub fn wait(self, pe: &mut ProgressEngine) -> Result<()> {
        pe.run(self)
    }

    /// Where it is.
    pub fn state(&self) -> State {
        self.context.state()
    }
}

impl<E: Engine> fmt::Debug for Stopping<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stopping({:?})", self.context)
    }
}

impl<E: Engine> Future for Stopping<E> {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut core::task::Context<'_>) -> Poll<Result<()>> {
        let Stopping { context, place } = self.get_mut();
        let core = context.core();
        place.poll(cx, core, Until::Reaches(State::Idle), || (core.state() == State::Idle).then_some(Ok(())))
    }
}

pub(crate) fn request_stop(core: &'static Core) {
    if core.leave_running() {
        core.activate();
    }
}

/// Contexts whose handle is gone but whose slots may still be held by futures somewhere.
static GRAVEYARD: Mutex<Vec<&'static Core>> = Mutex::new(Vec::new());
/// Orders leaving a progress engine against the engine's own end.
static MEMBERSHIP: Mutex<()> = Mutex::new(());

/// While this is held, no context leaves its progress engine, and no engine ends.
pub(crate) fn membership() -> MutexGuard<'static, ()> {
    MEMBERSHIP.lock().unwrap_or_else(|e| e.into_inner())
}

/// Asks the progress engine for a visit, on any thread. With the membership held, so that neither the engine ends meanwhile
/// nor the context is in the ring still (the link of the ring is that of the inbox, too).
pub(crate) fn invite(core: &'static Core) {
    let guard = membership();
    let Some(pe) = core.engine() else {
        drop(guard);
        return land_alone(core);
    };
    if core.active.swap(active(), Ordering::AcqRel) == 0 {
        pe.invite(core);
        pe.signal.published();
    }
}

/// The handle of a context goes. That it is gone is said with the membership held: from then on the context may be given
/// up by somebody else.
pub(crate) fn give_up(core: &'static Core) {
    request_stop(core);
    let guard = membership();
    core.abandoned.store(1, Ordering::Release);
    bury(core, guard);
}

/// An idle context that nobody will submit to any more leaves its engine. For who has the membership; the caller touches
/// the context no more.
pub(crate) fn bury(core: &'static Core, guard: MutexGuard<'static, ()>) {
    if lay_out(core) {
        drop(guard);
        inter(core);
    }
}

/// Takes a context that is over out of its engine; true when it was, and the caller must [`inter`] it. For who has the
/// membership.
pub(crate) fn lay_out(core: &'static Core) -> bool {
    // One that is still visited has a late task; it comes here again when it rests.
    let over = core.abandoned.load(Ordering::Acquire) != 0
        && core.state() == State::Idle
        && core.active.load(Ordering::Acquire) == 0;
    if !over || core.buried.swap(1, Ordering::AcqRel) != 0 {
        return false;
    }
    if let Some(pe) = core.engine() {
        pe.connected().retain(|c| !core::ptr::eq(*c, core));
        core.pe.store(core::ptr::null_mut(), Ordering::Relaxed);
    }
    true
}

/// What was laid out goes where it is given up as soon as its slots are back. Without a lock: wakers are foreign code.
pub(crate) fn inter(core: &'static Core) {
    waiters::forget(core);
    GRAVEYARD.lock().unwrap_or_else(|e| e.into_inner()).push(core);
}

/// A submit came when the progress engine was gone already: its thread brings the task back itself, flushed. A task for a
/// handler is dropped, since handlers run inside progress.
pub(crate) fn land_alone(core: &'static Core) {
    for lane in core.lanes() {
        while let Some(slot) = lane.next() {
            slot.finish(Err(Code::IoFailed));
            if lane.is_unordered() {
                core.tell_flushed(slot);
                lane.publish(slot);
            }
        }
        while let Some(slot) = lane.front() {
            lane.pop_front();
            if !lane.is_unordered() {
                core.tell_flushed(slot);
            }
            if slot.op() == usize::from(TO_HANDLER) || slot.flight.land() == Landed::Orphan {
                core.work().discard(slot);
                slot.flight.set(flight::FREE);
            }
        }
    }
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
