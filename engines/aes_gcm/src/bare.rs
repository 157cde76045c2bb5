//! aws-lc alone, without engine and without the kernel for short messages: what benches compare with.

use crate::ffi::{Cipher, Text};
use crate::key::Iv;
use softdpu_status::Result;

/// A key of aws-lc.
#[derive(Debug)]
pub struct Bare(Cipher);

impl Bare {
    /// From 16 or 32 bytes.
    ///
    /// # Errors
    /// As [`Key::new`](crate::Key::new).
    pub fn new(raw: &[u8]) -> Result<Bare> {
        Cipher::new(raw).map(|cipher| Bare(cipher.without_kernel()))
    }

    /// Encrypts `from` to `to`, which is as long and a tag of 16 bytes longer.
    ///
    /// # Errors
    /// Unexpected, from aws-lc.
    ///
    /// # Panics
    /// When `to` is shorter than `from`.
    pub fn seal(&self, iv: Iv, from: &[u8], to: &mut [u8]) -> Result<()> {
        let (text, tag) = to.split_at_mut(from.len());
        self.0.seal(&iv, &[], Text::Apart(from, text), tag)
    }

    /// Decrypts `from`, which ends with a tag of 16 bytes; false when it is not authentic.
    ///
    /// # Panics
    /// When `from` is shorter than `to`.
    pub fn open(&self, iv: Iv, from: &[u8], to: &mut [u8]) -> bool {
        let (text, tag) = from.split_at(to.len());
        self.0.open(&iv, &[], Text::Apart(text, to), tag)
    }
}
