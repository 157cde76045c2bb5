//! SHA-512 of one message: rounds on general registers, where the rotations have a result register of their own (BMI2),
//! message words two at a time on vector registers.
#![expect(unsafe_code, reason = "vector instructions on the blocks of a message")]

use super::constants::K512;
use core::arch::x86_64::*;

/// One round; `$bc` is `b ^ c`, and becomes that of the next round.
macro_rules! round {
    ($bc:ident; $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident; $kw:expr) => {
        let sum = $e.rotate_right(14) ^ $e.rotate_right(18) ^ $e.rotate_right(41);
        // The two halves of the choice have no bit in common, so that they may be added one after the other.
        let t = $h.wrapping_add($kw).wrapping_add(!$e & $g).wrapping_add($e & $f).wrapping_add(sum);
        $d = $d.wrapping_add(t);
        let ab = $a ^ $b;
        let sum = $a.rotate_right(28) ^ $a.rotate_right(34) ^ $a.rotate_right(39);
        $h = t.wrapping_add((ab & $bc) ^ $b).wrapping_add(sum);
        $bc = ab;
    };
}

/// Two rounds, and the two message words that take the place of those they used, with their constants.
macro_rules! two_rounds {
    ($next:ident $x:ident $kw:ident $k:expr, $j:literal; $bc:ident; $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
        round!($bc; $a $b $c $d $e $f $g $h; $kw.0[2 * $j]);
        round!($bc; $h $a $b $c $d $e $f $g; $kw.0[2 * $j + 1]);
        if let Some(k) = $k {
            $x[$j] = $next($x[$j], $x[($j + 1) % 8], $x[($j + 4) % 8], $x[($j + 5) % 8], $x[($j + 7) % 8]);
            put(&mut $kw, $j, $x[$j], k);
        }
    };
}

macro_rules! sixteen_rounds {
    ($next:ident $x:ident $kw:ident $k:expr; $bc:ident; $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
        two_rounds!($next $x $kw $k, 0; $bc; $a $b $c $d $e $f $g $h);
        two_rounds!($next $x $kw $k, 1; $bc; $g $h $a $b $c $d $e $f);
        two_rounds!($next $x $kw $k, 2; $bc; $e $f $g $h $a $b $c $d);
        two_rounds!($next $x $kw $k, 3; $bc; $c $d $e $f $g $h $a $b);
        two_rounds!($next $x $kw $k, 4; $bc; $a $b $c $d $e $f $g $h);
        two_rounds!($next $x $kw $k, 5; $bc; $g $h $a $b $c $d $e $f);
        two_rounds!($next $x $kw $k, 6; $bc; $e $f $g $h $a $b $c $d);
        two_rounds!($next $x $kw $k, 7; $bc; $c $d $e $f $g $h $a $b);
    };
}

/// Sixteen message words, each plus the constant of its round.
#[repr(align(64))]
pub(super) struct Sums(pub(super) [u64; 16]);

/// Message words `2 j` and `2 j + 1` plus their constants.
#[inline(always)]
pub(super) fn put(sums: &mut Sums, j: usize, words: __m128i, k: &[u64; 16]) {
    // SAFETY: two words each; the instructions are in every x86-64 processor.
    unsafe {
        let k = _mm_loadu_si128(k[2 * j..2 * j + 2].as_ptr().cast());
        _mm_store_si128(sums.0[2 * j..2 * j + 2].as_mut_ptr().cast(), _mm_add_epi64(words, k));
    }
}

/// The first sixteen message words of a block, two by two, and their sums.
#[inline]
#[target_feature(enable = "ssse3")]
pub(super) fn words_given(block: &[u8; 128], sums: &mut Sums) -> [__m128i; 8] {
    let order = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    let (k, _) = K512.as_chunks();
    core::array::from_fn(|j| {
        // SAFETY: 16 bytes of the block.
        let raw = unsafe { _mm_loadu_si128(block[16 * j..16 * j + 16].as_ptr().cast()) };
        let words = _mm_shuffle_epi8(raw, order);
        put(sums, j, words, &k[0]);
        words
    })
}

/// Takes the state through blocks.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn sha512_avx2(state: &mut [u64; 8], blocks: &[[u8; 128]]) {
    let k: &[[u64; 16]] = K512.as_chunks().0;
    let mut kw = Sums([0; 16]);
    for block in blocks {
        let mut x = words_given(block, &mut kw);
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
        let mut bc = b ^ c;
        for k in &k[1..] {
            sixteen_rounds!(next_avx2 x kw Some(k); bc; a b c d e f g h);
        }
        sixteen_rounds!(next_avx2 x kw None::<&[u64; 16]>; bc; a b c d e f g h);
        let _ = bc;
        for (s, x) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *s = s.wrapping_add(x);
        }
    }
}

/// Two message words from the pairs 16, 14, 8, 6 and 2 words before.
#[inline]
#[target_feature(enable = "avx2")]
fn next_avx2(w16: __m128i, w14: __m128i, w8: __m128i, w6: __m128i, w2: __m128i) -> __m128i {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn ror<const N: i32, const M: i32>(x: __m128i) -> __m128i {
        _mm_xor_si128(_mm_srli_epi64::<N>(x), _mm_slli_epi64::<M>(x))
    }
    let w15 = _mm_alignr_epi8::<8>(w14, w16);
    let w7 = _mm_alignr_epi8::<8>(w6, w8);
    let s0 = _mm_xor_si128(_mm_xor_si128(ror::<1, 63>(w15), ror::<8, 56>(w15)), _mm_srli_epi64::<7>(w15));
    let s1 = _mm_xor_si128(_mm_xor_si128(ror::<19, 45>(w2), ror::<61, 3>(w2)), _mm_srli_epi64::<6>(w2));
    _mm_add_epi64(_mm_add_epi64(w16, w7), _mm_add_epi64(s0, s1))
}
