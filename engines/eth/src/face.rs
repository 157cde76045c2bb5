//! The Rust face: received frames as owned buffers, one after the other.
//!
//! Sending needs nothing of its own: [`Send`](crate::txq::Send) and [`LargeSend`](crate::txq::LargeSend) are tasks like
//! any other.

mod inbox;
mod receiver;

pub use inbox::{Frame, Inbox};
pub use receiver::{Receiver, ReceiverConfig};

use softdpu_net::Port;
use softdpu_room::session::Device;
use std::sync::Arc;

/// The network port of a device, for rules, counters and the state of its link.
pub fn port(device: &Device) -> Arc<Port> {
    softdpu_net::port(device.shared().function())
}
