//! What a device can do with sync events.

use softdpu_card::{EngineKind, Feature, Function};
use softdpu_status::{Code, Error, Result};

/// What a device can do with sync events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Events of this program, with every task.
    pub local: bool,
    /// Events can be exported to the other side of the PCIe link.
    pub export_pci: bool,
    /// Events of the other side of the PCIe link can be imported.
    pub import_pci: bool,
    /// Events can be exported to RDMA peers, and theirs imported.
    pub net: bool,
    /// Most tasks of each kind of one context.
    pub max_num_tasks: u32,
}

impl Caps {
    /// Of this function.
    ///
    /// # Errors
    /// NotSupported when its card has no sync events.
    pub fn of(function: &Function) -> Result<Caps> {
        if !function.supports(EngineKind::SyncEvent) {
            return Err(Error::new(Code::NotSupported, "the device has no sync events"));
        }
        let pci = function.has(Feature::SyncEventPci);
        Ok(Caps {
            local: function.has(Feature::SyncEventLocal),
            export_pci: pci && function.can_export_pci(),
            import_pci: pci && function.can_import_pci(),
            net: function.has(Feature::SyncEventNet),
            max_num_tasks: function.limits().sync_event.max_num_tasks,
        })
    }

    /// An answer to "can it?".
    pub(crate) fn demand(can: bool) -> Result<()> {
        if can { Ok(()) } else { Err(Error::new(Code::NotSupported, "the device cannot do this")) }
    }
}
