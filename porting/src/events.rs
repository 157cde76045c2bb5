//! Sync events of the card.
//!
//! Each is one of the card's, in the mode of direct calls: the contract has them on no event whose tasks it takes, and the
//! program may do both. So tasks are carried out by the same calls when their context is progressed, and waits look at the
//! value there.

use crate::abi::{self, Events, Object};
use crate::card::{Card, Found, check, made};
use softdpu::{Code, Error, Result};
use softdpu_memory::device::Device;
use softdpu_sync_event::Kind;
use softdpu_sync_event::real::{RealEvent, RealEvents};
use std::sync::{Mutex, MutexGuard, PoisonError};

impl Events {
    /// What a function reports of sync events.
    pub(crate) fn limits(&self, info: Object) -> Option<Found> {
        let exports = self.doca_sync_event_cap_is_export_to_remote_pci_supported(info) == 0;
        let imports = self.doca_sync_event_cap_is_create_from_export_supported(info) == 0;
        // Which events there are besides is not to be asked; those that a device takes tasks on it has.
        let local = self.doca_sync_event_cap_task_get_is_supported(info) == 0;
        let mut lacks = vec!["sync_event_net"];
        if !exports && !imports {
            lacks.push("sync_event_pci");
        }
        (local || exports).then(|| Found {
            engine: "sync_event",
            features: &["sync_event_local", "sync_event_pci", "sync_event_net"],
            lacks,
            limits: vec![],
        })
    }
}

/// The card, for those who share events through it.
#[derive(Debug)]
pub(crate) struct Sharing(pub(crate) &'static Card);

impl Sharing {
    fn table(&self) -> Result<&'static Events> {
        self.0.events.as_ref().ok_or(Error::new(Code::NotSupported, "the card's library has no sync events"))
    }

    /// An event that was made, running.
    fn start(
        &self,
        event: Object,
        device: Object,
        configure: impl FnOnce() -> Result<()>,
    ) -> Result<Box<dyn RealEvent>> {
        let table = self.table()?;
        let ready =
            configure().and_then(|()| check(table.doca_sync_event_start(event), "doca_sync_event_start"));
        ready.inspect_err(|_| {
            let _ = check(table.doca_sync_event_destroy(event), "doca_sync_event_destroy");
        })?;
        Ok(Box::new(Event { table, device, event: Mutex::new(event) }))
    }
}

impl RealEvents for Sharing {
    fn create(&self, device: &Device) -> Result<Box<dyn RealEvent>> {
        let table = self.table()?;
        let device = self.0.device(&device.function().pci().to_string())?;
        let mut event = None;
        let status = table.doca_sync_event_create(&mut event);
        let event = made(status, event, "doca_sync_event_create")?;
        self.start(event, device, || {
            // Hints where the value is to live: here, and changed from the other side, too, where there is one.
            let other = table.doca_sync_event_add_publisher_location_remote_pci(event);
            if other != 0 {
                let status = table.doca_sync_event_add_publisher_location_cpu(event, device);
                check(status, "doca_sync_event_add_publisher_location_cpu")?;
            }
            let status = table.doca_sync_event_add_subscriber_location_cpu(event, device);
            check(status, "doca_sync_event_add_subscriber_location_cpu")
        })
    }

    fn import(&self, bytes: &[u8], device: &Device) -> Result<Box<dyn RealEvent>> {
        let table = self.table()?;
        let device = self.0.device(&device.function().pci().to_string())?;
        let mut event = None;
        let status =
            table.doca_sync_event_create_from_export(device, bytes.as_ptr(), bytes.len(), &mut event);
        let event = made(status, event, "doca_sync_event_create_from_export")?;
        self.start(event, device, || Ok(()))
    }
}

/// An event of the card.
#[derive(Debug)]
struct Event {
    table: &'static Events,
    device: Object,
    /// One call at a time: the contract does not say that several are safe.
    event: Mutex<Object>,
}

impl Event {
    fn event(&self) -> MutexGuard<'_, Object> {
        self.event.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RealEvent for Event {
    fn get(&self) -> Result<u64> {
        let mut value = 0;
        let status = self.table.doca_sync_event_get(*self.event(), &mut value);
        check(status, "doca_sync_event_get").map(|()| value)
    }

    fn set(&self, value: u64) -> Result<()> {
        let status = self.table.doca_sync_event_update_set(*self.event(), value);
        check(status, "doca_sync_event_update_set")
    }

    fn add(&self, value: u64) -> Result<u64> {
        let mut before = 0;
        let status = self.table.doca_sync_event_update_add(*self.event(), value, &mut before);
        check(status, "doca_sync_event_update_add").map(|()| before)
    }

    fn export(&self, kind: Kind) -> Result<Vec<u8>> {
        if kind != Kind::Pci {
            log::error!(target: "softdpu::bridge", "the bridge exports sync events across PCI, and no other way");
            return Err(Error::new(Code::NotSupported, "the bridge has no such export"));
        }
        let (mut at, mut len) = (core::ptr::null(), 0);
        let event = self.event();
        let status = self.table.doca_sync_event_export_to_remote_pci(*event, self.device, &mut at, &mut len);
        check(status, "doca_sync_event_export_to_remote_pci")?;
        Ok(abi::bytes(at, len))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let event = *self.event();
        // One that cannot be ended stays; the log line says why.
        let _ = check(self.table.doca_sync_event_stop(event), "doca_sync_event_stop");
        let _ = check(self.table.doca_sync_event_destroy(event), "doca_sync_event_destroy");
    }
}
