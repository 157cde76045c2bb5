//! What an export of an event says, and its form in bytes.
//!
//! ```text
//!   0  "SDPUSYE\0"          24  start of process    56  PCI address
//!   8  version, kind        32  number of the event 60  0 x 4
//!  12  total length         40  topology            64  secret
//!  16  process              48  runtime folder      80  name of the card
//!  20  0 x 4                                       144  checksum of all before
//! ```
//!
//! All numbers are little-endian. Every value has one form only: what decodes encodes to the same bytes again.

use softdpu_card::PciAddr;
use softdpu_memory::export::identity::{Card, Owner};
use softdpu_memory::export::{Reader, checksum, same_bytes};
use std::fmt;

/// The most bytes an export may ever have.
pub const MAX_EXPORT: usize = 384;

const MAGIC: [u8; 8] = *b"SDPUSYE\0";
const VERSION: u16 = 1;
/// Bytes of an export of this version.
pub(crate) const LEN: usize = 152;
const _: () = assert!(LEN <= MAX_EXPORT);

/// Bytes of a secret.
pub(crate) const SECRET: usize = 16;

/// Who an export is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// The other side of the PCIe link.
    Pci = 1,
    /// A peer of an RDMA connection.
    Net = 2,
}

impl Kind {
    fn from_number(number: u8) -> Option<Kind> {
        [Kind::Pci, Kind::Net].into_iter().find(|&kind| kind as u8 == number)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Pci => "PCI",
            Kind::Net => "network",
        })
    }
}

/// The content of an export.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    pub(crate) kind: Kind,
    pub(crate) owner: Owner,
    /// Number of the event in its process; never used again there.
    pub(crate) event: u64,
    pub(crate) pci: PciAddr,
    pub(crate) secret: [u8; SECRET],
    pub(crate) card: Card,
}

/// The secret stays out of messages.
impl fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} export of event {} of process {} on {}",
            self.kind, self.event, self.owner.pid, self.card
        )
    }
}

/// Why bytes are no export.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Damage {
    Length,
    Magic,
    Version(u16),
    Checksum,
    Field(&'static str),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Length => write!(f, "the length is not {LEN}"),
            Damage::Magic => f.write_str("these are not bytes of an exported sync event"),
            Damage::Version(found) => write!(f, "version {found}, this library knows version {VERSION}"),
            Damage::Checksum => f.write_str("the checksum does not fit: bytes were changed"),
            Damage::Field(which) => write!(f, "impossible {which}"),
        }
    }
}

impl Descriptor {
    /// Who it is for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The process that has the event.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// The event's number there.
    pub fn event(&self) -> u64 {
        self.event
    }

    /// What only those know who were given the export.
    pub fn secret(&self) -> [u8; SECRET] {
        self.secret
    }

    /// Is it that one? In a time that tells nothing of where the secrets differ.
    pub(crate) fn is_same(&self, other: &Descriptor) -> bool {
        same_bytes(&self.encode(), &other.encode())
    }

    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(LEN);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&[self.kind as u8, 0]);
        out.extend_from_slice(&(LEN as u32).to_le_bytes());
        out.extend_from_slice(&self.owner.pid.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        for number in [self.owner.started, self.event, self.card.topology, self.card.folder] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.pci.domain().to_le_bytes());
        out.extend_from_slice(&[self.pci.bus(), self.pci.device() << 3 | self.pci.function()]);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.secret);
        out.extend_from_slice(&self.card.name);
        let sum = checksum(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        debug_assert_eq!(out.len(), LEN);
        out
    }

    /// Reads an export. Any bytes give an answer.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Descriptor, Damage> {
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
        let total = u32::from_le_bytes(reader.take());
        let pid = u32::from_le_bytes(reader.take());
        let gap: [u8; 4] = reader.take();
        let [started, event, topology, folder] = core::array::from_fn(|_| u64::from_le_bytes(reader.take()));
        let domain = u16::from_le_bytes(reader.take());
        let [bus, devfn] = reader.take();
        let padding: [u8; 4] = reader.take();
        let (secret, name) = (reader.take(), reader.take());
        let field = |good: bool, which| if good { Ok(()) } else { Err(Damage::Field(which)) };
        field(zero == 0 && gap == [0; 4] && padding == [0; 4] && total as usize == LEN, "layout")?;
        field(event != 0, "number")?;
        Ok(Descriptor {
            kind: Kind::from_number(kind).ok_or(Damage::Field("kind"))?,
            owner: Owner { pid, started },
            event,
            pci: PciAddr::new(domain, bus, devfn >> 3, devfn & 7).ok_or(Damage::Field("PCI address"))?,
            secret,
            card: Card { folder, topology, name },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Descriptor {
        Descriptor {
            kind: Kind::Net,
            owner: Owner { pid: 4711, started: 0x0102_0304_0506_0708 },
            event: 42,
            pci: PciAddr::new(0xabcd, 0xb1, 31, 7).unwrap(),
            secret: *b"sixteen secrets!",
            card: Card { folder: 7, topology: 8, name: [b'x'; Card::NAME] },
        }
    }

    /// Changes the bytes and makes the checksum fit again.
    fn forge(change: impl FnOnce(&mut [u8])) -> Result<Descriptor, Damage> {
        let mut bytes = sample().encode();
        change(&mut bytes);
        let sum = checksum(&bytes[..LEN - 8]);
        bytes[LEN - 8..].copy_from_slice(&sum.to_le_bytes());
        Descriptor::decode(&bytes)
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Descriptor::decode(&sample().encode()), Ok(sample()));
        assert_eq!(forge(|_| ()), Ok(sample()));
        assert!(!format!("{:?}", sample()).contains("sixteen"));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let good = sample().encode();
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
        assert_eq!(forge(|b| b[10] = 3), Err(Damage::Field("kind")));
        for at in [11, 12, 20, 60] {
            assert_eq!(forge(|b| b[at] = 1), Err(Damage::Field("layout")), "byte {at}");
        }
        assert_eq!(forge(|b| b[32..40].fill(0)), Err(Damage::Field("number")));
    }
}
