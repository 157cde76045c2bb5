//! AES-GCM of short messages, where calling a general library costs more than the work itself.
//!
//! One variant, for processors with vector AES and vector carry-less multiplication on 512 bits; [`GcmKey::new`] answers
//! `None` elsewhere, and callers have a library to fall back on. All instructions take the same time whatever the data.
//! Vectors (nonces) of twelve bytes only.

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(test)]
mod tests;

#[cfg(not(target_arch = "x86_64"))]
mod avx512 {
    //! Nothing for this processor.
    use super::{Text, Way};

    pub(super) enum Schedule {}

    impl Schedule {
        pub(super) fn new(_: &[u8]) -> Option<Schedule> {
            None
        }

        pub(super) fn run(&self, _: Way, _: &[u8; 12], _: &[u8], _: Text<'_>) -> [u8; 16] {
            match *self {}
        }
    }
}

/// A key of 16 or 32 bytes with everything that follows from it. Wiped when it goes.
pub struct GcmKey(avx512::Schedule);

impl core::fmt::Debug for GcmKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("GcmKey")
    }
}

/// A message's text: from one place to another, or where it is.
#[derive(Debug)]
pub enum Text<'a> {
    /// Source and destination, equally long.
    Apart(&'a [u8], &'a mut [u8]),
    /// In place.
    Same(&'a mut [u8]),
}

/// Which way text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Plain text comes in.
    Encrypt,
    /// Cipher text comes in.
    Decrypt,
}

impl GcmKey {
    /// `None` for a key of another length, or on a processor without the instructions.
    pub fn new(raw: &[u8]) -> Option<GcmKey> {
        avx512::Schedule::new(raw).map(GcmKey)
    }

    /// Puts text through the cipher and gives the whole tag of the message: to be appended when encrypting, to be
    /// compared (in constant time) when decrypting. At most 64 GiB less 32 bytes, as the standard has it.
    ///
    /// # Panics
    /// When source and destination are not equally long.
    #[inline]
    pub fn run(&self, way: Way, iv: &[u8; 12], aad: &[u8], text: Text<'_>) -> [u8; 16] {
        if let Text::Apart(from, to) = &text {
            assert_eq!(from.len(), to.len(), "source and destination are equally long");
        }
        self.0.run(way, iv, aad, text)
    }
}
