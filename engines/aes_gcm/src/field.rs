//! The one piece of field arithmetic that aws-lc does not offer: which vector stands for an empty one.
//!
//! Blocks are polynomials over GF(2), bit 0 (the highest of the first byte) being the coefficient of x^0, modulo
//! x^128 + x^7 + x^2 + x + 1. No branch and no index depends on their bits.

const POLYNOMIAL: u128 = 0xe1 << 120;

fn times(a: u128, b: u128) -> u128 {
    let (mut product, mut shifted) = (0, b);
    for i in (0..128).rev() {
        product ^= shifted & 0u128.wrapping_sub(a >> i & 1);
        shifted = (shifted >> 1) ^ (POLYNOMIAL & 0u128.wrapping_sub(shifted & 1));
    }
    product
}

/// a^(2^128 - 2); 0 for 0.
fn inverse(a: u128) -> u128 {
    let (mut power, mut product) = (a, ONE);
    for _ in 1..128 {
        power = times(power, power);
        product = times(product, power);
    }
    product
}

const ONE: u128 = 1 << 127;

/// The 16-byte vector whose first counter block is zero, as the empty vector's is: GHASH of no bytes is zero, and that of
/// a block V is (V * H + L) * H, where L says 128 bits. So V = L / H.
pub(crate) fn empty_iv(hash_key: &[u8; 16]) -> [u8; 16] {
    const LENGTH: u128 = 128;
    times(LENGTH, inverse(u128::from_be_bytes(*hash_key))).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_a_field() {
        let mut a = 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978u128;
        for _ in 0..50 {
            let b = times(a, a) ^ (a << 3) ^ 1;
            assert_eq!(times(a, ONE), a);
            assert_eq!(times(a, b), times(b, a));
            assert_eq!(times(a, inverse(a)), ONE);
            assert_eq!(times(times(a, b), inverse(b)), a);
            a = b;
        }
        assert_eq!(inverse(0), 0);
    }

    #[test]
    fn the_vector_hashes_to_zero() {
        let h = 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2eu128;
        let iv = u128::from_be_bytes(empty_iv(&h.to_be_bytes()));
        assert_eq!(times(times(iv, h) ^ 128, h), 0);
        assert_ne!(iv, 0);
    }
}
