//! The copy routines.
#![expect(unsafe_code, reason = "raw copies between registered ranges")]

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

/// Copies past the cache.
///
/// # Safety
/// Both ranges are mapped for `n` bytes.
pub(super) unsafe fn copy_stream(src: *const u8, dst: *mut u8, n: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let apart = (src as usize).wrapping_sub(dst as usize).min((dst as usize).wrapping_sub(src as usize));
        if apart >= n {
            // SAFETY: the ranges do not overlap; the caller vouches for them.
            unsafe {
                if std::is_x86_feature_detected!("avx") {
                    stream_avx(src, dst, n);
                } else {
                    stream_sse2(src, dst, n);
                }
            }
            return;
        }
    }
    // SAFETY: the caller vouches for both ranges.
    unsafe { core::ptr::copy(src, dst, n) };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! stream {
    ($name:ident, $feature:literal, $vector:ty, $load:ident, $store:ident) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(src: *const u8, dst: *mut u8, n: usize) {
            use core::arch::x86_64::*;
            const V: usize = size_of::<$vector>();
            // SAFETY: head, body and tail cover exactly `n` bytes; the body's stores are aligned.
            unsafe {
                let head = dst.align_offset(64).min(n);
                core::ptr::copy_nonoverlapping(src, dst, head);
                let (mut s, mut d) = (src.add(head), dst.add(head));
                let mut left = n - head;
                while left >= 256 {
                    _mm_prefetch::<_MM_HINT_NTA>(s.wrapping_add(1024).cast());
                    _mm_prefetch::<_MM_HINT_NTA>(s.wrapping_add(1088).cast());
                    _mm_prefetch::<_MM_HINT_NTA>(s.wrapping_add(1152).cast());
                    _mm_prefetch::<_MM_HINT_NTA>(s.wrapping_add(1216).cast());
                    let mut i = 0;
                    while i < 256 {
                        let v = $load(s.add(i).cast());
                        $store(d.add(i).cast(), v);
                        i += V;
                    }
                    s = s.add(256);
                    d = d.add(256);
                    left -= 256;
                }
                _mm_sfence();
                core::ptr::copy_nonoverlapping(s, d, left);
            }
        }
    };
}
#[cfg(all(target_arch = "x86_64", not(miri)))]
stream!(stream_avx, "avx", __m256i, _mm256_loadu_si256, _mm256_stream_si256);
#[cfg(all(target_arch = "x86_64", not(miri)))]
stream!(stream_sse2, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128);
