//! Sixteen blocks at a time in four vectors of 512 bits.
//!
//! GHASH works on byte-reversed blocks, where a product comes out shifted by one bit; powers of the hash key are stored
//! with that shift undone, so products need none. Sums of products are reduced once per sixteen blocks. The last sixteen
//! blocks or fewer are summed together with the block of lengths: one reduction less on the way to the tag.
#![expect(unsafe_code, reason = "vector instructions")]

use super::{Text, Way};
use core::arch::x86_64::*;

mod halves;

/// Powers of the hash key, highest first: H^33 to H^1, then zeros for what a vector loads beyond.
const POWERS: usize = 33;

/// Round keys and powers.
#[repr(C, align(64))]
pub(super) struct Schedule {
    powers: [u128; POWERS + 7],
    rounds: [[u8; 16]; 15],
    count: usize,
}

fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("vaes")
        && is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("bmi2")
}

impl Schedule {
    pub(super) fn new(raw: &[u8]) -> Option<Schedule> {
        if !matches!(raw.len(), 16 | 32) || !is_available() {
            return None;
        }
        let count = raw.len() / 4 + 6;
        let mut schedule = Schedule { powers: [0; POWERS + 7], rounds: [[0; 16]; 15], count };
        // SAFETY: the instructions are there.
        unsafe {
            schedule.expand(raw);
            schedule.raise();
        }
        Some(schedule)
    }

    #[inline]
    pub(super) fn run(&self, way: Way, iv: &[u8; 12], aad: &[u8], text: Text<'_>) -> [u8; 16] {
        let (from, to, len) = match text {
            Text::Apart(from, to) => (from.as_ptr(), to.as_mut_ptr(), from.len().min(to.len())),
            Text::Same(both) => {
                let to = both.as_mut_ptr();
                (to.cast_const(), to, both.len())
            }
        };
        // SAFETY: the instructions are there, or there would be no schedule; `from` and `to` have `len` bytes and are
        // apart or the same.
        unsafe {
            match (self.count, way) {
                (10, Way::Encrypt) => run::<10, true>(self, iv, aad, from, to, len),
                (10, Way::Decrypt) => run::<10, false>(self, iv, aad, from, to, len),
                (_, Way::Encrypt) => run::<14, true>(self, iv, aad, from, to, len),
                (_, Way::Decrypt) => run::<14, false>(self, iv, aad, from, to, len),
            }
        }
    }

    /// The key schedule of the standard (FIPS 197), word by word.
    #[target_feature(enable = "aes")]
    fn expand(&mut self, raw: &[u8]) {
        let given = raw.len() / 4;
        let mut words = [0u32; 60];
        for (word, bytes) in words.iter_mut().zip(raw.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let substitute = |word: u32| {
            _mm_cvtsi128_si32(_mm_aeskeygenassist_si128::<0>(_mm_set1_epi32(word.cast_signed())))
                .cast_unsigned()
        };
        let mut constant = 1u32;
        for i in given..4 * (self.count + 1) {
            let mut next = words[i - 1];
            if i % given == 0 {
                next = substitute(next).rotate_right(8) ^ constant;
                constant = (constant << 1) ^ if constant & 0x80 != 0 { 0x11b } else { 0 };
            } else if given == 8 && i % 8 == 4 {
                next = substitute(next);
            }
            words[i] = words[i - given] ^ next;
        }
        for (round, words) in self.rounds.iter_mut().zip(words.chunks_exact(4)) {
            for (bytes, word) in round.chunks_exact_mut(4).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        wipe(&mut words);
    }

    /// The powers of the hash key.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
    fn raise(&mut self) {
        let mut block = _mm_setzero_si128();
        block = _mm_xor_si128(block, self.round(0));
        for i in 1..self.count {
            block = _mm_aesenc_si128(block, self.round(i));
        }
        block = _mm_aesenclast_si128(block, self.round(self.count));
        let h = from_vector(block).swap_bytes();
        let carry = 0u128.wrapping_sub(h >> 127);
        let h = (h << 1) ^ (carry & (0xc2 << 120 | 1));
        self.powers[POWERS - 1] = h;
        for i in (0..POWERS - 1).rev() {
            let (a, b) = (zext(to_vector(self.powers[i + 1])), zext(to_vector(h)));
            let mut sums = Sums::new();
            sums.add(a, b);
            self.powers[i] = from_vector(sums.reduce());
        }
    }

    #[target_feature(enable = "sse2")]
    fn round(&self, i: usize) -> __m128i {
        to_vector(u128::from_ne_bytes(self.rounds[i]))
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        wipe(&mut self.powers);
        wipe(&mut self.rounds);
    }
}

/// Overwrites secrets in a way that is not left out.
fn wipe<T: Copy + Default, const N: usize>(secrets: &mut [T; N]) {
    for secret in secrets {
        // SAFETY: a valid place.
        unsafe { core::ptr::write_volatile(secret, T::default()) };
    }
}

#[inline(always)]
fn to_vector(n: u128) -> __m128i {
    // SAFETY: two types of sixteen bytes without invalid values.
    unsafe { core::mem::transmute(n) }
}

#[inline(always)]
fn from_vector(v: __m128i) -> u128 {
    // SAFETY: as above.
    unsafe { core::mem::transmute(v) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn zext(v: __m128i) -> __m512i {
    _mm512_zextsi128_si512(v)
}

/// Products not reduced yet: low, middle and high halves.
struct Sums {
    low: __m512i,
    middle: __m512i,
    high: __m512i,
}

impl Sums {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new() -> Sums {
        let zero = _mm512_setzero_si512();
        Sums { low: zero, middle: zero, high: zero }
    }

    /// Adds the products of four blocks and four powers.
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn add(&mut self, blocks: __m512i, powers: __m512i) {
        self.low = _mm512_xor_si512(self.low, _mm512_clmulepi64_epi128::<0x00>(blocks, powers));
        self.high = _mm512_xor_si512(self.high, _mm512_clmulepi64_epi128::<0x11>(blocks, powers));
        let (a, b) = (
            _mm512_clmulepi64_epi128::<0x01>(blocks, powers),
            _mm512_clmulepi64_epi128::<0x10>(blocks, powers),
        );
        self.middle = _mm512_ternarylogic_epi64::<0x96>(self.middle, a, b);
    }

    /// The sum of all, modulo the field's polynomial.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,vpclmulqdq")]
    fn reduce(self) -> __m128i {
        let polynomial = _mm512_broadcast_i32x4(to_vector(0xc2 << 120 | 1));
        let fold = _mm512_clmulepi64_epi128::<0x01>(polynomial, self.low);
        let low = _mm512_shuffle_epi32::<0x4e>(self.low);
        let middle = _mm512_ternarylogic_epi64::<0x96>(self.middle, low, fold);
        let fold = _mm512_clmulepi64_epi128::<0x01>(polynomial, middle);
        let middle = _mm512_shuffle_epi32::<0x4e>(middle);
        let high = _mm512_ternarylogic_epi64::<0x96>(self.high, middle, fold);
        let half = _mm256_xor_si256(_mm512_castsi512_si256(high), _mm512_extracti64x4_epi64::<1>(high));
        _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
    }
}

/// Bytes `at` and on of `len`, as a mask of one vector.
#[inline]
#[target_feature(enable = "bmi2")]
fn mask(len: usize, at: usize) -> u64 {
    _bzhi_u64(u64::MAX, len.saturating_sub(at).min(64) as u32)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn reversed(v: __m512i) -> __m512i {
    let order = to_vector(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f);
    _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(order))
}

/// A message under way.
struct Flow<'a, const ROUNDS: usize> {
    schedule: &'a Schedule,
    /// Round keys, in each of a vector's blocks.
    keys: [__m512i; 15],
    /// The next four counter blocks, byte-reversed.
    counters: __m512i,
    hash: __m128i,
}

impl<const ROUNDS: usize> Flow<'_, ROUNDS> {
    /// Four powers from H^`first` down.
    ///
    /// # Safety
    /// `first` is 33 at most; what is below H^1 is zero.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn powers(&self, first: isize) -> __m512i {
        // SAFETY: the last vector begins at H^1 or, if there are no blocks for it, up to 4 places behind.
        unsafe { _mm512_loadu_si512(self.schedule.powers.as_ptr().offset(POWERS as isize - first).cast()) }
    }

    /// Hashes at most 512 bytes, a last incomplete block filled up with zeros. With `lengths` it is the last thing
    /// hashed but that.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
    unsafe fn hash<const V: usize>(
        &mut self,
        mut blocks: [__m512i; V],
        count: usize,
        lengths: Option<__m128i>,
    ) {
        let mut sums = Sums::new();
        let mut first = count as isize;
        if let Some(lengths) = lengths {
            first += 1;
            // SAFETY: H^1.
            sums.add(zext(lengths), unsafe { self.powers(1) });
        }
        blocks[0] = _mm512_xor_si512(blocks[0], zext(self.hash));
        for (i, block) in blocks.into_iter().enumerate() {
            // SAFETY: `count` is at most 32, and has at least one block in each of the V vectors.
            sums.add(block, unsafe { self.powers(first - 4 * i as isize) });
        }
        self.hash = sums.reduce();
    }

    /// The tag of what was hashed.
    #[inline]
    fn tag(&self, veil: __m128i) -> [u8; 16] {
        (from_vector(self.hash).swap_bytes() ^ from_vector(veil)).to_ne_bytes()
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
    unsafe fn aad(&mut self, aad: &[u8]) {
        for chunk in aad.chunks(64) {
            // SAFETY: the bytes of the mask alone are loaded.
            unsafe {
                let v = _mm512_maskz_loadu_epi8(mask(chunk.len(), 0), chunk.as_ptr().cast());
                self.hash::<1>([reversed(v)], chunk.len().div_ceil(16), None);
            }
        }
    }

    /// At most V * 64 bytes of text, more than (V - 1) * 64.
    ///
    /// # Safety
    /// `from` and `to` have `len` bytes, apart or the same.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
    unsafe fn text<const V: usize, const ENCRYPT: bool>(
        &mut self,
        from: *const u8,
        to: *mut u8,
        len: usize,
        lengths: Option<__m128i>,
    ) {
        let mut stream = [self.counters; V];
        for block in &mut stream {
            *block = _mm512_xor_si512(reversed(self.counters), self.keys[0]);
            self.counters = _mm512_add_epi32(self.counters, _mm512_broadcast_i32x4(to_vector(4)));
        }
        for key in &self.keys[1..ROUNDS] {
            for block in &mut stream {
                *block = _mm512_aesenc_epi128(*block, *key);
            }
        }
        for (i, block) in stream.iter_mut().enumerate() {
            let mask = mask(len, 64 * i);
            // SAFETY: the bytes of the mask alone are loaded and stored.
            unsafe {
                let input = _mm512_maskz_loadu_epi8(mask, from.add(64 * i).cast());
                let output = _mm512_xor_si512(_mm512_aesenclast_epi128(*block, self.keys[ROUNDS]), input);
                _mm512_mask_storeu_epi8(to.add(64 * i).cast(), mask, output);
                *block = reversed(if ENCRYPT { _mm512_maskz_mov_epi8(mask, output) } else { input });
            }
        }
        // SAFETY: as many blocks as there are bytes for.
        unsafe { self.hash::<V>(stream, len.div_ceil(16), lengths) };
    }
}

/// The first counter block, byte-reversed.
#[inline]
fn first_counter(iv: &[u8; 12]) -> u128 {
    let mut first = [0; 16];
    first[..12].copy_from_slice(iv);
    first[15] = 1;
    u128::from_be_bytes(first)
}

/// The mask of the tag.
#[inline]
#[target_feature(enable = "aes,sse2")]
fn veil<const ROUNDS: usize>(schedule: &Schedule, iv: &[u8; 12]) -> __m128i {
    let mut veil = _mm_xor_si128(to_vector(first_counter(iv).swap_bytes()), schedule.round(0));
    for i in 1..ROUNDS {
        veil = _mm_aesenc_si128(veil, schedule.round(i));
    }
    _mm_aesenclast_si128(veil, schedule.round(ROUNDS))
}

/// # Safety
/// The instructions are there; `from` and `to` have `len` bytes, apart or the same.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
unsafe fn run<const ROUNDS: usize, const ENCRYPT: bool>(
    schedule: &Schedule,
    iv: &[u8; 12],
    aad: &[u8],
    mut from: *const u8,
    mut to: *mut u8,
    len: usize,
) -> [u8; 16] {
    let mut keys = [_mm512_setzero_si512(); 15];
    for (i, key) in keys[..=ROUNDS].iter_mut().enumerate() {
        *key = _mm512_broadcast_i32x4(schedule.round(i));
    }
    let veil = veil::<ROUNDS>(schedule, iv);
    let first = first_counter(iv);

    let ahead = _mm512_set_epi32(0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1);
    let counters = _mm512_add_epi32(_mm512_broadcast_i32x4(to_vector(first)), ahead);
    let mut flow = Flow::<ROUNDS> { schedule, keys, counters, hash: _mm_setzero_si128() };
    let lengths = Some(to_vector((aad.len() as u128 * 8) << 64 | (len as u128 * 8)));
    // SAFETY: `left` bytes are left at both places; each call takes no more.
    unsafe {
        flow.aad(aad);
        let mut left = len;
        while left > 256 {
            flow.text::<4, ENCRYPT>(from, to, 256, None);
            (from, to, left) = (from.add(256), to.add(256), left - 256);
        }
        match left.div_ceil(64) {
            0 => flow.hash::<1>([_mm512_setzero_si512()], 0, lengths),
            1 => flow.text::<1, ENCRYPT>(from, to, left, lengths),
            2 => flow.text::<2, ENCRYPT>(from, to, left, lengths),
            3 => flow.text::<3, ENCRYPT>(from, to, left, lengths),
            _ => flow.text::<4, ENCRYPT>(from, to, left, lengths),
        }
    }
    flow.tag(veil)
}
