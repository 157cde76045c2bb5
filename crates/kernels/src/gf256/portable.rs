//! Products by shifting and adding, eight bytes of a word at a time; compilers make vectors of it where they can.

use super::{Pass, field};

/// Words of a step.
const WORDS: usize = 8;
const STEP: usize = WORDS * 8;
const LOW_BITS: u64 = 0x0101_0101_0101_0101;

/// Each of the eight bytes times x.
#[inline(always)]
fn double(word: u64) -> u64 {
    let carry = word >> 7 & LOW_BITS;
    // 0x1d is what x^8 is congruent to.
    ((word & !(LOW_BITS << 7)) << 1) ^ carry ^ (carry << 2) ^ (carry << 3) ^ (carry << 4)
}

#[inline(always)]
fn load(bytes: &[u8]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut raw = [0; 8];
        raw.copy_from_slice(chunk);
        *word = u64::from_ne_bytes(raw);
    }
    words
}

pub(super) fn pass(coefficients: &[u8], job: Pass<'_, '_, '_>) {
    let Pass { inputs, outputs, from, to } = job;
    let outs = outputs.len();
    let mut at = from;
    while at + STEP <= to {
        let mut sums = [[0u64; WORDS]; super::GROUP];
        for (input, row) in inputs.iter().zip(coefficients.chunks_exact(outs)) {
            let mut words = load(&input[at..at + STEP]);
            for bit in 0..8 {
                for (sum, c) in sums.iter_mut().zip(row) {
                    let mask = u64::from(c >> bit & 1).wrapping_neg();
                    for (s, w) in sum.iter_mut().zip(&words) {
                        *s ^= w & mask;
                    }
                }
                words.iter_mut().for_each(|w| *w = double(*w));
            }
        }
        for (output, sum) in outputs.iter_mut().zip(&sums) {
            for (chunk, word) in output[at..at + STEP].chunks_exact_mut(8).zip(sum) {
                chunk.copy_from_slice(&word.to_ne_bytes());
            }
        }
        at += STEP;
    }
    let coefficient = |i: usize, j: usize| coefficients[i * outs + j];
    tail(coefficient, Pass { inputs, outputs, from: at, to });
}

/// Byte by byte, for what is left behind the last full vector.
pub(super) fn tail(coefficient: impl Fn(usize, usize) -> u8, job: Pass<'_, '_, '_>) {
    let Pass { inputs, outputs, from, to } = job;
    for (j, output) in outputs.iter_mut().enumerate() {
        for at in from..to {
            output[at] = inputs
                .iter()
                .enumerate()
                .fold(0, |sum, (i, b)| sum ^ field::multiply(coefficient(i, j), b[at]));
        }
    }
}
