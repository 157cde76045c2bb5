//! The end of a receive queue: visits to frames that arrived for it.

use crate::frame::{Frame, Taken};
use crate::intake::{Intake, from_side};
use crate::port::{MAX_FRAME, Port};
use crate::queue::{Queue, Wake};
use softdpu_link::Receiver;
use softdpu_status::Result;
use std::sync::Arc;

/// What a receive queue is opened with.
#[derive(Clone)]
pub struct InletSetup {
    /// Wakes the queue's owner.
    pub wake: Arc<dyn Wake>,
    /// Have the flow's hash in [`Meta`](crate::Meta) even where no rule spreads by it.
    pub hash: bool,
    /// Have the time of arrival.
    pub timestamp: bool,
    /// Have checksums verified: the whole frame is read once more.
    pub checksums: bool,
}

impl InletSetup {
    /// With nothing that costs.
    #[must_use]
    pub fn new(wake: Arc<dyn Wake>) -> InletSetup {
        InletSetup { wake, hash: false, timestamp: false, checksums: false }
    }
}

impl std::fmt::Debug for InletSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "InletSetup(hash: {}, timestamp: {}, checksums: {})",
            self.hash, self.timestamp, self.checksums
        )
    }
}

/// The end of a receive queue. Dropping it ends the queue; frames that were for it are lost.
#[derive(Debug)]
pub struct Inlet {
    queue: Arc<Queue>,
    side: Receiver,
    scratch: Vec<u8>,
    intake: Arc<Intake>,
    /// Keeps the port what it is as long as there are queues.
    port: Arc<Port>,
}

impl Inlet {
    pub(crate) fn new(port: &Arc<Port>, intake: Arc<Intake>, queue: Arc<Queue>) -> Result<Inlet> {
        let side = intake.seat(&queue).inspect_err(|_| intake.queues.remove(&queue))?;
        Ok(Inlet { queue, side, scratch: Vec::with_capacity(MAX_FRAME), intake, port: Arc::clone(port) })
    }

    /// The queue as others see it.
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// Its port.
    pub fn port(&self) -> &Arc<Port> {
        &self.port
    }

    /// Visits up to `most` frames that arrived for this queue, in order. `take` copies a frame and says [`Taken::Yes`];
    /// with [`Taken::Later`] the frame stays, and the visit ends. Returns the frames taken.
    ///
    /// Never waits and allocates nothing. Frames of other queues that it meets it passes on to them.
    #[inline]
    pub fn receive(&mut self, most: usize, mut take: impl FnMut(&mut Frame<'_>) -> Taken) -> usize {
        let (taken, open) = from_side(&mut self.side, &mut self.scratch, most, &mut take);
        if !open || taken == most {
            return taken;
        }
        taken + self.intake.turn(&self.queue, &mut self.side, most - taken, &mut take)
    }

    /// Something may be there: frames of this queue, or of others that nobody has looked at yet.
    pub fn is_ready(&self) -> bool {
        !self.side.is_empty() || self.intake.is_ready()
    }

    /// Is a visit worth while? As [`Inlet::is_ready`], but never asks the kernel: for whoever looks all the time.
    #[inline]
    pub fn is_due(&self) -> bool {
        !self.side.is_empty() || self.intake.is_due()
    }

    /// Asks to be woken. Look once more ([`Inlet::is_ready`]) *after* this, and sleep only if there is nothing.
    pub fn arm(&self) {
        self.queue.arm();
        self.intake.arm();
    }

    /// Takes that back.
    pub fn disarm(&self) {
        self.queue.disarm();
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.intake.unseat(&self.queue);
    }
}
