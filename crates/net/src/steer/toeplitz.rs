//! The Toeplitz hash over addresses and ports, as network cards compute it.

use crate::headers::{Headers, L3};

/// The key that most drivers use.
const KEY: [u8; 40] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0,
    0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42,
    0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
];

/// Longest input: two IPv6 addresses and two ports.
const MOST: usize = 36;

/// What goes into the hash. A frame that has none of the chosen headers hashes to 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct HashFields {
    /// Addresses of IPv4.
    pub v4: bool,
    /// Addresses of IPv6.
    pub v6: bool,
    /// Ports of TCP; with them the addresses of whatever lies below.
    pub tcp: bool,
    /// Ports of UDP.
    pub udp: bool,
    /// Both directions of a flow hash alike.
    pub symmetric: bool,
}

impl HashFields {
    /// Addresses and ports of everything.
    pub const ALL: HashFields = HashFields { v4: true, v6: true, tcp: true, udp: true, symmetric: false };
}

/// The hash as a table: what each half of each input byte contributes.
#[derive(Clone)]
pub struct Toeplitz {
    parts: Box<[[u32; 16]; 2 * MOST]>,
}

impl std::fmt::Debug for Toeplitz {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Toeplitz")
    }
}

impl Toeplitz {
    /// With the usual key, or with one that hashes both directions of a flow alike.
    pub fn new(is_symmetric: bool) -> Toeplitz {
        let mut key = KEY;
        if is_symmetric {
            for (at, byte) in key.iter_mut().enumerate() {
                *byte = [0x6d, 0x5a][at % 2];
            }
        }
        // The 32 bits of the key that begin at a bit.
        let window = |bit: usize| {
            (bit..bit + 32).fold(0u32, |word, bit| word << 1 | u32::from(key[bit / 8] >> (7 - bit % 8) & 1))
        };
        let mut parts = Box::new([[0; 16]; 2 * MOST]);
        for (half, row) in parts.iter_mut().enumerate() {
            for (value, cell) in row.iter_mut().enumerate() {
                *cell = (0..4)
                    .filter(|bit| value >> (3 - bit) & 1 == 1)
                    .fold(0, |sum, bit| sum ^ window(half * 4 + bit));
            }
        }
        Toeplitz { parts }
    }

    #[inline]
    fn add(&self, mut hash: u32, from: usize, bytes: &[u8]) -> u32 {
        for (&byte, rows) in bytes.iter().zip(self.parts[2 * from..].chunks_exact(2)) {
            hash ^= rows[0][usize::from(byte >> 4)] ^ rows[1][usize::from(byte & 15)];
        }
        hash
    }

    /// The hash of a frame whose headers were found in `head`.
    #[inline]
    pub fn hash(&self, head: &[u8], found: &Headers, fields: HashFields) -> u32 {
        let (addresses, wanted) = match found.l3 {
            L3::V4 => (head.get(found.l3_at + 12..found.l3_at + 20), fields.v4),
            L3::V6 => (head.get(found.l3_at + 8..found.l3_at + 40), fields.v6),
            L3::Other => return 0,
        };
        // A fragment hashes like all others of its packet: without ports.
        let with_ports = !found.is_fragment
            && found.ports.is_some()
            && (fields.tcp && found.protocol == 6 || fields.udp && found.protocol == 17);
        let Some(addresses) = addresses.filter(|_| wanted || with_ports) else { return 0 };
        let hash = self.add(0, 0, addresses);
        match found.l4_at.and_then(|at| head.get(at..at + 4)) {
            Some(ports) if with_ports => self.add(hash, addresses.len(), ports),
            _ => hash,
        }
    }
}
