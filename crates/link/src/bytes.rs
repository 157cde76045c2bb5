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
        if n < 16 {
            short(src, dst, n);
        } else if (WIDE..=LOOP).contains(&n) && std::arch::is_x86_feature_detected!("avx") {
            wide(src, dst, n);
        } else if n <= LOOP {
            // The string instruction starts too slowly for this. The last vector overlaps with the one before.
            core::arch::asm!(
                "cmp {n}, 64", "jb 3f",
                "2:",
                "movups {a}, [{s}]", "movups {b}, [{s} + 16]", "movups {c}, [{s} + 32]", "movups {e}, [{s} + 48]",
                "movups [{d}], {a}", "movups [{d} + 16], {b}", "movups [{d} + 32], {c}", "movups [{d} + 48], {e}",
                "add {s}, 64", "add {d}, 64", "sub {n}, 64", "cmp {n}, 64", "jae 2b",
                "3:", "cmp {n}, 16", "jb 4f",
                "movups {a}, [{s}]", "movups [{d}], {a}", "add {s}, 16", "add {d}, 16", "sub {n}, 16", "jmp 3b",
                "4:", "test {n}, {n}", "jz 5f",
                "movups {a}, [{s} + {n} - 16]", "movups [{d} + {n} - 16], {a}",
                "5:",
                s = inout(reg) src => _, d = inout(reg) dst => _, n = inout(reg) n => _,
                a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, e = out(xmm_reg) _,
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

/// Most bytes that a loop copies faster than the string instruction.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const LOOP: usize = 4096;

/// From so many bytes on the wider vectors are worth a call.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const WIDE: usize = 256;

/// At least 128 bytes, as [`copy_shared`].
///
/// # Safety
/// As there; the processor has AVX.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx")]
#[inline(never)]
unsafe fn wide(src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: as in `copy_shared`; the last 128 bytes, which may overlap with those before, are copied at the end.
    unsafe {
        core::arch::asm!(
            "vmovups {e}, [{s} + {n} - 128]", "vmovups {f}, [{s} + {n} - 96]", "vmovups {g}, [{s} + {n} - 64]", "vmovups {h}, [{s} + {n} - 32]",
            "lea {end}, [{d} + {n} - 128]",
            "2:",
            "vmovups {a}, [{s}]", "vmovups {b}, [{s} + 32]", "vmovups {c}, [{s} + 64]", "vmovups {i}, [{s} + 96]",
            "vmovups [{d}], {a}", "vmovups [{d} + 32], {b}", "vmovups [{d} + 64], {c}", "vmovups [{d} + 96], {i}",
            "sub {s}, -128", "sub {d}, -128", "cmp {d}, {end}", "jb 2b",
            "vmovups [{end}], {e}", "vmovups [{end} + 32], {f}", "vmovups [{end} + 64], {g}", "vmovups [{end} + 96], {h}",
            "vzeroupper",
            s = inout(reg) src => _, d = inout(reg) dst => _, n = in(reg) n, end = out(reg) _,
            a = out(ymm_reg) _, b = out(ymm_reg) _, c = out(ymm_reg) _, i = out(ymm_reg) _,
            e = out(ymm_reg) _, f = out(ymm_reg) _, g = out(ymm_reg) _, h = out(ymm_reg) _,
            options(nostack)
        );
    }
}

/// Less than 16 bytes, as [`copy_shared`].
///
/// # Safety
/// As there.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
unsafe fn short(src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: as in `copy_shared`; from four bytes on two moves that may overlap.
    unsafe {
        if n >= 8 {
            core::arch::asm!(
                "mov {a}, [{s}]", "mov {b}, [{s} + {n} - 8]", "mov [{d}], {a}", "mov [{d} + {n} - 8], {b}",
                s = in(reg) src, d = in(reg) dst, n = in(reg) n, a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        } else if n >= 4 {
            core::arch::asm!(
                "mov {a:e}, [{s}]", "mov {b:e}, [{s} + {n} - 4]", "mov [{d}], {a:e}", "mov [{d} + {n} - 4], {b:e}",
                s = in(reg) src, d = in(reg) dst, n = in(reg) n, a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags)
            );
        } else {
            for i in 0..n {
                core::arch::asm!(
                    "mov {a}, [{s}]", "mov [{d}], {a}",
                    s = in(reg) src.add(i), d = in(reg) dst.add(i), a = out(reg_byte) _,
                    options(nostack, preserves_flags)
                );
            }
        }
    }
}
