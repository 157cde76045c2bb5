//! The segment of a connection: two words of state, two counts of messages, two rings.
//!
//! ```text
//!     0  client's word           128  messages the server took
//!    64  server's word           192  messages the client took
//!   256  ring of what the client sends, then ring of what the server sends
//! ```
//!
//! The client makes it, fitted to the queues and messages of both ends.

use softdpu_link::ring_bytes;
use softdpu_status::{Code, Error, Result};

/// What the server says: [`ACCEPTED`] once it has taken the client.
pub(crate) const SERVER: usize = 64;
/// See [`SERVER`].
pub(crate) const ACCEPTED: u32 = 1;
/// Messages that one end took out of the ring, by end.
pub(crate) const TAKEN_BY_SERVER: usize = 128;
/// See [`TAKEN_BY_SERVER`].
pub(crate) const TAKEN_BY_CLIENT: usize = 192;

const RINGS: usize = 256;
/// Data of the smallest and the largest ring.
const DATA: core::ops::RangeInclusive<u64> = 8 << 10..=64 << 20;
/// Longest record that is not a message.
const MAX_CONTROL: u64 = 64;
/// What a record takes besides its payload, at most: header and padding.
const AROUND: u64 = 16;

/// Data of both rings, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) up: usize,
    pub(crate) down: usize,
}

/// Data of a ring in which `queue` messages of at most `msg` bytes can wait (fewer where that were too much), next to
/// what else goes through it.
pub(crate) fn ring_data(queue: u32, msg: u32) -> usize {
    let one = u64::from(msg).max(MAX_CONTROL) + AROUND;
    let all = one.saturating_mul(u64::from(queue) + 1).clamp(*DATA.start(), *DATA.end());
    // The ring demands that the longest message is at most half of it.
    all.max(2 * one).next_power_of_two() as usize
}

impl Shape {
    /// Bytes of the segment.
    pub(crate) fn bytes(self) -> usize {
        self.down_at() + ring_bytes(self.down)
    }

    /// Where the ring of what the client sends is.
    pub(crate) fn up_at(self) -> usize {
        RINGS
    }

    /// Where the ring of what the server sends is.
    pub(crate) fn down_at(self) -> usize {
        (RINGS + ring_bytes(self.up)).next_multiple_of(64)
    }

    /// From what a peer said.
    ///
    /// # Errors
    /// InvalidValue: not what two ends with these messages and queues would make.
    pub(crate) fn check(up: u32, down: u32, expected: Shape) -> Result<Shape> {
        let shape = Shape { up: up as usize, down: down as usize };
        if shape == expected {
            return Ok(shape);
        }
        log::error!(target: crate::LOG, "a client came with rings of {up} and {down} bytes, agreed were {} and {}",
            expected.up, expected.down);
        Err(Error::new(Code::InvalidValue, "rings of a client"))
    }
}

/// One end's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Terms {
    /// Most bytes of a message.
    pub(crate) msg: u32,
    /// Received messages that may wait.
    pub(crate) queue: u32,
}

impl Terms {
    /// From what a peer said. Generous, since its card may have other limits.
    pub(crate) fn check(msg: u32, queue: u32) -> Option<Terms> {
        let fits = (1..=1 << 20).contains(&msg) && (1..=1 << 20).contains(&queue);
        fits.then_some(Terms { msg, queue })
    }

    /// The rings between a client and a server with these terms.
    pub(crate) fn shape(client: Terms, server: Terms) -> Shape {
        let msg = client.msg.min(server.msg);
        Shape { up: ring_data(server.queue, msg), down: ring_data(client.queue, msg) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use softdpu_link::max_message;

    #[test]
    fn a_ring_holds_its_queue() {
        for (queue, msg) in [(1, 1), (8, 4080), (16, 4080), (8192, 64), (1, 1 << 20), (8192, 4080)] {
            let data = ring_data(queue, msg);
            assert!(data.is_power_of_two() && max_message(data) >= msg as usize);
            assert!(
                data as u64 >= u64::from(queue) * u64::from(msg + 8).next_multiple_of(8),
                "{queue} {msg}"
            );
        }
        assert_eq!(ring_data(1 << 20, 1 << 20), 64 << 20);
    }

    #[test]
    fn rings_do_not_overlap() {
        let shape = Shape { up: 8192, down: 16384 };
        assert!(shape.down_at() >= shape.up_at() + ring_bytes(8192));
        assert!(shape.down_at().is_multiple_of(64));
        assert_eq!(shape.bytes(), shape.down_at() + ring_bytes(16384));
        assert!(Shape::check(8192, 8192, shape).is_err());
    }
}
