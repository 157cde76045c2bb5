//! Published results, and identities that any code over this field has to fulfil.

mod common;

use common::{Rig, product, times};
use softdpu_erasure_coding::{Create, GaloisMul, Matrix, Recover};

/// Rows `r^0 ... r^(n-1)`.
fn powers(rows: usize, n: usize) -> Vec<Vec<u8>> {
    let power = |r: usize, c: usize| (0..c).fold(1, |p, _| times(p, r as u8));
    (0..rows).map(|r| (0..n).map(|c| power(r, c)).collect()).collect()
}

/// By trying all elements; for the small matrices of this file.
fn inverse_of(element: u8) -> u8 {
    (1..=255).find(|&b| times(element, b) == 1).expect("not zero")
}

fn invert(mut m: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let n = m.len();
    for (r, row) in m.iter_mut().enumerate() {
        row.extend((0..n).map(|c| u8::from(r == c)));
    }
    for p in 0..n {
        let from = (p..n).find(|&r| m[r][p] != 0).expect("regular");
        m.swap(p, from);
        let scale = inverse_of(m[p][p]);
        m[p].iter_mut().for_each(|e| *e = times(*e, scale));
        for r in 0..n {
            let (factor, pivot) = (m[r][p], m[p].clone());
            if r != p {
                m[r].iter_mut().zip(pivot).for_each(|(e, x)| *e ^= times(factor, x));
            }
        }
    }
    m.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// The example of the Backblaze Reed-Solomon library ("testOneEncode", also in its Go port): five data and five parity
/// shards of two bytes; the matrix is a Vandermonde matrix times the inverse of its upper square.
#[test]
fn backblaze_one_encode() {
    let rows = powers(10, 5);
    let top = invert(rows[..5].to_vec());
    let sum = |j: usize, i: usize| (0..5).fold(0, |s, k| s ^ times(rows[5 + j][k], top[k][i]));
    let raw: Vec<u8> = (0..5).flat_map(|i| (0..5).map(move |j| (i, j))).map(|(i, j)| sum(j, i)).collect();
    let matrix = Matrix::raw(5, 5, &raw).unwrap();
    let fill = |pairs: [[u8; 2]; 5]| -> Vec<u8> { pairs.iter().flat_map(|pair| pair.repeat(32)).collect() };
    let mut rig = Rig::new();
    let data = rig.full(&fill([[0, 1], [4, 5], [2, 3], [6, 7], [8, 9]]));
    let done = rig.run(Create { matrix, data, rdnc: rig.empty(5 * 64) });
    assert_eq!(done.result, Ok(5 * 64));
    assert_eq!(done.task.rdnc.to_vec(), fill([[12, 13], [10, 11], [14, 15], [90, 91], [94, 95]]));
}

/// "The mathematics of RAID-6": P is the sum, Q the sum of powers of 2 times the data; two lost disks come back by its
/// formulas, which are written out here.
#[test]
fn raid6_two_data_disks() {
    let g: Vec<u8> = (0..6).map(|n| (0..n).fold(1, |p, _| times(p, 2))).collect();
    let raw: Vec<u8> = g.iter().flat_map(|&q| [1, q]).collect();
    let coding = Matrix::raw(6, 2, &raw).unwrap();
    let data: Vec<u8> = (0..6 * 128u32).map(|n| (n * n / 7 + n) as u8).collect();
    let mut rig = Rig::new();
    let src = rig.full(&data);
    let done = rig.run(Create { matrix: coding.clone(), data: src, rdnc: rig.empty(256) });
    let pq = done.task.rdnc.to_vec();
    let (x, y) = (1, 4);
    // A and B of the paper, and D_x = A (P + P_xy) + B (Q + Q_xy).
    let g_yx = g[y - x];
    let a = times(g_yx, inverse_of(g_yx ^ 1));
    let b = times(inverse_of(g[x]), inverse_of(g_yx ^ 1));
    let rest = |at: usize, weight: &dyn Fn(usize) -> u8| {
        (0..6).filter(|&i| i != x && i != y).fold(0, |s, i| s ^ times(weight(i), data[i * 128 + at]))
    };
    let by_paper: Vec<u8> = (0..128)
        .map(|at| times(a, pq[at] ^ rest(at, &|_| 1)) ^ times(b, pq[128 + at] ^ rest(at, &|i| g[i])))
        .collect();
    assert_eq!(by_paper, data[x * 128..][..128]);
    let left: Vec<u8> = [0, 2, 3, 5].iter().flat_map(|i| data[i * 128..][..128].to_vec()).chain(pq).collect();
    let matrix = coding.recover(&[x as u32, y as u32]).unwrap();
    let done = rig.run(Recover { matrix, available: rig.full(&left), recovered: rig.empty(256) });
    assert_eq!(done.task.recovered.to_vec(), [&data[x * 128..][..128], &data[y * 128..][..128]].concat());
}

/// The use of the storage programs: halves and their XOR; whichever is lost, the plain matrix gives it back, in a
/// recovery task too.
#[test]
fn a_column_of_ones_recovers_anything_by_itself() {
    let mut rig = Rig::new();
    let matrix = Matrix::vandermonde(2, 1).unwrap();
    let halves: Vec<u8> = (0..512u32).map(|n| (n * 7 / 3) as u8).collect();
    let done = rig.run(Create { matrix: matrix.clone(), data: rig.full(&halves), rdnc: rig.empty(256) });
    let xor = done.task.rdnc.to_vec();
    for (lost, left) in [(&halves[..256], &halves[256..]), (&halves[256..], &halves[..256])] {
        let available = rig.full(&[left, &xor].concat());
        let done = rig.run(Recover { matrix: matrix.clone(), available, recovered: rig.empty(256) });
        assert_eq!(done.task.recovered.to_vec(), lost);
    }
}

/// The bytes 1 and 2 times every factor: all of the multiplication table passes through the engine.
#[test]
fn the_whole_multiplication_table() {
    let mut rig = Rig::new();
    let src: Vec<u8> = (0..=255).collect();
    for factors in (0..=255u8).collect::<Vec<_>>().chunks(32) {
        let matrix = Matrix::raw(1, 32, factors).unwrap();
        let want = product(&matrix, &src);
        let done = rig.run(GaloisMul { matrix, src: rig.full(&src), dst: rig.empty(32 * 256) });
        assert_eq!(done.task.dst.to_vec(), want);
        assert_eq!(want[..256], (0..=255).map(|x| times(factors[0], x)).collect::<Vec<_>>());
    }
}
