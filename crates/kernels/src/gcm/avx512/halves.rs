//! The two halves of the cipher by themselves, for messages whose plain text may not be seen before the tag was found
//! right: first the tag over all of the cipher text, then the key stream.

use super::{Flow, Schedule, from_vector, mask, reversed, to_vector, veil};
use core::arch::x86_64::*;

/// Vectors at a time: enough to keep the cipher's unit busy, and few reductions.
const WIDE: usize = 8;
/// The same in bytes.
const AT_ONCE: usize = 64 * WIDE;

impl Schedule {
    pub(in super::super) fn tag(&self, iv: &[u8; 12], aad: &[u8], text: &[u8]) -> [u8; 16] {
        // SAFETY: the instructions are there, or there would be no schedule.
        unsafe {
            match self.count {
                10 => tag::<10>(self, iv, aad, text),
                _ => tag::<14>(self, iv, aad, text),
            }
        }
    }

    /// Hashes bytes, filled up with zeros to whole blocks.
    pub(in super::super) fn absorb(&self, hash: u128, bytes: &[u8]) -> u128 {
        // SAFETY: as above.
        unsafe { absorb_all(self, hash, bytes) }
    }

    /// The tag of so many bytes of additional data and text that were hashed.
    pub(in super::super) fn conclude(&self, hash: u128, iv: &[u8; 12], lengths: (usize, usize)) -> [u8; 16] {
        // SAFETY: as above.
        unsafe {
            match self.count {
                10 => conclude::<10>(self, hash, iv, lengths),
                _ => conclude::<14>(self, hash, iv, lengths),
            }
        }
    }

    pub(in super::super) fn stream(&self, iv: &[u8; 12], block: u32, from: &[u8], to: &mut [u8]) {
        let len = from.len().min(to.len());
        // SAFETY: as above; two slices of that length.
        unsafe {
            match self.count {
                10 => stream::<10>(self, iv, block, from.as_ptr(), to.as_mut_ptr(), len),
                _ => stream::<14>(self, iv, block, from.as_ptr(), to.as_mut_ptr(), len),
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
fn flow<const ROUNDS: usize>(schedule: &Schedule) -> Flow<'_, ROUNDS> {
    let (keys, counters) = ([_mm512_setzero_si512(); 15], _mm512_setzero_si512());
    Flow { schedule, keys, counters, hash: _mm_setzero_si128() }
}

/// Hashes at most V * 64 bytes, more than (V - 1) * 64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
fn absorb<const V: usize, const ROUNDS: usize>(
    flow: &mut Flow<'_, ROUNDS>,
    bytes: &[u8],
    lengths: Option<__m128i>,
) {
    let mut blocks = [_mm512_setzero_si512(); V];
    for (i, block) in blocks.iter_mut().enumerate() {
        // SAFETY: the bytes of the mask alone are loaded.
        let v = unsafe {
            let at = bytes.as_ptr().wrapping_add(64 * i);
            _mm512_maskz_loadu_epi8(mask(bytes.len(), 64 * i), at.cast())
        };
        *block = reversed(v);
    }
    // SAFETY: as many blocks as there are bytes for.
    unsafe { flow.hash::<V>(blocks, bytes.len().div_ceil(16), lengths) };
}

/// # Safety
/// The instructions are there.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
unsafe fn tag<const ROUNDS: usize>(schedule: &Schedule, iv: &[u8; 12], aad: &[u8], text: &[u8]) -> [u8; 16] {
    let mut flow = flow::<ROUNDS>(schedule);
    let lengths = Some(to_vector((aad.len() as u128 * 8) << 64 | (text.len() as u128 * 8)));
    // SAFETY: a slice.
    unsafe { flow.aad(aad) };
    // The last vectors go together with the lengths.
    let before = text.len().saturating_sub(1) / AT_ONCE * AT_ONCE;
    let (body, rest) = text.split_at(before);
    for bytes in body.chunks_exact(AT_ONCE) {
        absorb::<WIDE, ROUNDS>(&mut flow, bytes, None);
    }
    match rest.len().div_ceil(64) {
        // SAFETY: no blocks.
        0 => unsafe { flow.hash::<1>([_mm512_setzero_si512()], 0, lengths) },
        1 => absorb::<1, ROUNDS>(&mut flow, rest, lengths),
        2 => absorb::<2, ROUNDS>(&mut flow, rest, lengths),
        3 => absorb::<3, ROUNDS>(&mut flow, rest, lengths),
        4 => absorb::<4, ROUNDS>(&mut flow, rest, lengths),
        5 => absorb::<5, ROUNDS>(&mut flow, rest, lengths),
        6 => absorb::<6, ROUNDS>(&mut flow, rest, lengths),
        7 => absorb::<7, ROUNDS>(&mut flow, rest, lengths),
        _ => absorb::<WIDE, ROUNDS>(&mut flow, rest, lengths),
    }
    flow.tag(veil::<ROUNDS>(schedule, iv))
}

/// # Safety
/// The instructions are there.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
unsafe fn absorb_all(schedule: &Schedule, hash: u128, bytes: &[u8]) -> u128 {
    // The hash is the same for all lengths of keys.
    let mut flow = flow::<10>(schedule);
    flow.hash = to_vector(hash);
    let (body, rest) = bytes.split_at(bytes.len() - bytes.len() % AT_ONCE);
    for bytes in body.chunks_exact(AT_ONCE) {
        absorb::<WIDE, 10>(&mut flow, bytes, None);
    }
    for bytes in rest.chunks(64) {
        absorb::<1, 10>(&mut flow, bytes, None);
    }
    from_vector(flow.hash)
}

/// # Safety
/// The instructions are there.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
unsafe fn conclude<const ROUNDS: usize>(
    schedule: &Schedule,
    hash: u128,
    iv: &[u8; 12],
    (aad, text): (usize, usize),
) -> [u8; 16] {
    let mut flow = flow::<ROUNDS>(schedule);
    flow.hash = to_vector(hash);
    let lengths = Some(to_vector((aad as u128 * 8) << 64 | (text as u128 * 8)));
    // SAFETY: no blocks.
    unsafe { flow.hash::<1>([_mm512_setzero_si512()], 0, lengths) };
    flow.tag(veil::<ROUNDS>(schedule, iv))
}

/// # Safety
/// The instructions are there; `from` and `to` have `len` bytes and are apart.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,vaes,vpclmulqdq,aes,pclmulqdq,bmi2")]
unsafe fn stream<const ROUNDS: usize>(
    schedule: &Schedule,
    iv: &[u8; 12],
    block: u32,
    from: *const u8,
    to: *mut u8,
    len: usize,
) {
    let mut keys = [_mm512_setzero_si512(); 15];
    for (i, key) in keys[..=ROUNDS].iter_mut().enumerate() {
        *key = _mm512_broadcast_i32x4(schedule.round(i));
    }
    let mut first = [0; 16];
    first[..12].copy_from_slice(iv);
    // Block 1 veils the tag.
    first[12..].copy_from_slice(&block.wrapping_add(2).to_be_bytes());
    let ahead = _mm512_set_epi32(0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0);
    let mut counters = _mm512_add_epi32(_mm512_broadcast_i32x4(to_vector(u128::from_be_bytes(first))), ahead);
    let mut at = 0;
    while at < len {
        let mut stream = [counters; WIDE];
        for block in &mut stream {
            *block = _mm512_xor_si512(reversed(counters), keys[0]);
            counters = _mm512_add_epi32(counters, _mm512_broadcast_i32x4(to_vector(4)));
        }
        for key in &keys[1..ROUNDS] {
            for block in &mut stream {
                *block = _mm512_aesenc_epi128(*block, *key);
            }
        }
        for (i, block) in stream.into_iter().enumerate() {
            let (place, block) = (at + 64 * i, _mm512_aesenclast_epi128(block, keys[ROUNDS]));
            let mask = mask(len, place);
            // SAFETY: the bytes of the mask alone are loaded and stored.
            unsafe {
                let input = _mm512_maskz_loadu_epi8(mask, from.wrapping_add(place).cast());
                _mm512_mask_storeu_epi8(to.wrapping_add(place).cast(), mask, _mm512_xor_si512(block, input));
            }
        }
        at += AT_ONCE;
    }
}
