//! The segment of a consumer with its [`Rings`], as it is made and handed over.

use crate::rings::{MOST, Rings, bytes};
use crate::sync::{Segment, can_reach_others, init_barriers};
use core::ops::Deref;
use softdpu_status::{Code, Error, Result};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Receives(Rings);

impl Deref for Receives {
    type Target = Rings;
    #[inline(always)]
    fn deref(&self) -> &Rings {
        &self.0
    }
}

impl Receives {
    /// For so many receives at a time.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn create(slots: u32) -> Result<Receives> {
        let segment = Segment::create("softdpu-comch-receives", bytes(slots))?;
        Ok(Receives(Rings::new(Arc::new(segment), slots)))
    }

    /// Producer: from what a peer sent.
    ///
    /// # Errors
    /// InvalidValue, with one log line.
    pub(crate) fn accept(fd: OwnedFd, slots: u32) -> Result<Receives> {
        if slots == 0 || slots > MOST {
            log::error!(target: crate::LOG, "a peer's consumer with {slots} receives, allowed 1 to {MOST}");
            return Err(Error::new(Code::InvalidValue, "receives of a peer's consumer"));
        }
        let segment = Segment::from_fd(fd, bytes(slots))?;
        Ok(Receives(Rings::new(Arc::new(segment), slots)).produced_here())
    }

    /// Producer: says what the barriers of this process can.
    pub(crate) fn produced_here(self) -> Receives {
        init_barriers();
        self.reach(can_reach_others());
        self
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.segment.fd()
    }
}
