//! The copy routines.
#![expect(unsafe_code, reason = "raw copies between registered ranges")]

#[cfg(all(target_arch = "x86_64", not(miri)))]
use softdpu_link::copy_shared;

/// 1 to 64 bytes; everything is read before anything is written, so overlap is harmless.
#[inline(always)]
pub(super) unsafe fn copy_line(src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: reads and writes stay inside `n` bytes at both ends; the caller vouches for those.
    unsafe {
        if n > 32 {
            let (a, b) = (load(src), load(src.add(16)));
            let (c, d) = (load(src.add(n - 32)), load(src.add(n - 16)));
            store(dst, a);
            store(dst.add(16), b);
            store(dst.add(n - 32), c);
            store(dst.add(n - 16), d);
        } else if n >= 16 {
            let (a, b) = (load(src), load(src.add(n - 16)));
            store(dst, a);
            store(dst.add(n - 16), b);
        } else if n >= 8 {
            let (a, b) = (src.cast::<u64>().read_unaligned(), src.add(n - 8).cast::<u64>().read_unaligned());
            dst.cast::<u64>().write_unaligned(a);
            dst.add(n - 8).cast::<u64>().write_unaligned(b);
        } else if n >= 4 {
            let (a, b) = (src.cast::<u32>().read_unaligned(), src.add(n - 4).cast::<u32>().read_unaligned());
            dst.cast::<u32>().write_unaligned(a);
            dst.add(n - 4).cast::<u32>().write_unaligned(b);
        } else if n > 0 {
            let (a, b, c) = (src.read(), src.add(n / 2).read(), src.add(n - 1).read());
            dst.write(a);
            dst.add(n / 2).write(b);
            dst.add(n - 1).write(c);
        }
    }
}

#[cfg(target_arch = "x86_64")]
type Lane = core::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Lane = u128;

#[inline(always)]
unsafe fn load(from: *const u8) -> Lane {
    // SAFETY: the caller vouches for 16 bytes.
    unsafe { from.cast::<Lane>().read_unaligned() }
}

#[inline(always)]
unsafe fn store(to: *mut u8, lane: Lane) {
    // SAFETY: the caller vouches for 16 bytes.
    unsafe { to.cast::<Lane>().write_unaligned(lane) }
}

/// Asks for the lines of a range; no more than a hint, whatever lies there.
#[inline]
pub(crate) fn expect(at: *const u8, n: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in (0..n).step_by(64) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching accesses nothing and cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(line).cast()) };
    }
    let _ = (at, n);
}

/// Copies past the cache, with instructions the compiler cannot see through: memory that others may be writing or reading
/// is as good as any other. False, and nothing is copied, where that is not possible or the ranges overlap.
///
/// # Safety
/// Both ranges are mapped for `n` bytes.
#[inline]
pub(super) unsafe fn copy_stream(src: *const u8, dst: *mut u8, n: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { in_blocks::<true>(src, dst, n) }
}

/// Copies through the cache, by the widest registers; otherwise as [`copy_stream`].
///
/// # Safety
/// Both ranges are mapped for `n` bytes.
#[inline(always)]
pub(super) unsafe fn copy_blocks(src: *const u8, dst: *mut u8, n: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { in_blocks::<false>(src, dst, n) }
}

/// # Safety
/// Both ranges are mapped for `n` bytes.
#[inline(always)]
unsafe fn in_blocks<const PAST_CACHE: bool>(src: *const u8, dst: *mut u8, n: usize) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let apart = (src as usize).wrapping_sub(dst as usize).min((dst as usize).wrapping_sub(src as usize));
        let wide = std::is_x86_feature_detected!("avx");
        if apart < n || !(wide || PAST_CACHE) {
            return false;
        }
        let head = ((dst as usize).wrapping_neg() & 63).min(n);
        let body = (n - head) & !255;
        // SAFETY: head, body and tail cover exactly `n` bytes; the caller vouches for them. The body's stores are aligned.
        unsafe {
            if body != n {
                copy_shared(src, dst, head);
                copy_shared(src.add(head + body), dst.add(head + body), n - head - body);
            }
            if body > 0 {
                let (src, dst) = (src.add(head), dst.add(head));
                match (PAST_CACHE, wide) {
                    (true, true) => stream_avx(src, dst, body),
                    (true, false) => stream_sse2(src, dst, body),
                    (false, _) => blocks_avx(src, dst, body),
                }
            }
        }
        true
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        let _ = (src, dst, n, PAST_CACHE);
        false
    }
}

/// The loop over blocks of 256 bytes, of which there is at least one; `dst` is aligned.
#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! stream {
    ($name:ident, $feature:literal, [$($ahead:literal),*], [$($block:literal),* $(,)?], [$($register:tt),*], $end:literal) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(src: *const u8, dst: *mut u8, n: usize) {
            // SAFETY: moves exactly `n` bytes, a multiple of 256, between mapped ranges; prefetches fault nowhere.
            unsafe {
                core::arch::asm!(
                    "2:",
                    $($ahead,)*
                    $($block,)*
                    "add {s}, 256",
                    "add {d}, 256",
                    "sub {n}, 256",
                    "jnz 2b",
                    $end,
                    s = inout(reg) src => _, d = inout(reg) dst => _, n = inout(reg) n => _,
                    $(out($register) _,)*
                    options(nostack)
                );
            }
        }
    };
}
#[cfg(all(target_arch = "x86_64", not(miri)))]
stream!(
    stream_avx,
    "avx",
    [
        "prefetchnta [{s} + 1024]",
        "prefetchnta [{s} + 1088]",
        "prefetchnta [{s} + 1152]",
        "prefetchnta [{s} + 1216]"
    ],
    [
        "vmovdqu ymm0, [{s}]",
        "vmovdqu ymm1, [{s} + 32]",
        "vmovdqu ymm2, [{s} + 64]",
        "vmovdqu ymm3, [{s} + 96]",
        "vmovntdq [{d}], ymm0",
        "vmovntdq [{d} + 32], ymm1",
        "vmovntdq [{d} + 64], ymm2",
        "vmovntdq [{d} + 96], ymm3",
        "vmovdqu ymm0, [{s} + 128]",
        "vmovdqu ymm1, [{s} + 160]",
        "vmovdqu ymm2, [{s} + 192]",
        "vmovdqu ymm3, [{s} + 224]",
        "vmovntdq [{d} + 128], ymm0",
        "vmovntdq [{d} + 160], ymm1",
        "vmovntdq [{d} + 192], ymm2",
        "vmovntdq [{d} + 224], ymm3",
    ],
    ["ymm0", "ymm1", "ymm2", "ymm3"],
    "sfence"
);
#[cfg(all(target_arch = "x86_64", not(miri)))]
stream!(
    stream_sse2,
    "sse2",
    [
        "prefetchnta [{s} + 1024]",
        "prefetchnta [{s} + 1088]",
        "prefetchnta [{s} + 1152]",
        "prefetchnta [{s} + 1216]"
    ],
    [
        "movdqu xmm0, [{s}]",
        "movdqu xmm1, [{s} + 16]",
        "movdqu xmm2, [{s} + 32]",
        "movdqu xmm3, [{s} + 48]",
        "movntdq [{d}], xmm0",
        "movntdq [{d} + 16], xmm1",
        "movntdq [{d} + 32], xmm2",
        "movntdq [{d} + 48], xmm3",
        "movdqu xmm0, [{s} + 64]",
        "movdqu xmm1, [{s} + 80]",
        "movdqu xmm2, [{s} + 96]",
        "movdqu xmm3, [{s} + 112]",
        "movntdq [{d} + 64], xmm0",
        "movntdq [{d} + 80], xmm1",
        "movntdq [{d} + 96], xmm2",
        "movntdq [{d} + 112], xmm3",
        "movdqu xmm0, [{s} + 128]",
        "movdqu xmm1, [{s} + 144]",
        "movdqu xmm2, [{s} + 160]",
        "movdqu xmm3, [{s} + 176]",
        "movntdq [{d} + 128], xmm0",
        "movntdq [{d} + 144], xmm1",
        "movntdq [{d} + 160], xmm2",
        "movntdq [{d} + 176], xmm3",
        "movdqu xmm0, [{s} + 192]",
        "movdqu xmm1, [{s} + 208]",
        "movdqu xmm2, [{s} + 224]",
        "movdqu xmm3, [{s} + 240]",
        "movntdq [{d} + 192], xmm0",
        "movntdq [{d} + 208], xmm1",
        "movntdq [{d} + 224], xmm2",
        "movntdq [{d} + 240], xmm3",
    ],
    ["xmm0", "xmm1", "xmm2", "xmm3"],
    "sfence"
);

#[cfg(all(target_arch = "x86_64", not(miri)))]
stream!(
    blocks_avx,
    "avx",
    [],
    [
        "vmovdqu ymm0, [{s}]",
        "vmovdqu ymm1, [{s} + 32]",
        "vmovdqu ymm2, [{s} + 64]",
        "vmovdqu ymm3, [{s} + 96]",
        "vmovdqa [{d}], ymm0",
        "vmovdqa [{d} + 32], ymm1",
        "vmovdqa [{d} + 64], ymm2",
        "vmovdqa [{d} + 96], ymm3",
        "vmovdqu ymm0, [{s} + 128]",
        "vmovdqu ymm1, [{s} + 160]",
        "vmovdqu ymm2, [{s} + 192]",
        "vmovdqu ymm3, [{s} + 224]",
        "vmovdqa [{d} + 128], ymm0",
        "vmovdqa [{d} + 160], ymm1",
        "vmovdqa [{d} + 192], ymm2",
        "vmovdqa [{d} + 224], ymm3",
    ],
    ["ymm0", "ymm1", "ymm2", "ymm3"],
    // Its stores are in order anyway, and the next copy need not wait for them.
    ""
);

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn streams_of_every_kind_move_exactly_their_bytes() {
        let from: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
        for (start, n) in [(0, 0), (1, 63), (3, 255), (0, 256), (7, 319), (5, 4000), (64, 4096)] {
            let mut to = vec![0xee; 5000];
            // SAFETY: ranges of this function.
            assert!(unsafe { copy_stream(from.as_ptr().add(2), to.as_mut_ptr().add(start), n) });
            assert!(to[start..start + n] == from[2..2 + n], "{start} {n}");
            to[start..start + n].fill(0);
            // SAFETY: ranges of this function.
            if unsafe { copy_blocks(from.as_ptr().add(2), to.as_mut_ptr().add(start), n) } {
                assert!(to[start..start + n] == from[2..2 + n], "{start} {n}");
            }
            assert!(to[..start].iter().chain(&to[start + n..]).all(|&b| b == 0xee), "{start} {n}");
        }
        #[repr(align(64))]
        struct Aligned([u8; 1024]);
        let mut to = Aligned([0xee; 1024]);
        // SAFETY: ranges of this function; aligned, and a multiple of 256.
        unsafe { stream_sse2(from.as_ptr().add(1), to.0.as_mut_ptr(), 768) };
        assert!(to.0[..768] == from[1..769] && to.0[768..].iter().all(|&b| b == 0xee));
        // SAFETY: a range of this function; overlapping, so nothing happens.
        assert!(!unsafe { copy_stream(to.0.as_ptr(), to.0.as_mut_ptr().add(100), 512) });
    }
}
