//! What a connection says of itself to a peer, as bytes that may travel by any way.
//!
//! All numbers are little-endian. Every value has one form only, and a checksum finds damage; whether the bytes are true
//! is for whoever they speak of to say, who alone knows the secret.

use crate::caps::Transport;
use crate::job::ConnRef;
use crate::net::Reachable;
use softdpu_link::Owner;

/// Bytes of a description.
pub(crate) const LEN: usize = 128;
const MAGIC: [u8; 8] = *b"SDPUQP\x02\0";

/// Which connection of which context of which process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) owner: Owner,
    pub(crate) context: u64,
    pub(crate) conn: ConnRef,
}

impl Name {
    pub(crate) fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.owner.pid.to_le_bytes());
        into.extend(self.owner.started.to_le_bytes());
        into.extend(self.context.to_le_bytes());
        into.extend(self.conn.slot.to_le_bytes());
        into.extend(self.conn.uid.to_le_bytes());
    }

    pub(crate) fn decode(from: &mut Reader<'_>) -> Option<Name> {
        Some(Name {
            owner: Owner { pid: from.u32()?, started: from.u64()? },
            context: from.u64()?,
            conn: ConnRef { slot: from.u32()?, uid: from.u32()? },
        })
    }
}

/// The description of a connection that waits for its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) name: Name,
    pub(crate) secret: [u8; 16],
    pub(crate) transport: Transport,
    /// Which runtime folder, and which card.
    pub(crate) folder: u64,
    pub(crate) card: u64,
    pub(crate) topology: u64,
    pub(crate) gid: [u8; 16],
    /// Where peers on other machines ask.
    pub(crate) reachable: Reachable,
}

impl Blob {
    pub(crate) fn encode(&self) -> [u8; LEN] {
        let mut bytes = Vec::with_capacity(LEN);
        bytes.extend(MAGIC);
        self.name.encode(&mut bytes);
        bytes.extend(self.secret);
        bytes.extend((self.transport as u32).to_le_bytes());
        for number in [self.folder, self.card, self.topology] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.gid);
        bytes.extend(self.reachable.port.to_le_bytes());
        bytes.extend(self.reachable.v4);
        bytes.extend(self.reachable.v6);
        bytes.resize(LEN - 8, 0);
        bytes.extend(checksum(&bytes).to_le_bytes());
        let mut whole = [0; LEN];
        whole.copy_from_slice(&bytes);
        whole
    }

    /// What is wrong with the bytes, in words, otherwise.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Blob, &'static str> {
        let whole: &[u8; LEN] = bytes.try_into().map_err(|_| "wrong length")?;
        let (body, sum) = whole.split_at(LEN - 8);
        if body[..6] != MAGIC[..6] {
            return Err("no description of a connection");
        }
        if body[..8] != MAGIC {
            return Err("of another version of the library");
        }
        if sum != checksum(body).to_le_bytes() {
            return Err("damaged");
        }
        let mut from = Reader(&body[8..]);
        let blob = (|| {
            Some(Blob {
                name: Name::decode(&mut from)?,
                secret: from.array()?,
                transport: Transport::from_number(from.u32()?)?,
                folder: from.u64()?,
                card: from.u64()?,
                topology: from.u64()?,
                gid: from.array()?,
                reachable: Reachable {
                    port: u16::from_le_bytes(from.array()?),
                    v4: from.array()?,
                    v6: from.array()?,
                },
            })
        })();
        blob.ok_or("damaged")
    }
}

/// FNV-1a with a final mix.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let sum = softdpu_link::checksum64(bytes);
    (sum ^ sum >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Reads fields off the front of bytes.
#[derive(Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Blob {
        let name =
            Name { owner: Owner { pid: 1234, started: 99 }, context: 7, conn: ConnRef { slot: 3, uid: 4 } };
        Blob {
            name,
            secret: [9; 16],
            transport: Transport::Dynamic,
            folder: 1,
            card: 2,
            topology: 3,
            gid: [5; 16],
            reachable: Reachable { port: 4711, v4: [127, 0, 0, 1], v6: [3; 16] },
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Blob::decode(&sample().encode()), Ok(sample()));
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_found() {
        let good = sample().encode();
        for at in 0..LEN {
            for bit in 0..8 {
                let mut bad = good;
                bad[at] ^= 1 << bit;
                assert!(Blob::decode(&bad).is_err(), "byte {at} bit {bit}");
            }
            assert!(Blob::decode(&good[..at]).is_err());
        }
        assert!(Blob::decode(&[&good[..], &[0]].concat()).is_err());
    }
}
