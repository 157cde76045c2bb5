//! Published vectors, through the whole path of a task, both ways, with both tags.
//!
//! "Case n": test cases of McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", appendix B. "CAVP": the first
//! messages of NIST's validation suite (gcmEncryptExtIV128, gcmEncryptExtIV256).

mod common;

use common::{Bench, gcm::gcm};
use softdpu_aes_gcm::{Decrypt, Encrypt, Iv, Key, TagLen};
use softdpu_memory::Access;

struct Vector {
    name: &'static str,
    key: &'static str,
    iv: &'static str,
    aad: &'static str,
    plain: &'static str,
    cipher: &'static str,
    tag: &'static str,
}

const PLAIN: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                     1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
const PLAIN_60: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                        1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
const AAD: &str = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
const KEY_128: &str = "feffe9928665731c6d6a8f9467308308";
const KEY_256: &str = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
const IV: &str = "cafebabefacedbaddecaf888";
const IV_8: &str = "cafebabefacedbad";
const ZERO_12: &str = "000000000000000000000000";
const ZERO_16: &str = "00000000000000000000000000000000";
const ZERO_32: &str = "0000000000000000000000000000000000000000000000000000000000000000";

const VECTORS: &[Vector] = &[
    Vector {
        name: "Case 1",
        key: ZERO_16,
        iv: ZERO_12,
        aad: "",
        plain: "",
        cipher: "",
        tag: "58e2fccefa7e3061367f1d57a4e7455a",
    },
    Vector {
        name: "Case 2",
        key: ZERO_16,
        iv: ZERO_12,
        aad: "",
        plain: ZERO_16,
        cipher: "0388dace60b6a392f328c2b971b2fe78",
        tag: "ab6e47d42cec13bdf53a67b21257bddf",
    },
    Vector {
        name: "Case 3",
        key: KEY_128,
        iv: IV,
        aad: "",
        plain: PLAIN,
        cipher: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                 21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985",
        tag: "4d5c2af327cd64a62cf35abd2ba6fab4",
    },
    Vector {
        name: "Case 4",
        key: KEY_128,
        iv: IV,
        aad: AAD,
        plain: PLAIN_60,
        cipher: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                 21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
        tag: "5bc94fbc3221a5db94fae95ae7121a47",
    },
    Vector {
        name: "Case 5",
        key: KEY_128,
        iv: IV_8,
        aad: AAD,
        plain: PLAIN_60,
        cipher: "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c7423\
                 73806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598",
        tag: "3612d2e79e3b0785561be14aaca2fccb",
    },
    Vector {
        name: "Case 13",
        key: ZERO_32,
        iv: ZERO_12,
        aad: "",
        plain: "",
        cipher: "",
        tag: "530f8afbc74536b9a963b4f1c4cb738b",
    },
    Vector {
        name: "Case 14",
        key: ZERO_32,
        iv: ZERO_12,
        aad: "",
        plain: ZERO_16,
        cipher: "cea7403d4d606b6e074ec5d3baf39d18",
        tag: "d0d1c8a799996bf0265b98b5d48ab919",
    },
    Vector {
        name: "Case 15",
        key: KEY_256,
        iv: IV,
        aad: "",
        plain: PLAIN,
        cipher: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
                 8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad",
        tag: "b094dac5d93471bdec1a502270e3cc6c",
    },
    Vector {
        name: "Case 16",
        key: KEY_256,
        iv: IV,
        aad: AAD,
        plain: PLAIN_60,
        cipher: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
                 8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
        tag: "76fc6ece0f4e1768cddf8853bb2d551b",
    },
    Vector {
        name: "Case 17",
        key: KEY_256,
        iv: IV_8,
        aad: AAD,
        plain: PLAIN_60,
        cipher: "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0\
                 feb582d33934a4f0954cc2363bc73f7862ac430e64abe499f47c9b1f",
        tag: "3a337dbf46a792c45e454913fe2ea8f2",
    },
    Vector {
        name: "CAVP 128, count 0",
        key: "11754cd72aec309bf52f7687212e8957",
        iv: "3c819d9a9bed087615030b65",
        aad: "",
        plain: "",
        cipher: "",
        tag: "250327c674aaf477aef2675748cf6971",
    },
    Vector {
        name: "CAVP 256, count 0",
        key: "b52c505a37d78eda5dd34f20c22540ea1b58963cf8e5bf8ffa85f9f2492505b4",
        iv: "516c33929df5a3284ff463d7",
        aad: "",
        plain: "",
        cipher: "",
        tag: "bdc1ac884d332457a1d2664f168c76f0",
    },
];

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

#[test]
fn the_engine_agrees_with_published_vectors() {
    let mut bench = Bench::new(softdpu_board::threads());
    for v in VECTORS {
        let (raw, iv, aad, plain) = (hex(v.key), hex(v.iv), hex(v.aad), hex(v.plain));
        let (cipher, whole_tag) = (hex(v.cipher), hex(v.tag));
        for tag in [TagLen::Bits96, TagLen::Bits128] {
            let (key, iv) = (Key::new(&raw).unwrap(), Iv::new(&iv).unwrap());
            let memory = bench.memory(4096, Access::LOCAL_READ_WRITE);
            let mut src = memory.buf(0..1024).unwrap();
            let dst = memory.buf(1024..2048).unwrap();
            src.push_slice(&[&aad[..], &plain].concat()).unwrap();
            let aad_len = aad.len() as u32;
            let done = bench.run(Encrypt { src, dst, key: key.clone(), iv, aad_len, tag });
            let sealed = [&aad[..], &cipher, &whole_tag[..tag.len()]].concat();
            assert_eq!(done.task.dst.to_vec(), sealed, "{}, encrypt, {tag:?}", v.name);
            assert_eq!(done.result.unwrap() as usize, sealed.len(), "{}", v.name);

            let dst = memory.buf(2048..3072).unwrap();
            let done = bench.run(Decrypt { src: done.task.dst, dst, key, iv, aad_len, tag });
            assert_eq!(done.task.dst.to_vec(), [&aad[..], &plain].concat(), "{}, decrypt, {tag:?}", v.name);
            assert_eq!(done.result.unwrap() as usize, aad.len() + plain.len(), "{}", v.name);
        }
    }
}

/// What the other tests compare with.
#[test]
fn the_tests_own_gcm_agrees_with_published_vectors() {
    for v in VECTORS {
        let (out, tag) = gcm(&hex(v.key), &hex(v.iv), &hex(v.aad), &hex(v.plain), false);
        assert_eq!((out, tag.to_vec()), (hex(v.cipher), hex(v.tag)), "{}", v.name);
    }
}
