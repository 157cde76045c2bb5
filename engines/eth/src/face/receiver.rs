//! A receive queue that streams.

use super::inbox::{Frame, Inbox};
use crate::caps::RxCaps;
use crate::rxq::{EthRxq, RxConfig, RxCounters, RxDesk, RxStart, Want};
use core::future::poll_fn;
use core::task::{Context as TaskContext, Poll};
use softdpu_memory::BufPool;
use softdpu_room::context::State;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::Device;
use softdpu_room::typed::{Context, Stopping};
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// Configuration of a [`Receiver`]. 0 stands for the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiverConfig {
    /// Frames that may wait for the program; 256. What comes beyond waits with the port, and is lost when that is full.
    pub depth: usize,
    /// Bytes left free in front of each frame, for headers to be put there.
    pub headroom: usize,
    /// What is told about frames besides the verdict on their checksums.
    pub want: Want,
}

/// A receive queue whose frames come one after the other, in owned buffers of a pool.
///
/// Frames arrive only while its [`ProgressEngine`] makes progress, and when the port's rules point at the queue's number.
///
/// # Threads
/// As a [`Context`]: it moves between threads, and need not be on that of its progress engine.
#[derive(Debug)]
pub struct Receiver {
    context: Context<EthRxq>,
    inbox: Arc<Inbox>,
    desk: Arc<RxDesk>,
}

impl Receiver {
    /// Starts a queue on `device` that takes its buffers from `pool`: each as long as headroom and longest frame.
    ///
    /// # Errors
    /// NotSupported when the device has no receive queues, InvalidValue for sizes outside its limits, NoMemory, and what
    /// opening the port comes to (NotPermitted, NotFound, InUse).
    pub fn start(
        pe: &mut ProgressEngine,
        device: &Device,
        pool: BufPool,
        config: ReceiverConfig,
    ) -> Result<Receiver> {
        let caps = RxCaps::of(device.function())?;
        let depth = if config.depth == 0 { 256 } else { config.depth };
        let room = pool.window().saturating_sub(config.headroom);
        if room == 0 || depth > caps.max_burst_size as usize {
            log::error!(target: crate::LOG, "receiver on {}: buffers of {} bytes with {} in front of each frame, {depth} frames \
                 waiting, limit {}", device.function(), pool.window(), config.headroom, caps.max_burst_size);
            return Err(Error::new(Code::InvalidValue, "no room for frames"));
        }
        let inbox = Arc::new(Inbox::new(pool, depth, config.headroom));
        let told = Arc::new(Mutex::new(None));
        let max_packet = caps.max_packet_size.min(room as u32);
        let start = RxStart {
            config: RxConfig { tasks: 1, max_packet, want: config.want },
            inbox: Some(inbox.clone()),
            desk: Some(told.clone()),
        };
        let context = Context::<EthRxq>::start(pe, device, start)?.wait(pe)?;
        let desk = told.lock().unwrap_or_else(PoisonError::into_inner).take();
        let desk = desk.ok_or(Error::new(Code::Unexpected, "the queue has no desk"))?;
        Ok(Receiver { context, inbox, desk })
    }

    /// The number by which rules know the queue.
    ///
    /// # Errors
    /// BadState when it runs no more.
    pub fn number(&self) -> Result<u16> {
        self.with_queue(|queue| Ok(queue.number()))
    }

    /// Gives the queue a number of the program's choice.
    ///
    /// # Errors
    /// AlreadyExist: another queue of the port, in this process, has it. BadState when it runs no more.
    pub fn set_number(&self, number: u16) -> Result<()> {
        self.with_queue(|queue| queue.set_number(number))
    }

    fn with_queue<R>(&self, f: impl FnOnce(&softdpu_net::Queue) -> Result<R>) -> Result<R> {
        match self.desk.queue() {
            Some(queue) => f(&queue),
            None => Err(Error::new(Code::BadState, "the queue was stopped")),
        }
    }

    /// The next frame; `None` once the queue was stopped and everything was taken. Cancelling it loses nothing.
    pub async fn next(&mut self) -> Option<Frame> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`Receiver::next`], for futures written by hand.
    pub fn poll_next(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Frame>> {
        self.inbox.poll(cx.waker())
    }

    /// A frame that is here already. Progress counts a frame once, when it comes in: whoever sleeps in
    /// [`ProgressEngine::wait`] takes until there is none before sleeping again.
    pub fn try_next(&mut self) -> Option<Frame> {
        self.inbox.try_take()
    }

    /// Takes up to `most` frames that are here already; how many there were.
    pub fn take(&mut self, into: &mut Vec<Frame>, most: usize) -> usize {
        self.inbox.take_many(into, most)
    }

    /// Counters since it was started.
    pub fn counters(&self) -> RxCounters {
        self.desk.counters()
    }

    /// Where it is in its life.
    pub fn state(&self) -> State {
        self.context.state()
    }

    /// Stops it. Frames that wait are dropped.
    pub fn stop(self) -> Stopping<EthRxq> {
        self.context.stop()
    }
}
