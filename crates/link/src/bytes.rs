//! The copy routine for memory that others may touch at the same time: another thread, another process, a device.
#![expect(unsafe_code, reason = "raw copies of memory that others write")]

/// Copies memory that others may be writing or reading. A racing writer gives mixed bytes, never undefined behaviour.
///
/// # Safety
/// Both ranges are mapped for `n` bytes with the needed protection; they may overlap (the result is then any mix).
#[inline]
pub unsafe fn copy_shared(src: *const u8, dst: *mut u8, n: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: moves exactly `n` bytes between mapped ranges; the compiler knows nothing of them, so a race is no more
    // than a race between processors.
    unsafe {
        if n < 512 {
            // A word loop: the string instruction starts too slowly for this.
            core::arch::asm!(
                "2:", "cmp {n}, 8", "jb 3f",
                "mov {t}, [{s}]", "mov [{d}], {t}", "add {s}, 8", "add {d}, 8", "sub {n}, 8", "jmp 2b",
                "3:", "test {n}, {n}", "jz 4f",
                "mov {t:l}, [{s}]", "mov [{d}], {t:l}", "inc {s}", "inc {d}", "dec {n}", "jmp 3b",
                "4:",
                s = inout(reg) src => _, d = inout(reg) dst => _, n = inout(reg) n => _, t = out(reg_abcd) _,
                options(nostack)
            );
        } else {
            core::arch::asm!("rep movsb", inout("rsi") src => _, inout("rdi") dst => _, inout("rcx") n => _,
                options(nostack, preserves_flags));
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: byte-wise atomic accesses to mapped memory; slow and sound everywhere.
    unsafe {
        use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
        let mut i = 0;
        if (src as usize | dst as usize) % 8 == 0 {
            while i + 8 <= n {
                let v = AtomicU64::from_ptr(src.add(i).cast_mut().cast()).load(Relaxed);
                AtomicU64::from_ptr(dst.add(i).cast()).store(v, Relaxed);
                i += 8;
            }
        }
        while i < n {
            let v = AtomicU8::from_ptr(src.add(i).cast_mut()).load(Relaxed);
            AtomicU8::from_ptr(dst.add(i)).store(v, Relaxed);
            i += 1;
        }
    }
}
