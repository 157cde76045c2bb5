//! Where the headers of a frame lie. Made for any bytes whatsoever: what is not there, or does not fit, is not found.

/// Shortest frame: an Ethernet header.
pub const MIN_FRAME: usize = 14;
/// Bytes that are enough for every header that rules ask about, but for very long IPv6 extension headers.
pub const HEAD: usize = 128;

/// VLAN tags that are looked through.
const MOST_TAGS: usize = 2;
/// IPv6 extension headers that are looked through.
const MOST_EXTENSIONS: usize = 8;

/// Protocol of the network header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum L3 {
    /// Neither of the two, or cut off.
    #[default]
    Other,
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// What was found. Offsets count from the start of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Headers {
    /// Type of the payload, behind VLAN tags.
    pub ether_type: u16,
    /// Number of the outer VLAN.
    pub vlan: Option<u16>,
    /// Network protocol.
    pub l3: L3,
    /// Where the network header begins, or would begin.
    pub l3_at: usize,
    /// Number of the transport protocol, when there is a network header.
    pub protocol: u8,
    /// A piece of a larger packet.
    pub is_fragment: bool,
    /// A piece other than the first: it has no transport header.
    pub is_later_fragment: bool,
    /// Where the transport header begins, when one is there.
    pub l4_at: Option<usize>,
    /// End of the packet as the network header tells, within the frame; bytes behind it are padding.
    pub end: usize,
    /// The network header tells of more bytes than the frame has.
    pub is_cut: bool,
    /// Source and destination port of TCP, UDP and SCTP.
    pub ports: Option<(u16, u16)>,
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// Finds the headers in the first bytes of a frame of `len` bytes; [`HEAD`] bytes suffice.
#[inline]
pub fn headers(head: &[u8], len: usize) -> Headers {
    let mut found = Headers { end: len, ..Headers::default() };
    let mut at = 12;
    let Some(mut kind) = be16(head, at) else { return found };
    for _ in 0..MOST_TAGS {
        if kind != 0x8100 && kind != 0x88a8 {
            break;
        }
        let (Some(tag), Some(next)) = (be16(head, at + 2), be16(head, at + 4)) else { break };
        found.vlan = found.vlan.or(Some(tag & 0xfff));
        kind = next;
        at += 4;
    }
    found.ether_type = kind;
    found.l3_at = at + 2;
    match kind {
        0x0800 => v4(head, len, &mut found),
        0x86dd => v6(head, len, &mut found),
        _ => {}
    }
    if let Some(l4) = found.l4_at
        && matches!(found.protocol, 6 | 17 | 132)
        && let (Some(src), Some(dst)) = (be16(head, l4), be16(head, l4 + 2))
        && l4 + 4 <= found.end
    {
        found.ports = Some((src, dst));
    }
    found
}

#[inline]
fn v4(head: &[u8], len: usize, found: &mut Headers) {
    let at = found.l3_at;
    let Some(ip) = head.get(at..at + 20) else { return };
    let size = usize::from(ip[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    if ip[0] >> 4 != 4 || size < 20 || total < size || at + size > len {
        return;
    }
    let fragment = u16::from_be_bytes([ip[6], ip[7]]);
    found.l3 = L3::V4;
    found.protocol = ip[9];
    found.is_fragment = fragment & 0x3fff != 0;
    found.is_later_fragment = fragment & 0x1fff != 0;
    found.end = len.min(at + total);
    found.is_cut = at + total > len;
    if !found.is_later_fragment && at + size <= found.end {
        found.l4_at = Some(at + size);
    }
}

#[inline]
fn v6(head: &[u8], len: usize, found: &mut Headers) {
    let start = found.l3_at;
    let Some(ip) = head.get(start..start + 40) else { return };
    if ip[0] >> 4 != 6 {
        return;
    }
    found.l3 = L3::V6;
    let end = start + 40 + usize::from(u16::from_be_bytes([ip[4], ip[5]]));
    found.end = len.min(end);
    found.is_cut = end > len;
    let (mut next, mut at) = (ip[6], start + 40);
    for _ in 0..MOST_EXTENSIONS {
        let size = match next {
            // Hop by hop, routing, destination options.
            0 | 43 | 60 => head.get(at + 1).map(|&units| (usize::from(units) + 1) * 8),
            44 => Some(8),
            // Authentication.
            51 => head.get(at + 1).map(|&units| (usize::from(units) + 2) * 4),
            _ => break,
        };
        let (Some(size), Some(&after)) = (size, head.get(at)) else {
            found.protocol = next;
            return;
        };
        if next == 44 {
            let Some(word) = be16(head, at + 2) else { return };
            found.is_fragment = word & 0xfff9 != 0;
            found.is_later_fragment = word & 0xfff8 != 0;
        }
        (next, at) = (after, at + size);
        if found.is_later_fragment {
            break;
        }
    }
    found.protocol = next;
    if !found.is_later_fragment && at <= found.end && !matches!(next, 0 | 43 | 44 | 51 | 60) {
        found.l4_at = Some(at);
    }
}

#[cfg(test)]
#[path = "headers_tests.rs"]
pub(crate) mod tests;
