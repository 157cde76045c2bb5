//! The system call that no safe wrapper offers, and the processor's cycle counter.
#![expect(unsafe_code, reason = "membarrier and the cycle counter have no safe wrapper")]

const CMD_REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
const CMD_PRIVATE_EXPEDITED: libc::c_int = 1 << 3;

fn call(cmd: libc::c_int) -> bool {
    // SAFETY: membarrier takes no pointers; unknown commands are refused by the kernel.
    unsafe { libc::syscall(libc::SYS_membarrier, cmd, 0 as libc::c_int, 0 as libc::c_int) == 0 }
}

/// Registers the process for expedited private barriers; false where the kernel has none or forbids it.
pub(crate) fn membarrier_register() -> bool {
    cfg!(not(miri)) && call(CMD_REGISTER_PRIVATE_EXPEDITED) && call(CMD_PRIVATE_EXPEDITED)
}

/// A full barrier on every running thread of this process.
pub(crate) fn membarrier() {
    if !call(CMD_PRIVATE_EXPEDITED) {
        // Cannot happen after a successful registration, except in a child of fork; be safe there too.
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    }
}

/// The processor's cycle counter; nanoseconds where there is none.
pub(crate) fn cycles() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 processor has the instruction; it touches no memory.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        let count: u64;
        // SAFETY: reads the virtual counter, which Linux lets programs read; it touches no memory.
        unsafe {
            core::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags))
        };
        return count;
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicRaw);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}
