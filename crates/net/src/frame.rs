//! A frame that has arrived, as a queue looks at it.

use crate::checksum::{Check, verify, verify_with};
use crate::headers::Headers;
use softdpu_link::Receiver;

/// What is known about a frame besides its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Meta {
    /// Hash of the flow; 0 unless a rule spreads by it, or the queue asked for it.
    pub hash: u32,
    /// Flow tag of the rule.
    pub tag: u32,
    /// Metadata word of the rule.
    pub mark: u32,
    /// Nanoseconds since 1970; 0 unless the queue asked.
    pub timestamp: u64,
    /// Checksum of the network header; unknown unless the queue asked.
    pub l3: Check,
    /// Checksum of the transport header.
    pub l4: Check,
}

/// Bytes of [`Meta`] on the way through a queue's ring.
pub(crate) const META_BYTES: usize = 24;

impl Meta {
    pub(crate) fn to_bytes(self) -> [u8; META_BYTES] {
        let mut bytes = [0; META_BYTES];
        bytes[..8].copy_from_slice(&self.timestamp.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.hash.to_ne_bytes());
        bytes[12..16].copy_from_slice(&self.tag.to_ne_bytes());
        bytes[16..20].copy_from_slice(&self.mark.to_ne_bytes());
        bytes[20] = self.l3 as u8;
        bytes[21] = self.l4 as u8;
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; META_BYTES]) -> Meta {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let check = |byte: u8| match byte {
            1 => Check::Good,
            2 => Check::Bad,
            _ => Check::Unknown,
        };
        let [low, high] = [word(0), word(4)].map(u32::to_ne_bytes);
        let mut stamp = [0; 8];
        stamp[..4].copy_from_slice(&low);
        stamp[4..].copy_from_slice(&high);
        Meta {
            timestamp: u64::from_ne_bytes(stamp),
            hash: word(8),
            tag: word(12),
            mark: word(16),
            l3: check(bytes[20]),
            l4: check(bytes[21]),
        }
    }
}

impl Meta {
    /// Looks at the checksums of a frame, if that is still to be done.
    #[inline]
    fn verify(&mut self, is_due: &mut bool, frame: &[u8], found: Option<&Headers>, is_unsummed: bool) {
        if !core::mem::take(is_due) {
            return;
        }
        (self.l3, self.l4) = match found {
            Some(found) => verify_with(frame, found),
            None => verify(frame),
        };
        if is_unsummed && self.l4 == Check::Bad {
            self.l4 = Check::Good;
        }
    }
}

/// Whether a queue took a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// It did, or wants to hear no more of it.
    Yes,
    /// It has no place for it now: the frame stays, and the visit ends.
    Later,
}

/// Where the bytes of a frame lie.
#[derive(Debug)]
pub(crate) enum Body<'a> {
    /// In memory that nobody else writes meanwhile.
    Here(&'a [u8]),
    /// In the front message of a ring, from a byte on. Its sender may be writing: bytes are only ever copied out of it,
    /// where they are wanted in one piece to the scratch, which has room for a whole frame.
    There(&'a Receiver, usize, &'a mut Vec<u8>),
}

/// A frame that has arrived.
#[derive(Debug)]
pub struct Frame<'a> {
    pub(crate) len: usize,
    pub(crate) meta: Meta,
    pub(crate) body: Body<'a>,
    /// Checksums are wanted, and nobody has looked at them.
    pub(crate) is_unverified: bool,
    /// Its headers, where rules had to look at them.
    pub(crate) found: Option<&'a Headers>,
    /// The transport checksum was not computed yet, since the frame comes from this very machine.
    pub(crate) is_unsummed: bool,
}

impl Frame<'_> {
    /// Bytes of the frame, without its checksum.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// What is known about it. Checksums are looked at once the frame lies where no sender can change it: they are known
    /// after [`Frame::deliver`] or [`Frame::bytes`].
    #[inline]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Copies the frame to the start of `into`, and looks at its checksums there, if the queue wants that.
    ///
    /// # Panics
    /// `into` is shorter than the frame.
    #[inline]
    pub fn deliver(&mut self, into: &mut [u8]) {
        let into = &mut into[..self.len];
        match &self.body {
            Body::Here(bytes) => {
                let bytes = &bytes[..self.len];
                into.copy_from_slice(bytes);
                // Where it lies it has lain for longer: those bytes are read without waiting for the copy.
                self.meta.verify(&mut self.is_unverified, bytes, self.found, self.is_unsummed);
            }
            Body::There(ring, at, _) => {
                ring.take_from(*at, into);
                self.meta.verify(&mut self.is_unverified, into, self.found, self.is_unsummed);
            }
        }
    }

    /// Copies the bytes from `from` on, as many as there are and fit; returns how many.
    #[inline]
    pub fn copy_to(&self, from: usize, into: &mut [u8]) -> usize {
        match &self.body {
            Body::Here(bytes) => {
                let rest = bytes.get(from..).unwrap_or_default();
                let n = rest.len().min(into.len());
                into[..n].copy_from_slice(&rest[..n]);
                n
            }
            Body::There(ring, at, _) => ring.take_from(at + from, into),
        }
    }

    /// All bytes, where nobody else writes: where they lie, or copied.
    #[inline]
    pub fn bytes(&mut self) -> &[u8] {
        self.parts().1
    }

    /// What is known about it, and all bytes.
    pub(crate) fn parts(&mut self) -> (&Meta, &[u8]) {
        let bytes: &[u8] = match &mut self.body {
            Body::Here(bytes) => bytes,
            Body::There(ring, at, scratch) => {
                scratch.resize(self.len, 0);
                let n = ring.take_from(*at, scratch);
                &scratch[..n]
            }
        };
        self.meta.verify(&mut self.is_unverified, bytes, self.found, self.is_unsummed);
        (&self.meta, bytes)
    }
}
