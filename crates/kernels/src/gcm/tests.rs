//! Against the standard, written down bit by bit.

use super::{GcmKey, Text, Way};

#[path = "../../../../engines/aes_gcm/tests/common/gcm.rs"]
#[allow(unreachable_pub, reason = "the engine's tests use it, too")]
mod standard;

fn bytes(n: usize, seed: usize) -> Vec<u8> {
    (0..n).map(|i| ((i * 167 + seed * 91) ^ (i >> 3)) as u8).collect()
}

fn check(raw: &[u8], aad: &[u8], plain: &[u8]) {
    let Some(key) = GcmKey::new(raw) else { return };
    let iv: [u8; 12] = bytes(12, plain.len() + aad.len()).try_into().unwrap();
    let (cipher, tag) = standard::gcm(raw, &iv, aad, plain, false);
    let what =
        format!("{} bytes of key, {} of additional data, {} of text", raw.len(), aad.len(), plain.len());
    for (way, from, to) in [(Way::Encrypt, plain, &cipher[..]), (Way::Decrypt, &cipher, plain)] {
        // A neighbour at each end that must stay.
        let mut out = vec![0xa5; to.len() + 2];
        let n = out.len();
        assert_eq!(key.run(way, &iv, aad, Text::Apart(from, &mut out[1..n - 1])), tag, "{what}, {way:?}");
        assert!(out[1..n - 1] == *to && out[0] == 0xa5 && out[n - 1] == 0xa5, "{what}, {way:?}");
        if way == Way::Decrypt {
            assert_eq!(key.tag(&iv, aad, from), tag, "{what}, the tag alone");
        }
        // In two parts, cut between two blocks.
        let cut = from.len() / 2 / 16 * 16;
        if way == Way::Decrypt {
            let mut under_way = key.begin_tag(aad);
            key.extend_tag(&mut under_way, &from[..cut]);
            key.extend_tag(&mut under_way, &from[cut..]);
            assert_eq!(key.end_tag(&under_way, &iv), tag, "{what}, the tag in parts");
        }
        out[1..n - 1].fill(0);
        key.stream(&iv, 0, &from[..cut], &mut out[1..cut + 1]);
        key.stream(&iv, (cut / 16) as u32, &from[cut..], &mut out[cut + 1..n - 1]);
        assert!(out[1..n - 1] == *to && out[0] == 0xa5 && out[n - 1] == 0xa5, "{what}, {way:?}, stream");
        let mut both = from.to_vec();
        assert_eq!(key.run(way, &iv, aad, Text::Same(&mut both)), tag, "{what}, {way:?}, in place");
        assert!(both == to, "{what}, {way:?}, in place");
    }
}

#[test]
fn every_length_around_vectors() {
    for key in [16, 32] {
        let raw = bytes(key, 3);
        for len in (0..700).chain([1023, 1024, 1025, 4096, 5000, 16384, 20001]) {
            check(&raw, &bytes(len % 37, 1), &bytes(len, 2));
        }
        for aad in 0..300 {
            check(&raw, &bytes(aad, 5), &bytes(aad % 90, 6));
        }
    }
}

/// The tests above are about nothing where the processor lacks the instructions, and only there.
#[test]
#[cfg(target_arch = "x86_64")]
fn keys_are_there_where_they_can_be() {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let wanted = ["aes", "pclmulqdq", "bmi2", "avx512f", "avx512bw", "avx512vl", "vaes", "vpclmulqdq"];
    let has = |flag: &&str| flags.lines().any(|l| l.starts_with("flags") && l.split(' ').any(|f| f == *flag));
    if wanted.iter().all(has) {
        assert!(GcmKey::new(&[1; 16]).is_some() && GcmKey::new(&[1; 32]).is_some());
    }
}

#[test]
fn other_keys_are_none() {
    for len in [0, 15, 17, 24, 31, 33] {
        assert!(GcmKey::new(&bytes(len, 0)).is_none());
    }
}
