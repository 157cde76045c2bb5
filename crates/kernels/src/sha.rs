//! SHA-1, SHA-256 and SHA-512, block by block: one message, or up to 16 messages side by side.
//!
//! One message goes through a well-kept crate, which knows the processor's hash instructions; SHA-512 of one message has
//! faster ways of its own (`mixed.rs`, `scalar.rs`). Several messages lie in [`Lanes`], word by word, and go through vector registers that hold one word of each:
//!
//! | kernel | SHA-1 | SHA-256 | SHA-512 |
//! |---|---|---|---|
//! | `avx512.rs` | 16 messages | 16 | 8 |
//! | `avx2.rs` | 8 | 8 | 4 |
//! | `ni.rs` (hash instructions) | 1 of one block | 2, 1 of one block | |
//! | one by one | 1 | 1 | 1 |
//!
//! Which one is taken depends on the processor and on how many messages there are ([`Algorithm::choose`]).

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod rounds;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod constants;
mod lanes;
mod launch;
#[cfg(target_arch = "x86_64")]
mod mixed;
#[cfg(target_arch = "x86_64")]
mod ni;
#[cfg(target_arch = "x86_64")]
mod scalar;

use constants::{H1, H256, H512, PADDING512};
pub use lanes::Lanes;

/// Most messages side by side.
pub const LANES: usize = 16;

/// A way to take messages through blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Vector registers of 512 bits.
    Avx512,
    /// Vector registers of 256 bits.
    Avx2,
    /// Two messages through the hash instructions.
    Pair,
    /// One message after the other.
    Single,
}

impl Kernel {
    /// All.
    pub const ALL: [Kernel; 4] = [Kernel::Avx512, Kernel::Avx2, Kernel::Pair, Kernel::Single];

    /// Can this processor run it?
    #[inline]
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Kernel::Avx512 => {
                std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512bw")
            }
            Kernel::Avx2 => std::is_x86_feature_detected!("avx2"),
            Kernel::Pair => has_hash_instructions(),
            Kernel::Single => true,
        }
        #[cfg(not(target_arch = "x86_64"))]
        matches!(self, Kernel::Single)
    }
}

/// Has the processor instructions for SHA-1 and SHA-256, which make one message fast?
#[inline]
fn has_hash_instructions() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("sha")
        && std::is_x86_feature_detected!("ssse3")
        && std::is_x86_feature_detected!("sse4.1");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// A word of a hash function's state.
pub trait Word: Copy + Default + PartialEq + core::fmt::Debug + Send + Sync + 'static {
    /// To the widest word.
    fn widen(self) -> u64;
    /// Back from it.
    fn narrow(wide: u64) -> Self;
    /// Appends it, highest byte first.
    fn put(self, into: &mut [u8]);
}

macro_rules! word {
    ($t:ty) => {
        impl Word for $t {
            #[inline(always)]
            fn widen(self) -> u64 {
                self.into()
            }
            #[inline(always)]
            fn narrow(wide: u64) -> $t {
                wide as $t
            }
            #[inline(always)]
            fn put(self, into: &mut [u8]) {
                into.copy_from_slice(&self.to_be_bytes()[..into.len()]);
            }
        }
    };
}
word!(u32);
word!(u64);

/// A hash function of the family. Words of the state that it does not have (SHA-1: the last three) stay as they are.
pub trait Algorithm: Sized + 'static {
    /// Its word.
    type Word: Word;
    /// Bytes of a block.
    const BLOCK: usize;
    /// Bytes of the digest.
    const DIGEST: usize;
    /// Bytes at the end of the last block that tell the length of the message in bits.
    const LENGTH: usize;
    /// The state before the first block.
    const START: [Self::Word; 8];

    /// Takes one message's state through the whole blocks of `data`.
    fn blocks(state: &mut [Self::Word; 8], data: &[u8]);

    /// Hashes a whole message. `digest` has [`Algorithm::DIGEST`] bytes.
    ///
    /// # Panics
    /// When it has not.
    fn digest(message: &[u8], digest: &mut [u8]);

    /// The best kernel for the next of `left` messages that wait.
    fn choose(left: usize) -> Kernel;

    /// How many messages a kernel takes at once; 0: there is no such kernel for this function.
    fn width(kernel: Kernel) -> usize;

    /// Takes the lanes from `at` on through `data`: whole blocks, of one length, for at most as many lanes as the kernel
    /// takes at once. Kernels may spoil the lanes behind those, up to their width.
    #[doc(hidden)]
    fn launch(kernel: Kernel, words: &mut [[Self::Word; LANES]; 8], at: usize, data: &[&[u8]]);

    /// Takes `count` lanes from `at` on through the padding behind a message of one block. As [`Algorithm::launch`].
    #[doc(hidden)]
    fn launch_padding(kernel: Kernel, words: &mut [[Self::Word; LANES]; 8], at: usize, count: usize);
}

/// The digest of a state, into its first [`Algorithm::DIGEST`] bytes of place.
#[inline(always)]
pub fn put<A: Algorithm>(state: &[A::Word; 8], place: &mut [u8]) {
    for (word, place) in state.iter().zip(place.chunks_exact_mut(size_of::<A::Word>())) {
        word.put(place);
    }
}

/// Pads the end of a message of `total` bytes, whose last `filled` bytes are in `tail`, with zeros behind them. Returns
/// the length of the whole blocks this makes.
///
/// # Panics
/// When `tail` is too short for them.
#[inline(always)]
pub fn pad<A: Algorithm>(tail: &mut [u8], filled: usize, total: u64) -> usize {
    let end = (filled + 1 + A::LENGTH).next_multiple_of(A::BLOCK);
    tail[filled] = 0x80;
    tail[end - 8..end].copy_from_slice(&(total << 3).to_be_bytes());
    end
}

/// SHA-1.
#[derive(Clone, Copy, Debug)]
pub struct Sha1;
/// SHA-256.
#[derive(Clone, Copy, Debug)]
pub struct Sha256;
/// SHA-512.
#[derive(Clone, Copy, Debug)]
pub struct Sha512;

impl Algorithm for Sha1 {
    type Word = u32;
    const BLOCK: usize = 64;
    const DIGEST: usize = 20;
    const LENGTH: usize = 8;
    const START: [u32; 8] = H1;

    #[inline]
    fn blocks(state: &mut [u32; 8], data: &[u8]) {
        if let Some(five) = state.first_chunk_mut() {
            sha1::block_api::compress(five, data.as_chunks().0);
        }
    }

    #[inline(always)]
    fn digest(message: &[u8], digest: &mut [u8]) {
        let Ok(place) = <&mut [u8; Self::DIGEST]>::try_from(digest) else {
            panic!("the digest has another length")
        };
        let hashed = message.try_into().is_ok_and(|block| launch::one_block1(block, &mut *place));
        if !hashed {
            launch::digest::<Sha1>(message, place);
        }
    }

    fn choose(left: usize) -> Kernel {
        let hash = has_hash_instructions();
        launch::choose(left, if hash { 5 } else { 3 }, if hash { 4 } else { 2 }, false)
    }

    fn width(kernel: Kernel) -> usize {
        match kernel {
            Kernel::Avx512 => 16,
            Kernel::Avx2 => 8,
            Kernel::Pair => 0,
            Kernel::Single => 1,
        }
    }

    fn launch(kernel: Kernel, words: &mut [[u32; LANES]; 8], at: usize, data: &[&[u8]]) {
        launch::sha1(kernel, words, at, data);
    }

    fn launch_padding(kernel: Kernel, words: &mut [[u32; LANES]; 8], at: usize, count: usize) {
        launch::padding1(kernel, words, at, count);
    }
}

impl Algorithm for Sha256 {
    type Word = u32;
    const BLOCK: usize = 64;
    const DIGEST: usize = 32;
    const LENGTH: usize = 8;
    const START: [u32; 8] = H256;

    #[inline]
    fn blocks(state: &mut [u32; 8], data: &[u8]) {
        sha2::block_api::compress256(state, data.as_chunks().0);
    }

    #[inline(always)]
    fn digest(message: &[u8], digest: &mut [u8]) {
        let Ok(place) = <&mut [u8; Self::DIGEST]>::try_from(digest) else {
            panic!("the digest has another length")
        };
        let hashed = message.try_into().is_ok_and(|block| launch::one_block256(block, &mut *place));
        if !hashed {
            launch::digest::<Sha256>(message, place);
        }
    }

    fn choose(left: usize) -> Kernel {
        let hash = has_hash_instructions();
        launch::choose(left, if hash { 15 } else { 3 }, if hash { LANES + 1 } else { 2 }, hash)
    }

    fn width(kernel: Kernel) -> usize {
        match kernel {
            Kernel::Avx512 => 16,
            Kernel::Avx2 => 8,
            Kernel::Pair => 2,
            Kernel::Single => 1,
        }
    }

    fn launch(kernel: Kernel, words: &mut [[u32; LANES]; 8], at: usize, data: &[&[u8]]) {
        launch::sha256(kernel, words, at, data);
    }

    fn launch_padding(kernel: Kernel, words: &mut [[u32; LANES]; 8], at: usize, count: usize) {
        launch::padding256(kernel, words, at, count);
    }
}

impl Algorithm for Sha512 {
    type Word = u64;
    const BLOCK: usize = 128;
    const DIGEST: usize = 64;
    const LENGTH: usize = 16;
    const START: [u64; 8] = H512;

    #[inline]
    fn blocks(state: &mut [u64; 8], data: &[u8]) {
        launch::one_sha512(state, data.as_chunks().0);
    }

    #[inline]
    fn digest(message: &[u8], digest: &mut [u8]) {
        launch::digest::<Sha512>(message, digest);
    }

    fn choose(left: usize) -> Kernel {
        launch::choose(left, 3, 3, false)
    }

    fn width(kernel: Kernel) -> usize {
        match kernel {
            Kernel::Avx512 => 8,
            Kernel::Avx2 => 4,
            Kernel::Pair => 0,
            Kernel::Single => 1,
        }
    }

    fn launch(kernel: Kernel, words: &mut [[u64; LANES]; 8], at: usize, data: &[&[u8]]) {
        launch::sha512(kernel, words, at, data);
    }

    fn launch_padding(kernel: Kernel, words: &mut [[u64; LANES]; 8], at: usize, count: usize) {
        launch::sha512(kernel, words, at, &[&PADDING512[..]; LANES][..count]);
    }
}

#[cfg(test)]
mod tests;
