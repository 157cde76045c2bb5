//! System calls for which no safe wrapper fits.
#![expect(unsafe_code, reason = "signal mask, thread number, the end of the process")]

/// Blocks all signals on this thread; the mask of before comes back.
pub(crate) fn block_signals() -> libc::sigset_t {
    // SAFETY: both sets live on this stack frame; the calls only read and write them.
    unsafe {
        let (mut all, mut before) = (core::mem::zeroed(), core::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    }
}

/// Puts a mask back.
pub(crate) fn restore_signals(before: &libc::sigset_t) {
    // SAFETY: a set that `block_signals` gave.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, core::ptr::null_mut()) };
}

thread_local! {
    static NUMBER: std::cell::Cell<i32> = const { std::cell::Cell::new(0) };
}

/// In a child of fork: its thread has a number of its own.
pub(crate) fn renew() {
    NUMBER.set(0);
}

/// The system's number of this thread.
pub(crate) fn thread() -> i32 {
    NUMBER.with(|number| {
        if number.get() == 0 {
            // SAFETY: takes nothing and changes nothing.
            number.set(unsafe { libc::gettid() });
        }
        number.get()
    })
}

/// Ends the process with a status, after the program's own output was written.
pub(crate) fn end(status: i32) -> ! {
    // SAFETY: every handler of the program has run; nothing comes after this one.
    unsafe {
        libc::fflush(core::ptr::null_mut());
        libc::_exit(status)
    }
}
