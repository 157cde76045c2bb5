//! Servers and clients of real cards: messages that a card's own library carries.
//!
//! A bridge to real cards says once who does it for the process. Contexts on devices whose card is a real one get the
//! hardware of `real/hardware.rs`, which has the card do what the rings do elsewhere; everything above (connections,
//! events, back-pressure, both ends in the Rust face) is the same.

mod hardware;

pub(crate) use hardware::RealHardware;

use softdpu_card::PciAddr;
use softdpu_memory::device::Device;
use softdpu_status::{Code, Error, Result};
use std::sync::OnceLock;

/// What a server or client is asked to be.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Name of the server.
    pub name: &'a [u8],
    /// Most bytes of a message.
    pub msg: u32,
    /// Received messages that may wait.
    pub queue: u32,
    /// Messages in flight.
    pub tasks: u32,
}

/// What a bridge does for devices whose card is a real one. Any thread.
pub trait RealChannels: Send + Sync + 'static {
    /// A running server for the clients of the host function at `host`.
    ///
    /// # Errors
    /// What the start answers, with one log line.
    fn server(&self, device: &Device, host: PciAddr, wanted: Wanted<'_>) -> Result<Box<dyn RealEnd>>;

    /// A client that is looking for its server.
    ///
    /// # Errors
    /// What the start answers, with one log line.
    fn client(&self, device: &Device, wanted: Wanted<'_>) -> Result<Box<dyn RealEnd>>;
}

/// What an end has to say. Connections have numbers that the bridge chooses; a client's is 0.
#[derive(Debug)]
pub enum Said {
    /// A client runs: its server took it.
    Running,
    /// It is at rest, asked to or not. The last word.
    Idle,
    /// A client came.
    Connected(u64),
    /// A client left.
    Disconnected(u64),
    /// A message came.
    Message(u64, Vec<u8>),
    /// The message of this number is through, or will not be sent.
    Sent(u64, Result<()>),
}

/// A server or client of a real card. One thread at a time. Dropping it ends it, at once if need be.
pub trait RealEnd: Send {
    /// Looks at the card. Never waits.
    fn look(&mut self, said: &mut Vec<Said>);

    /// Sends a message over a connection; the bytes stay where they are until it is told to be through, by its number.
    ///
    /// # Errors
    /// It was not taken.
    fn send(&mut self, over: u64, bytes: &[u8], number: u64) -> Result<()>;

    /// Server: drops a client.
    ///
    /// # Errors
    /// Again: not now, ask once more.
    fn disconnect(&mut self, over: u64) -> Result<()>;

    /// Begins to stop. Asked once.
    fn stop(&mut self);
}

static CHANNELS: OnceLock<&'static dyn RealChannels> = OnceLock::new();

/// Says who does it. One per process; false when there is one already.
pub fn drive(channels: &'static dyn RealChannels) -> bool {
    CHANNELS.set(channels).is_ok()
}

/// Who does it for a device; none where it is one of a software card.
///
/// # Errors
/// NotSupported: a real card without a bridge, which no machine has that a program can make.
pub(crate) fn channels_of(device: &Device) -> Result<Option<&'static dyn RealChannels>> {
    if !device.function().card().is_real() {
        return Ok(None);
    }
    let channels = CHANNELS.get().ok_or(Error::new(Code::NotSupported, "no bridge to real cards"))?;
    Ok(Some(*channels))
}
