//! Sync events of real cards: values that only a card's own library can reach.
//!
//! A bridge to real cards says once who does it for the process. Events made or imported on a device whose card is a real
//! one are the library's, and so are the bytes of their exports.

use crate::descriptor::Kind;
use core::fmt;
use softdpu_memory::device::Device;
use softdpu_status::{Code, Error, Result};
use std::sync::OnceLock;

/// What a bridge does for devices whose card is a real one. Any thread.
pub trait RealEvents: Send + Sync + 'static {
    /// A new event; its value is 0.
    ///
    /// # Errors
    /// What the creation answers, with one log line.
    fn create(&self, device: &Device) -> Result<Box<dyn RealEvent>>;

    /// The event behind the bytes of an export.
    ///
    /// # Errors
    /// What the import answers, with one log line.
    fn import(&self, bytes: &[u8], device: &Device) -> Result<Box<dyn RealEvent>>;
}

/// An event of a real card; it ends with this value. Any thread.
pub trait RealEvent: Send + Sync + fmt::Debug {
    /// The value.
    ///
    /// # Errors
    /// What the card answers, here and below.
    fn get(&self) -> Result<u64>;

    /// Changes the value.
    ///
    /// # Errors
    /// As [`RealEvent::get`].
    fn set(&self, value: u64) -> Result<()>;

    /// Adds to the value; gives the value before.
    ///
    /// # Errors
    /// As [`RealEvent::get`].
    fn add(&self, value: u64) -> Result<u64>;

    /// Bytes that stand for the event.
    ///
    /// # Errors
    /// As [`RealEvent::get`].
    fn export(&self, kind: Kind) -> Result<Vec<u8>>;
}

static EVENTS: OnceLock<&'static dyn RealEvents> = OnceLock::new();

/// Says who does it. One per process; false when there is one already.
pub fn drive(events: &'static dyn RealEvents) -> bool {
    EVENTS.set(events).is_ok()
}

/// Who does it for a device; none where it is one of a software card.
///
/// # Errors
/// NotSupported: a real card without a bridge, which no machine has that a program can make.
pub(crate) fn events_of(device: &Device) -> Result<Option<&'static dyn RealEvents>> {
    if !device.function().card().is_real() {
        return Ok(None);
    }
    let events = EVENTS.get().ok_or(Error::new(Code::NotSupported, "no bridge to real cards"))?;
    Ok(Some(*events))
}
