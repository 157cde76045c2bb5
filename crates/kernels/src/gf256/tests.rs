//! All kernels against the definition, and the field against its axioms.

use super::*;

/// The product by long multiplication: nothing in common with the tables.
fn long(a: u8, b: u8) -> u8 {
    let wide = (0..8).filter(|n| b >> n & 1 == 1).fold(0u16, |sum, n| sum ^ (u16::from(a) << n));
    (8..16).rev().fold(wide, |w, n| if w >> n & 1 == 1 { w ^ (POLYNOMIAL << (n - 8)) } else { w }) as u8
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

#[test]
fn products_inverses_and_powers() {
    for a in 0..=255 {
        for b in 0..=255 {
            assert_eq!(multiply(a, b), long(a, b), "{a} * {b}");
        }
        match inverse(a) {
            Some(i) => assert_eq!(long(a, i), 1, "1 / {a}"),
            None => assert_eq!(a, 0),
        }
        let mut p = 1;
        for n in 0..520 {
            assert_eq!(power(a, n), p, "{a} ^ {n}");
            p = long(p, a);
        }
    }
}

#[test]
fn published_values_of_the_field() {
    // Reed-Solomon texts that use this polynomial give these: x^8 = 0x1d, and 1/2 and 1/3 as in the worked example of
    // a Cauchy matrix for two data blocks and one redundancy block.
    assert_eq!(power(2, 8), 0x1d);
    assert_eq!((inverse(2), inverse(3)), (Some(0x8e), Some(0xf4)));
}

#[test]
fn prepared_forms_mean_the_same_factor() {
    for c in 0..=255 {
        let (matrix, table) = (field::bit_matrix(c), field::nibbles(c));
        for x in 0..=255u8 {
            let bit = |r: u32| (((matrix >> (8 * (7 - r))) as u8 & x).count_ones() & 1) as u8;
            assert_eq!((0..8).fold(0, |y, r| y | bit(r) << r), long(c, x));
            assert_eq!(table[usize::from(x & 15)] ^ table[16 + usize::from(x >> 4)], long(c, x));
        }
    }
}

/// Runs one shape with one kernel on blocks that lie misaligned between guard bytes, and compares with the definition.
fn check(kernel: Kernel, inputs: usize, outputs: usize, len: usize, random: &mut Random) {
    let coefficients = random.bytes(inputs * outputs);
    let table = Table::with(kernel, outputs, &coefficients).unwrap();
    assert_eq!((table.kernel(), table.inputs(), table.outputs()), (kernel, inputs, outputs));
    let shift = |random: &mut Random| random.below(70);
    let sources: Vec<_> = (0..inputs).map(|_| (shift(random), random.bytes(len + 140))).collect();
    let blocks: Vec<&[u8]> = sources.iter().map(|(s, b)| &b[*s..s + len]).collect();
    let mut targets: Vec<_> = (0..outputs).map(|_| (shift(random), random.bytes(len + 140))).collect();
    let before = targets.clone();
    let mut results: Vec<&mut [u8]> = targets.iter_mut().map(|(s, b)| &mut b[*s..*s + len]).collect();
    table.multiply(&blocks, &mut results);
    for (j, ((s, after), (_, before))) in targets.iter().zip(&before).enumerate() {
        for at in 0..len {
            let want = (0..inputs).fold(0, |sum, i| sum ^ long(coefficients[i * outputs + j], blocks[i][at]));
            assert_eq!(
                after[s + at],
                want,
                "{kernel:?} {inputs}x{outputs}, {len} bytes: output {j}, byte {at}"
            );
        }
        assert_eq!((&after[..*s], &after[s + len..]), (&before[..*s], &before[s + len..]), "guard bytes");
    }
}

#[test]
fn every_kernel_gives_what_the_definition_says() {
    let mut random = Random(0x5eed);
    let kernels: Vec<_> = Kernel::ALL.into_iter().filter(|k| k.is_available()).collect();
    assert!(kernels.contains(&Kernel::Portable) && kernels.contains(&Kernel::best()));
    for &kernel in &kernels {
        for outputs in 1..=14 {
            for inputs in [1, 2, 3, 8] {
                for len in [0, 1, 63, 64, 65, 128, 200] {
                    check(kernel, inputs, outputs, len, &mut random);
                }
            }
        }
        for (inputs, outputs, len) in
            [(128, 32, 320), (255, 1, 64), (1, 255, 64), (5, 7, 3 * TILE + 31), (288, 32, 64)]
        {
            check(kernel, inputs, outputs, len, &mut random);
        }
        for _ in 0..50 {
            let (inputs, outputs, len) = (1 + random.below(20), 1 + random.below(20), random.below(3000));
            check(kernel, inputs, outputs, len, &mut random);
        }
    }
}

#[test]
fn groups_are_few_and_even() {
    for outputs in 1..300 {
        let size = group_size(outputs);
        assert!(size <= GROUP && outputs.div_ceil(size) == outputs.div_ceil(GROUP), "{outputs}: {size}");
    }
}

#[test]
#[should_panic(expected = "block lengths")]
fn blocks_of_different_lengths_are_refused() {
    let table = Table::new(1, &[1, 1]).unwrap();
    table.multiply(&[&[0; 64], &[0; 63]], &mut [&mut [0; 64]]);
}

#[test]
#[should_panic(expected = "number of blocks")]
fn a_missing_block_is_refused() {
    Table::new(1, &[1, 1]).unwrap().multiply(&[&[0; 64]], &mut [&mut [0; 64]]);
}
