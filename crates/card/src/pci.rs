//! A PCI address and its two written forms.
//!
//! Programs write `0000:03:00.0` or, with domain 0 left out, `03:00.0`, in either case of the hex digits.
//! Both forms have a fixed length, so anything longer, shorter or padded is refused rather than guessed.

use std::fmt;
use std::str::FromStr;

/// Address of a PCI function: domain, bus, device, function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddr {
    domain: u16,
    bus: u8,
    device: u8,
    function: u8,
}

impl PciAddr {
    /// The address with these parts, or `None` when `device` is above 31 or `function` above 7.
    pub const fn new(domain: u16, bus: u8, device: u8, function: u8) -> Option<PciAddr> {
        if device > 31 || function > 7 {
            return None;
        }
        Some(PciAddr { domain, bus, device, function })
    }

    /// PCI domain (segment).
    pub const fn domain(self) -> u16 {
        self.domain
    }

    /// Bus number.
    pub const fn bus(self) -> u8 {
        self.bus
    }

    /// Device number on the bus, 0 to 31.
    pub const fn device(self) -> u8 {
        self.device
    }

    /// Function number in the device, 0 to 7.
    pub const fn function(self) -> u8 {
        self.function
    }
}

/// Lower-case form with domain, 12 characters: `0000:03:00.0`.
impl fmt::Display for PciAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{}", self.domain, self.bus, self.device, self.function)
    }
}

impl fmt::Debug for PciAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not a PCI address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParsePciError;

impl fmt::Display for ParsePciError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a PCI address, expected DDDD:BB:DD.F or BB:DD.F in hexadecimal")
    }
}

impl std::error::Error for ParsePciError {}

impl FromStr for PciAddr {
    type Err = ParsePciError;

    fn from_str(text: &str) -> Result<PciAddr, ParsePciError> {
        let bytes = text.as_bytes();
        let (domain, rest) = match bytes.len() {
            12 if bytes[4] == b':' => (hex(&bytes[..4])?, &bytes[5..]),
            7 => (0, bytes),
            _ => return Err(ParsePciError),
        };
        if rest[2] != b':' || rest[5] != b'.' {
            return Err(ParsePciError);
        }
        let bus = hex(&rest[..2])?;
        let device = hex(&rest[3..5])?;
        let function = hex(&rest[6..])?;
        // Two digits fit a byte, one digit does too.
        PciAddr::new(domain, bus as u8, device as u8, function as u8).ok_or(ParsePciError)
    }
}

/// Value of at most four hexadecimal digits.
fn hex(digits: &[u8]) -> Result<u16, ParsePciError> {
    digits.iter().try_fold(0u16, |value, &digit| {
        let digit = char::from(digit).to_digit(16).ok_or(ParsePciError)?;
        Ok(value << 4 | digit as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_and_both_cases_name_the_same_function() {
        let full: PciAddr = "0000:b1:00.1".parse().unwrap();
        assert_eq!("b1:00.1".parse(), Ok(full));
        assert_eq!("B1:00.1".parse(), Ok(full));
        assert_eq!("0000:B1:00.1".parse(), Ok(full));
        assert_eq!(full.to_string(), "0000:b1:00.1");
        assert_ne!("0001:b1:00.1".parse(), Ok(full));
        let parts: PciAddr = "10ab:fe:1f.7".parse().unwrap();
        assert_eq!((parts.domain(), parts.bus(), parts.device(), parts.function()), (0x10ab, 0xfe, 0x1f, 7));
    }

    #[test]
    fn malformed_texts_are_refused() {
        for text in [
            "",
            "03:00",
            "3:00.0",
            "03:00.8",
            "03:20.0",
            "0000:03:00.0 ",
            " 03:00.0",
            "0000-03:00.0",
            "000003:00.0",
            "0000:03:00,0",
            "g3:00.0",
            "+3:00.0",
            "0000:03:0é.0",
            "é3:00.0",
            "00000:03:00.0",
        ] {
            assert_eq!(text.parse::<PciAddr>(), Err(ParsePciError), "{text:?}");
        }
    }

    #[test]
    fn every_address_survives_being_written_and_read() {
        for domain in [0u16, 1, 0xffff] {
            for bus in 0..=255u8 {
                for device in 0..32u8 {
                    for function in 0..8u8 {
                        let addr = PciAddr::new(domain, bus, device, function).unwrap();
                        assert_eq!(addr.to_string().to_uppercase().parse(), Ok(addr));
                    }
                }
            }
        }
        assert_eq!(PciAddr::new(0, 0, 32, 0), None);
        assert_eq!(PciAddr::new(0, 0, 0, 8), None);
    }
}
