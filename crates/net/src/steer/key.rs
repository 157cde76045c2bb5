//! What rules can ask of a frame, as words that are masked, compared and hashed.

use crate::headers::{Headers, L3};

/// Words of a key.
pub(crate) const WORDS: usize = 7;

/// The fields of a frame, or of a rule, or a mask over them.
///
/// | word | low bits | then |
/// |---|---|---|
/// | 0 | destination MAC, 48 | VLAN 12, bit 63: there is a tag |
/// | 1 | source MAC, 48 | type, 16 |
/// | 2, 3 | source address: high half (IPv6), low half (or all of IPv4) | |
/// | 4, 5 | destination address | |
/// | 6 | source port 16, destination port 16 | protocol 8, version 8, flags |
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Key(pub(crate) [u64; WORDS]);

/// The frame has a VLAN tag.
pub(crate) const TAGGED: u64 = 1 << 63;
pub(crate) const VLAN: u64 = 0xfff << 48;
pub(crate) const MAC: u64 = (1 << 48) - 1;
pub(crate) const ETHER_TYPE: u64 = 0xffff << 48;
pub(crate) const SRC_PORT: u64 = 0xffff;
pub(crate) const DST_PORT: u64 = 0xffff << 16;
pub(crate) const PROTOCOL: u64 = 0xff << 32;
pub(crate) const VERSION: u64 = 0xff << 40;
/// There is a network header, so the protocol is known.
pub(crate) const HAS_IP: u64 = 1 << 48;
/// The ports are known.
pub(crate) const HAS_PORTS: u64 = 1 << 49;

pub(crate) fn mac(bytes: [u8; 6]) -> u64 {
    let mut wide = [0; 8];
    wide[2..].copy_from_slice(&bytes);
    u64::from_be_bytes(wide)
}

fn word(head: &[u8], at: usize) -> u64 {
    head.get(at..at + 8).map_or(0, |bytes| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)))
}

fn word32(head: &[u8], at: usize) -> u64 {
    head.get(at..at + 4).map_or(0, |bytes| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)))
}

impl Key {
    /// The key of a frame whose headers were found in `head`.
    #[inline]
    pub fn of(head: &[u8], found: &Headers) -> Key {
        let mut key = [0; WORDS];
        key[0] = word(head, 0) >> 16 | found.vlan.map_or(0, |vlan| u64::from(vlan) << 48 | TAGGED);
        key[1] = word(head, 6) >> 16 | u64::from(found.ether_type) << 48;
        let at = found.l3_at;
        match found.l3 {
            L3::V4 => {
                key[3] = word32(head, at + 12);
                key[5] = word32(head, at + 16);
                key[6] = 4 << 40;
            }
            L3::V6 => {
                key[2] = word(head, at + 8);
                key[3] = word(head, at + 16);
                key[4] = word(head, at + 24);
                key[5] = word(head, at + 32);
                key[6] = 6 << 40;
            }
            L3::Other => return Key(key),
        }
        key[6] |= u64::from(found.protocol) << 32 | HAS_IP;
        if let Some((src, dst)) = found.ports {
            key[6] |= u64::from(src) | u64::from(dst) << 16 | HAS_PORTS;
        }
        Key(key)
    }
}
