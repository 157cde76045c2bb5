//! Internet checksums of frames: verifying those that arrive, filling in those that are sent.

use crate::headers::{Headers, L3, headers};

/// What is known about a checksum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Check {
    /// Nobody looked, or there is no such header, or it lies in other fragments.
    #[default]
    Unknown = 0,
    /// Right.
    Good = 1,
    /// Wrong.
    Bad = 2,
}

impl Check {
    const fn of(is_good: bool) -> Check {
        if is_good { Check::Good } else { Check::Bad }
    }
}

/// Words that are summed side by side, which the compiler does with vectors.
const LANES: usize = 8;

/// Sum of 16-bit words in network order, not yet folded; an odd last byte counts as the high half of a word.
///
/// Words of 32 bits are summed as they lie in memory and the sum is swapped: carries of a wider sum fold to the same, in
/// either order of bytes.
#[inline]
pub fn sum(bytes: &[u8]) -> u64 {
    let word = |at: &[u8]| u64::from(u32::from_ne_bytes([at[0], at[1], at[2], at[3]]));
    let mut total = 0;
    let mut chunks = bytes.chunks_exact(4 * LANES);
    if bytes.len() >= 4 * LANES {
        let mut lanes = [0u64; LANES];
        for chunk in &mut chunks {
            lanes.iter_mut().zip(chunk.chunks_exact(4)).for_each(|(lane, bytes)| *lane += word(bytes));
        }
        total = lanes.iter().sum();
    }
    let mut chunks = chunks.remainder().chunks_exact(4);
    for chunk in &mut chunks {
        total += word(chunk);
    }
    let rest = chunks.remainder();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    total += word(&last);
    u64::from(u16::from_be(fold(total)))
}

/// [`sum`] of a network header, which is short and mostly of one length.
#[inline(always)]
fn header_sum(header: &[u8]) -> u64 {
    let Ok(header) = <&[u8; 20]>::try_from(header) else { return sum(header) };
    let word = |at: usize| {
        u64::from(u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]))
    };
    word(0) + word(4) + word(8) + word(12) + word(16)
}

/// Folds a sum to 16 bits; the complement is what stands in a header.
#[inline]
pub const fn fold(mut sum: u64) -> u16 {
    sum = (sum & 0xffff_ffff) + (sum >> 32);
    sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum as u16
}

/// Sum of the header that TCP and UDP checksums cover besides their own bytes.
pub fn pseudo(frame: &[u8], found: &Headers, l4_len: usize) -> Option<u64> {
    let at = found.l3_at;
    let addresses = match found.l3 {
        L3::V4 => frame.get(at + 12..at + 20)?,
        L3::V6 => frame.get(at + 8..at + 40)?,
        L3::Other => return None,
    };
    Some(sum(addresses) + u64::from(found.protocol) + l4_len as u64)
}

/// Where the checksum of the transport header stands, for TCP and UDP.
fn l4_place(found: &Headers) -> Option<(usize, usize)> {
    let l4 = found.l4_at?;
    let (least, place) = match found.protocol {
        6 => (20, 16),
        17 => (8, 6),
        _ => return None,
    };
    (l4 + least <= found.end && !found.is_fragment).then_some((l4, l4 + place))
}

/// Checks the IPv4 header and the TCP or UDP checksum of a whole frame.
pub fn verify(frame: &[u8]) -> (Check, Check) {
    verify_with(frame, &headers(frame, frame.len()))
}

/// The same with headers that were found already.
pub fn verify_with(frame: &[u8], found: &Headers) -> (Check, Check) {
    let l3 = match (found.l3, v4_header(frame, found)) {
        (L3::V4, Some(header)) => Check::of(fold(header_sum(header)) == 0xffff),
        // It has no checksum; that it could be read is all there is to say.
        (L3::V6, _) => Check::Good,
        _ => Check::Unknown,
    };
    let l4 = l4_place(found).and_then(|(l4, place)| {
        // UDP over IPv4 may go without.
        if found.protocol == 17 && found.l3 == L3::V4 && frame.get(place..place + 2)? == [0, 0] {
            return None;
        }
        // Nobody can say whether the sum over all of a packet is right when a part of it is missing.
        if found.is_cut {
            return None;
        }
        let bytes = frame.get(l4..found.end)?;
        Some(Check::of(fold(sum(bytes) + pseudo(frame, found, bytes.len())?) == 0xffff))
    });
    (l3, l4.unwrap_or_default())
}

fn v4_header<'a>(frame: &'a [u8], found: &Headers) -> Option<&'a [u8]> {
    let at = found.l3_at;
    let size = usize::from(frame.get(at)? & 15) * 4;
    frame.get(at..at + size)
}

/// Writes the checksums into a frame: that of the IPv4 header, that of TCP or UDP. What is not there is left out.
pub fn fill(frame: &mut [u8], l3: bool, l4: bool) {
    let found = headers(frame, frame.len());
    if l3 && found.l3 == L3::V4 {
        let at = found.l3_at + 10;
        frame[at..at + 2].fill(0);
        let value = v4_header(frame, &found).map_or(0, |header| !fold(header_sum(header)));
        frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }
    if l4 && let Some((start, place)) = l4_place(&found) {
        frame[place..place + 2].fill(0);
        let len = found.end - start;
        let Some(pseudo) = pseudo(frame, &found, len) else { return };
        let value = !fold(sum(&frame[start..found.end]) + pseudo);
        // Zero says that there is none.
        let value = if value == 0 && found.protocol == 17 { 0xffff } else { value };
        frame[place..place + 2].copy_from_slice(&value.to_be_bytes());
    }
}
