//! Futures that wait for a context rather than for a task: for a free slot, for running, for idle.
//!
//! Few, and none on the way of a task, so one list serves the whole process. Whoever changes what they wait for looks at
//! one number first; the barrier that makes a plain look enough is paid by those who wait.

use crate::context::{Core, State};
use crate::sync::{AtomicUsize, Ordering, fence, heavy_barrier, is_asymmetric, light_barrier};
use core::task::{Context, Poll, Waker};
use std::sync::{Mutex, MutexGuard};

/// What somebody waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Until {
    /// A slot is free, or none will ever be.
    Free,
    /// It is in another state than this.
    Leaves(State),
    /// It is in this state.
    Reaches(State),
}

#[derive(Debug)]
struct Waiter {
    core: &'static Core,
    until: Until,
    number: u64,
    waker: Waker,
}

#[derive(Debug)]
struct List {
    waiting: Vec<Waiter>,
    next: u64,
}

static LIST: Mutex<List> = Mutex::new(List { waiting: Vec::new(), next: 1 });
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn list() -> MutexGuard<'static, List> {
    LIST.lock().unwrap_or_else(|e| e.into_inner())
}

/// A place in the list, given back when dropped.
#[derive(Debug, Default)]
pub(crate) struct Place(u64);

impl Place {
    /// Looks, leaves the waker, and looks again, so that no change is missed.
    pub(crate) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        core: &'static Core,
        until: Until,
        mut look: impl FnMut() -> Option<T>,
    ) -> Poll<T> {
        if let Some(found) = look() {
            return Poll::Ready(found);
        }
        self.park(core, until, cx.waker());
        heavy_barrier();
        look().map_or(Poll::Pending, Poll::Ready)
    }

    fn park(&mut self, core: &'static Core, until: Until, waker: &Waker) {
        let mut fresh = Some(waker.clone());
        let mut list = list();
        let number = self.0;
        if let Some(mine) = list.waiting.iter_mut().find(|w| number != 0 && w.number == number) {
            // What was there before is dropped without the lock.
            if let Some(fresh) = &mut fresh {
                core::mem::swap(&mut mine.waker, fresh);
            }
        } else if let Some(waker) = fresh.take() {
            self.0 = list.next;
            list.next += 1;
            list.waiting.push(Waiter { core, until, number: self.0, waker });
        }
        COUNT.store(list.waiting.len(), Ordering::SeqCst);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.0 == 0 {
            return;
        }
        let mut list = list();
        let gone =
            list.waiting.iter().position(|w| w.number == self.0).map(|at| list.waiting.swap_remove(at));
        COUNT.store(list.waiting.len(), Ordering::SeqCst);
        drop(list);
        drop(gone);
    }
}

/// Called after something was changed: might anybody wait for it?
#[inline(always)]
pub(crate) fn any() -> bool {
    if is_asymmetric() {
        light_barrier();
    } else {
        fence(Ordering::SeqCst);
    }
    COUNT.load(Ordering::Relaxed) != 0
}

/// A slot of `core` came back outside progress.
#[cold]
pub(crate) fn slot_is_back(core: &'static Core) {
    wake(|w| w.until == Until::Free && core::ptr::eq(w.core, core));
}

/// Progress was made: some tasks landed if `landed`, and states may have changed.
#[cold]
pub(crate) fn progressed(landed: bool) {
    wake(|w| match w.until {
        Until::Free => landed || w.core.state() != State::Running,
        Until::Leaves(state) => w.core.state() != state,
        Until::Reaches(state) => w.core.state() == state,
    });
}

/// Wakes those who are waiting now and for whom it is time, one by one and without the lock: wakers are foreign code.
fn wake(is_time: impl Fn(&Waiter) -> bool) {
    let end = list().next;
    loop {
        let mut list = list();
        let Some(at) = list.waiting.iter().position(|w| w.number < end && is_time(w)) else { return };
        let waiter = list.waiting.swap_remove(at);
        COUNT.store(list.waiting.len(), Ordering::SeqCst);
        drop(list);
        waiter.waker.wake();
    }
}

/// A context is over: nobody waits for it any more, be it that a future was leaked.
pub(crate) fn forget(core: &'static Core) {
    loop {
        let mut list = list();
        let Some(at) = list.waiting.iter().position(|w| core::ptr::eq(w.core, core)) else { return };
        let gone = list.waiting.swap_remove(at);
        COUNT.store(list.waiting.len(), Ordering::SeqCst);
        drop(list);
        drop(gone);
    }
}
