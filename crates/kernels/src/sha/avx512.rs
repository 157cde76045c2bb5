//! AVX-512: 16 messages of SHA-1 or SHA-256, 8 of SHA-512.
#![expect(unsafe_code, reason = "vector instructions on the blocks of several messages")]

use super::constants::{K1, K256, K512, PADDING1_SUMS, PADDING256};

sha1!(
    /// SHA-1, 16 messages.
    sha1, "avx512f,avx512bw", words32
);
sha2!(
    /// SHA-256, 16 messages.
    sha256, "avx512f,avx512bw", words32, u32, 64, 64, K256
);
sha2!(
    /// SHA-512, 8 messages.
    sha512, "avx512f,avx512bw", words64, u64, 128, 80, K512
);
sha1_same!(
    /// SHA-1, 16 messages of one block: the padding behind it.
    sha1_padding, "avx512f,avx512bw", words32, PADDING1_SUMS
);
sha2_same!(
    /// SHA-256, 16 messages of one block: the padding behind it.
    sha256_padding, "avx512f,avx512bw", words32, u32, 64, PADDING256
);

macro_rules! operations {
    ($word:ty, $signed:ty, $add:ident, $ror:ident, $srl:ident, $set1:ident, $b0:tt, $b1:tt, $s0:tt, $s1:tt) => {
        pub(super) type V = __m512i;
        /// Messages per register.
        pub(super) const WIDTH: usize = 64 / size_of::<$word>();

        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) fn add(a: V, b: V) -> V {
            $add(a, b)
        }
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) fn splat(w: $word) -> V {
            $set1(w as $signed)
        }
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) fn ch(e: V, f: V, g: V) -> V {
            _mm512_ternarylogic_epi32::<0xca>(e, f, g)
        }
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) fn maj(a: V, b: V, c: V) -> V {
            _mm512_ternarylogic_epi32::<0xe8>(a, b, c)
        }
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) fn parity(a: V, b: V, c: V) -> V {
            _mm512_ternarylogic_epi32::<0x96>(a, b, c)
        }
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) fn big0(a: V) -> V {
            parity($ror::<{ $b0.0 }>(a), $ror::<{ $b0.1 }>(a), $ror::<{ $b0.2 }>(a))
        }
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) fn big1(e: V) -> V {
            parity($ror::<{ $b1.0 }>(e), $ror::<{ $b1.1 }>(e), $ror::<{ $b1.2 }>(e))
        }
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) fn small0(w: V) -> V {
            parity($ror::<{ $s0.0 }>(w), $ror::<{ $s0.1 }>(w), $srl::<{ $s0.2 }>(w))
        }
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) fn small1(w: V) -> V {
            parity($ror::<{ $s1.0 }>(w), $ror::<{ $s1.1 }>(w), $srl::<{ $s1.2 }>(w))
        }
        /// One word of each message.
        ///
        /// # Safety
        /// A whole register is there.
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) unsafe fn load(from: *const $word) -> V {
            // SAFETY: per contract.
            unsafe { _mm512_loadu_si512(from.cast()) }
        }
        /// See [`load`].
        ///
        /// # Safety
        /// A whole register has room.
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) unsafe fn store(to: *mut $word, v: V) {
            // SAFETY: per contract.
            unsafe { _mm512_storeu_si512(to.cast(), v) }
        }
    };
}

/// Words of 32 bits.
mod words32 {
    use core::arch::x86_64::*;
    operations!(
        u32,
        i32,
        _mm512_add_epi32,
        _mm512_ror_epi32,
        _mm512_srli_epi32,
        _mm512_set1_epi32,
        (2, 13, 22),
        (6, 11, 25),
        (7, 18, 3),
        (17, 19, 10)
    );

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn xor(a: V, b: V) -> V {
        _mm512_xor_si512(a, b)
    }
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn rol1(a: V) -> V {
        _mm512_rol_epi32::<1>(a)
    }
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn rol5(a: V) -> V {
        _mm512_rol_epi32::<5>(a)
    }
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn rol30(a: V) -> V {
        _mm512_rol_epi32::<30>(a)
    }

    /// Word `j` of the block at `offset` of each message, for all `j`: a transposed matrix of 16 times 16 words.
    ///
    /// # Safety
    /// Each pointer has 64 bytes at `offset`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn block(data: &[*const u8; 16], offset: usize) -> [V; 16] {
        let order =
            _mm512_broadcast_i32x4(_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
        // SAFETY: per contract.
        let rows: [V; 16] =
            core::array::from_fn(|l| unsafe { _mm512_loadu_si512(data[l].add(offset).cast()) });
        let mut t = rows;
        for i in (0..16).step_by(2) {
            t[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
            t[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
        }
        let mut u = t;
        for i in (0..16).step_by(4) {
            u[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
            u[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
            u[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
            u[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
        }
        let mut w = u;
        for k in 0..4 {
            let a = _mm512_shuffle_i32x4::<0x88>(u[k], u[4 + k]);
            let b = _mm512_shuffle_i32x4::<0xdd>(u[k], u[4 + k]);
            let c = _mm512_shuffle_i32x4::<0x88>(u[8 + k], u[12 + k]);
            let d = _mm512_shuffle_i32x4::<0xdd>(u[8 + k], u[12 + k]);
            w[k] = _mm512_shuffle_epi8(_mm512_shuffle_i32x4::<0x88>(a, c), order);
            w[8 + k] = _mm512_shuffle_epi8(_mm512_shuffle_i32x4::<0xdd>(a, c), order);
            w[4 + k] = _mm512_shuffle_epi8(_mm512_shuffle_i32x4::<0x88>(b, d), order);
            w[12 + k] = _mm512_shuffle_epi8(_mm512_shuffle_i32x4::<0xdd>(b, d), order);
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
        _mm512_add_epi64,
        _mm512_ror_epi64,
        _mm512_srli_epi64,
        _mm512_set1_epi64,
        (28, 34, 39),
        (14, 18, 41),
        (1, 8, 7),
        (19, 61, 6)
    );

    /// Word `j` of the block at `offset` of each message, for all `j`.
    ///
    /// # Safety
    /// Each pointer has 128 bytes at `offset`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn block(data: &[*const u8; 8], offset: usize) -> [V; 16] {
        let order =
            _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
        let mut w = [_mm512_setzero_si512(); 16];
        for half in 0..2 {
            let rows: [V; 8] = core::array::from_fn(|l| {
                // SAFETY: per contract.
                unsafe { _mm512_loadu_si512(data[l].add(offset + half * 64).cast()) }
            });
            let t: [V; 8] = core::array::from_fn(|i| {
                if i & 1 == 0 {
                    _mm512_unpacklo_epi64(rows[i], rows[i + 1])
                } else {
                    _mm512_unpackhi_epi64(rows[i - 1], rows[i])
                }
            });
            for o in 0..2 {
                let a = _mm512_shuffle_i64x2::<0x88>(t[o], t[o + 2]);
                let b = _mm512_shuffle_i64x2::<0xdd>(t[o], t[o + 2]);
                let c = _mm512_shuffle_i64x2::<0x88>(t[o + 4], t[o + 6]);
                let d = _mm512_shuffle_i64x2::<0xdd>(t[o + 4], t[o + 6]);
                w[half * 8 + o] = _mm512_shuffle_epi8(_mm512_shuffle_i64x2::<0x88>(a, c), order);
                w[half * 8 + o + 2] = _mm512_shuffle_epi8(_mm512_shuffle_i64x2::<0x88>(b, d), order);
                w[half * 8 + o + 4] = _mm512_shuffle_epi8(_mm512_shuffle_i64x2::<0xdd>(a, c), order);
                w[half * 8 + o + 6] = _mm512_shuffle_epi8(_mm512_shuffle_i64x2::<0xdd>(b, d), order);
            }
        }
        w
    }
}
