//! What a descriptor says, and its form in bytes.
//!
//! ```text
//!   0  "SDPUMAP\0"          40  base               112  length of the secret
//!   8  version, kind        48  length             113  0 x 7
//!  12  total length         56  topology           120  name of the card
//!  16  process, mask        64  runtime folder     184  checksum of all before
//!  24  start of process     72  PCI address, key   192  end
//!  32  number of the export 80  secret
//! ```
//!
//! All numbers are little-endian. Every value has one form only: what decodes encodes to the same bytes again.

use super::identity::{Card, Owner};
use crate::region::Access;
use softdpu_card::PciAddr;
use std::fmt;

/// The most bytes a descriptor may ever have.
pub const MAX_DESCRIPTOR: usize = 384;

/// The longest token that replaces the secret, in bytes.
pub const MAX_TOKEN: usize = 32;

const MAGIC: [u8; 8] = *b"SDPUMAP\0";
const VERSION: u16 = 1;
/// Bytes of a descriptor of this version.
pub(super) const LEN: usize = 192;
const _: () = assert!(LEN <= MAX_DESCRIPTOR);

/// Who a descriptor is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// The other side of the PCIe link.
    Pci = 1,
    /// A peer of an RDMA connection.
    Rdma = 2,
}

impl Kind {
    /// The rights of which a map must grant at least one.
    pub fn rights(self) -> Access {
        match self {
            Kind::Pci => Access::PCI_READ_ONLY | Access::PCI_READ_WRITE,
            Kind::Rdma => Access::RDMA_READ | Access::RDMA_WRITE | Access::RDMA_ATOMIC,
        }
    }

    /// The rights of which an importer needs one to read.
    pub(super) fn reads(self) -> Access {
        match self {
            Kind::Pci => Access::PCI_READ_ONLY | Access::PCI_READ_WRITE,
            Kind::Rdma => Access::RDMA_READ | Access::RDMA_ATOMIC,
        }
    }

    /// The rights of which an importer needs one to write.
    pub(super) fn writes(self) -> Access {
        match self {
            Kind::Pci => Access::PCI_READ_WRITE,
            Kind::Rdma => Access::RDMA_WRITE | Access::RDMA_ATOMIC,
        }
    }

    /// The same in words.
    pub(super) fn rights_text(self) -> &'static str {
        match self {
            Kind::Pci => "PCI_READ_ONLY or PCI_READ_WRITE",
            Kind::Rdma => "RDMA_READ, RDMA_WRITE or RDMA_ATOMIC",
        }
    }

    fn from_number(number: u8) -> Option<Kind> {
        [Kind::Pci, Kind::Rdma].into_iter().find(|&kind| kind as u8 == number)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Pci => "PCI",
            Kind::Rdma => "RDMA",
        })
    }
}

/// What only those know who were given the descriptor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Secret {
    bytes: [u8; MAX_TOKEN],
    len: u8,
}

impl Secret {
    /// From a token, or none when it is longer than [`MAX_TOKEN`].
    pub(crate) fn of(token: &[u8]) -> Option<Secret> {
        let mut bytes = [0; MAX_TOKEN];
        bytes.get_mut(..token.len())?.copy_from_slice(token);
        Some(Secret { bytes, len: token.len() as u8 })
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.len)
    }
}

/// The content of a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    pub(super) kind: Kind,
    pub(super) owner: Owner,
    /// Number of the export in its process; never used again there.
    pub(super) id: u64,
    pub(super) base: u64,
    pub(super) len: u64,
    pub(super) access: Access,
    pub(super) pci: PciAddr,
    pub(super) mkey: u32,
    pub(super) secret: Secret,
    pub(super) card: Card,
}

/// Why bytes are no descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// Too short or too long.
    Length,
    /// The first bytes are others.
    Magic,
    /// Another version of the library.
    Version(u16),
    /// A byte was changed.
    Checksum,
    /// Neither a PCI nor an RDMA export of memory.
    Kind(u8),
    /// A field has a value that no exporter writes.
    Field(&'static str),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Length => write!(f, "the length is not {LEN}"),
            Damage::Magic => f.write_str("these are not bytes of an exported memory map"),
            Damage::Version(found) => write!(f, "version {found}, this library knows version {VERSION}"),
            Damage::Checksum => f.write_str("the checksum does not fit: bytes were changed"),
            Damage::Kind(found) => write!(f, "kind {found} is no export of memory"),
            Damage::Field(which) => write!(f, "impossible {which}"),
        }
    }
}

pub use softdpu_link::checksum64 as checksum;

/// Are they equal? Takes the same time whatever is different, so that a secret cannot be found piece by piece.
pub fn same_bytes(one: &[u8], other: &[u8]) -> bool {
    let differ = |sum: u8, (a, b): (&u8, &u8)| sum | core::hint::black_box(a ^ b);
    one.len() == other.len() && one.iter().zip(other).fold(0, differ) == 0
}

impl Descriptor {
    /// First address of the range, as the exporter names it.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Bytes of the range.
    pub fn range_len(&self) -> u64 {
        self.len
    }

    /// Who it is for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What the exporter grants.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Appends the bytes, at most [`MAX_DESCRIPTOR`].
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&[self.kind as u8, 0]);
        out.extend_from_slice(&(LEN as u32).to_le_bytes());
        out.extend_from_slice(&self.owner.pid.to_le_bytes());
        out.extend_from_slice(&self.access.bits().to_le_bytes());
        for number in [self.owner.started, self.id, self.base, self.len, self.card.topology, self.card.folder]
        {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.pci.domain().to_le_bytes());
        out.extend_from_slice(&[self.pci.bus(), self.pci.device() << 3 | self.pci.function()]);
        out.extend_from_slice(&self.mkey.to_le_bytes());
        out.extend_from_slice(&self.secret.bytes);
        out.extend_from_slice(&[self.secret.len, 0, 0, 0, 0, 0, 0, 0]);
        out.extend_from_slice(&self.card.name);
        let sum = checksum(&out[start..]);
        out.extend_from_slice(&sum.to_le_bytes());
        debug_assert_eq!(out.len() - start, LEN);
    }

    /// Reads a descriptor. Any bytes give an answer.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Descriptor, Damage> {
        let bytes: &[u8; LEN] = bytes.try_into().map_err(|_| Damage::Length)?;
        let mut reader = Reader(bytes);
        if reader.take() != MAGIC {
            return Err(Damage::Magic);
        }
        let version = u16::from_le_bytes(reader.take());
        if version != VERSION {
            return Err(Damage::Version(version));
        }
        let (body, sum) = bytes.split_at(LEN - 8);
        if checksum(body).to_le_bytes() != sum {
            return Err(Damage::Checksum);
        }
        let [kind, zero] = reader.take();
        let total = reader.u32();
        let pid = reader.u32();
        let mask = reader.u32();
        let [started, id, base, len, topology, folder] = core::array::from_fn(|_| reader.u64());
        let domain = u16::from_le_bytes(reader.take());
        let [bus, devfn] = reader.take();
        let mkey = reader.u32();
        let secret: [u8; MAX_TOKEN] = reader.take();
        let [secret_len, padding @ ..]: [u8; 8] = reader.take();
        let name = reader.take();
        let field = |good: bool, which| if good { Ok(()) } else { Err(Damage::Field(which)) };
        field(zero == 0 && padding == [0; 7] && total as usize == LEN, "layout")?;
        let filled = usize::from(secret_len);
        field(secret.get(filled..).is_some_and(|rest| rest.iter().all(|&b| b == 0)), "secret")?;
        field(base != 0 && len != 0 && base.checked_add(len).is_some(), "range")?;
        Ok(Descriptor {
            kind: Kind::from_number(kind).ok_or(Damage::Kind(kind))?,
            owner: Owner { pid, started },
            id,
            base,
            len,
            access: Access::from_bits(mask).map_err(Damage::Field)?,
            pci: PciAddr::new(domain, bus, devfn >> 3, devfn & 7).ok_or(Damage::Field("PCI address"))?,
            mkey,
            secret: Secret { bytes: secret, len: secret_len },
            card: Card { folder, topology, name },
        })
    }
}

/// Takes fixed pieces off the front. There are as many as are asked for where the length was checked before; zeros
/// follow.
#[derive(Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl Reader<'_> {
    /// The next `N` bytes.
    pub fn take<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk() {
            Some((piece, rest)) => {
                self.0 = rest;
                *piece
            }
            None => [0; N],
        }
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn sample() -> Descriptor {
        Descriptor {
            kind: Kind::Rdma,
            owner: Owner { pid: 4711, started: 0x0102_0304_0506_0708 },
            id: 42,
            base: 0x7f00_1234_5678,
            len: 3,
            access: Access::RDMA_READ | Access::RDMA_ATOMIC,
            pci: PciAddr::new(0xabcd, 0xb1, 31, 7).unwrap(),
            mkey: 0xdead_be01,
            secret: Secret::of(b"a token of 22 bytes...").unwrap(),
            card: Card { folder: 7, topology: 8, name: [b'x'; Card::NAME] },
        }
    }

    fn bytes() -> Vec<u8> {
        let mut bytes = Vec::new();
        sample().encode(&mut bytes);
        bytes
    }

    /// Changes the bytes and makes the checksum fit again.
    fn forge(change: impl FnOnce(&mut [u8])) -> Result<Descriptor, Damage> {
        let mut bytes = bytes();
        change(&mut bytes);
        let sum = checksum(&bytes[..LEN - 8]);
        bytes[LEN - 8..].copy_from_slice(&sum.to_le_bytes());
        Descriptor::decode(&bytes)
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(bytes().len(), LEN);
        assert_eq!(Descriptor::decode(&bytes()), Ok(sample()));
        assert_eq!(forge(|_| ()), Ok(sample()));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let good = bytes();
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                assert!(Descriptor::decode(&bad).is_err(), "byte {at} bit {bit}");
            }
            assert_eq!(Descriptor::decode(&good[..at]), Err(Damage::Length));
        }
        let longer: Vec<u8> = good.iter().copied().chain([0]).collect();
        assert_eq!(Descriptor::decode(&longer), Err(Damage::Length));
    }

    #[test]
    fn fields_that_no_exporter_writes_are_refused() {
        assert_eq!(forge(|b| b[0] = b'X'), Err(Damage::Magic));
        assert_eq!(forge(|b| b[8] = 9), Err(Damage::Version(9)));
        assert_eq!(forge(|b| b[10] = 3), Err(Damage::Kind(3)));
        assert_eq!(forge(|b| b[11] = 1), Err(Damage::Field("layout")));
        assert_eq!(forge(|b| b[12] = 1), Err(Damage::Field("layout")));
        assert_eq!(forge(|b| b[119] = 1), Err(Damage::Field("layout")));
        assert_eq!(forge(|b| b[112] = 33), Err(Damage::Field("secret")));
        assert_eq!(forge(|b| b[112] = 3), Err(Damage::Field("secret")));
        assert_eq!(forge(|b| b[48..56].fill(0)), Err(Damage::Field("range")));
        assert_eq!(forge(|b| b[48..56].fill(0xff)), Err(Damage::Field("range")));
        assert_eq!(forge(|b| b[40..48].fill(0)), Err(Damage::Field("range")));
        assert!(matches!(forge(|b| b[21] = 1), Err(Damage::Field(_))));
    }

    /// Seeded: random bytes, and descriptors with several bytes changed, with and without a checksum that fits.
    #[test]
    fn any_bytes_give_an_answer_and_what_decodes_has_one_form() {
        let mut state = 0x0123_4567_89ab_cdef_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut good = 0;
        for round in 0..20_000 {
            let mut bytes = if round % 4 == 0 {
                (0..random() as usize % 400).map(|_| random() as u8).collect()
            } else {
                bytes()
            };
            for _ in 0..random() % 4 {
                if !bytes.is_empty() {
                    let at = random() as usize % bytes.len();
                    bytes[at] = random() as u8;
                }
            }
            if round % 2 == 0 && bytes.len() == LEN {
                let sum = checksum(&bytes[..LEN - 8]);
                bytes[LEN - 8..].copy_from_slice(&sum.to_le_bytes());
            }
            if let Ok(descriptor) = Descriptor::decode(&bytes) {
                let mut again = Vec::new();
                descriptor.encode(&mut again);
                assert_eq!(again, bytes);
                good += 1;
            }
        }
        assert!(good > 1000, "{good} of the inputs were descriptors");
    }
}
