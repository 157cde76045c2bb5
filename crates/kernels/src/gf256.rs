//! GF(2^8): single elements, and blocks of bytes times a matrix.
//!
//! A byte is a polynomial over GF(2), reduced by [`POLYNOMIAL`]; addition is XOR. [`Table`] is a matrix prepared for one
//! [`Kernel`]; [`Table::multiply`] gives `outputs[j][b] = sum over i of coefficient(i, j) * inputs[i][b]`.
//!
//! | kernel | how a product is made | bytes at once |
//! |---|---|---|
//! | `gfni.rs` | bit matrix of the factor, one instruction | 64 (AVX-512), 32 (AVX2) |
//! | `avx2.rs` | two shuffles by nibbles | 32 |
//! | `neon.rs` | two table lookups by nibbles | 16 |
//! | `portable.rs` | shift and add over machine words | 64 |

#[cfg(target_arch = "x86_64")]
mod avx2;
mod field;
#[cfg(target_arch = "x86_64")]
mod gfni;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

pub use field::{POLYNOMIAL, inverse, multiply, power};
use std::collections::TryReserveError;
use std::sync::OnceLock;

/// Most outputs that are computed in one pass over the inputs.
const GROUP: usize = 6;
/// Bytes of each input that one pass reads before the next group of outputs gets its turn, so that they are still in
/// the nearest cache. A multiple of every vector length.
const TILE: usize = 2048;

/// A way to multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// GFNI on AVX-512 registers.
    GfniAvx512,
    /// GFNI on AVX2 registers.
    GfniAvx2,
    /// Nibble shuffles on AVX2 registers.
    Avx2,
    /// Nibble lookups on NEON registers.
    Neon,
    /// Machine words.
    Portable,
}

impl Kernel {
    /// All, best first.
    pub const ALL: [Kernel; 5] =
        [Kernel::GfniAvx512, Kernel::GfniAvx2, Kernel::Avx2, Kernel::Neon, Kernel::Portable];

    /// Can this processor run it?
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernel::GfniAvx512 => gfni::has_avx512(),
            #[cfg(target_arch = "x86_64")]
            Kernel::GfniAvx2 => gfni::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => std::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            Kernel::Portable => true,
            #[allow(unreachable_patterns, reason = "each machine has its own set")]
            _ => false,
        }
    }

    /// The best that this processor can run.
    pub fn best() -> Kernel {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| Kernel::ALL.into_iter().find(|k| k.is_available()).unwrap_or(Kernel::Portable))
    }

    /// Name for messages and tables.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::GfniAvx512 => "gfni-avx512",
            Kernel::GfniAvx2 => "gfni-avx2",
            Kernel::Avx2 => "avx2",
            Kernel::Neon => "neon",
            Kernel::Portable => "portable",
        }
    }
}

/// The coefficients as a kernel wants them. Passes follow each other; in a pass the coefficients of one input stand
/// together, one per output of the group.
#[derive(Clone, Debug)]
enum Prepared {
    /// 8x8 bit matrices.
    Bits(Vec<u64>),
    /// Products with the 16 low and the 16 high nibbles.
    Nibbles(Vec<[u8; 32]>),
    /// As they are.
    Plain(Vec<u8>),
}

/// A matrix of coefficients, prepared for a kernel.
#[derive(Clone, Debug)]
pub struct Table {
    inputs: usize,
    outputs: usize,
    kernel: Kernel,
    prepared: Prepared,
}

fn collect<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, TryReserveError> {
    let mut all = Vec::new();
    all.try_reserve_exact(items.len())?;
    all.extend(items);
    Ok(all)
}

impl Table {
    /// For the best kernel. `coefficients` stand input by input: the one for input `i` and output `j` is byte
    /// `i * outputs + j`.
    ///
    /// # Errors
    /// There is no memory.
    ///
    /// # Panics
    /// When `coefficients` is empty or no whole number of inputs.
    ///
    /// ```
    /// use softdpu_kernels::gf256::Table;
    /// // Two inputs, one output: the sum.
    /// let table = Table::new(1, &[1, 1]).unwrap();
    /// let mut sum = [0; 3];
    /// table.multiply(&[&[1, 2, 3], &[4, 4, 4]], &mut [&mut sum]);
    /// assert_eq!(sum, [5, 6, 7]);
    /// ```
    pub fn new(outputs: usize, coefficients: &[u8]) -> Result<Table, TryReserveError> {
        Table::with(Kernel::best(), outputs, coefficients)
    }

    /// For a certain kernel; the portable one where this processor cannot run it.
    ///
    /// # Errors
    /// As [`Table::new`].
    ///
    /// # Panics
    /// As [`Table::new`].
    pub fn with(kernel: Kernel, outputs: usize, coefficients: &[u8]) -> Result<Table, TryReserveError> {
        assert!(outputs > 0 && !coefficients.is_empty() && coefficients.len().is_multiple_of(outputs));
        let kernel = if kernel.is_available() { kernel } else { Kernel::Portable };
        let inputs = coefficients.len() / outputs;
        let size = group_size(outputs);
        let mut order = Vec::new();
        order.try_reserve_exact(coefficients.len())?;
        for first in (0..outputs).step_by(size) {
            for input in coefficients.chunks_exact(outputs) {
                order.extend_from_slice(&input[first..outputs.min(first + size)]);
            }
        }
        let prepared = match kernel {
            Kernel::GfniAvx512 | Kernel::GfniAvx2 => {
                Prepared::Bits(collect(order.iter().map(|&c| field::bit_matrix(c)))?)
            }
            Kernel::Avx2 | Kernel::Neon => {
                Prepared::Nibbles(collect(order.iter().map(|&c| field::nibbles(c)))?)
            }
            Kernel::Portable => Prepared::Plain(order),
        };
        Ok(Table { inputs, outputs, kernel, prepared })
    }

    /// Input blocks.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Output blocks.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// What it was prepared for.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Fills `outputs` from `inputs`, overwriting what is there.
    ///
    /// # Panics
    /// When the number of inputs or outputs is not the table's, or they differ in length.
    pub fn multiply(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) {
        assert!(inputs.len() == self.inputs && outputs.len() == self.outputs, "number of blocks");
        let len = outputs[0].len();
        assert!(
            inputs.iter().all(|b| b.len() == len) && outputs.iter().all(|b| b.len() == len),
            "block lengths"
        );
        let size = group_size(self.outputs);
        if size == self.outputs {
            return self.pass(0, inputs, outputs, 0, len);
        }
        for from in (0..len).step_by(TILE) {
            let to = len.min(from + TILE);
            for (n, group) in outputs.chunks_mut(size).enumerate() {
                self.pass(n * size * self.inputs, inputs, group, from, to);
            }
        }
    }

    /// Bytes `[from, to)` of a group of outputs whose coefficients begin at `first`. `multiply` checked all lengths.
    #[inline]
    fn pass(&self, first: usize, inputs: &[&[u8]], outputs: &mut [&mut [u8]], from: usize, to: usize) {
        let last = first + inputs.len() * outputs.len();
        let job = Pass { inputs, outputs, from, to };
        match (&self.prepared, self.kernel) {
            #[cfg(target_arch = "x86_64")]
            (Prepared::Bits(bits), Kernel::GfniAvx512) => gfni::pass_avx512(&bits[first..last], job),
            #[cfg(target_arch = "x86_64")]
            (Prepared::Bits(bits), _) => gfni::pass_avx2(&bits[first..last], job),
            #[cfg(target_arch = "x86_64")]
            (Prepared::Nibbles(nibbles), Kernel::Avx2) => avx2::pass(&nibbles[first..last], job),
            #[cfg(target_arch = "aarch64")]
            (Prepared::Nibbles(nibbles), Kernel::Neon) => neon::pass(&nibbles[first..last], job),
            (Prepared::Plain(plain), _) => portable::pass(&plain[first..last], job),
            #[allow(unreachable_patterns, reason = "each machine has its own set")]
            _ => unreachable!("prepared for a kernel of this processor"),
        }
    }
}

/// One pass: all inputs, at most [`GROUP`] outputs, bytes `[from, to)`. Only [`Table::multiply`] makes one, and all
/// blocks reach at least to `to`.
struct Pass<'p, 'i, 'o> {
    inputs: &'p [&'i [u8]],
    outputs: &'p mut [&'o mut [u8]],
    from: usize,
    to: usize,
}

/// Outputs per pass: as few passes as possible, as equal as possible.
fn group_size(outputs: usize) -> usize {
    outputs.div_ceil(outputs.div_ceil(GROUP))
}

#[cfg(test)]
mod tests;
