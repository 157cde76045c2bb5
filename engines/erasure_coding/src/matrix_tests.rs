//! Matrices against their definitions, and recovery against a plain inversion.

use super::*;
use softdpu_kernels::gf256::{inverse, multiply, power};

fn refused<T: fmt::Debug>(result: Result<T>) {
    assert_eq!(result.unwrap_err().code(), Code::InvalidValue);
}

/// Rows of the generator: the identity, then the redundancy.
fn generator(coding: &Matrix) -> Vec<Vec<u8>> {
    let (data, rdnc) = coding.origin();
    let mut rows: Vec<Vec<u8>> = (0..data).map(|r| (0..data).map(|c| u8::from(r == c)).collect()).collect();
    rows.extend((0..rdnc).map(|j| (0..data).map(|i| coding.coefficient(i, j).unwrap()).collect::<Vec<u8>>()));
    rows
}

/// What recovery has to be, by inverting the survivors' rows as a whole.
fn plain_recovery(coding: &Matrix, missing: &[u32]) -> Option<Vec<u8>> {
    let (data, _) = coding.origin();
    let rows = generator(coding);
    let survivors: Vec<&Vec<u8>> =
        (0u32..).zip(&rows).filter(|(n, _)| !missing.contains(n)).map(|(_, r)| r).take(data).collect();
    let inverse = invert(data, |r, c| survivors[r][c]).unwrap()?;
    let mut all = vec![0; data * missing.len()];
    for (output, &index) in missing.iter().enumerate() {
        for input in 0..data {
            let terms = (0..data).map(|d| multiply(rows[index as usize][d], inverse[d * data + input]));
            all[input * missing.len() + output] = terms.fold(0, |s, t| s ^ t);
        }
    }
    Some(all)
}

#[test]
fn cauchy_is_one_over_the_sum() {
    // The worked case: two data blocks, one redundancy block.
    assert_eq!(Matrix::cauchy(2, 1).unwrap().0.coefficients, [0x8e, 0xf4]);
    let m = Matrix::cauchy(128, 128).unwrap();
    for i in 0..128 {
        for j in 0..128 {
            assert_eq!(m.coefficient(i, j), inverse((i ^ (128 + j)) as u8));
        }
    }
    assert_eq!((m.coefficient(128, 0), m.coefficient(0, 128)), (None, None));
}

#[test]
fn vandermonde_is_powers_and_begins_with_the_sum() {
    let m = Matrix::vandermonde(10, 4).unwrap();
    assert!((0..10).all(|i| m.coefficient(i, 0) == Some(1) && m.coefficient(i, 1) == Some(i as u8 + 1)));
    assert!((0..10).all(|i| m.coefficient(i, 3) == Some(power(i as u8 + 1, 3))));
    assert_eq!(Matrix::vandermonde(2, 1).unwrap(), Matrix::raw(2, 1, &[1, 1]).unwrap());
}

#[test]
fn raw_is_data_major() {
    let m = Matrix::raw(3, 2, &[1, 2, 3, 4, 5, 6]).unwrap();
    assert_eq!((m.coefficient(0, 1), m.coefficient(1, 0), m.coefficient(2, 1)), (Some(2), Some(3), Some(6)));
    assert_eq!((m.inputs(), m.outputs()), (3, 2));
}

#[test]
fn counts_that_fit_no_code_are_refused() {
    for (data, rdnc) in
        [(0, 1), (1, 0), (0, 0), (255, 2), (256, 1), (1, 256), (usize::MAX, 2), (2, usize::MAX)]
    {
        refused(Matrix::cauchy(data, rdnc));
        refused(Matrix::vandermonde(data, rdnc));
        refused(Matrix::raw(data, rdnc, &[1; 600]));
    }
    refused(Matrix::raw(2, 2, &[1; 3]));
    refused(Matrix::raw(2, 2, &[1; 5]));
    assert!(
        Matrix::cauchy(255, 1).is_ok()
            && Matrix::cauchy(1, 255).is_ok()
            && Matrix::vandermonde(255, 1).is_ok()
    );
}

#[test]
fn indices_that_make_no_sense_are_refused() {
    let m = Matrix::cauchy(4, 2).unwrap();
    for bad in [&[][..], &[1, 1], &[2, 1], &[6], &[0, 1, 2], &[u32::MAX]] {
        refused(m.recover(bad));
    }
    for bad in [&[][..], &[1, 1], &[3, 0], &[4], &[u32::MAX]] {
        refused(m.update(bad));
    }
    for derived in [m.recover(&[0]).unwrap(), m.update(&[0]).unwrap()] {
        refused(derived.recover(&[0]));
        refused(derived.update(&[0]));
    }
}

#[test]
fn recovery_is_what_inverting_everything_gives() {
    for coding in
        [Matrix::cauchy(5, 3).unwrap(), Matrix::vandermonde(6, 3).unwrap(), Matrix::cauchy(1, 4).unwrap()]
    {
        let (data, rdnc) = coding.origin();
        for set in 1u32..1 << (data + rdnc) {
            let missing: Vec<u32> = (0..(data + rdnc) as u32).filter(|n| set >> n & 1 == 1).collect();
            if missing.len() > rdnc {
                continue;
            }
            match plain_recovery(&coding, &missing) {
                Some(want) => {
                    assert_eq!(coding.recover(&missing).unwrap().0.coefficients, want, "{missing:?}")
                }
                None => refused(coding.recover(&missing)),
            }
        }
    }
}

#[test]
fn large_codes_recover_too() {
    let coding = Matrix::cauchy(128, 32).unwrap();
    let missing: Vec<u32> = (0..32).map(|n| n * 5).collect();
    assert_eq!(coding.recover(&missing).unwrap().0.coefficients, plain_recovery(&coding, &missing).unwrap());
}

#[test]
fn sets_of_a_vandermonde_matrix_that_determine_nothing_are_refused() {
    // Columns 0 and 3 of rows i and i' are 1, (i+1)^3 and 1, (i'+1)^3: singular where the cubes agree, which they do
    // because the field's group has 255 = 3 * 85 elements.
    let coding = Matrix::vandermonde(100, 4).unwrap();
    let cube = |i: u32| power(i as u8 + 1, 3);
    let (a, b) =
        (0..100).flat_map(|a| (a + 1..100).map(move |b| (a, b))).find(|&(a, b)| cube(a) == cube(b)).unwrap();
    refused(coding.recover(&[a, b, 101, 102]));
    assert!(coding.recover(&[a, b]).is_ok());
}

#[test]
fn update_takes_old_and_new_and_keeps_the_rest() {
    let coding = Matrix::cauchy(5, 3).unwrap();
    let update = coding.update(&[1, 4]).unwrap();
    assert_eq!((update.inputs(), update.outputs()), (7, 3));
    for j in 0..3 {
        for (u, i) in [1, 4].into_iter().enumerate() {
            assert_eq!(update.coefficient(2 * u, j), coding.coefficient(i, j));
            assert_eq!(update.coefficient(2 * u + 1, j), coding.coefficient(i, j));
        }
        for k in 0..3 {
            assert_eq!(update.coefficient(4 + k, j), Some(u8::from(k == j)));
        }
    }
}
