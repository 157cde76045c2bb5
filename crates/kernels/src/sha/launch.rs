//! The way into the kernels: what they demand is checked or made here.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls functions that need processor features, with pointers to blocks")
)]

use super::{Algorithm, Kernel, LANES, Sha1, Sha256, Sha512};

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
                return super::scalar::sha512_avx512(state, blocks);
            }
            if std::is_x86_feature_detected!("avx2") {
                return super::scalar::sha512_avx2(state, blocks);
            }
        }
    }
    sha2::block_api::compress512(state, blocks);
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
