//! Products by the affine instruction: "times c" is an 8x8 bit matrix, applied to every byte of a vector.
#![expect(unsafe_code, reason = "vector loads and stores, instructions the processor was asked for")]

use super::Pass;
use core::arch::x86_64::*;

/// GFNI on AVX-512 registers?
pub(super) fn has_avx512() -> bool {
    std::is_x86_feature_detected!("gfni")
        && std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512bw")
}

/// GFNI on AVX2 registers?
pub(super) fn has_avx2() -> bool {
    std::is_x86_feature_detected!("gfni") && std::is_x86_feature_detected!("avx2")
}

/// "Times c", read back from its matrix: what it makes of 1 is column 0.
fn coefficient(matrix: u64) -> u8 {
    (0..8).fold(0, |c, row| c | ((matrix >> (8 * (7 - row)) & 1) as u8) << row)
}

macro_rules! gfni {
    ($pass:ident, $columns:ident, $features:literal, $bytes:literal, $vector:ty, $wide:literal,
     $load:ident, $store:ident, $zero:ident, $spread:ident, $affine:ident, $xor:ident) => {
        /// Bytes `[from, to)` of one group of outputs; `bits` has one matrix per input and output.
        pub(super) fn $pass(bits: &[u64], job: Pass<'_, '_, '_>) {
            let Pass { inputs, outputs, from, to } = job;
            let outs = outputs.len();
            debug_assert_eq!(bits.len(), inputs.len() * outs);
            let whole = from + (to - from) / $bytes * $bytes;
            // SAFETY: a table is prepared for this kernel only where the processor has it; all blocks reach to `to`.
            unsafe {
                match outs {
                    1 => $columns::<1>(bits, inputs, outputs, from, whole),
                    2 => $columns::<2>(bits, inputs, outputs, from, whole),
                    3 => $columns::<3>(bits, inputs, outputs, from, whole),
                    4 => $columns::<4>(bits, inputs, outputs, from, whole),
                    5 => $columns::<5>(bits, inputs, outputs, from, whole),
                    _ => $columns::<6>(bits, inputs, outputs, from, whole),
                }
            }
            if whole < to {
                let c = |i: usize, j: usize| coefficient(bits[i * outs + j]);
                super::portable::tail(c, Pass { inputs, outputs, from: whole, to });
            }
        }

        /// # Safety
        /// The processor has the instructions; `M` outputs; all blocks reach to `to`; `to - from` is a whole number of
        /// vectors; `bits` has `M` matrices per input.
        #[target_feature(enable = $features)]
        unsafe fn $columns<const M: usize>(
            bits: &[u64],
            inputs: &[&[u8]],
            outputs: &mut [&mut [u8]],
            from: usize,
            to: usize,
        ) {
            const WIDE: usize = $wide;
            let mut at = from;
            // SAFETY: every load and store stays below `to`.
            unsafe {
                while at + WIDE * $bytes <= to {
                    let mut sums = [[$zero(); WIDE]; M];
                    let mut row = bits.as_ptr();
                    for input in inputs {
                        let from = input.as_ptr().add(at);
                        let mut x = [$zero(); WIDE];
                        for v in 0..WIDE {
                            x[v] = $load(from.add(v * $bytes).cast());
                        }
                        for sum in &mut sums {
                            let matrix = $spread(row.read() as i64);
                            row = row.add(1);
                            for v in 0..WIDE {
                                sum[v] = $xor(sum[v], $affine::<0>(x[v], matrix));
                            }
                        }
                    }
                    for (output, sum) in outputs.iter_mut().zip(&sums) {
                        let to = output.as_mut_ptr().add(at);
                        for v in 0..WIDE {
                            $store(to.add(v * $bytes).cast(), sum[v]);
                        }
                    }
                    at += WIDE * $bytes;
                }
                while at < to {
                    let mut sums = [$zero(); M];
                    let mut row = bits.as_ptr();
                    for input in inputs {
                        let x: $vector = $load(input.as_ptr().add(at).cast());
                        for sum in &mut sums {
                            *sum = $xor(*sum, $affine::<0>(x, $spread(row.read() as i64)));
                            row = row.add(1);
                        }
                    }
                    for (output, sum) in outputs.iter_mut().zip(&sums) {
                        $store(output.as_mut_ptr().add(at).cast(), *sum);
                    }
                    at += $bytes;
                }
            }
        }
    };
}

gfni!(
    pass_avx512,
    columns_avx512,
    "avx512f,avx512bw,gfni",
    64,
    __m512i,
    4,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_setzero_si512,
    _mm512_set1_epi64,
    _mm512_gf2p8affine_epi64_epi8,
    _mm512_xor_si512
);
gfni!(
    pass_avx2,
    columns_avx2,
    "avx2,gfni",
    32,
    __m256i,
    2,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_setzero_si256,
    _mm256_set1_epi64x,
    _mm256_gf2p8affine_epi64_epi8,
    _mm256_xor_si256
);
