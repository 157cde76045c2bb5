//! SHA-512 of one message on both kinds of registers at once: `e` to `h` on general ones, `a` to `d` and the message words
//! on vector ones. Neither kind has units enough to carry out all of a round in the time that its results take to get from
//! one round to the next; the two need little of each other, and not soon: a new `e` goes over for the new `a`, which
//! comes back as the `d` of four rounds later.
//!
//! The compiler would order sums so that what comes last is not added last, and would move sums of message words between
//! registers; empty pieces of assembly keep it from both.
#![expect(unsafe_code, reason = "vector instructions on the blocks of a message")]

use super::constants::K512;
use super::scalar::{Sums, put, words_given};
use core::arch::asm;
use core::arch::x86_64::*;

/// The value as it is, made before what it is used in.
#[inline(always)]
fn made(mut x: u64) -> u64 {
    // SAFETY: no instruction at all.
    unsafe { asm!("/* {} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags)) };
    x
}

/// As [`made`].
#[inline]
#[target_feature(enable = "avx")]
fn made_vector(mut v: __m128i) -> __m128i {
    // SAFETY: no instruction at all.
    unsafe { asm!("/* {} */", inout(xmm_reg) v, options(pure, nomem, nostack, preserves_flags)) };
    v
}

/// Keeps the sums in memory, where an addition takes them from at no cost.
#[inline(always)]
fn through_memory(sums: &mut Sums) {
    // SAFETY: no instruction at all.
    unsafe { asm!("/* {} */", in(reg) sums, options(nostack, preserves_flags)) };
}

#[inline]
#[target_feature(enable = "avx")]
fn to_vector(x: u64) -> __m128i {
    let v;
    // SAFETY: one move between registers.
    unsafe {
        asm!("vmovq {}, {}", out(xmm_reg) v, in(reg) x, options(pure, nomem, nostack, preserves_flags))
    };
    v
}

#[inline]
#[target_feature(enable = "avx")]
fn from_vector(v: __m128i) -> u64 {
    let x;
    // SAFETY: one move between registers.
    unsafe {
        asm!("vmovq {}, {}", out(reg) x, in(xmm_reg) v, options(pure, nomem, nostack, preserves_flags))
    };
    x
}

/// One round; `$va` to `$vd` are on vector registers, `$sd` is `$vd` on a general one. The new `e` takes the place of
/// `$h`, the new `a` that of `$vd` and `$sd`.
macro_rules! round {
    ($va:ident $vb:ident $vc:ident $vd:ident; $sd:ident; $e:ident $f:ident $g:ident $h:ident; $kw:expr) => {
        let t = made(made($h.wrapping_add($kw)).wrapping_add($sd));
        let choice = ($e & $f) | (!$e & $g);
        let sum = $e.rotate_right(14) ^ $e.rotate_right(18) ^ $e.rotate_right(41);
        $h = made(t.wrapping_add(choice)).wrapping_add(sum);
        // The new e has d in it, which the new a has not.
        let rest = made_vector(_mm_sub_epi64(to_vector($h), $vd));
        let majority = _mm_ternarylogic_epi64::<0xe8>($va, $vb, $vc);
        let (x, y, z) = (_mm_ror_epi64::<28>($va), _mm_ror_epi64::<34>($va), _mm_ror_epi64::<39>($va));
        let sum = _mm_ternarylogic_epi64::<0x96>(x, y, z);
        $vd = _mm_add_epi64(made_vector(_mm_add_epi64(majority, rest)), sum);
        $sd = from_vector($vd);
    };
}

/// Two rounds, and the two message words that take the place of those they used, with their constants.
macro_rules! two_rounds {
    ($x:ident $kw:ident $k:expr, $j:literal; $va:ident $vb:ident $vc:ident $vd:ident; $sa:ident $sb:ident $sc:ident $sd:ident; $e:ident $f:ident $g:ident $h:ident) => {
        round!($va $vb $vc $vd; $sd; $e $f $g $h; $kw.0[2 * $j]);
        round!($vd $va $vb $vc; $sc; $h $e $f $g; $kw.0[2 * $j + 1]);
        if let Some(k) = $k {
            $x[$j] = next($x[$j], $x[($j + 1) % 8], $x[($j + 4) % 8], $x[($j + 5) % 8], $x[($j + 7) % 8]);
            put(&mut $kw, $j, $x[$j], k);
        }
    };
}

macro_rules! sixteen_rounds {
    ($x:ident $kw:ident $k:expr; $va:ident $vb:ident $vc:ident $vd:ident; $sa:ident $sb:ident $sc:ident $sd:ident; $e:ident $f:ident $g:ident $h:ident) => {
        through_memory(&mut $kw);
        two_rounds!($x $kw $k, 0; $va $vb $vc $vd; $sa $sb $sc $sd; $e $f $g $h);
        two_rounds!($x $kw $k, 1; $vc $vd $va $vb; $sc $sd $sa $sb; $g $h $e $f);
        two_rounds!($x $kw $k, 2; $va $vb $vc $vd; $sa $sb $sc $sd; $e $f $g $h);
        two_rounds!($x $kw $k, 3; $vc $vd $va $vb; $sc $sd $sa $sb; $g $h $e $f);
        two_rounds!($x $kw $k, 4; $va $vb $vc $vd; $sa $sb $sc $sd; $e $f $g $h);
        two_rounds!($x $kw $k, 5; $vc $vd $va $vb; $sc $sd $sa $sb; $g $h $e $f);
        two_rounds!($x $kw $k, 6; $va $vb $vc $vd; $sa $sb $sc $sd; $e $f $g $h);
        two_rounds!($x $kw $k, 7; $vc $vd $va $vb; $sc $sd $sa $sb; $g $h $e $f);
    };
}

/// Takes the state through blocks.
#[target_feature(enable = "avx512f,avx512vl,bmi1,bmi2")]
pub(super) fn sha512(state: &mut [u64; 8], blocks: &[[u8; 128]]) {
    let k: &[[u64; 16]] = K512.as_chunks().0;
    let mut kw = Sums([0; 16]);
    for block in blocks {
        let mut x = words_given(block, &mut kw);
        let [mut sa, mut sb, mut sc, mut sd, mut e, mut f, mut g, mut h] = *state;
        let [mut va, mut vb, mut vc, mut vd] = [to_vector(sa), to_vector(sb), to_vector(sc), to_vector(sd)];
        for k in &k[1..] {
            sixteen_rounds!(x kw Some(k); va vb vc vd; sa sb sc sd; e f g h);
        }
        sixteen_rounds!(x kw None::<&[u64; 16]>; va vb vc vd; sa sb sc sd; e f g h);
        for (s, x) in state.iter_mut().zip([sa, sb, sc, sd, e, f, g, h]) {
            *s = s.wrapping_add(x);
        }
    }
}

/// Two message words from the pairs 16, 14, 8, 6 and 2 words before.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn next(w16: __m128i, w14: __m128i, w8: __m128i, w6: __m128i, w2: __m128i) -> __m128i {
    let w15 = _mm_alignr_epi8::<8>(w14, w16);
    let w7 = _mm_alignr_epi8::<8>(w6, w8);
    let s0 = _mm_ternarylogic_epi64::<0x96>(
        _mm_ror_epi64::<1>(w15),
        _mm_ror_epi64::<8>(w15),
        _mm_srli_epi64::<7>(w15),
    );
    let s1 = _mm_ternarylogic_epi64::<0x96>(
        _mm_ror_epi64::<19>(w2),
        _mm_ror_epi64::<61>(w2),
        _mm_srli_epi64::<6>(w2),
    );
    _mm_add_epi64(_mm_add_epi64(w16, w7), _mm_add_epi64(s0, s1))
}
