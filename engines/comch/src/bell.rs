//! Doorbells as they are handed around: descriptors of our own, kept until somebody is invited.

use softdpu_link::Invitation;
use softdpu_room::hardware::Alarm;
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// An invitation to ring the progress engine of a context.
#[derive(Debug)]
pub(crate) struct Bell {
    page: OwnedFd,
    pub(crate) word: u32,
    event: OwnedFd,
}

fn no_descriptor(error: std::io::Error) -> Error {
    log::error!(target: crate::LOG, "no descriptor for an invitation: {error}");
    Error::new(Code::NoMemory, "no descriptor")
}

impl Bell {
    /// Of the context that `alarm` belongs to, which is being started, on its thread.
    pub(crate) fn of(alarm: &Alarm) -> Result<Bell> {
        let bell = alarm.with_signal(|signal| Bell::copy(signal.doorbell()?.invitation()));
        bell.unwrap_or(Err(Error::new(Code::NotConnected, "no progress engine")))
    }

    fn copy(invitation: Invitation<'_>) -> Result<Bell> {
        Ok(Bell {
            page: invitation.page.try_clone_to_owned().map_err(no_descriptor)?,
            word: invitation.index,
            event: invitation.event.try_clone_to_owned().map_err(no_descriptor)?,
        })
    }

    /// What to send along.
    pub(crate) fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.page.as_fd(), self.event.as_fd()]
    }

    /// The same to give away.
    pub(crate) fn owned_fds(&self) -> Result<[OwnedFd; 2]> {
        let copy = |fd: &OwnedFd| fd.try_clone().map_err(no_descriptor);
        Ok([copy(&self.page)?, copy(&self.event)?])
    }
}
