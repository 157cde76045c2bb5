//! The eight bytes before a request and before an answer.
//!
//! ```text
//!   request   0  "SDL1"   4  version: u16   6  topic: u16, 0 for a name
//!   answer    0  "SDL1"   4  status: i32, 0 or the number of a code
//! ```
//! All numbers are little-endian. Packets after these two have no header.

use super::Topic;
use crate::socket::MAX_PACKET;
use softdpu_status::{Code, Error, Result};

/// The longest request or answer, in bytes.
pub const MAX_REQUEST: usize = MAX_PACKET - HEADER;

const HEADER: usize = 8;
const MAGIC: [u8; 4] = *b"SDL1";
pub(super) const VERSION: u16 = 1;

/// Topic of requests to a name.
pub(super) const NAMED: Topic = Topic(0);

/// A request, or none if it is too long.
pub(super) fn request(topic: Topic, bytes: &[u8]) -> Option<Vec<u8>> {
    let head = [MAGIC.as_slice(), &VERSION.to_le_bytes(), &topic.0.to_le_bytes()];
    (bytes.len() <= MAX_REQUEST).then(|| head.concat().into_iter().chain(bytes.iter().copied()).collect())
}

/// What arrived as a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request<'a> {
    Of(Topic, &'a [u8]),
    /// Of another version of the library.
    Version(u16),
    Garbage,
}

pub(super) fn read_request(packet: &[u8]) -> Request<'_> {
    match packet {
        [m0, m1, m2, m3, v0, v1, t0, t1, rest @ ..] if [*m0, *m1, *m2, *m3] == MAGIC => {
            match u16::from_le_bytes([*v0, *v1]) {
                VERSION => Request::Of(Topic(u16::from_le_bytes([*t0, *t1])), rest),
                other => Request::Version(other),
            }
        }
        _ => Request::Garbage,
    }
}

/// An answer, or none if it is too long.
pub(super) fn answer(status: Result<&[u8], Code>) -> Option<Vec<u8>> {
    let (number, bytes) = match status {
        Ok(bytes) => (0, bytes),
        Err(code) => (code.number(), [].as_slice()),
    };
    (bytes.len() <= MAX_REQUEST).then(|| [MAGIC.as_slice(), &number.to_le_bytes(), bytes].concat())
}

/// The content of an answer.
///
/// # Errors
/// The code that was answered; UnsupportedVersion when these are no bytes of an answer.
pub(super) fn read_answer(mut packet: Vec<u8>) -> Result<Vec<u8>> {
    let number = match packet[..] {
        [m0, m1, m2, m3, c0, c1, c2, c3, ..] if [m0, m1, m2, m3] == MAGIC => {
            i32::from_le_bytes([c0, c1, c2, c3])
        }
        _ => return Err(Error::new(Code::UnsupportedVersion, "answer of a peer not understood")),
    };
    if number != 0 {
        let code = Code::from_number(number).unwrap_or(Code::Unknown);
        return Err(Error::new(code, "refused by the peer"));
    }
    packet.drain(..HEADER);
    Ok(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let packet = request(Topic(7), b"abc").unwrap();
        assert_eq!(read_request(&packet), Request::Of(Topic(7), b"abc"));
        assert_eq!(request(Topic(7), &[0; MAX_REQUEST]).unwrap().len(), MAX_PACKET);
        assert_eq!(request(Topic(7), &[0; MAX_REQUEST + 1]), None);
        assert_eq!(read_answer(answer(Ok(b"abc")).unwrap()), Ok(b"abc".to_vec()));
        assert_eq!(read_answer(answer(Ok(b"")).unwrap()), Ok(Vec::new()));
        assert_eq!(answer(Ok(&[0; MAX_REQUEST + 1])), None);
        let refused = read_answer(answer(Err(Code::InUse)).unwrap()).unwrap_err();
        assert_eq!(refused.code(), Code::InUse);
    }

    #[test]
    fn other_bytes_are_told_apart() {
        let mut packet = request(Topic(7), b"").unwrap();
        packet[4] = 9;
        assert_eq!(read_request(&packet), Request::Version(9));
        packet[0] = b'X';
        assert_eq!(read_request(&packet), Request::Garbage);
        assert_eq!(read_request(&[]), Request::Garbage);
        assert_eq!(read_request(b"SDL1\x01\0\0"), Request::Garbage);
        for bad in [&b"SDL1\0\0\0"[..], b"", b"SDL2\0\0\0\0", b"SDL1\xff\xff\xff\xff"] {
            assert!(read_answer(bad.to_vec()).is_err(), "{bad:?}");
        }
    }
}
