//! The hash instructions of x86-64 (SHA-NI) on two messages at once: one alone waits for the results of its own rounds
//! half of the time.
#![expect(unsafe_code, reason = "vector instructions on the blocks of several messages")]

use super::constants::K256;
use core::arch::x86_64::*;

/// Messages at once.
pub(super) const WIDTH: usize = 2;

/// Four rounds of each message; for the first 48 of 64 also the message words they will need.
macro_rules! four_rounds {
    ($m:ident $low:ident $high:ident; $($r:literal)*) => {$(
        // SAFETY: four constants lie there.
        let k = unsafe { _mm_loadu_si128(K256.as_ptr().add(4 * $r).cast()) };
        for i in 0..WIDTH {
            let kw = _mm_add_epi32($m[i][$r % 4], k);
            $high[i] = _mm_sha256rnds2_epu32($high[i], $low[i], kw);
            $low[i] = _mm_sha256rnds2_epu32($low[i], $high[i], _mm_shuffle_epi32::<0x0e>(kw));
            if $r < 12 {
                let (x0, x1, x2, x3) = ($m[i][$r % 4], $m[i][($r + 1) % 4], $m[i][($r + 2) % 4], $m[i][($r + 3) % 4]);
                let sum = _mm_add_epi32(_mm_sha256msg1_epu32(x0, x1), _mm_alignr_epi8::<4>(x3, x2));
                $m[i][$r % 4] = _mm_sha256msg2_epu32(sum, x3);
            }
        }
    )*};
}

/// SHA-256, two messages.
///
/// # Safety
/// The processor has the features; each pointer has `blocks` blocks; `at + 2` is at most 16.
#[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
pub(super) unsafe fn sha256(words: &mut [[u32; 16]; 8], at: usize, data: &[*const u8; WIDTH], blocks: usize) {
    debug_assert!(at + WIDTH <= 16);
    let order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    let column = |q: usize, i: usize| words[q][at + i] as i32;
    // The instructions want the words a b e f in one register and c d g h in the other, the first highest.
    let four = |p: usize, q: usize, i: usize| {
        _mm_set_epi32(column(p, i), column(p + 1, i), column(q, i), column(q + 1, i))
    };
    let mut low: [__m128i; WIDTH] = core::array::from_fn(|i| four(0, 4, i));
    let mut high: [__m128i; WIDTH] = core::array::from_fn(|i| four(2, 6, i));
    for block in 0..blocks {
        let (low_before, high_before) = (low, high);
        let mut m: [[__m128i; 4]; WIDTH] = core::array::from_fn(|i| {
            core::array::from_fn(|j| {
                // SAFETY: the caller vouches for the blocks.
                let raw = unsafe { _mm_loadu_si128(data[i].add(64 * block + 16 * j).cast()) };
                _mm_shuffle_epi8(raw, order)
            })
        });
        four_rounds!(m low high; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        for i in 0..WIDTH {
            low[i] = _mm_add_epi32(low[i], low_before[i]);
            high[i] = _mm_add_epi32(high[i], high_before[i]);
        }
    }
    for i in 0..WIDTH {
        for (register, p, q) in [(low[i], 0, 4), (high[i], 2, 6)] {
            words[p][at + i] = _mm_extract_epi32::<3>(register) as u32;
            words[p + 1][at + i] = _mm_extract_epi32::<2>(register) as u32;
            words[q][at + i] = _mm_extract_epi32::<1>(register) as u32;
            words[q + 1][at + i] = _mm_extract_epi32::<0>(register) as u32;
        }
    }
}
