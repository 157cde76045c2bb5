//! AES-GCM as the standard (NIST SP 800-38D) writes it down, bit by bit, over the `aes` crate's block cipher: slow, and
//! nothing in common with the engine's.

use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockEncrypt as _, KeyInit as _};

#[expect(clippy::large_enum_variant, reason = "one at a time")]
enum Aes {
    Short(aes::Aes128),
    Long(aes::Aes256),
}

impl Aes {
    fn block(&self, block: u128) -> u128 {
        let mut block = GenericArray::from(block.to_be_bytes());
        match self {
            Aes::Short(aes) => aes.encrypt_block(&mut block),
            Aes::Long(aes) => aes.encrypt_block(&mut block),
        }
        u128::from_be_bytes(block.into())
    }
}

/// A table of H times every power of x: 128 shifts are done once.
struct Hash([u128; 128]);

impl Hash {
    fn new(h: u128) -> Hash {
        let mut v = h;
        Hash(std::array::from_fn(|_| {
            let here = v;
            v = (v >> 1) ^ if v & 1 == 1 { 0xe1 << 120 } else { 0 };
            here
        }))
    }

    fn times(&self, x: u128) -> u128 {
        (0..128).filter(|i| x >> (127 - i) & 1 == 1).fold(0, |z, i| z ^ self.0[i])
    }

    fn update(&self, mut y: u128, bytes: &[u8]) -> u128 {
        for chunk in bytes.chunks(16) {
            let mut block = [0; 16];
            block[..chunk.len()].copy_from_slice(chunk);
            y = self.times(y ^ u128::from_be_bytes(block));
        }
        y
    }
}

/// Cipher text (or plain text, with `decrypt`) and the whole tag.
pub fn gcm(key: &[u8], iv: &[u8], aad: &[u8], text: &[u8], decrypt: bool) -> (Vec<u8>, [u8; 16]) {
    let aes = match key.len() {
        16 => Aes::Short(aes::Aes128::new_from_slice(key).unwrap()),
        _ => Aes::Long(aes::Aes256::new_from_slice(key).unwrap()),
    };
    let hash = Hash::new(aes.block(0));
    let first = if iv.len() == 12 {
        let mut block = [0; 16];
        block[..12].copy_from_slice(iv);
        u128::from_be_bytes(block) | 1
    } else {
        hash.times(hash.update(0, iv) ^ (iv.len() as u128 * 8))
    };
    let mut counter = first;
    let mut out = text.to_vec();
    for chunk in out.chunks_mut(16) {
        counter = (counter & !0xffff_ffff) | u128::from((counter as u32).wrapping_add(1));
        let stream = aes.block(counter).to_be_bytes();
        chunk.iter_mut().zip(stream).for_each(|(byte, mask)| *byte ^= mask);
    }
    let cipher_text = if decrypt { text } else { &out };
    let lengths = (aad.len() as u128 * 8) << 64 | (text.len() as u128 * 8);
    let y = hash.update(hash.update(0, aad), cipher_text);
    let tag = hash.times(y ^ lengths) ^ aes.block(first);
    (out, tag.to_be_bytes())
}
