//! A task in flight, as its submitter sees it.

use crate::context::Core;
use crate::flight;
use crate::job::empty;
use crate::slot::Slot;
use crate::task::{Done, Task};
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};

/// A task in flight. A future; can also be polled with [`InFlight::try_take`]; may be dropped or leaked at any time:
/// the task goes on, and its buffers are released when it lands. Moves freely between threads.
#[derive(Debug)]
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
    fn collect(slot: &'static Slot) -> Done<T> {
        let task = T::from_job(empty::<T::Engine>(slot));
        let result = slot.outcome().map(T::output);
        slot.flight.set(flight::FREE);
        Done { task, result }
    }

    /// The finished task, if it is back.
    ///
    /// # Errors
    /// The handle itself while the task flies.
    pub fn try_take(mut self) -> Result<Done<T>, InFlight<T>> {
        match self.slot {
            Some(slot) if slot.flight.try_take() => {
                self.slot = None;
                Ok(Self::collect(slot))
            }
            _ => Err(self),
        }
    }

    /// Is the task back?
    pub fn is_done(&self) -> bool {
        self.slot.is_some_and(|s| s.flight.state() == flight::DONE)
    }

    /// The context's engine name, for messages.
    pub fn engine(&self) -> &'static str {
        self.core.info().name
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
            Poll::Ready(Self::collect(slot))
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
            drop(Self::collect(slot));
        }
    }
}
