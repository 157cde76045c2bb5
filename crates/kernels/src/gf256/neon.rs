//! Products by two table lookups: a byte is its low and its high nibble, each looked up among 16 products.
#![expect(unsafe_code, reason = "vector loads and stores, instructions the processor was asked for")]

use super::Pass;
use core::arch::aarch64::*;

const BYTES: usize = 16;

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
/// The processor has NEON; `M` outputs; all blocks reach to `to`; `to - from` is a whole number of vectors; `nibbles`
/// has `M` tables per input.
#[target_feature(enable = "neon")]
unsafe fn columns<const M: usize>(
    nibbles: &[[u8; 32]],
    inputs: &[&[u8]],
    outputs: &mut [&mut [u8]],
    from: usize,
    to: usize,
) {
    let mask = vdupq_n_u8(15);
    let mut at = from;
    // SAFETY: every load and store stays below `to`.
    unsafe {
        while at < to {
            let mut sums = [vdupq_n_u8(0); M];
            let mut row = nibbles.as_ptr().cast::<u8>();
            for input in inputs {
                let x = vld1q_u8(input.as_ptr().add(at));
                let low = vandq_u8(x, mask);
                let high = vshrq_n_u8::<4>(x);
                for sum in &mut sums {
                    let (lows, highs) = (vld1q_u8(row), vld1q_u8(row.add(16)));
                    row = row.add(32);
                    *sum = veorq_u8(*sum, veorq_u8(vqtbl1q_u8(lows, low), vqtbl1q_u8(highs, high)));
                }
            }
            for (output, sum) in outputs.iter_mut().zip(&sums) {
                vst1q_u8(output.as_mut_ptr().add(at), *sum);
            }
            at += BYTES;
        }
    }
}
