//! Addresses of the connection manager.
//!
//! An address is 16 bytes, IPv4 ones mapped into IPv6, and a port. The functions of a card have addresses of their own; a
//! listener answers on those of its function, and on every address of the machine itself.

use core::fmt;
use softdpu_status::{Code, Error, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// How an address is written; the contract's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AddressKind {
    /// Dotted.
    Ipv4 = 0,
    /// As IPv6.
    Ipv6 = 1,
    /// A global identifier, written as IPv6.
    Gid = 2,
}

impl AddressKind {
    /// From the contract's number.
    pub fn from_number(n: u32) -> Option<AddressKind> {
        [AddressKind::Ipv4, AddressKind::Ipv6, AddressKind::Gid].into_iter().find(|&k| k as u32 == n)
    }
}

/// An address of a peer.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    kind: AddressKind,
    text: String,
    bytes: [u8; 16],
    port: u16,
}

impl Address {
    /// From text.
    ///
    /// # Errors
    /// InvalidValue, with one log line, when it is no address of this kind.
    pub fn parse(kind: AddressKind, text: &str, port: u16) -> Result<Address> {
        let parsed = match kind {
            AddressKind::Ipv4 => text.parse::<Ipv4Addr>().map(|v4| v4.to_ipv6_mapped()),
            AddressKind::Ipv6 | AddressKind::Gid => text.parse::<Ipv6Addr>(),
        };
        match parsed {
            Ok(address) => Ok(Address { kind, text: text.to_owned(), bytes: address.octets(), port }),
            Err(_) => {
                log::error!(target: crate::LOG, "`{}` is no {kind:?} address", text.escape_debug());
                Err(Error::new(Code::InvalidValue, "not an address of this kind"))
            }
        }
    }

    /// The address of a peer that came with its request.
    pub(crate) fn of_peer(bytes: [u8; 16], port: u16) -> Address {
        let address = Ipv6Addr::from(bytes);
        match address.to_ipv4_mapped() {
            Some(v4) => Address { kind: AddressKind::Ipv4, text: v4.to_string(), bytes, port },
            None => Address { kind: AddressKind::Gid, text: address.to_string(), bytes, port },
        }
    }

    /// How it is written.
    pub fn kind(&self) -> AddressKind {
        self.kind
    }

    /// As it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The port, in the order of the machine.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Without the port, and as IPv4 where it is one.
    pub(crate) fn ip(&self) -> IpAddr {
        Ipv6Addr::from(self.bytes).to_canonical()
    }

    pub(crate) fn bytes(&self) -> [u8; 16] {
        self.bytes
    }

    /// Is it one of those that functions of cards are given when they have no interface? No network leads there.
    pub(crate) fn is_made(&self) -> bool {
        let address = Ipv6Addr::from(self.bytes);
        match address.to_ipv4_mapped() {
            Some(v4) => v4.octets()[0] == 198 && v4.octets()[1] & 0xfe == 18,
            None => self.bytes.starts_with(b"\xfdSoftDPU"),
        }
    }

    /// Is it an address of this machine? Whoever may bind to it is at home there.
    pub(crate) fn is_of_machine(&self) -> bool {
        let address = Ipv6Addr::from(self.bytes);
        let ip = address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4);
        !ip.is_unspecified() && !ip.is_multicast() && UdpSocket::bind((ip, 0)).is_ok()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            AddressKind::Ipv4 => write!(f, "{}:{}", self.text, self.port),
            _ => write!(f, "[{}]:{}", self.text, self.port),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a listener at an address is called in the runtime folder.
pub(crate) fn listener_name(bytes: [u8; 16], port: u16) -> String {
    format!("rdma [{}]:{port}", Ipv6Addr::from(bytes))
}

/// The same for all addresses of the machine itself.
pub(crate) fn machine_name(port: u16) -> String {
    format!("rdma machine:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_taken_as_its_kind_says() {
        let v4 = Address::parse(AddressKind::Ipv4, "10.0.0.1", 5).unwrap();
        assert_eq!((v4.to_string(), v4.kind(), v4.port()), ("10.0.0.1:5".into(), AddressKind::Ipv4, 5));
        let gid = Address::parse(AddressKind::Gid, "::ffff:10.0.0.1", 5).unwrap();
        assert_eq!(gid.bytes(), v4.bytes());
        for (kind, text) in [
            (AddressKind::Ipv4, "10.0.0"),
            (AddressKind::Ipv4, "::1"),
            (AddressKind::Ipv4, ""),
            (AddressKind::Ipv6, "10.0.0.1"),
            (AddressKind::Gid, "fe80::1%eth0"),
            (AddressKind::Gid, "x"),
        ] {
            assert_eq!(Address::parse(kind, text, 1).unwrap_err().code(), Code::InvalidValue, "{text}");
        }
    }

    #[test]
    fn addresses_of_cards_are_known() {
        let made = |kind, text| Address::parse(kind, text, 1).unwrap().is_made();
        assert!(made(AddressKind::Ipv4, "198.18.0.1") && made(AddressKind::Ipv4, "198.19.255.1"));
        assert!(made(AddressKind::Ipv6, "fd53:6f66:7444:5055::1"));
        assert!(!made(AddressKind::Ipv4, "198.20.0.1") && !made(AddressKind::Ipv6, "fd53::1"));
    }

    #[test]
    fn the_machine_knows_its_own_addresses() {
        let own = |kind, text| Address::parse(kind, text, 1).unwrap().is_of_machine();
        assert!(own(AddressKind::Ipv4, "127.0.0.1"));
        assert!(!own(AddressKind::Ipv4, "192.0.2.77") && !own(AddressKind::Ipv4, "0.0.0.0"));
    }
}
