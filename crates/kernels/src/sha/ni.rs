//! The hash instructions of x86-64 (SHA-NI) on two messages at once: one alone waits for the results of its own rounds
//! half of the time. And one message of exactly one block, whose second block, the padding, is known beforehand.
#![expect(unsafe_code, reason = "vector instructions on the blocks of several messages")]

use super::constants::{H1, H256, K256, PADDING1, PADDING256};
use core::arch::x86_64::*;

/// Messages at once.
pub(super) const WIDTH: usize = 2;

/// Four rounds of each message; for the first 48 of 64 also the message words they will need.
macro_rules! four_rounds {
    ($width:tt $m:ident $low:ident $high:ident; $($r:literal)*) => {$(
        // SAFETY: four constants lie there.
        let k = unsafe { _mm_loadu_si128(K256.as_ptr().add(4 * $r).cast()) };
        for i in 0..$width {
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
        four_rounds!(WIDTH m low high; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
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

/// All sixteen bytes the other way round.
#[inline]
#[target_feature(enable = "sse2")]
fn reversed() -> __m128i {
    _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

/// The order of the bytes of four words.
#[inline]
#[target_feature(enable = "sse2")]
fn order() -> __m128i {
    _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)
}

/// SHA-256 of a message of one block.
#[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
pub(super) fn sha256_of_block(message: &[u8; 64], digest: &mut [u8; 32]) {
    let [a, b, c, d, e, f, g, h] = H256.map(u32::cast_signed);
    let start = (_mm_set_epi32(a, b, e, f), _mm_set_epi32(c, d, g, h));
    let (mut low, mut high) = ([start.0], [start.1]);
    let mut m: [[__m128i; 4]; 1] = [core::array::from_fn(|j| {
        // SAFETY: 16 bytes of the block.
        let raw = unsafe { _mm_loadu_si128(message.as_ptr().add(16 * j).cast()) };
        _mm_shuffle_epi8(raw, order())
    })];
    four_rounds!(1 m low high; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    let (low_before, high_before) = (_mm_add_epi32(low[0], start.0), _mm_add_epi32(high[0], start.1));
    let (mut low, mut high) = (low_before, high_before);
    for kw in PADDING256.as_chunks::<4>().0 {
        // SAFETY: four words.
        let kw = unsafe { _mm_loadu_si128(kw.as_ptr().cast()) };
        high = _mm_sha256rnds2_epu32(high, low, kw);
        low = _mm_sha256rnds2_epu32(low, high, _mm_shuffle_epi32::<0x0e>(kw));
    }
    let (low, high) = (_mm_add_epi32(low, low_before), _mm_add_epi32(high, high_before));
    // Highest first: a b e f and c d g h. The digest begins with the highest byte of a.
    let reversed = reversed();
    let (low, high) = (_mm_shuffle_epi8(low, reversed), _mm_shuffle_epi8(high, reversed));
    // SAFETY: 16 bytes each.
    unsafe {
        _mm_storeu_si128(digest.as_mut_ptr().cast(), _mm_unpacklo_epi64(low, high));
        _mm_storeu_si128(digest.as_mut_ptr().add(16).cast(), _mm_unpackhi_epi64(low, high));
    }
}

/// Four rounds of SHA-1 with the function number `$f`, of the words `$w`; `$before` is `abcd` of four rounds before.
macro_rules! sha1_four {
    ($abcd:ident $before:ident $f:literal $w:expr) => {
        let e = _mm_sha1nexte_epu32($before, $w);
        $before = $abcd;
        $abcd = _mm_sha1rnds4_epu32::<$f>($abcd, e);
    };
}

/// Sixteen message words of SHA-1 from the sixteen before, four of them.
macro_rules! sha1_words {
    ($m:ident $($j:literal)*) => {$(
        let sum = _mm_xor_si128(_mm_sha1msg1_epu32($m[$j], $m[($j + 1) % 4]), $m[($j + 2) % 4]);
        $m[$j] = _mm_sha1msg2_epu32(sum, $m[($j + 3) % 4]);
    )*};
}

/// Five times four rounds of a block, the first with words `4 $from` and on.
macro_rules! sha1_twenty {
    ($m:ident $abcd:ident $before:ident $f:literal; $($j:literal)*) => {$(
        sha1_words!($m $j);
        sha1_four!($abcd $before $f $m[$j]);
    )*};
}

/// SHA-1 of a message of one block.
#[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
pub(super) fn sha1_of_block(message: &[u8; 64], digest: &mut [u8; 20]) {
    let reversed = reversed();
    let [a, b, c, d, e, ..] = H1.map(u32::cast_signed);
    let start = _mm_set_epi32(a, b, c, d);
    let start_e = _mm_set_epi32(e, 0, 0, 0);
    let mut m: [__m128i; 4] = core::array::from_fn(|j| {
        // SAFETY: 16 bytes of the block.
        let raw = unsafe { _mm_loadu_si128(message.as_ptr().add(16 * j).cast()) };
        _mm_shuffle_epi8(raw, reversed)
    });
    let mut before = start;
    let mut abcd = _mm_sha1rnds4_epu32::<0>(start, _mm_add_epi32(start_e, m[0]));
    sha1_four!(abcd before 0 m[1]);
    sha1_four!(abcd before 0 m[2]);
    sha1_four!(abcd before 0 m[3]);
    sha1_twenty!(m abcd before 0; 0);
    sha1_twenty!(m abcd before 1; 1 2 3 0 1);
    sha1_twenty!(m abcd before 2; 2 3 0 1 2);
    sha1_twenty!(m abcd before 3; 3 0 1 2 3);
    let middle_e = _mm_sha1nexte_epu32(before, start_e);
    let middle = _mm_add_epi32(abcd, start);

    let words = |j: usize| {
        let w: &[u32; 4] = &PADDING1_TURNED[j];
        // SAFETY: four words.
        unsafe { _mm_loadu_si128(w.as_ptr().cast()) }
    };
    let mut before = middle;
    let mut abcd = _mm_sha1rnds4_epu32::<0>(middle, _mm_add_epi32(middle_e, words(0)));
    for j in 1..5 {
        sha1_four!(abcd before 0 words(j));
    }
    for j in 5..10 {
        sha1_four!(abcd before 1 words(j));
    }
    for j in 10..15 {
        sha1_four!(abcd before 2 words(j));
    }
    for j in 15..20 {
        sha1_four!(abcd before 3 words(j));
    }
    let last_e = _mm_sha1nexte_epu32(before, middle_e);
    let abcd = _mm_shuffle_epi8(_mm_add_epi32(abcd, middle), reversed);
    // SAFETY: 16 bytes.
    unsafe { _mm_storeu_si128(digest.as_mut_ptr().cast(), abcd) };
    digest[16..].copy_from_slice(&_mm_extract_epi32::<3>(last_e).to_be_bytes());
}

/// [`PADDING1`] in fours, the first word of each highest.
static PADDING1_TURNED: [[u32; 4]; 20] = {
    let mut turned = [[0; 4]; 20];
    let mut i = 0;
    while i < 80 {
        turned[i / 4][3 - i % 4] = PADDING1[i];
        i += 1;
    }
    turned
};
