//! Rules as a program writes them down.

use super::key::{
    DST_PORT, ETHER_TYPE, HAS_IP, HAS_PORTS, Key, MAC, PROTOCOL, SRC_PORT, TAGGED, VERSION, VLAN, mac,
};
use super::{Classifier, HashFields};
use softdpu_status::{Code, Error, Result};
use std::net::IpAddr;

/// Most rules of a port.
const MOST_RULES: usize = 1 << 20;
/// Most queues that a rule spreads over.
const MOST_QUEUES: usize = 128;

/// What a frame must look like; whatever is not said is not looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Match {
    pub(crate) value: Key,
    pub(crate) mask: Key,
}

impl Match {
    /// Every frame.
    #[must_use]
    pub fn any() -> Match {
        Match::default()
    }

    fn and(mut self, word: usize, mask: u64, value: u64) -> Match {
        self.mask.0[word] |= mask;
        self.value.0[word] = self.value.0[word] & !mask | value & mask;
        self
    }

    /// Destination MAC address.
    #[must_use]
    pub fn dst_mac(self, address: [u8; 6]) -> Match {
        self.and(0, MAC, mac(address))
    }

    /// Source MAC address.
    #[must_use]
    pub fn src_mac(self, address: [u8; 6]) -> Match {
        self.and(1, MAC, mac(address))
    }

    /// Type of the payload, behind VLAN tags.
    #[must_use]
    pub fn ether_type(self, kind: u16) -> Match {
        self.and(1, ETHER_TYPE, u64::from(kind) << 48)
    }

    /// Number of the outer VLAN, its lower 12 bits.
    #[must_use]
    pub fn vlan(self, number: u16) -> Match {
        self.and(0, VLAN | TAGGED, u64::from(number & 0xfff) << 48 | TAGGED)
    }

    /// Source address, the first `bits` bits of it; more than there are count as all.
    #[must_use]
    pub fn src(self, address: IpAddr, bits: u8) -> Match {
        self.address(2, address, bits)
    }

    /// Destination address.
    #[must_use]
    pub fn dst(self, address: IpAddr, bits: u8) -> Match {
        self.address(4, address, bits)
    }

    fn address(self, word: usize, address: IpAddr, bits: u8) -> Match {
        let prefix = |bits: u32, width: u32| match bits.min(width) {
            0 => 0u64,
            bits => u64::MAX << (width - bits) & (u64::MAX >> (64 - width)),
        };
        let bits = u32::from(bits);
        match address {
            IpAddr::V4(v4) => self.and(word + 1, prefix(bits, 32), u64::from(v4.to_bits())).and(
                6,
                VERSION | HAS_IP,
                4 << 40 | HAS_IP,
            ),
            IpAddr::V6(v6) => self
                .and(word, prefix(bits, 64), (v6.to_bits() >> 64) as u64)
                .and(word + 1, prefix(bits.saturating_sub(64), 64), v6.to_bits() as u64)
                .and(6, VERSION | HAS_IP, 6 << 40 | HAS_IP),
        }
    }

    /// IPv4 or IPv6, whatever else.
    #[must_use]
    pub fn version(self, version: u8) -> Match {
        self.and(6, VERSION | HAS_IP, u64::from(version) << 40 | HAS_IP)
    }

    /// Number of the transport protocol: 6 is TCP, 17 UDP.
    #[must_use]
    pub fn protocol(self, number: u8) -> Match {
        self.and(6, PROTOCOL | HAS_IP, u64::from(number) << 32 | HAS_IP)
    }

    /// Source port of TCP, UDP or SCTP. Later fragments have none.
    #[must_use]
    pub fn src_port(self, port: u16) -> Match {
        self.and(6, SRC_PORT | HAS_PORTS, u64::from(port) | HAS_PORTS)
    }

    /// Destination port.
    #[must_use]
    pub fn dst_port(self, port: u16) -> Match {
        self.and(6, DST_PORT | HAS_PORTS, u64::from(port) << 16 | HAS_PORTS)
    }
}

/// Queues that share the frames of a rule: each flow goes to one of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spread {
    /// Numbers of the queues, at least one, at most 128.
    pub queues: Vec<u16>,
    /// What tells flows apart. Frames that have none of it go to the first queue.
    pub fields: HashFields,
}

/// What happens to a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    /// To these queues, or nowhere.
    pub(crate) to: Option<Spread>,
    pub(crate) mark: u32,
    pub(crate) tag: u32,
}

impl Action {
    /// To one queue.
    #[must_use]
    pub fn queue(number: u16) -> Action {
        Action::queues(&[number], HashFields::default())
    }

    /// Spread over queues by a hash.
    #[must_use]
    pub fn queues(numbers: &[u16], fields: HashFields) -> Action {
        Action { to: Some(Spread { queues: numbers.to_vec(), fields }), mark: 0, tag: 0 }
    }

    /// Nowhere; counted.
    #[must_use]
    pub fn drop() -> Action {
        Action { to: None, mark: 0, tag: 0 }
    }

    /// Word 0 of the metadata that arrives with the frame.
    #[must_use]
    pub fn mark(self, mark: u32) -> Action {
        Action { mark, ..self }
    }

    /// Flow tag that arrives with the frame.
    #[must_use]
    pub fn tag(self, tag: u32) -> Action {
        Action { tag, ..self }
    }
}

/// Rules in order; the first that matches a frame counts. A frame that none matches is dropped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    pub(crate) list: Vec<(Match, Action)>,
}

impl Rules {
    /// None.
    #[must_use]
    pub fn new() -> Rules {
        Rules::default()
    }

    /// Everything to one queue.
    #[must_use]
    pub fn all_to(queue: u16) -> Rules {
        Rules::new().rule(Match::any(), Action::queue(queue))
    }

    /// One more, behind the others.
    #[must_use]
    pub fn rule(mut self, when: Match, then: Action) -> Rules {
        self.list.push((when, then));
        self
    }

    /// Makes tables of them.
    ///
    /// # Errors
    /// InvalidValue, with one log line: a rule has no queue, or too many; TooBig: too many rules.
    pub fn compile(self) -> Result<Classifier> {
        if self.list.len() > MOST_RULES {
            log::error!(target: crate::LOG, "{} steering rules, allowed {MOST_RULES}", self.list.len());
            return Err(Error::new(Code::TooBig, "too many steering rules"));
        }
        for (at, (_, action)) in self.list.iter().enumerate() {
            let count = action.to.as_ref().map_or(1, |spread| spread.queues.len());
            if count == 0 || count > MOST_QUEUES {
                log::error!(target: crate::LOG, "steering rule {at}: {count} queues, allowed 1 to {MOST_QUEUES}");
                return Err(Error::new(Code::InvalidValue, "number of queues of a steering rule"));
            }
        }
        Ok(Classifier::new(self))
    }
}
