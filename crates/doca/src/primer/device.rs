//! Opening and closing devices. A device that was opened from a session's list hangs on the session: it has a handle of
//! its own, which dies with the session.
#![expect(unsafe_code, reason = "C entry points")]

use super::{LOG, answer, memory, refuse, session};
use crate::call::{enter, output};
use crate::dev::{self, Dev, DevInfo};
use softdpu_memory::handle::checked;
use softdpu_status::Code;
use std::ffi::c_int;

/// As [`dev::doca_dev_open`], for records of sessions and of the contract's lists.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `dev` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_dev_open(devinfo: *mut DevInfo, dev: *mut *mut Dev) -> c_int {
    const CALL: &str = "doca_dev_open";
    let owner = session::owner_of(devinfo);
    if owner == dev::NOBODY {
        // SAFETY: the caller's promise.
        return unsafe { dev::doca_dev_open(devinfo, dev) };
    }
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (info, slot) = unsafe { (checked(devinfo, CALL)?, output(dev, CALL)?) };
        slot.set(dev::open(info, owner)?.as_ptr());
        Ok(())
    })
}

/// As [`dev::doca_dev_close`], safe on NULL. What a session that is gone left behind is freed, and refused.
///
/// # Safety
/// NULL, or a handle of this library that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_dev_close(dev: *mut Dev) -> c_int {
    const CALL: &str = "doca_dev_close";
    enter(CALL, || {
        if dev.is_null() {
            return Ok(());
        }
        match dev::is_orphan(dev) {
            Some(true) => {
                let freed = memory::release_all(dev);
                dev::reap(dev);
                let line = format_args!(
                    "{CALL}: device {dev:p} went with its session; {freed} registrations that were left are freed"
                );
                return Err(refuse(Code::InvalidValue, "the session is gone", line));
            }
            // SAFETY: open, as just found.
            Some(false) => session::release_device(unsafe { dev::device(dev, CALL)? }),
            None => log::debug!(target: LOG, "{CALL}: {dev:p} is not open"),
        }
        // SAFETY: the caller's promise.
        answer(unsafe { dev::doca_dev_close(dev) })
    })
}
