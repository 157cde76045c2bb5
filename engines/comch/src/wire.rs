//! What processes say to each other over the line, besides descriptors: short packets of numbers.
//!
//! `magic, version, kind, count of numbers` (16 bits each but the magic), the numbers (32 bits each), and for some kinds
//! bytes behind them. All of it comes from a peer: what does not fit is no packet.

use std::fmt::Write as _;

const MAGIC: u32 = 0x686d_4353;
const VERSION: u16 = 1;
const HEAD: usize = 10;

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(crate) enum Kind {
    /// A client asks: most bytes of a message, messages that may wait at its end.
    Hello = 1,
    /// The server may take it: the same two of its own, seat, seats of the board, word of its doorbell. Descriptors: page
    /// of the doorbell, its event, the board.
    Welcome = 2,
    /// The server refuses: why ([`Refusal`]).
    Refused = 3,
    /// The client comes: bytes of the rings up and down, word of its doorbell. Descriptors: the segment, page of the
    /// doorbell, its event.
    Join = 4,
    /// Somebody wants to know for whom the server of a name is. No numbers.
    Probe = 5,
    /// For whom: bytes of text.
    Probed = 6,
    /// A consumer is about to be announced: its number, receives, most immediate bytes, word of its doorbell; behind them
    /// the descriptor of its memory. Descriptors: segment of its receives, page of the doorbell, its event.
    Parcel = 7,
}

/// Why a server refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    Full = 1,
    Closed = 2,
}

impl Refusal {
    pub(crate) fn text(number: u32) -> &'static str {
        match number {
            1 => "it has as many clients as it takes",
            2 => "it is being stopped",
            _ => "it gave no reason that this process knows",
        }
    }
}

/// A packet.
pub(crate) fn packet(kind: Kind, numbers: &[u32], tail: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + 4 * numbers.len() + tail.len());
    bytes.extend_from_slice(&MAGIC.to_le_bytes());
    for half in [VERSION, kind as u16, numbers.len() as u16] {
        bytes.extend_from_slice(&half.to_le_bytes());
    }
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(tail);
    bytes
}

/// The kind of a packet, if it is one of ours.
pub(crate) fn kind_of(bytes: &[u8]) -> Option<u16> {
    let (magic, rest) = bytes.split_first_chunk()?;
    let (version, rest) = rest.split_first_chunk()?;
    let (kind, _) = rest.split_first_chunk()?;
    let ours = u32::from_le_bytes(*magic) == MAGIC && u16::from_le_bytes(*version) == VERSION;
    ours.then_some(u16::from_le_bytes(*kind))
}

/// The numbers of a packet of this kind, and what is behind them.
pub(crate) fn read<const N: usize>(kind: Kind, bytes: &[u8]) -> Option<([u32; N], &[u8])> {
    if kind_of(bytes)? != kind as u16 {
        return None;
    }
    let (count, mut rest) = bytes.get(8..)?.split_first_chunk()?;
    if usize::from(u16::from_le_bytes(*count)) != N {
        return None;
    }
    let mut numbers = [0; N];
    for number in &mut numbers {
        let (four, behind) = rest.split_first_chunk()?;
        *number = u32::from_le_bytes(*four);
        rest = behind;
    }
    Some((numbers, rest))
}

/// A text of a peer, fit for a log line.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    let _ = write!(text, "{}", bytes[..bytes.len().min(200)].escape_ascii());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_back_as_they_went() {
        let bytes = packet(Kind::Parcel, &[1, 2, u32::MAX], b"tail");
        assert_eq!(read::<3>(Kind::Parcel, &bytes), Some(([1, 2, u32::MAX], &b"tail"[..])));
        assert_eq!(read::<2>(Kind::Parcel, &bytes), None);
        assert_eq!(read::<4>(Kind::Parcel, &bytes), None);
        assert_eq!(read::<3>(Kind::Join, &bytes), None);
    }

    #[test]
    fn damaged_packets_are_none() {
        let good = packet(Kind::Hello, &[7, 8], b"");
        for cut in 0..good.len() {
            assert_eq!(read::<2>(Kind::Hello, &good[..cut]), None, "{cut} bytes");
        }
        for at in 0..HEAD {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert_eq!(read::<2>(Kind::Hello, &bad), None, "byte {at}");
        }
    }
}
