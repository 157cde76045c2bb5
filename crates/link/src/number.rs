//! Numbers made of names. They tell names apart; they are no protection against somebody who wants two to be equal.

/// FNV-1a with 64 bits. Each step is a bijection, so any change of a single byte changes the result.
pub fn checksum64(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, &b| (sum ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// FNV-1a with 128 bits: names of files, where two equal ones would be taken for the same.
pub(crate) fn checksum128(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |sum, &b| {
        (sum ^ u128::from(b)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values published with the algorithm.
    #[test]
    fn known_values() {
        assert_eq!(checksum64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(checksum64(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(checksum64(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(checksum128(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(checksum128(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
