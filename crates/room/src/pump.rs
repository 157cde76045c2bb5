//! The progress engine of the Rust face: progress, sleep, run a future.

use crate::context::State;
use crate::pe::Pe;
use crate::session::Session;
use crate::sync::Ordering;
use crate::typed::{MEMBERSHIP, bury_if_over, sweep_graveyard};
use core::cell::Cell;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::Wake;

/// Lands completions: wakes futures, runs handlers, leaves results to be taken. One thread at a time: it moves between
/// threads but is not shared.
///
/// Dropping it stops its contexts and waits for what flies: the only drop that waits.
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
    pub fn new(session: &Session) -> Result<ProgressEngine> {
        Ok(ProgressEngine { pe: Pe::create(session.board())?, not_sync: PhantomData })
    }

    pub(crate) fn pe(&self) -> &'static Pe {
        self.pe
    }

    /// Carries out what is small, helps with what is large, and lands everything that is ready. Never blocks. Returns
    /// the number of tasks landed.
    pub fn progress(&mut self) -> usize {
        self.pe.sweep()
    }

    /// Arms the event descriptor. True: it will become readable when there is something to progress. False: there is
    /// something already, do not sleep on it.
    ///
    /// # Errors
    /// None today; kept for platforms where arming can fail.
    pub fn arm(&mut self) -> Result<bool> {
        Ok(!self.pe.arm())
    }

    /// Progresses; if there was nothing, sleeps until there is, at most `timeout`, and progresses again. Returns the
    /// number of tasks landed. An engine with nothing in flight and no timeout is woken only by another thread's submit.
    ///
    /// # Errors
    /// OperatingSystem when sleeping fails.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<usize> {
        let landed = self.progress();
        if landed > 0 {
            return Ok(landed);
        }
        if self.arm()? {
            self.sleep(timeout)?;
        }
        self.pe.disarm();
        Ok(self.progress())
    }

    fn sleep(&self, timeout: Option<Duration>) -> Result<()> {
        let limit = timeout.map(|t| Timespec {
            tv_sec: i64::try_from(t.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: t.subsec_nanos().into(),
        });
        let mut fds = [PollFd::new(self.pe.signal(), PollFlags::IN)];
        match poll(&mut fds, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => {
                log::error!(target: "softdpu::pe", "sleeping on the event descriptor failed: {e}");
                Err(Error::new(Code::OperatingSystem, "sleeping failed"))
            }
        }
    }

    /// Runs a future on this thread, progressing meanwhile; sleeps when neither has anything to do.
    pub fn run<F: Future>(&mut self, future: F) -> F::Output {
        let alarm = Arc::new(Alarm { rung: AtomicBool::new(true), pe: self.pe });
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
                let may_sleep = self.arm().unwrap_or(false);
                if may_sleep && !alarm.rung.load(Ordering::SeqCst) && self.sleep(None).is_err() {
                    std::thread::yield_now();
                }
                self.pe.disarm();
            } else {
                core::hint::spin_loop();
            }
        }
    }
}

/// Wakes [`ProgressEngine::run`], which may sleep on the event descriptor.
struct Alarm {
    rung: AtomicBool,
    pe: &'static Pe,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        if self.pe.signal.is_armed() {
            self.pe.signal.published();
        }
    }
}

impl AsFd for ProgressEngine {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pe.signal().as_fd()
    }
}

impl Drop for ProgressEngine {
    fn drop(&mut self) {
        let contexts = self.pe.connected().clone();
        for core in &contexts {
            if core.leave_running() {
                core.activate();
            }
        }
        while contexts.iter().any(|c| c.engine().is_some() && c.state() != State::Idle) {
            if self.progress() == 0 {
                std::thread::yield_now();
            }
        }
        {
            let _guard = MEMBERSHIP.lock().unwrap_or_else(|e| e.into_inner());
            for core in self.pe.connected().drain(..) {
                core.pe.store(core::ptr::null_mut(), Ordering::Relaxed);
            }
        }
        for core in contexts {
            bury_if_over(core);
        }
        sweep_graveyard();
        // Nothing is connected any more; a failure could only leak the object.
        let _ = self.pe.destroy();
    }
}
