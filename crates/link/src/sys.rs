//! System calls for which no safe wrapper fits.
#![expect(
    unsafe_code,
    reason = "signal mask; end of the process; credentials of peers whose number may be 0"
)]

use crate::socket::Peer;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Runs `f`, which starts a thread, with all signals blocked: the thread inherits that, so handlers of the program never
/// run on it, not even at its very beginning.
pub fn with_signals_blocked<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: both sets live on this stack frame; the calls only read and write them.
    let before = unsafe {
        let (mut all, mut before) = (core::mem::zeroed(), core::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    };
    let result = f();
    // SAFETY: as above; a panic of `f` leaves signals blocked and nothing else.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, core::ptr::null_mut()) };
    result
}

/// Has `f` called when the process ends by `exit` or by the return of `main`, on whatever thread does that.
pub fn at_exit(f: extern "C" fn()) {
    // SAFETY: `f` is a function of this library, which stays loaded, and may be called at any time.
    // Without room for it the file of the socket stays behind, as after a kill.
    let _ = unsafe { libc::atexit(f) };
}

/// Who is at the other end of a connected local socket.
pub(crate) fn peer_of(socket: BorrowedFd<'_>) -> Result<Peer, Errno> {
    let mut found = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to `found`, in which every value of every field is valid.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &raw mut len,
        )
    };
    if failed != 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    Ok(Peer { pid: found.pid.unsigned_abs(), uid: found.uid })
}
