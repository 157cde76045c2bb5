//! What processes say to each other about wires.
//!
//! ```text
//!   request   version: u8, kind: u8, representor: u8, 0, number: u16, 2 bytes 0, hash: u64, name of the card
//!   answer    1 byte: 0 nobody here, 1 here it is
//! ```
//!
//! | kind | who asks | descriptors |
//! |---|---|---|
//! | WANT | an outlet, for receivers at an end | with the answer: ring, bell |
//! | OFFER | an intake | with the request: ring, bell |
//!
//! The line stays: it ends with either side. A packet of the sender means that the receiver, which sleeps, has frames.

use crate::port::End;
use softdpu_card::Plug;
use softdpu_link::Topic;

/// Requests about wires.
pub(crate) const TOPIC: Topic = Topic(5);
/// There are frames.
pub(crate) const WAKE: [u8; 1] = [b'w'];

const VERSION: u8 = 2;
const FIXED: usize = 16;
/// Names of cards have at most 63 bytes.
const LONGEST_NAME: usize = 63;

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Want = 1,
    Offer = 2,
}

/// Nobody is at that end.
pub(crate) const NOBODY: u8 = 0;
/// It is done.
pub(crate) const DONE: u8 = 1;

pub(crate) fn request(kind: Kind, end: &End) -> Vec<u8> {
    let mut bytes = vec![VERSION, kind as u8, end.plug.is_representor.into(), 0];
    bytes.extend(end.plug.number.to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(end.hash.to_le_bytes());
    bytes.extend(end.card.as_bytes());
    bytes
}

pub(crate) fn read(bytes: &[u8]) -> Option<(Kind, End)> {
    let (fixed, card) = bytes.split_first_chunk::<FIXED>()?;
    let kind = match (fixed[0], fixed[1]) {
        (VERSION, 1) => Kind::Want,
        (VERSION, 2) => Kind::Offer,
        _ => return None,
    };
    let is_sound = fixed[2] <= 1 && fixed[3] == 0 && fixed[6..8] == [0, 0] && card.len() <= LONGEST_NAME;
    let (_, hash) = fixed.split_at(8);
    let plug = Plug { number: u16::from_le_bytes([fixed[4], fixed[5]]), is_representor: fixed[2] == 1 };
    is_sound.then_some(())?;
    let card = core::str::from_utf8(card).ok()?.to_owned();
    Some((kind, End { card, hash: u64::from_le_bytes(hash.try_into().ok()?), plug }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_back_and_garbage_is_not() {
        let plug = Plug { number: 515, is_representor: true };
        let end = End { card: "card0".into(), hash: 0x0102_0304_0506_0708, plug };
        for kind in [Kind::Want, Kind::Offer] {
            let bytes = request(kind, &end);
            assert_eq!(read(&bytes), Some((kind, end.clone())));
            for at in 0..FIXED {
                assert!(read(&bytes[..at]).is_none());
            }
            for (at, value) in
                [(0, VERSION + 1), (0, VERSION - 1), (1, 3), (2, 2), (3, 1), (7, 1), (16, 0xff)]
            {
                let mut bad = bytes.clone();
                bad[at] = value;
                assert_eq!(read(&bad), None, "byte {at}");
            }
        }
    }
}
