//! The way into the kernels: what they demand is checked or made here.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls functions that need processor features, with pointers to blocks")
)]

use super::constants::PADDING_BYTES;
use super::{Algorithm, Kernel, LANES, Sha1, Sha256, Sha512, pad, put};

/// The kernel for `left` messages: vectors from so many messages on, pairs if there is such a kernel.
pub(super) fn choose(left: usize, avx512_from: usize, avx2_from: usize, pairs: bool) -> Kernel {
    if left >= avx512_from && Kernel::Avx512.is_available() {
        Kernel::Avx512
    } else if left >= avx2_from && Kernel::Avx2.is_available() {
        Kernel::Avx2
    } else if pairs && left > 1 && Kernel::Pair.is_available() {
        Kernel::Pair
    } else {
        Kernel::Single
    }
}

/// One message of SHA-512.
#[inline]
pub(super) fn one_sha512(state: &mut [u64; 8], blocks: &[[u8; 128]]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("bmi1") && std::is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has the features.
        unsafe {
            if std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512vl") {
                return super::mixed::sha512(state, blocks);
            }
            if std::is_x86_feature_detected!("avx2") {
                return super::scalar::sha512_avx2(state, blocks);
            }
        }
    }
    sha2::block_api::compress512(state, blocks);
}

/// See [`Algorithm::digest`].
#[inline]
pub(super) fn digest<A: Algorithm>(message: &[u8], digest: &mut [u8]) {
    assert_eq!(digest.len(), A::DIGEST, "the digest has another length");
    let mut state = A::START;
    // The last whole block goes together with the padding: one call for a message of one block.
    let (body, rest) = message.split_at(message.len().saturating_sub(1) / A::BLOCK * A::BLOCK);
    if !body.is_empty() {
        A::blocks(&mut state, body);
    }
    if rest.len() + 1 + A::LENGTH <= 128 {
        finish::<A, 128>(&mut state, rest, message.len());
    } else {
        finish::<A, 256>(&mut state, rest, message.len());
    }
    put::<A>(&state, digest);
}

/// Takes a message of `total` bytes through its last ones and their padding, which fit `N` bytes together.
#[inline(always)]
fn finish<A: Algorithm, const N: usize>(state: &mut [A::Word; 8], rest: &[u8], total: usize) {
    let mut tail = [0; N];
    tail[..rest.len()].copy_from_slice(rest);
    let end = pad::<A>(&mut tail, rest.len(), total as u64);
    A::blocks(state, &tail[..end]);
}

/// One pointer for each lane of the kernel; those without a message read along with the first.
#[cfg(target_arch = "x86_64")]
fn pointers<const N: usize>(data: &[&[u8]]) -> [*const u8; N] {
    assert!(!data.is_empty() && data.len() <= N);
    core::array::from_fn(|i| data.get(i).unwrap_or(&data[0]).as_ptr())
}

fn one_by_one<A: Algorithm>(words: &mut [[A::Word; LANES]; 8], at: usize, data: &[&[u8]]) {
    for (i, data) in data.iter().enumerate() {
        let mut state = core::array::from_fn(|q| words[q][at + i]);
        A::blocks(&mut state, data);
        for (row, word) in words.iter_mut().zip(state) {
            row[at + i] = word;
        }
    }
}

macro_rules! launch {
    ($name:ident, $algorithm:ident, $($pair:path)?) => {
        /// See [`Algorithm::launch`].
        pub(super) fn $name(
            kernel: Kernel,
            words: &mut [[<$algorithm as Algorithm>::Word; LANES]; 8],
            at: usize,
            data: &[&[u8]],
        ) {
            #[cfg(target_arch = "x86_64")]
            {
                let width = $algorithm::width(kernel);
                assert!(data.len() <= width && at + width <= LANES && kernel.is_available());
                let len = data.first().map_or(0, |d| d.len());
                assert!(data.iter().all(|d| d.len() == len));
                let blocks = len / $algorithm::BLOCK;
                if blocks == 0 {
                    return;
                }
                // SAFETY: the kernel is available; every pointer has `len` bytes, the lanes exist.
                unsafe {
                    match kernel {
                        Kernel::Avx512 => return super::avx512::$name(words, at, &pointers(data), blocks),
                        Kernel::Avx2 => return super::avx2::$name(words, at, &pointers(data), blocks),
                        $(Kernel::Pair => return $pair(words, at, &pointers(data), blocks),)?
                        _ => {}
                    }
                }
            }
            let _ = kernel;
            one_by_one::<$algorithm>(words, at, data);
        }
    };
}
launch!(sha1, Sha1,);
launch!(sha256, Sha256, super::ni::sha256);
launch!(sha512, Sha512,);

macro_rules! launch_padding {
    ($name:ident, $algorithm:ident, $vectors:ident) => {
        /// See [`Algorithm::launch_padding`].
        pub(super) fn $name(kernel: Kernel, words: &mut [[u32; LANES]; 8], at: usize, count: usize) {
            #[cfg(target_arch = "x86_64")]
            {
                let width = $algorithm::width(kernel);
                assert!(count <= width && at + width <= LANES && kernel.is_available());
                // SAFETY: the kernel is available, the lanes exist.
                unsafe {
                    match kernel {
                        Kernel::Avx512 => return super::avx512::$vectors(words, at),
                        Kernel::Avx2 => return super::avx2::$vectors(words, at),
                        _ => {}
                    }
                }
            }
            $algorithm::launch(kernel, words, at, &[&PADDING_BYTES[..]; LANES][..count]);
        }
    };
}
launch_padding!(padding1, Sha1, sha1_padding);
launch_padding!(padding256, Sha256, sha256_padding);

/// Hashes a whole message of one block by the hash instructions. False: there are none.
macro_rules! launch_block {
    ($name:ident, $function:ident, $digest:literal) => {
        #[inline(always)]
        pub(super) fn $name(message: &[u8; 64], digest: &mut [u8; $digest]) -> bool {
            #[cfg(target_arch = "x86_64")]
            if super::has_hash_instructions() {
                // SAFETY: the processor has the instructions.
                unsafe { super::ni::$function(message, digest) };
                return true;
            }
            let _ = (message, digest);
            false
        }
    };
}
launch_block!(one_block1, sha1_of_block, 20);
launch_block!(one_block256, sha256_of_block, 32);
