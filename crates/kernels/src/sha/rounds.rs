//! The rounds of the hash functions, written once for every kind of register.
//!
//! A vector module (`v`) gives a register type with one word of each message, and the operations on it. The macros are
//! unrolled, so that the working variables change their names and are never moved.

/// One round of SHA-2; `kw` is constant plus message word.
macro_rules! sha2_round {
    ($v:ident; $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident; $kw:expr) => {
        let t = $v::add($v::add($h, $kw), $v::add($v::ch($e, $f, $g), $v::big1($e)));
        $d = $v::add($d, t);
        $h = $v::add(t, $v::add($v::big0($a), $v::maj($a, $b, $c)));
    };
}

/// Sixteen rounds from round `r` on; `next` makes message word `j` before it is used.
macro_rules! sha2_sixteen {
    ($v:ident; $k:ident[$r:expr]; $w:ident $next:ident; $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
        sha2_eight!($v; $k[$r] 0; $w $next; $a $b $c $d $e $f $g $h);
        sha2_eight!($v; $k[$r] 8; $w $next; $a $b $c $d $e $f $g $h);
    };
}

macro_rules! sha2_eight {
    ($v:ident; $k:ident[$r:expr] $j:literal; $w:ident $next:ident; $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
        sha2_round!($v; $a $b $c $d $e $f $g $h; $v::add($next!($v $w $j + 0), $v::splat($k[$r + $j])));
        sha2_round!($v; $h $a $b $c $d $e $f $g; $v::add($next!($v $w $j + 1), $v::splat($k[$r + $j + 1])));
        sha2_round!($v; $g $h $a $b $c $d $e $f; $v::add($next!($v $w $j + 2), $v::splat($k[$r + $j + 2])));
        sha2_round!($v; $f $g $h $a $b $c $d $e; $v::add($next!($v $w $j + 3), $v::splat($k[$r + $j + 3])));
        sha2_round!($v; $e $f $g $h $a $b $c $d; $v::add($next!($v $w $j + 4), $v::splat($k[$r + $j + 4])));
        sha2_round!($v; $d $e $f $g $h $a $b $c; $v::add($next!($v $w $j + 5), $v::splat($k[$r + $j + 5])));
        sha2_round!($v; $c $d $e $f $g $h $a $b; $v::add($next!($v $w $j + 6), $v::splat($k[$r + $j + 6])));
        sha2_round!($v; $b $c $d $e $f $g $h $a; $v::add($next!($v $w $j + 7), $v::splat($k[$r + $j + 7])));
    };
}

/// Message word `j` as it came.
macro_rules! word_given {
    ($v:ident $w:ident $j:expr) => {
        $w[$j]
    };
}

/// Message word `j` of the next sixteen.
macro_rules! sha2_word_next {
    ($v:ident $w:ident $j:expr) => {{
        const J: usize = $j;
        $w[J] = $v::add(
            $v::add($w[J], $v::small0($w[(J + 1) % 16])),
            $v::add($w[(J + 9) % 16], $v::small1($w[(J + 14) % 16])),
        );
        $w[J]
    }};
}

/// A function that takes several messages through `blocks` blocks each.
macro_rules! sha2 {
    ($(#[$doc:meta])* $name:ident, $feature:literal, $v:ident, $word:ty, $block:literal, $rounds:literal, $k:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The processor has the features; each pointer has `blocks` blocks; `at` plus the width is at most 16.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn $name(
            words: &mut [[$word; 16]; 8],
            at: usize,
            data: &[*const u8; $v::WIDTH],
            blocks: usize,
        ) {
            debug_assert!(at + $v::WIDTH <= 16);
            // SAFETY: the columns from `at` on exist.
            let mut state: [$v::V; 8] = core::array::from_fn(|q| unsafe { $v::load(words[q].as_ptr().add(at)) });
            for block in 0..blocks {
                // SAFETY: the caller vouches for the blocks.
                let mut w = unsafe { $v::block(data, block * $block) };
                // Messages at equal distances share few lines of the cache, which the processor's own prefetching
                // cannot know.
                for &lane in data {
                    for line in (0..$block).step_by(64) {
                        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(
                            lane.wrapping_add((block + 1) * $block + line).cast(),
                        );
                    }
                }
                let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
                sha2_sixteen!($v; $k[0]; w word_given; a b c d e f g h);
                let mut r = 16;
                while r < $rounds {
                    sha2_sixteen!($v; $k[r]; w sha2_word_next; a b c d e f g h);
                    r += 16;
                }
                for (s, x) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
                    *s = $v::add(*s, x);
                }
            }
            for (row, s) in words.iter_mut().zip(state) {
                // SAFETY: as above.
                unsafe { $v::store(row.as_mut_ptr().add(at), s) };
            }
        }
    };
}

/// One round of SHA-1 with the function `f`.
macro_rules! sha1_round {
    ($v:ident $f:ident; $a:ident $b:ident $c:ident $d:ident $e:ident; $kw:expr) => {
        $e = $v::add($v::add($e, $kw), $v::add($v::rol5($a), $v::$f($b, $c, $d)));
        $b = $v::rol30($b);
    };
}

/// Message word `j` (of 80) of SHA-1.
macro_rules! sha1_word_next {
    ($v:ident $w:ident $j:expr) => {{
        const J: usize = $j;
        $w[J % 16] =
            $v::rol1($v::xor($w[J % 16], $v::parity($w[(J + 2) % 16], $w[(J + 8) % 16], $w[(J + 13) % 16])));
        $w[J % 16]
    }};
}

/// Five rounds of SHA-1 from round `r` on.
macro_rules! sha1_five {
    ($v:ident $f:ident $k:ident; $w:ident $next:ident $r:literal; $a:ident $b:ident $c:ident $d:ident $e:ident) => {
        sha1_round!($v $f; $a $b $c $d $e; $v::add($next!($v $w $r), $k));
        sha1_round!($v $f; $e $a $b $c $d; $v::add($next!($v $w $r + 1), $k));
        sha1_round!($v $f; $d $e $a $b $c; $v::add($next!($v $w $r + 2), $k));
        sha1_round!($v $f; $c $d $e $a $b; $v::add($next!($v $w $r + 3), $k));
        sha1_round!($v $f; $b $c $d $e $a; $v::add($next!($v $w $r + 4), $k));
    };
}

/// As [`macro@sha2`].
macro_rules! sha1 {
    ($(#[$doc:meta])* $name:ident, $feature:literal, $v:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The processor has the features; each pointer has `blocks` blocks; `at` plus the width is at most 16.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn $name(
            words: &mut [[u32; 16]; 8],
            at: usize,
            data: &[*const u8; $v::WIDTH],
            blocks: usize,
        ) {
            debug_assert!(at + $v::WIDTH <= 16);
            // SAFETY: the columns from `at` on exist.
            let mut state: [$v::V; 5] = core::array::from_fn(|q| unsafe { $v::load(words[q].as_ptr().add(at)) });
            for block in 0..blocks {
                // SAFETY: the caller vouches for the blocks.
                let mut w = unsafe { $v::block(data, block * 64) };
                let [mut a, mut b, mut c, mut d, mut e] = state;
                let k = $v::splat(K1[0]);
                sha1_five!($v ch k; w word_given 0; a b c d e);
                sha1_five!($v ch k; w word_given 5; a b c d e);
                sha1_five!($v ch k; w word_given 10; a b c d e);
                sha1_round!($v ch; a b c d e; $v::add(w[15], k));
                sha1_round!($v ch; e a b c d; $v::add(sha1_word_next!($v w 16), k));
                sha1_round!($v ch; d e a b c; $v::add(sha1_word_next!($v w 17), k));
                sha1_round!($v ch; c d e a b; $v::add(sha1_word_next!($v w 18), k));
                sha1_round!($v ch; b c d e a; $v::add(sha1_word_next!($v w 19), k));
                let k = $v::splat(K1[1]);
                sha1_five!($v parity k; w sha1_word_next 20; a b c d e);
                sha1_five!($v parity k; w sha1_word_next 25; a b c d e);
                sha1_five!($v parity k; w sha1_word_next 30; a b c d e);
                sha1_five!($v parity k; w sha1_word_next 35; a b c d e);
                let k = $v::splat(K1[2]);
                sha1_five!($v maj k; w sha1_word_next 40; a b c d e);
                sha1_five!($v maj k; w sha1_word_next 45; a b c d e);
                sha1_five!($v maj k; w sha1_word_next 50; a b c d e);
                sha1_five!($v maj k; w sha1_word_next 55; a b c d e);
                let k = $v::splat(K1[3]);
                sha1_five!($v parity k; w sha1_word_next 60; a b c d e);
                sha1_five!($v parity k; w sha1_word_next 65; a b c d e);
                sha1_five!($v parity k; w sha1_word_next 70; a b c d e);
                sha1_five!($v parity k; w sha1_word_next 75; a b c d e);
                for (s, x) in state.iter_mut().zip([a, b, c, d, e]) {
                    *s = $v::add(*s, x);
                }
            }
            for (row, s) in words.iter_mut().zip(state) {
                // SAFETY: as above.
                unsafe { $v::store(row.as_mut_ptr().add(at), s) };
            }
        }
    };
}

/// Eight rounds of SHA-2 with words that are the same for all messages.
macro_rules! sha2_eight_same {
    ($v:ident; $kw:ident[$r:expr]; $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
        sha2_round!($v; $a $b $c $d $e $f $g $h; $v::splat($kw[$r]));
        sha2_round!($v; $h $a $b $c $d $e $f $g; $v::splat($kw[$r + 1]));
        sha2_round!($v; $g $h $a $b $c $d $e $f; $v::splat($kw[$r + 2]));
        sha2_round!($v; $f $g $h $a $b $c $d $e; $v::splat($kw[$r + 3]));
        sha2_round!($v; $e $f $g $h $a $b $c $d; $v::splat($kw[$r + 4]));
        sha2_round!($v; $d $e $f $g $h $a $b $c; $v::splat($kw[$r + 5]));
        sha2_round!($v; $c $d $e $f $g $h $a $b; $v::splat($kw[$r + 6]));
        sha2_round!($v; $b $c $d $e $f $g $h $a; $v::splat($kw[$r + 7]));
    };
}

/// A function that takes several messages through one block, the same for all, whose words with their constants are
/// `$kw`.
macro_rules! sha2_same {
    ($(#[$doc:meta])* $name:ident, $feature:literal, $v:ident, $word:ty, $rounds:literal, $kw:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The processor has the features; `at` plus the width is at most 16.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn $name(words: &mut [[$word; 16]; 8], at: usize) {
            debug_assert!(at + $v::WIDTH <= 16);
            // SAFETY: the columns from `at` on exist.
            let state: [$v::V; 8] = core::array::from_fn(|q| unsafe { $v::load(words[q].as_ptr().add(at)) });
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
            let mut r = 0;
            while r < $rounds {
                sha2_eight_same!($v; $kw[r]; a b c d e f g h);
                r += 8;
            }
            for (row, (s, x)) in words.iter_mut().zip(state.into_iter().zip([a, b, c, d, e, f, g, h])) {
                // SAFETY: as above.
                unsafe { $v::store(row.as_mut_ptr().add(at), $v::add(s, x)) };
            }
        }
    };
}

/// Twenty rounds of SHA-1 from round `r` on, with words that are the same for all messages.
macro_rules! sha1_twenty_same {
    ($v:ident $f:ident; $kw:ident $from:literal; $a:ident $b:ident $c:ident $d:ident $e:ident) => {
        let mut r = $from;
        while r < $from + 20 {
            sha1_round!($v $f; $a $b $c $d $e; $v::splat($kw[r]));
            sha1_round!($v $f; $e $a $b $c $d; $v::splat($kw[r + 1]));
            sha1_round!($v $f; $d $e $a $b $c; $v::splat($kw[r + 2]));
            sha1_round!($v $f; $c $d $e $a $b; $v::splat($kw[r + 3]));
            sha1_round!($v $f; $b $c $d $e $a; $v::splat($kw[r + 4]));
            r += 5;
        }
    };
}

/// As [`macro@sha2_same`].
macro_rules! sha1_same {
    ($(#[$doc:meta])* $name:ident, $feature:literal, $v:ident, $kw:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The processor has the features; `at` plus the width is at most 16.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn $name(words: &mut [[u32; 16]; 8], at: usize) {
            debug_assert!(at + $v::WIDTH <= 16);
            // SAFETY: the columns from `at` on exist.
            let state: [$v::V; 5] = core::array::from_fn(|q| unsafe { $v::load(words[q].as_ptr().add(at)) });
            let [mut a, mut b, mut c, mut d, mut e] = state;
            sha1_twenty_same!($v ch; $kw 0; a b c d e);
            sha1_twenty_same!($v parity; $kw 20; a b c d e);
            sha1_twenty_same!($v maj; $kw 40; a b c d e);
            sha1_twenty_same!($v parity; $kw 60; a b c d e);
            for (row, (s, x)) in words.iter_mut().zip(state.into_iter().zip([a, b, c, d, e])) {
                // SAFETY: as above.
                unsafe { $v::store(row.as_mut_ptr().add(at), $v::add(s, x)) };
            }
        }
    };
}
