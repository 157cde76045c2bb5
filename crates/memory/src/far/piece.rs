//! What an importer asks the owner's service thread for, piece by piece, and what it answers.

use crate::far::Way;
use crate::peer::Change;

/// A piece to be copied by the owner: way, address, bytes.
pub(crate) struct Piece {
    pub(crate) way: Way,
    pub(crate) addr: u64,
    pub(crate) len: u32,
}

impl Piece {
    pub(crate) fn encode(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[0] = self.way as u8;
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.addr.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Piece> {
        let bytes: &[u8; 16] = bytes.try_into().ok()?;
        let [way, 0, 0, 0, l0, l1, l2, l3, addr @ ..] = *bytes else { return None };
        let way = [Way::Read, Way::Write].into_iter().find(|&w| w as u8 == way)?;
        Some(Piece { way, addr: u64::from_le_bytes(addr), len: u32::from_le_bytes([l0, l1, l2, l3]) })
    }
}

/// The answer to a piece that was copied.
pub(crate) const COPIED: &[u8] = b"copied";
/// The answer to a piece, or a word, that the owner does not touch: it is not granted, or not mapped any more.
pub(crate) const REFUSED: &[u8] = b"refused";

/// A word to be changed by the owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Alter {
    pub(crate) addr: u64,
    pub(crate) change: Change,
}

const ADD: u8 = 2;
const SWAP: u8 = 3;

impl Alter {
    pub(crate) fn encode(&self) -> [u8; 32] {
        let (kind, a, b) = match self.change {
            Change::Add(n) => (ADD, n, 0),
            Change::Swap(old, new) => (SWAP, old, new),
        };
        let mut bytes = [0; 32];
        for (place, number) in bytes.chunks_exact_mut(8).zip([u64::from(kind), self.addr, a, b]) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Alter> {
        let bytes: &[u8; 32] = bytes.try_into().ok()?;
        let mut words =
            bytes.chunks_exact(8).map(|word| word.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)));
        let [kind, addr, a, b] = core::array::from_fn(|_| words.next().unwrap_or(0));
        let change = match u8::try_from(kind).ok()? {
            ADD if b == 0 => Change::Add(a),
            SWAP => Change::Swap(a, b),
            _ => return None,
        };
        Some(Alter { addr, change })
    }
}

/// The answer to a word that was changed: the value before follows.
pub(crate) const CHANGED: &[u8; 8] = b"changed\0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_one_form() {
        for way in [Way::Read, Way::Write] {
            let bytes = Piece { way, addr: 0x0102_0304_0506_0708, len: 77 }.encode();
            let back = Piece::decode(&bytes).unwrap();
            assert_eq!((back.way, back.addr, back.len), (way, 0x0102_0304_0506_0708, 77));
            for at in 0..4 {
                let mut bent = bytes;
                bent[at] ^= 0x80;
                assert!(Piece::decode(&bent).is_none(), "{at}");
            }
            assert!(Piece::decode(&bytes[..15]).is_none());
        }
    }

    #[test]
    fn changes_have_one_form() {
        for change in [Change::Add(u64::MAX), Change::Swap(1 << 40, 7)] {
            let alter = Alter { addr: 0x0102_0304_0506_0708, change };
            let bytes = alter.encode();
            assert_eq!(Alter::decode(&bytes), Some(alter));
            assert!(Alter::decode(&bytes[..31]).is_none() && Piece::decode(&bytes).is_none());
            for at in 0..8 {
                let mut bent = bytes;
                bent[at] ^= 0x80;
                assert!(Alter::decode(&bent).is_none(), "{at}");
            }
        }
    }
}
