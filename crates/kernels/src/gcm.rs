//! AES-GCM of short messages, where calling a general library costs more than the work itself, and its two halves apart,
//! which no library offers.
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

        pub(super) fn tag(&self, _: &[u8; 12], _: &[u8], _: &[u8]) -> [u8; 16] {
            match *self {}
        }

        pub(super) fn stream(&self, _: &[u8; 12], _: u32, _: &[u8], _: &mut [u8]) {
            match *self {}
        }

        pub(super) fn absorb(&self, _: u128, _: &[u8]) -> u128 {
            match *self {}
        }

        pub(super) fn conclude(&self, _: u128, _: &[u8; 12], _: (usize, usize)) -> [u8; 16] {
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

/// The tag of a message of which a part was seen.
#[derive(Clone)]
pub struct TagUnderWay {
    hash: u128,
    aad: usize,
    text: usize,
}

impl core::fmt::Debug for TagUnderWay {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("TagUnderWay")
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

    /// The whole tag of a message whose cipher text is `text`: what [`GcmKey::run`] gives, without the text.
    pub fn tag(&self, iv: &[u8; 12], aad: &[u8], text: &[u8]) -> [u8; 16] {
        self.0.tag(iv, aad, text)
    }

    /// Begins the tag of a message whose cipher text comes in parts: [`GcmKey::tag`] is the same in one go.
    pub fn begin_tag(&self, aad: &[u8]) -> TagUnderWay {
        TagUnderWay { hash: self.0.absorb(0, aad), aad: aad.len(), text: 0 }
    }

    /// The next part of its cipher text.
    ///
    /// # Panics
    /// When a part before it was no multiple of 16 bytes.
    pub fn extend_tag(&self, tag: &mut TagUnderWay, text: &[u8]) {
        assert!(tag.text.is_multiple_of(16), "only the last part may end within a block");
        tag.hash = self.0.absorb(tag.hash, text);
        tag.text += text.len();
    }

    /// The whole tag.
    pub fn end_tag(&self, tag: &TagUnderWay, iv: &[u8; 12]) -> [u8; 16] {
        self.0.conclude(tag.hash, iv, (tag.aad, tag.text))
    }

    /// Puts a part of a message's text through the cipher, from block `block` (16 bytes each) of the text on. Nothing
    /// vouches for it: find the tag right first.
    ///
    /// # Panics
    /// When source and destination are not equally long.
    pub fn stream(&self, iv: &[u8; 12], block: u32, from: &[u8], to: &mut [u8]) {
        assert_eq!(from.len(), to.len(), "source and destination are equally long");
        self.0.stream(iv, block, from, to);
    }
}
