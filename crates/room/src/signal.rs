//! The event descriptor that programs sleep on, and the protocol with those who wake them.

use crate::arm::Arm;
use crate::sync::{AtomicU8, Ordering, heavy_barrier};
use rustix::event::{EventfdFlags, eventfd};
use softdpu_link::barrier;
use softdpu_link::doorbell::Doorbell;
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

/// The event descriptor of a progress engine, and whether somebody waits for it.
#[derive(Debug)]
pub struct Signal {
    arm: Arm,
    fd: OwnedFd,
    /// For peers in other processes, once one is to be invited.
    bell: OnceLock<Doorbell>,
    /// Was it armed since it was last made unreadable? The owner's.
    soiled: AtomicU8,
}

impl Signal {
    pub(crate) fn new() -> Result<Signal> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(|e| {
            log::error!(target: "softdpu::pe", "no event descriptor: {e}");
            Error::new(Code::OperatingSystem, "no event descriptor")
        })?;
        Ok(Signal { arm: Arm::new(), fd, bell: OnceLock::new(), soiled: AtomicU8::new(0) })
    }

    /// The doorbell through which peers in other processes wake whoever sleeps on the descriptor. Called before the first
    /// of them is invited, on the thread that owns the engine.
    ///
    /// # Errors
    /// NoMemory, OperatingSystem.
    pub fn doorbell(&self) -> Result<&Doorbell> {
        if let Some(bell) = self.bell.get() {
            return Ok(bell);
        }
        let fd = self.fd.try_clone().map_err(|e| {
            log::error!(target: "softdpu::pe", "no descriptor for the doorbell of a progress engine: {e}");
            Error::new(Code::OperatingSystem, "no descriptor")
        })?;
        let bell = Doorbell::with_event(fd)?;
        Ok(self.bell.get_or_init(|| bell))
    }

    /// Asks for a signal; what is published after this, here or by a peer, signals. The barrier stands for those of threads
    /// that submit ([`Core::rouse`](crate::context::Core::rouse)), too.
    pub(crate) fn arm(&self) {
        self.soiled.store(1, Ordering::Relaxed);
        self.arm.arm();
        let mut reached = false;
        if let Some(bell) = self.bell.get() {
            bell.arm();
            reached = barrier::is_reachable() && barrier::can_reach_others();
        }
        if !reached {
            heavy_barrier();
        }
    }

    pub(crate) fn disarm(&self) {
        if let Some(bell) = self.bell.get() {
            bell.arm_word().store(0, Ordering::Relaxed);
        }
        self.arm.disarm();
    }

    /// Is somebody waiting?
    #[inline]
    pub(crate) fn is_armed(&self) -> bool {
        self.arm.is_armed()
    }

    /// Has nobody taken the wish to be signalled, since it was armed?
    fn is_untouched(&self) -> bool {
        let bell = self.bell.get().is_none_or(|bell| bell.arm_word().load(Ordering::Relaxed) != 0);
        bell && self.arm.is_armed()
    }

    /// Makes the descriptor unreadable before it is armed, unless that was done since it was armed last. A ring that came
    /// later than that wakes somebody for nothing, once.
    pub(crate) fn clean(&self) {
        if self.soiled.load(Ordering::Relaxed) != 0 {
            self.drain();
        }
    }

    /// Who slept is awake. If it `rang`, the descriptor becomes unreadable.
    pub(crate) fn awake(&self, rang: bool) {
        let untouched = self.is_untouched();
        self.disarm();
        if rang {
            self.drain();
        } else if untouched {
            self.soiled.store(0, Ordering::Relaxed);
        }
    }

    /// Makes the descriptor readable, once per arming.
    pub(crate) fn raise(&self) {
        self.disarm();
        self.signal();
    }

    fn signal(&self) {
        if self.bell.get().is_some() {
            // Peers have the descriptor, and could make it one that blocks.
            softdpu_link::doorbell::signal(self.fd.as_fd());
        } else {
            // The counter cannot overflow in any real time; a full one is readable anyway.
            let _ = rustix::io::write(&self.fd, &1u64.to_ne_bytes());
        }
    }

    /// Something was published: wake whoever waits.
    #[inline]
    pub(crate) fn published(&self) {
        if self.arm.published() {
            self.signal();
        }
    }

    pub(crate) fn drain(&self) {
        self.soiled.store(0, Ordering::Relaxed);
        softdpu_link::doorbell::drain(self.fd.as_fd());
    }
}

impl AsFd for Signal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
