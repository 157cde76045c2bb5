//! Products by two shuffles: a byte is its low and its high nibble, each looked up among 16 products.
#![expect(unsafe_code, reason = "vector loads and stores, instructions the processor was asked for")]

use super::Pass;
use core::arch::x86_64::*;

const BYTES: usize = 32;

/// Bytes `[from, to)` of one group of outputs; `nibbles` has one table per input and output.
pub(super) fn pass(nibbles: &[[u8; 32]], job: Pass<'_, '_, '_>) {
    let Pass { inputs, outputs, from, to } = job;
    let outs = outputs.len();
    debug_assert_eq!(nibbles.len(), inputs.len() * outs);
    let whole = from + (to - from) / BYTES * BYTES;
    // SAFETY: a table is prepared for this kernel only where the processor has it; all blocks reach to `to`.
    unsafe {
        match outs {
            1 => columns::<1>(nibbles, inputs, outputs, from, whole),
            2 => columns::<2>(nibbles, inputs, outputs, from, whole),
            3 => columns::<3>(nibbles, inputs, outputs, from, whole),
            4 => columns::<4>(nibbles, inputs, outputs, from, whole),
            5 => columns::<5>(nibbles, inputs, outputs, from, whole),
            _ => columns::<6>(nibbles, inputs, outputs, from, whole),
        }
    }
    if whole < to {
        // The product with 1 is the coefficient.
        super::portable::tail(|i, j| nibbles[i * outs + j][1], Pass { inputs, outputs, from: whole, to });
    }
}

/// # Safety
/// The processor has AVX2; `M` outputs; all blocks reach to `to`; `to - from` is a whole number of vectors; `nibbles`
/// has `M` tables per input.
#[target_feature(enable = "avx2")]
unsafe fn columns<const M: usize>(
    nibbles: &[[u8; 32]],
    inputs: &[&[u8]],
    outputs: &mut [&mut [u8]],
    from: usize,
    to: usize,
) {
    let mask = _mm256_set1_epi8(15);
    let mut at = from;
    // SAFETY: every load and store stays below `to`.
    unsafe {
        while at < to {
            let mut sums = [_mm256_setzero_si256(); M];
            let mut row = nibbles.as_ptr();
            for input in inputs {
                let x = _mm256_loadu_si256(input.as_ptr().add(at).cast());
                let low = _mm256_and_si256(x, mask);
                let high = _mm256_and_si256(_mm256_srli_epi16::<4>(x), mask);
                for sum in &mut sums {
                    let table = row.cast::<__m128i>();
                    let lows = _mm256_broadcastsi128_si256(_mm_loadu_si128(table));
                    let highs = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.add(1)));
                    row = row.add(1);
                    let product =
                        _mm256_xor_si256(_mm256_shuffle_epi8(lows, low), _mm256_shuffle_epi8(highs, high));
                    *sum = _mm256_xor_si256(*sum, product);
                }
            }
            for (output, sum) in outputs.iter_mut().zip(&sums) {
                _mm256_storeu_si256(output.as_mut_ptr().add(at).cast(), *sum);
            }
            at += BYTES;
        }
    }
}
