//! The progress engine of the Rust face: progress, sleep, run a future.

use crate::context::{Core, State};
use crate::ending::{inter, lay_out, membership};
use crate::pe::Pe;
use crate::session::Session;
use crate::sync::Ordering;
use crate::typed::sweep_graveyard;
use crate::waiters;
use core::cell::Cell;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::task::Wake;

/// Where things happen: carries out what is small, helps with what is large, and lands completions. Landing wakes
/// futures, runs handlers, leaves results to be taken.
///
/// # Threads
/// One thread at a time, which `&mut` sees to: it moves between threads but is not shared. Handlers run inside
/// [`ProgressEngine::progress`], on its thread, and cannot call it.
///
/// # Ways to use it
/// | way | call | for |
/// |---|---|---|
/// | polling | [`progress`](ProgressEngine::progress) in a loop | lowest latency |
/// | sleeping | [`wait`](ProgressEngine::wait) | a thread of its own |
/// | an event loop | [`arm`](ProgressEngine::arm) and the descriptor ([`AsFd`]) in `poll`, `epoll` | programs that have one |
/// | futures, alone | [`run`](ProgressEngine::run) | no runtime needed |
#[cfg_attr(
    feature = "tokio",
    doc = "| futures, tokio | [`drive`](ProgressEngine::drive) | beside other tasks of a runtime |"
)]
///
/// # The end
/// Dropping it stops its contexts and waits for what flies: the only drop that waits. Contexts that are left are idle
/// then, and every task is back.
///
/// ```
/// # use softdpu::dma::{Dma, Memcpy};
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
/// let mut pe = ProgressEngine::new(&session)?;
/// # let mut dma = Context::<Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
/// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
/// # src.push_slice(b"bytes")?;
/// let flying = dma.submit(Memcpy { src, dst })?;
/// assert_eq!(pe.progress(), 1); // one task landed
/// assert_eq!(pe.progress(), 0);
/// assert!(flying.is_done());
/// # Ok(()) }
/// ```
///
/// A progress engine is not shared between threads:
///
/// ```compile_fail,E0277
/// # use softdpu::prelude::*;
/// fn shared(pe: &ProgressEngine) {
///     std::thread::scope(|s| {
///         s.spawn(|| println!("{pe:?}"));
///     });
/// }
/// ```
#[derive(Debug)]
pub struct ProgressEngine {
    pe: &'static Pe,
    not_sync: PhantomData<Cell<()>>,
}

/// Progress calls without result before a waiting thread goes to sleep: a few tens of microseconds.
const PATIENCE: u32 = 2000;

impl ProgressEngine {
    /// A progress engine for the session's contexts.
    ///
    /// # Errors
    /// NoMemory, OperatingSystem (no event descriptor).
    pub fn new(session: &impl AsRef<Session>) -> Result<ProgressEngine> {
        Ok(ProgressEngine { pe: Pe::create(session.as_ref().board())?, not_sync: PhantomData })
    }

    pub(crate) fn pe(&self) -> &'static Pe {
        self.pe
    }

    /// Carries out what is small, helps with what is large, and lands everything that is ready. Never blocks. Returns
    /// the number of tasks landed.
    ///
    /// # Panics
    /// When a handler panics; the engine goes on with the next call.
    pub fn progress(&mut self) -> usize {
        let landed = self.pe.sweep();
        if waiters::any() {
            waiters::progressed(landed > 0);
        }
        landed
    }

    /// Arms the event descriptor. True: it will become readable when there is something to progress. False: there is
    /// something already, do not sleep on it. A descriptor that was slept on is made unreadable by the next call, and by
    /// [`ProgressEngine::disarm`].
    ///
    /// ```
    /// use softdpu::prelude::*;
    /// use std::os::fd::AsFd;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// let mut pe = ProgressEngine::new(&session)?;
    /// // One round of an event loop that has other descriptors, too:
    /// if pe.arm()? {
    ///     let watched = [pe.as_fd() /* , others */];
    ///     // ... poll them all here ...
    ///     # let _ = watched;
    /// }
    /// while pe.progress() > 0 {}
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// None today; kept for platforms where arming can fail.
    pub fn arm(&mut self) -> Result<bool> {
        Ok(!self.pe.arm())
    }

    /// Takes [`ProgressEngine::arm`] back: the descriptor is unreadable until it is armed again. Calling it is never
    /// necessary; it saves a wake-up when a program that armed does not sleep after all.
    ///
    /// ```
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// let mut pe = ProgressEngine::new(&session)?;
    /// pe.arm()?;
    /// pe.disarm();
    /// # Ok(()) }
    /// ```
    pub fn disarm(&mut self) {
        self.pe.disarm();
    }

    /// Progresses; if there was nothing, sleeps until there is, at most `timeout`, and progresses again. Returns the
    /// number of tasks landed. An engine with nothing in flight and no timeout is woken only by another thread's submit.
    ///
    /// It may come back early, with 0.
    ///
    /// ```
    /// # use softdpu::dma::{Dma, Memcpy};
    /// # use softdpu::prelude::*;
    /// use std::time::Duration;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::threads()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    /// let mut pe = ProgressEngine::new(&session)?;
    /// assert_eq!(pe.wait(Some(Duration::from_millis(1)))?, 0);
    /// # let mut dma = Context::<Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
    /// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
    /// # src.push_slice(b"bytes")?;
    ///
    /// let flying = dma.submit(Memcpy { src, dst })?;
    /// while pe.wait(None)? == 0 {}
    /// assert!(flying.is_done());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// OperatingSystem when sleeping fails.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<usize> {
        let landed = self.progress();
        if landed > 0 {
            return Ok(landed);
        }
        self.doze(timeout, || false)?;
        Ok(self.progress())
    }

    /// Sleeps until there is something to progress, unless there is something already or `awake` says so. It is asked once
    /// whatever wakes it would ring.
    fn doze(&self, timeout: Option<Duration>, awake: impl FnOnce() -> bool) -> Result<()> {
        let pending = self.pe.arm_quietly();
        let slept = if awake() || pending { Ok(false) } else { self.sleep(timeout) };
        self.pe.awake(slept.unwrap_or(true));
        slept.map(drop)
    }

    /// True: something rang, or may have.
    fn sleep(&self, timeout: Option<Duration>) -> Result<bool> {
        let limit = timeout.map(|t| Timespec {
            tv_sec: i64::try_from(t.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: t.subsec_nanos().into(),
        });
        let mut fds = [PollFd::new(self.pe.signal(), PollFlags::IN)];
        match poll(&mut fds, limit.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(true),
            Err(e) => {
                log::error!(target: "softdpu::pe", "sleeping on the event descriptor failed: {e}");
                Err(Error::new(Code::OperatingSystem, "sleeping failed"))
            }
        }
    }

    /// Runs a future on this thread, progressing meanwhile; spins a little, then sleeps, when neither has anything to do.
    ///
    /// The future may wait for anything: tasks of this engine or of others, channels, timers, whatever wakes it.
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
    /// # src.push_slice(b"there and back")?;
    /// let back = pe.run(async {
    ///     let Done { task: Memcpy { mut src, dst }, result } = dma.submit(Memcpy { src, dst })?.await;
    ///     result?;
    ///     src.reset();
    ///     let done = dma.submit(Memcpy { src: dst, dst: src })?.await;
    ///     Ok::<_, Error>(done.task.dst)
    /// })?;
    /// assert_eq!(back.as_slice(), Some(&b"there and back"[..]));
    /// # Ok(()) }
    /// ```
    pub fn run<F: Future>(&mut self, future: F) -> F::Output {
        let alarm = Arc::new(Alarm::new(self.pe));
        let _over = Over(&alarm);
        let waker = Waker::from(alarm.clone());
        let mut cx = Context::from_waker(&waker);
        let mut future = pin!(future);
        let mut idle = 0;
        loop {
            if alarm.rung.load(Ordering::Relaxed) && alarm.rung.swap(false, Ordering::AcqRel) {
                idle = 0;
                if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                    return output;
                }
            }
            if self.progress() > 0 {
                idle = 0;
                continue;
            }
            idle += 1;
            if idle > PATIENCE {
                self.doze_until(&alarm);
            } else {
                core::hint::spin_loop();
            }
        }
    }

    /// Sleeps until there is something to progress or the alarm rings.
    fn doze_until(&mut self, alarm: &Alarm) {
        let dozed = self.doze(None, || {
            alarm.asleep.store(true, Ordering::SeqCst);
            alarm.rung.load(Ordering::SeqCst)
        });
        if dozed.is_err() {
            std::thread::yield_now();
        }
        alarm.asleep.store(false, Ordering::Relaxed);
    }
}

/// Wakes [`ProgressEngine::run`], which may sleep on the event descriptor. Wakers live as long as they like; the engine is
/// known to them only while the call runs.
struct Alarm {
    rung: AtomicBool,
    asleep: AtomicBool,
    pe: Mutex<Option<&'static Pe>>,
}

impl Alarm {
    fn new(pe: &'static Pe) -> Alarm {
        Alarm { rung: AtomicBool::new(true), asleep: AtomicBool::new(false), pe: Mutex::new(Some(pe)) }
    }

    fn pe(&self) -> std::sync::MutexGuard<'_, Option<&'static Pe>> {
        self.pe.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The call is over, whichever way it went.
struct Over<'a>(&'a Alarm);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        *self.0.pe() = None;
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst)
            && let Some(pe) = *self.pe()
        {
            pe.signal.published();
        }
    }
}

/// The descriptor for `poll`, `epoll` and their like: readable when there is something to progress, once
/// [`ProgressEngine::arm`] said that it may be slept on. Not for reading or writing.
impl AsFd for ProgressEngine {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pe.signal().as_fd()
    }
}

impl Drop for ProgressEngine {
    fn drop(&mut self) {
        // Those that stop now stay until this thread has seen them idle.
        let stopped: Vec<_> = {
            let _membership = membership();
            self.pe.connected().iter().copied().filter(|core| core.leave_running()).collect()
        };
        stopped.into_iter().for_each(Core::activate);
        let over: Vec<_> = loop {
            let membership = membership();
            let mut connected = self.pe.connected();
            if connected.iter().all(|c| c.state() == State::Idle && c.in_flight() == 0) {
                // Submits that still come find no engine and bring their tasks back themselves.
                for core in connected.iter() {
                    self.pe.unlink(core);
                    core.pe.store(core::ptr::null_mut(), Ordering::Relaxed);
                }
                break connected.drain(..).filter(|core| lay_out(core)).collect();
            }
            drop((connected, membership));
            if self.progress() == 0 {
                std::thread::yield_now();
            }
        };
        over.into_iter().for_each(inter);
        sweep_graveyard();
        // Nothing is connected any more; a failure could only leak the object.
        let _ = self.pe.destroy();
    }
}
