//! Memory and real cards: exports and imports that go through the libraries of a card instead of ours.
//!
//! A bridge to real cards says once who does it for the process. Which way an export or import goes is a matter of its
//! device: the descriptors of a real card are its library's, opaque bytes that mean something to that library alone, and
//! so are those that programs on the other side of it make, whether or not they know of this project.

use crate::device::Device;
use crate::export::Kind;
use crate::region::Region;
use core::fmt;
use softdpu_status::{Code, Error, Result};
use std::sync::OnceLock;

/// What a bridge does for memory of devices whose card is a real one. Any thread.
pub trait RealCards: Send + Sync + 'static {
    /// Exports an open region of this process; dropping the result takes the memory back.
    ///
    /// # Errors
    /// What the export answers, with one log line.
    fn export(&self, region: &Region, device: &Device, kind: Kind) -> Result<Box<dyn RealExport>>;

    /// Imports memory. `open` is told its first address, as the exporter names it, and its bytes, and gives the region that
    /// stands for it until it is closed.
    ///
    /// # Errors
    /// What the import answers, with one log line.
    fn import(
        &self,
        bytes: &[u8],
        device: &Device,
        open: &mut dyn FnMut(usize, usize) -> &'static Region,
    ) -> Result<()>;
}

/// A live export of a real card.
pub trait RealExport: Send + Sync + fmt::Debug {
    /// The descriptor.
    fn bytes(&self) -> &[u8];
}

static CARDS: OnceLock<&'static dyn RealCards> = OnceLock::new();

/// Says who does it. One per process; false when there is one already.
pub fn drive(cards: &'static dyn RealCards) -> bool {
    CARDS.set(cards).is_ok()
}

/// Who does it for a device; none where it is one of a software card.
///
/// # Errors
/// NotSupported: a real card without a bridge, which no machine has that a program can make.
pub(crate) fn cards_of(device: &Device) -> Result<Option<&'static dyn RealCards>> {
    if !device.function().card().is_real() {
        return Ok(None);
    }
    let cards = CARDS.get().ok_or(Error::new(Code::NotSupported, "no bridge to real cards"))?;
    Ok(Some(*cards))
}
