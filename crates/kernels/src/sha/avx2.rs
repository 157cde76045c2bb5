//! AVX2: 8 messages of SHA-1 or SHA-256, 4 of SHA-512.
#![expect(unsafe_code, reason = "vector instructions on the blocks of several messages")]

use super::constants::{K1, K256, K512, PADDING1_SUMS, PADDING256};

sha1!(
    /// SHA-1, 8 messages.
    sha1, "avx2", words32
);
sha2!(
    /// SHA-256, 8 messages.
    sha256, "avx2", words32, u32, 64, 64, K256
);
sha2!(
    /// SHA-512, 4 messages.
    sha512, "avx2", words64, u64, 128, 80, K512
);
sha1_same!(
    /// SHA-1, 8 messages of one block: the padding behind it.
    sha1_padding, "avx2", words32, PADDING1_SUMS
);
sha2_same!(
    /// SHA-256, 8 messages of one block: the padding behind it.
    sha256_padding, "avx2", words32, u32, 64, PADDING256
);

macro_rules! operations {
    ($word:ty, $signed:ty, $bits:literal, $add:ident, $srl:ident, $sll:ident, $set1:ident, $b0:tt, $b1:tt, $s0:tt, $s1:tt) => {
        pub(super) type V = __m256i;
        /// Messages per register.
        pub(super) const WIDTH: usize = 32 / size_of::<$word>();

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn add(a: V, b: V) -> V {
            $add(a, b)
        }
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn splat(w: $word) -> V {
            $set1(w as $signed)
        }
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn xor(a: V, b: V) -> V {
            _mm256_xor_si256(a, b)
        }
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn parity(a: V, b: V, c: V) -> V {
            xor(a, xor(b, c))
        }
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn ch(e: V, f: V, g: V) -> V {
            xor(g, _mm256_and_si256(e, xor(f, g)))
        }
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn maj(a: V, b: V, c: V) -> V {
            _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(c, _mm256_or_si256(a, b)))
        }
        #[inline]
        #[target_feature(enable = "avx2")]
        fn ror<const N: i32, const M: i32>(a: V) -> V {
            _mm256_or_si256($srl::<N>(a), $sll::<M>(a))
        }
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn big0(a: V) -> V {
            parity(
                ror::<{ $b0.0 }, { $bits - $b0.0 }>(a),
                ror::<{ $b0.1 }, { $bits - $b0.1 }>(a),
                ror::<{ $b0.2 }, { $bits - $b0.2 }>(a),
            )
        }
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn big1(e: V) -> V {
            parity(
                ror::<{ $b1.0 }, { $bits - $b1.0 }>(e),
                ror::<{ $b1.1 }, { $bits - $b1.1 }>(e),
                ror::<{ $b1.2 }, { $bits - $b1.2 }>(e),
            )
        }
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn small0(w: V) -> V {
            let turned = xor(ror::<{ $s0.0 }, { $bits - $s0.0 }>(w), ror::<{ $s0.1 }, { $bits - $s0.1 }>(w));
            xor(turned, $srl::<{ $s0.2 }>(w))
        }
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn small1(w: V) -> V {
            let turned = xor(ror::<{ $s1.0 }, { $bits - $s1.0 }>(w), ror::<{ $s1.1 }, { $bits - $s1.1 }>(w));
            xor(turned, $srl::<{ $s1.2 }>(w))
        }
        /// One word of each message.
        ///
        /// # Safety
        /// A whole register is there.
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) unsafe fn load(from: *const $word) -> V {
            // SAFETY: per contract.
            unsafe { _mm256_loadu_si256(from.cast()) }
        }
        /// See [`load`].
        ///
        /// # Safety
        /// A whole register has room.
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) unsafe fn store(to: *mut $word, v: V) {
            // SAFETY: per contract.
            unsafe { _mm256_storeu_si256(to.cast(), v) }
        }
    };
}

/// Words of 32 bits.
mod words32 {
    use core::arch::x86_64::*;
    operations!(
        u32,
        i32,
        32,
        _mm256_add_epi32,
        _mm256_srli_epi32,
        _mm256_slli_epi32,
        _mm256_set1_epi32,
        (2, 13, 22),
        (6, 11, 25),
        (7, 18, 3),
        (17, 19, 10)
    );

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn rol1(a: V) -> V {
        ror::<31, 1>(a)
    }
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn rol5(a: V) -> V {
        ror::<27, 5>(a)
    }
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn rol30(a: V) -> V {
        ror::<2, 30>(a)
    }

    /// Word `j` of the block at `offset` of each message, for all `j`: two transposed matrices of 8 times 8 words.
    ///
    /// # Safety
    /// Each pointer has 64 bytes at `offset`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn block(data: &[*const u8; 8], offset: usize) -> [V; 16] {
        let order =
            _mm256_broadcastsi128_si256(_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
        let mut w = [_mm256_setzero_si256(); 16];
        for half in 0..2 {
            let rows: [V; 8] = core::array::from_fn(|l| {
                // SAFETY: per contract.
                unsafe { _mm256_loadu_si256(data[l].add(offset + half * 32).cast()) }
            });
            let mut t = rows;
            for i in (0..8).step_by(2) {
                t[i] = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
                t[i + 1] = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
            }
            let mut u = t;
            for i in (0..8).step_by(4) {
                u[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
                u[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
                u[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
                u[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
            }
            for k in 0..4 {
                let low = _mm256_permute2x128_si256::<0x20>(u[k], u[4 + k]);
                let high = _mm256_permute2x128_si256::<0x31>(u[k], u[4 + k]);
                w[half * 8 + k] = _mm256_shuffle_epi8(low, order);
                w[half * 8 + 4 + k] = _mm256_shuffle_epi8(high, order);
            }
        }
        w
    }
}

/// Words of 64 bits.
mod words64 {
    use core::arch::x86_64::*;
    operations!(
        u64,
        i64,
        64,
        _mm256_add_epi64,
        _mm256_srli_epi64,
        _mm256_slli_epi64,
        _mm256_set1_epi64x,
        (28, 34, 39),
        (14, 18, 41),
        (1, 8, 7),
        (19, 61, 6)
    );

    /// Word `j` of the block at `offset` of each message, for all `j`: four transposed matrices of 4 times 4 words.
    ///
    /// # Safety
    /// Each pointer has 128 bytes at `offset`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn block(data: &[*const u8; 4], offset: usize) -> [V; 16] {
        let order =
            _mm256_broadcastsi128_si256(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
        let mut w = [_mm256_setzero_si256(); 16];
        for quarter in 0..4 {
            let rows: [V; 4] = core::array::from_fn(|l| {
                // SAFETY: per contract.
                unsafe { _mm256_loadu_si256(data[l].add(offset + quarter * 32).cast()) }
            });
            let t = [
                _mm256_unpacklo_epi64(rows[0], rows[1]),
                _mm256_unpackhi_epi64(rows[0], rows[1]),
                _mm256_unpacklo_epi64(rows[2], rows[3]),
                _mm256_unpackhi_epi64(rows[2], rows[3]),
            ];
            let made = [
                _mm256_permute2x128_si256::<0x20>(t[0], t[2]),
                _mm256_permute2x128_si256::<0x20>(t[1], t[3]),
                _mm256_permute2x128_si256::<0x31>(t[0], t[2]),
                _mm256_permute2x128_si256::<0x31>(t[1], t[3]),
            ];
            for (k, m) in made.into_iter().enumerate() {
                w[quarter * 4 + k] = _mm256_shuffle_epi8(m, order);
            }
        }
        w
    }
}
