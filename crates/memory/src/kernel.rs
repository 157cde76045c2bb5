//! Copies between processes that the kernel carries out, with the rights it finds this process to have.
#![expect(unsafe_code, reason = "the system calls take addresses, for which no safe wrapper exists")]

use rustix::io::Errno;
use std::sync::Once;

/// Which way the bytes go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// From the other process to this one.
    Read,
    /// From this process to the other one.
    Write,
}

/// Copies `n` bytes between `here` and the address `there` of process `pid` (which may be this one). The kernel checks
/// both ranges: what is not mapped there, or does not allow it, is an error and never a signal.
///
/// # Errors
/// EFAULT (a range is not there, or not with the needed protection), EPERM, ESRCH (no such process), ENOSYS. Some bytes
/// may have been copied.
///
/// # Safety
/// `here` is good for `n` bytes, to be read or written as the way demands, by the rules for memory that others may use
/// at the same time: no reference to the bytes exists.
pub(crate) unsafe fn copy(pid: u32, way: Way, there: usize, here: *mut u8, n: usize) -> Result<(), Errno> {
    let pid = i32::try_from(pid).map_err(|_| Errno::SRCH)?;
    let mut done = 0;
    while done < n {
        let local = libc::iovec { iov_base: here.wrapping_add(done).cast(), iov_len: n - done };
        let remote = libc::iovec { iov_base: (there + done) as *mut _, iov_len: n - done };
        // SAFETY: both vectors live on this stack frame; the local range is the caller's promise. Of the remote one the
        // kernel asks whether it is there.
        let moved = unsafe {
            match way {
                Way::Read => libc::process_vm_readv(pid, &local, 1, &remote, 1, 0),
                Way::Write => libc::process_vm_writev(pid, &local, 1, &remote, 1, 0),
            }
        };
        match usize::try_from(moved) {
            Ok(0) => return Err(Errno::FAULT),
            Ok(moved) => done += moved,
            Err(_) => match Errno::from_io_error(&std::io::Error::last_os_error()) {
                Some(Errno::INTR) => {}
                Some(error) => return Err(error),
                None => return Err(Errno::IO),
            },
        }
    }
    Ok(())
}

/// Reads from another process into bytes of the caller.
///
/// # Errors
/// As [`copy`].
pub(crate) fn read(pid: u32, there: usize, into: &mut [u8]) -> Result<(), Errno> {
    // SAFETY: the bytes are borrowed for writing.
    unsafe { copy(pid, Way::Read, there, into.as_mut_ptr(), into.len()) }
}

/// Asks the kernel to let other processes of this user copy, where it does not by itself (Yama). Once per process; the
/// first time says so in one log line.
pub(crate) fn admit_peers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
        if scope.trim() != "1" {
            return;
        }
        match rustix::process::set_ptracer(rustix::process::PTracer::Any) {
            Ok(()) => log::info!(target: "softdpu::mmap",
                "memory of this process was exported: other processes of this user may read and write it from now on \
                 (prctl PR_SET_PTRACER, since kernel.yama.ptrace_scope is 1)"),
            Err(error) => log::info!(target: "softdpu::mmap",
                "memory of this process was exported, but the kernel lets no other process copy it \
                 (kernel.yama.ptrace_scope is 1, PR_SET_PTRACER: {error}): peers ask this process to copy"),
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_move_both_ways_and_holes_are_errors() {
        let me = std::process::id();
        let (mut from, mut to) = ([7u8; 100], [0u8; 100]);
        let there = from.as_mut_ptr() as usize;
        // SAFETY: ranges of this function.
        let copy =
            |way, there, here: &mut [u8]| unsafe { copy(me, way, there, here.as_mut_ptr(), here.len()) };
        match copy(Way::Read, there, &mut to) {
            Err(error @ (Errno::PERM | Errno::NOSYS)) => {
                return println!("skipped: no such copies here ({error})");
            }
            outcome => assert_eq!((outcome, to), (Ok(()), [7; 100])),
        }
        assert_eq!(copy(Way::Write, there, &mut [9; 100]), Ok(()));
        assert_eq!(std::hint::black_box(from), [9; 100]);
        assert_eq!(copy(Way::Read, 64, &mut to), Err(Errno::FAULT));
        assert_eq!(copy(Way::Read, 64, &mut []), Ok(()));
    }
}
