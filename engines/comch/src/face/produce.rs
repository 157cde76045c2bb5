//! The tasks of a producer, and what became of them.

use super::connection::ConsumerId;
use super::desk::{Clerk, Desk};
use super::payload::Payload;
use super::wakers::{Wakers, note};
use crate::engine::ComchProducer;
use crate::lent::LentBytes;
use crate::producer::ProduceJob;
use core::task::{Context, Poll, Waker};
use softdpu_memory::buf::Lend;
use softdpu_memory::node::Lent;
use softdpu_room::task::{Done, Task};
use softdpu_status::Result;
use std::collections::VecDeque;

/// A send.
pub(super) struct Produce {
    pub(super) to: ConsumerId,
    pub(super) payload: Payload,
}

impl Task for Produce {
    type Engine = ComchProducer;
    type Output = u64;

    fn into_job(self) -> ProduceJob {
        let src = self.payload.buf.as_ref().map_or(Lent::nobody(), Lend::lend);
        let mut job = ProduceJob::new(src, LentBytes::NONE, self.to.get());
        job.owned = Some(self.payload);
        job
    }

    fn from_job(job: ProduceJob) -> Produce {
        // Jobs of the Rust face own what they send.
        Produce { to: job.consumer.into(), payload: job.owned.unwrap_or_default() }
    }

    fn output(bytes: u64) -> u64 {
        bytes
    }
}

/// A payload that came back from [`Producer::feed`](crate::face::Producer::feed).
#[derive(Debug)]
pub struct Returned {
    /// To whom it was sent.
    pub to: ConsumerId,
    /// What was sent.
    pub payload: Payload,
    /// How many bytes of the buffer's data arrived, or why none did.
    pub result: Result<u64>,
}

/// Keeps what is back until somebody takes it.
#[derive(Default)]
pub(super) struct Dispatch {
    returned: VecDeque<Returned>,
    awaited: Vec<Awaited>,
    readers: Vec<Waker>,
}

struct Awaited {
    number: u64,
    outcome: Option<Returned>,
    waker: Option<Waker>,
}

impl Clerk for Dispatch {
    type Task = Produce;
    type Note = u64;

    fn landed(&mut self, number: u64, done: Done<Produce>, wake: &mut Wakers) {
        let returned = Returned { to: done.task.to, payload: done.task.payload, result: done.result };
        match self.awaited.iter_mut().find(|other| other.number == number) {
            Some(awaited) => {
                awaited.outcome = Some(returned);
                if let Some(waker) = awaited.waker.take() {
                    wake.add(waker);
                }
            }
            None => self.returned.push_back(returned),
        }
        wake.add_all(&mut self.readers);
    }
}

impl Dispatch {
    pub(super) fn take(&mut self) -> Option<Returned> {
        self.returned.pop_front()
    }

    pub(super) fn wait(&mut self, waker: &Waker) {
        note(&mut self.readers, waker);
    }
}

/// Somebody awaits a send; what comes back after it was dropped is for whoever reclaims.
pub(super) struct Ticket<'a> {
    desk: &'a Desk<Dispatch>,
    number: u64,
}

impl<'a> Ticket<'a> {
    pub(super) fn new(desk: &'a Desk<Dispatch>, number: u64) -> Ticket<'a> {
        desk.with(|dispatch, _| {
            dispatch.awaited.push(Awaited { number, outcome: None, waker: None });
        });
        Ticket { desk, number }
    }

    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<Returned> {
        self.desk.with(|dispatch, _| {
            let Some(awaited) = dispatch.awaited.iter_mut().find(|other| other.number == self.number) else {
                return Poll::Pending;
            };
            match awaited.outcome.take() {
                Some(returned) => Poll::Ready(returned),
                None => {
                    awaited.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let gone = self.desk.with(|dispatch, _| {
            let at = dispatch.awaited.iter().position(|other| other.number == self.number)?;
            let Awaited { outcome, waker, .. } = dispatch.awaited.swap_remove(at);
            dispatch.returned.extend(outcome);
            waker
        });
        // Without the lock: wakers are foreign code.
        drop(gone);
    }
}
