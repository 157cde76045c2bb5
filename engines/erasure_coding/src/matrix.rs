//! Coding matrices, and what is derived from them for recovery and update.

use core::fmt;
use softdpu_kernels::gf256::{self, Table};
use softdpu_status::{Code, Error, Result};
use std::collections::TryReserveError;
use std::sync::Arc;

/// A matrix of coefficients over GF(2^8) (polynomial x^8 + x^4 + x^3 + x^2 + 1) that turns input blocks into output
/// blocks: byte `b` of output `j` is the sum over all inputs `i` of `coefficient(i, j)` times byte `b` of input `i`.
///
/// Cheap to clone; one matrix serves any number of tasks, contexts and threads.
///
/// ```
/// use softdpu_erasure_coding::Matrix;
/// // Six data blocks, three redundancy blocks; data block 2 and the second redundancy block (6 + 1) are lost.
/// let coding = Matrix::cauchy(6, 3)?;
/// let recovery = coding.recover(&[2, 7])?;
/// // It takes the first six blocks that are left (0, 1, 3, 4, 5, and redundancy block 0), and gives the two.
/// assert_eq!((recovery.inputs(), recovery.outputs()), (6, 2));
/// # Ok::<(), softdpu_status::Error>(())
/// ```
#[derive(Clone)]
pub struct Matrix(Arc<Inner>);

struct Inner {
    /// Data and redundancy blocks of the coding matrix it is or comes from.
    data: usize,
    rdnc: usize,
    /// Is it one itself?
    coding: bool,
    /// The one for input `i` and output `j` is at `i * outputs + j`.
    coefficients: Vec<u8>,
    table: Table,
}

fn no_memory(_: TryReserveError) -> Error {
    Error::new(Code::NoMemory, "no memory for a matrix")
}

#[cold]
fn refuse<T>(what: &'static str, line: fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: "softdpu::erasure_coding", "{line}");
    Err(Error::new(Code::InvalidValue, what))
}

/// Elements of the field, which every block of a code needs one of.
const FIELD: usize = 256;

fn check_counts(data: usize, rdnc: usize) -> Result<()> {
    // Both below the field's size before they are added.
    if data > 0 && rdnc > 0 && data < FIELD && rdnc < FIELD && data + rdnc <= FIELD {
        return Ok(());
    }
    refuse(
        "numbers of blocks out of range",
        format_args!(
            "coding matrix of {data} data and {rdnc} redundancy blocks: each at least 1, together at most {FIELD}"
        ),
    )
}

/// Strictly ascending, below `end`, and at least one.
fn check_indices(what: &str, indices: &[u32], end: usize) -> Result<()> {
    if indices.is_empty() {
        return refuse("no index", format_args!("{what}: no index given"));
    }
    if let Some(pair) = indices.windows(2).find(|pair| pair[0] >= pair[1]) {
        return refuse(
            "indices do not ascend",
            format_args!("{what}: index {} stands behind {}, indices must ascend", pair[1], pair[0]),
        );
    }
    match indices.last() {
        Some(&last) if last as usize >= end => {
            refuse("index out of range", format_args!("{what}: index {last}, allowed 0 to {}", end - 1))
        }
        _ => Ok(()),
    }
}

impl Matrix {
    fn new(data: usize, rdnc: usize, coding: bool, outputs: usize, coefficients: Vec<u8>) -> Result<Matrix> {
        let table = Table::new(outputs, &coefficients).map_err(no_memory)?;
        Ok(Matrix(Arc::new(Inner { data, rdnc, coding, coefficients, table })))
    }

    fn coding(data: usize, rdnc: usize, coefficient: impl Fn(usize, usize) -> u8) -> Result<Matrix> {
        check_counts(data, rdnc)?;
        let mut coefficients = zeros(data * rdnc)?;
        for (at, c) in coefficients.iter_mut().enumerate() {
            *c = coefficient(at / rdnc, at % rdnc);
        }
        Matrix::new(data, rdnc, true, rdnc, coefficients)
    }

    /// The Cauchy matrix: coefficient `1 / (i + (data + j))`, where `+` is XOR. Any loss of at most `rdnc` blocks can be
    /// recovered.
    ///
    /// # Errors
    /// InvalidValue: a count of 0, or more than 256 blocks in all. NoMemory.
    pub fn cauchy(data: usize, rdnc: usize) -> Result<Matrix> {
        Matrix::coding(data, rdnc, |i, j| gf256::inverse((i ^ (data + j)) as u8).unwrap_or(0))
    }

    /// The Vandermonde matrix: coefficient `(i + 1)` to the power `j`, so that the first redundancy block is the XOR of
    /// the data blocks. With many blocks some losses cannot be recovered.
    ///
    /// # Errors
    /// As [`Matrix::cauchy`].
    pub fn vandermonde(data: usize, rdnc: usize) -> Result<Matrix> {
        Matrix::coding(data, rdnc, |i, j| gf256::power((i + 1) as u8, j))
    }

    /// The program's own coding matrix. The coefficient of data block `i` and redundancy block `j` is byte
    /// `i * rdnc + j`.
    ///
    /// # Errors
    /// As [`Matrix::cauchy`]; also InvalidValue when there are not exactly `data * rdnc` coefficients.
    pub fn raw(data: usize, rdnc: usize, coefficients: &[u8]) -> Result<Matrix> {
        check_counts(data, rdnc)?;
        if coefficients.len() != data * rdnc {
            return refuse(
                "wrong number of coefficients",
                format_args!(
                    "{} coefficients for {data} data and {rdnc} redundancy blocks",
                    coefficients.len()
                ),
            );
        }
        Matrix::coding(data, rdnc, |i, j| coefficients[i * rdnc + j])
    }

    fn require_coding(&self, what: &str) -> Result<&Inner> {
        if self.0.coding {
            return Ok(&self.0);
        }
        refuse(
            "not a coding matrix",
            format_args!("{what}: the matrix is derived from a coding matrix itself; give that one"),
        )
    }

    /// The matrix that computes new redundancy after the data blocks `updated` (ascending) changed. Inputs: for each of
    /// them the old block, then the new one; behind these the old redundancy blocks. Outputs: the new ones.
    ///
    /// # Errors
    /// InvalidValue: not a coding matrix; no index, not ascending, or no data block's. NoMemory.
    pub fn update(&self, updated: &[u32]) -> Result<Matrix> {
        let Inner { data, rdnc, coefficients, .. } = self.require_coding("update matrix")?;
        check_indices("update matrix", updated, *data)?;
        let mut all = zeros((2 * updated.len() + rdnc) * rdnc)?;
        let (changes, kept) = all.split_at_mut(2 * updated.len() * rdnc);
        for (pair, &i) in changes.chunks_exact_mut(2 * rdnc).zip(updated) {
            let row = &coefficients[i as usize * rdnc..][..*rdnc];
            pair[..*rdnc].copy_from_slice(row);
            pair[*rdnc..].copy_from_slice(row);
        }
        kept.iter_mut().step_by(rdnc + 1).for_each(|c| *c = 1);
        Matrix::new(*data, *rdnc, false, *rdnc, all)
    }

    /// The matrix that computes the blocks `missing` (ascending; redundancy block `j` is number `data + j`). Inputs: the
    /// first `data` blocks, by number, that are not missing. Outputs: the missing ones.
    ///
    /// # Errors
    /// InvalidValue: not a coding matrix; no index, not ascending, out of range, more than there are redundancy blocks;
    /// the blocks that are left do not determine the missing ones. NoMemory.
    pub fn recover(&self, missing: &[u32]) -> Result<Matrix> {
        let inner = self.require_coding("recover matrix")?;
        let (data, rdnc) = (inner.data, inner.rdnc);
        check_indices("recover matrix", missing, data + rdnc)?;
        if missing.len() > rdnc {
            return refuse(
                "more blocks missing than there is redundancy",
                format_args!("recover matrix: {} blocks missing, {rdnc} redundancy blocks", missing.len()),
            );
        }
        Matrix::new(data, rdnc, false, missing.len(), recovery(inner, missing)?)
    }

    /// Input blocks.
    pub fn inputs(&self) -> usize {
        self.0.table.inputs()
    }

    /// Output blocks.
    pub fn outputs(&self) -> usize {
        self.0.table.outputs()
    }

    /// The coefficient of an input in an output; `None` when there is no such block.
    pub fn coefficient(&self, input: usize, output: usize) -> Option<u8> {
        let outputs = self.outputs();
        (output < outputs).then(|| self.0.coefficients.get(input * outputs + output).copied()).flatten()
    }

    /// Data and redundancy blocks of the coding matrix it is, or was derived from.
    pub(crate) fn origin(&self) -> (usize, usize) {
        (self.0.data, self.0.rdnc)
    }

    pub(crate) fn table(&self) -> &Table {
        &self.0.table
    }
}

impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Matrix({} inputs, {} outputs, {})",
            self.inputs(),
            self.outputs(),
            self.0.table.kernel().name()
        )
    }
}

impl PartialEq for Matrix {
    fn eq(&self, other: &Matrix) -> bool {
        self.outputs() == other.outputs() && self.0.coefficients == other.0.coefficients
    }
}

impl Eq for Matrix {}

fn zeros(n: usize) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    all.try_reserve_exact(n).map_err(no_memory)?;
    all.resize(n, 0);
    Ok(all)
}

/// Coefficients of the inputs (survivors) in the missing blocks.
///
/// With `L` the lost data blocks and `R` as many of the redundancy blocks that are left, each block of `R` is a known
/// sum over surviving data plus `B` times the lost data, `B` being the coefficients of `L` in `R`. So only `B`, which is
/// as small as the loss, has to be inverted.
fn recovery(inner: &Inner, missing: &[u32]) -> Result<Vec<u8>> {
    let (data, rdnc, outputs) = (inner.data, inner.rdnc, missing.len());
    let coefficient = |i: usize, j: usize| inner.coefficients[i * rdnc + j];
    let is_missing = |index: usize| missing.binary_search(&(index as u32)).is_ok();
    let lost: Vec<usize> = missing.iter().map(|&i| i as usize).filter(|&i| i < data).collect();
    let kept: Vec<usize> = (0..data).filter(|&i| !is_missing(i)).collect();
    let used: Vec<usize> = (0..rdnc).filter(|&j| !is_missing(data + j)).take(lost.len()).collect();
    let Some(inverse) = invert(lost.len(), |row, column| coefficient(lost[column], used[row]))? else {
        return refuse(
            "the remaining blocks do not determine the missing ones",
            format_args!(
                "recover matrix: missing {missing:?} of {data} data and {rdnc} redundancy blocks: the survivors form a singular matrix"
            ),
        );
    };
    // Each lost data block as a sum over the survivors: kept data first, then the used redundancy.
    let sum =
        |terms: &mut dyn Iterator<Item = (u8, u8)>| terms.fold(0, |s, (a, b)| s ^ gf256::multiply(a, b));
    let mut rows = zeros(lost.len() * data)?;
    for (l, row) in rows.chunks_exact_mut(data).enumerate() {
        let weights = &inverse[l * lost.len()..][..lost.len()];
        let (of_kept, of_used) = row.split_at_mut(kept.len());
        for (c, &i) in of_kept.iter_mut().zip(&kept) {
            *c = sum(&mut weights.iter().zip(&used).map(|(&w, &j)| (w, coefficient(i, j))));
        }
        of_used.copy_from_slice(weights);
    }
    let mut all = zeros(data * outputs)?;
    let mut lost_rows = rows.chunks_exact(data);
    for (output, &index) in missing.iter().enumerate() {
        if (index as usize) < data {
            let row = lost_rows.next().unwrap_or(&[]);
            row.iter().enumerate().for_each(|(input, &c)| all[input * outputs + output] = c);
            continue;
        }
        // A lost redundancy block: its own sum over the data, lost data replaced by their sums.
        let j = index as usize - data;
        for input in 0..data {
            let own = kept.get(input).map_or(0, |&i| coefficient(i, j));
            let through =
                sum(&mut lost.iter().enumerate().map(|(l, &i)| (coefficient(i, j), rows[l * data + input])));
            all[input * outputs + output] = own ^ through;
        }
    }
    Ok(all)
}

/// The inverse of an `n` by `n` matrix, row by row; `None` for a singular one.
fn invert(n: usize, element: impl Fn(usize, usize) -> u8) -> Result<Option<Vec<u8>>> {
    if n == 0 {
        return Ok(Some(Vec::new()));
    }
    // The matrix, and beside it what becomes its inverse.
    let mut work = zeros(2 * n * n)?;
    for (r, row) in work.chunks_exact_mut(2 * n).enumerate() {
        for (c, e) in row[..n].iter_mut().enumerate() {
            *e = element(r, c);
        }
        row[n + r] = 1;
    }
    for pivot in 0..n {
        let Some(from) = (pivot..n).find(|&r| work[r * 2 * n + pivot] != 0) else { return Ok(None) };
        if from != pivot {
            let (above, below) = work.split_at_mut(from * 2 * n);
            above[pivot * 2 * n..][..2 * n].swap_with_slice(&mut below[..2 * n]);
        }
        let mut row = work[pivot * 2 * n..][..2 * n].to_vec();
        let scale = gf256::inverse(row[pivot]).unwrap_or(1);
        row.iter_mut().for_each(|e| *e = gf256::multiply(*e, scale));
        for (r, other) in work.chunks_exact_mut(2 * n).enumerate() {
            let factor = other[pivot];
            if r == pivot {
                other.copy_from_slice(&row);
            } else if factor != 0 {
                other.iter_mut().zip(&row).for_each(|(e, p)| *e ^= gf256::multiply(factor, *p));
            }
        }
    }
    let mut inverse = zeros(n * n)?;
    for (to, row) in inverse.chunks_exact_mut(n).zip(work.chunks_exact(2 * n)) {
        to.copy_from_slice(&row[n..]);
    }
    Ok(Some(inverse))
}

#[cfg(test)]
#[path = "matrix_tests.rs"]
mod tests;
