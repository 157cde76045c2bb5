//! Frames of every kind, and bytes that are none.

use super::*;
use crate::checksum::{Check, fill, fold, sum, verify};
use crate::sample;

/// A UDP datagram with the given payload, and with its checksums.
pub(crate) fn udp4(src: [u8; 4], dst: [u8; 4], ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let mut frame = sample::datagram(src, dst, ports, payload);
    fill(&mut frame, true, true);
    frame
}

#[test]
fn headers_of_a_datagram_are_found_with_and_without_tags() {
    let plain = udp4([10, 0, 0, 1], [10, 0, 0, 2], (1000, 53), b"hello");
    let found = headers(&plain, plain.len());
    assert_eq!((found.l3, found.l3_at, found.l4_at, found.protocol), (L3::V4, 14, Some(34), 17));
    assert_eq!((found.ports, found.end, found.vlan), (Some((1000, 53)), plain.len(), None));
    let mut tagged = plain[..12].to_vec();
    tagged.extend([0x88, 0xa8, 0x20, 0x07, 0x81, 0x00, 0x00, 0x64]);
    tagged.extend(&plain[12..]);
    let found = headers(&tagged, tagged.len());
    assert_eq!((found.vlan, found.l3_at, found.ports), (Some(7), 22, Some((1000, 53))));
    // Padding of short frames is no part of the packet.
    let mut padded = plain.clone();
    padded.resize(60, 0);
    assert_eq!(headers(&padded, 60).end, plain.len());
}

#[test]
fn later_fragments_have_no_ports() {
    let mut frame = udp4([10, 0, 0, 1], [10, 0, 0, 2], (1, 2), &[0; 64]);
    frame[20] = 0x20;
    let first = headers(&frame, frame.len());
    assert!(first.is_fragment && !first.is_later_fragment && first.ports == Some((1, 2)));
    frame[21] = 1;
    let later = headers(&frame, frame.len());
    assert!(later.is_later_fragment && later.ports.is_none() && later.l4_at.is_none());
}

#[test]
fn ipv6_extension_headers_are_looked_through() {
    let mut frame = vec![0; 12];
    frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 36, 0, 64]);
    frame.extend([0; 32]);
    frame.extend([60, 0, 0, 0, 0, 0, 0, 0]); // hop by hop, then destination options
    frame.extend([44, 0, 0, 0, 0, 0, 0, 0]); // then a fragment header that says "all of it"
    frame.extend([6, 0, 0, 0, 0, 0, 0, 0]);
    frame.extend([0, 80, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let found = headers(&frame, frame.len());
    assert_eq!((found.l3, found.protocol, found.l4_at), (L3::V6, 6, Some(78)));
    assert_eq!(found.ports, Some((80, 1024)));
    // Cut off in the middle of the chain.
    let cut = headers(&frame[..56], 56);
    assert!(cut.l4_at.is_none() && cut.ports.is_none());
}

#[test]
fn checksums_are_filled_in_and_verified() {
    for payload in [&b""[..], b"a", b"ab", b"abc", &[0xff; 1001]] {
        let mut frame = udp4([192, 0, 2, 1], [192, 0, 2, 9], (7, 9), payload);
        assert_eq!(verify(&frame), (Check::Good, Check::Good), "{} bytes", payload.len());
        frame[24] ^= 1;
        assert_eq!(verify(&frame), (Check::Bad, Check::Good), "the pseudo header has no hop count");
        frame[24] ^= 1;
        frame[35] ^= 4;
        assert_eq!(verify(&frame), (Check::Good, Check::Bad));
        frame[35] ^= 4;
        frame[40..42].fill(0);
        assert_eq!(verify(&frame), (Check::Good, Check::Unknown), "UDP without checksum");
    }
    let mut cut = udp4([192, 0, 2, 1], [192, 0, 2, 9], (7, 9), b"the whole of it");
    cut.pop();
    fill(&mut cut, true, true);
    assert_eq!(verify(&cut), (Check::Good, Check::Unknown), "a part of the packet is missing");
    assert_eq!(verify(&[0; 60]), (Check::Unknown, Check::Unknown));
    // A header known from textbooks: its checksum is b861.
    let mut known = vec![0; 12];
    known.extend([
        8, 0, 0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7,
    ]);
    known.resize(14 + 0x73, 0);
    fill(&mut known, true, false);
    assert_eq!(known[24..26], [0xb8, 0x61]);
}

#[test]
fn any_bytes_whatsoever_are_taken() {
    let mut seed = 7u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        seed >> 33
    };
    let whole = udp4([1, 2, 3, 4], [5, 6, 7, 8], (1, 2), &[9; 100]);
    for round in 0..20_000 {
        let mut frame = whole[..next() as usize % (whole.len() + 1)].to_vec();
        for _ in 0..next() % 8 {
            if !frame.is_empty() {
                let at = next() as usize % frame.len().min(60);
                frame[at] = next() as u8;
            }
        }
        if round % 3 == 0 && frame.len() > 14 {
            frame[12..14].copy_from_slice(&[0x86, 0xdd]);
            frame[14] = 0x60 | frame[14] & 15;
        }
        let found = headers(&frame, frame.len());
        assert!(found.end <= frame.len() && found.l4_at.is_none_or(|at| at <= found.end), "{frame:?}");
        let before = verify(&frame);
        fill(&mut frame, true, true);
        if before.0 != Check::Unknown {
            assert_eq!(verify(&frame).0, Check::Good, "{frame:?}");
        }
        // Only the start is known of a longer frame.
        let _ = headers(&frame, frame.len() + 1000);
    }
}

/// The sum as RFC 1071 has it, word by word.
fn plain_sum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    let mut sum = bytes.chunks(2).fold(0u32, |sum, pair| sum + word(pair));
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[test]
fn sums_are_those_of_the_plain_way_at_every_length() {
    let mut random = sample::Random::new(3);
    for len in (0..200).chain([1459, 1460, 1461, 9000, 9001]) {
        let bytes = random.bytes(len);
        assert_eq!(fold(sum(&bytes)), plain_sum(&bytes), "{len} bytes");
        assert_eq!(fold(sum(&vec![0xff; len])), plain_sum(&vec![0xff; len]), "{len} bytes of ones");
    }
    for value in [0, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000, u64::MAX] {
        let mut plain = value;
        while plain >> 16 != 0 {
            plain = (plain & 0xffff) + (plain >> 16);
        }
        assert_eq!(u64::from(fold(value)), plain, "{value:#x}");
    }
}
