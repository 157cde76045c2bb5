//! A context whose tasks several parties submit, and whose completions are handed out as they land.
//!
//! Each place of a task has a waker of its own, made once. Landing notes the place and takes the task out at once, so that
//! places are free again whether or not the party that submitted still cares. Whoever finds the desk locked leaves that to
//! the one who has the lock, who looks again after giving it back.

use super::wakers::{Wakers, note};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context as TaskContext, Poll, Waker};
use softdpu_room::context::State;
use softdpu_room::inflight::InFlight;
use softdpu_room::task::{Done, Rejected, Task};
use softdpu_room::typed::Context;
use softdpu_status::{Code, Error};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::task::Wake;

/// What becomes of the tasks of a desk when they are back.
pub(super) trait Clerk: Send + 'static {
    /// The tasks.
    type Task: Task;
    /// What is noted with each of them.
    type Note: Send + 'static;

    /// A task is back. With the desk locked.
    fn landed(&mut self, note: Self::Note, done: Done<Self::Task>, wake: &mut Wakers);
}

/// A task, and what is noted with it.
type Flying<C> = (InFlight<<C as Clerk>::Task>, <C as Clerk>::Note);
type ContextOf<C> = Context<<<C as Clerk>::Task as Task>::Engine>;

/// See the module.
pub(super) struct Desk<C: Clerk> {
    inner: Mutex<Inner<C>>,
    /// Places of tasks that are back.
    back: Mutex<VecDeque<u32>>,
    wakers: Vec<Waker>,
}

struct Inner<C: Clerk> {
    context: Option<ContextOf<C>>,
    flying: Vec<Option<Flying<C>>>,
    free: Vec<u32>,
    /// For a free place.
    waiting: Vec<Waker>,
    clerk: C,
}

/// Told when the task in a place lands.
struct Place<C: Clerk> {
    desk: Weak<Desk<C>>,
    at: u32,
}

impl<C: Clerk> Wake for Place<C> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(desk) = self.desk.upgrade() {
            desk.back().push_back(self.at);
            desk.settle();
        }
    }
}

impl<C: Clerk> Desk<C> {
    /// For `tasks` tasks at a time, as many as the context has.
    pub(super) fn new(context: ContextOf<C>, tasks: u32, clerk: C) -> Arc<Desk<C>> {
        Arc::new_cyclic(|desk: &Weak<Desk<C>>| Desk {
            inner: Mutex::new(Inner {
                context: Some(context),
                flying: (0..tasks).map(|_| None).collect(),
                free: (0..tasks).rev().collect(),
                waiting: Vec::new(),
                clerk,
            }),
            back: Mutex::new(VecDeque::with_capacity(tasks as usize)),
            wakers: (0..tasks).map(|at| Waker::from(Arc::new(Place { desk: desk.clone(), at }))).collect(),
        })
    }

    fn back(&self) -> MutexGuard<'_, VecDeque<u32>> {
        self.back.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Inner<C>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands out what is back, unless somebody else is about to.
    fn settle(&self) {
        while !self.back().is_empty() {
            let mut inner = match self.inner.try_lock() {
                Ok(inner) => inner,
                Err(TryLockError::Poisoned(inner)) => inner.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            let mut wake = Wakers::default();
            self.collect(&mut inner, &mut wake);
            drop(inner);
            wake.wake();
        }
    }

    fn collect(&self, inner: &mut Inner<C>, wake: &mut Wakers) {
        loop {
            let Some(at) = self.back().pop_front() else { return };
            let Some((flying, note)) = inner.flying[at as usize].take() else { continue };
            self.keep_or_land(inner, at, flying, note, wake);
        }
    }

    /// Parks the place's waker in a task, or takes the task out if it is back.
    fn keep_or_land(
        &self,
        inner: &mut Inner<C>,
        at: u32,
        mut flying: InFlight<C::Task>,
        note: C::Note,
        wake: &mut Wakers,
    ) {
        match Pin::new(&mut flying).poll(&mut TaskContext::from_waker(&self.wakers[at as usize])) {
            Poll::Pending => inner.flying[at as usize] = Some((flying, note)),
            Poll::Ready(done) => {
                inner.free.push(at);
                inner.clerk.landed(note, done, wake);
                wake.add_all(&mut inner.waiting);
            }
        }
    }

    /// Submits. When it is refused as Full, `waiter` is woken once a place is free.
    ///
    /// # Errors
    /// As [`Context::submit`]; BadState also when the context was stopped.
    pub(super) fn submit(
        &self,
        task: C::Task,
        note: C::Note,
        waiter: Option<&Waker>,
    ) -> Result<(), Rejected<C::Task>> {
        let mut wake = Wakers::default();
        let mut inner = self.lock();
        self.collect(&mut inner, &mut wake);
        let outcome = self.submit_to(&mut inner, task, note, waiter, &mut wake);
        drop(inner);
        wake.wake();
        self.settle();
        outcome
    }

    /// Submits one after the other, up to the first that is refused.
    ///
    /// # Errors
    /// As [`Desk::submit`], with that one; those behind it are still in `tasks`.
    pub(super) fn submit_all(
        &self,
        tasks: &mut impl Iterator<Item = (C::Task, C::Note)>,
    ) -> Result<(), Rejected<C::Task>> {
        let mut wake = Wakers::default();
        let mut inner = self.lock();
        self.collect(&mut inner, &mut wake);
        let outcome =
            tasks.try_for_each(|(task, note)| self.submit_to(&mut inner, task, note, None, &mut wake));
        drop(inner);
        wake.wake();
        self.settle();
        outcome
    }

    fn submit_to(
        &self,
        inner: &mut Inner<C>,
        task: C::Task,
        said: C::Note,
        waiter: Option<&Waker>,
        wake: &mut Wakers,
    ) -> Result<(), Rejected<C::Task>> {
        let Some(context) = &mut inner.context else {
            let error = Error::new(Code::BadState, "the context was stopped");
            return Err(Rejected { error, back: task });
        };
        let Some(at) = inner.free.pop() else {
            if let Some(waiter) = waiter {
                note(&mut inner.waiting, waiter);
            }
            let error = Error::new(Code::Full, "all tasks are in flight");
            return Err(Rejected { error, back: task });
        };
        match context.submit(task) {
            Ok(flying) => {
                self.keep_or_land(inner, at, flying, said, wake);
                Ok(())
            }
            Err(rejected) => {
                inner.free.push(at);
                Err(rejected)
            }
        }
    }

    /// Looks at the clerk, and at how many tasks are in flight.
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut C, usize) -> R) -> R {
        let mut inner = self.lock();
        let flying = inner.flying.len() - inner.free.len();
        let result = f(&mut inner.clerk, flying);
        drop(inner);
        self.settle();
        result
    }

    /// Where the context is in its life; idle once it was taken away.
    pub(super) fn state(&self) -> State {
        self.lock().context.as_ref().map_or(State::Idle, Context::state)
    }

    /// The context, to be stopped or dropped: nothing is submitted any more.
    pub(super) fn take_context(&self) -> Option<ContextOf<C>> {
        let mut wake = Wakers::default();
        let mut inner = self.lock();
        let context = inner.context.take();
        wake.add_all(&mut inner.waiting);
        drop(inner);
        wake.wake();
        self.settle();
        context
    }
}
