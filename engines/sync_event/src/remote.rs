//! An event of an RDMA peer: an argument of the RDMA tasks that read or change it.

use crate::caps::Caps;
use crate::cell::LOG;
use crate::descriptor::{Descriptor, Kind};
use crate::import;
use crate::live::Live;
use softdpu_memory::device::Device;
use softdpu_memory::export::identity::Card;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, OnceLock};

/// An event of an RDMA peer. It has no value of its own: RDMA tasks reach it over their connection. Any thread.
#[derive(Debug)]
pub struct RemoteEvent {
    descriptor: Descriptor,
    device: Arc<Device>,
    target: OnceLock<Target>,
}

impl RemoteEvent {
    /// From the bytes of a network export. Whether the event lives shows when a task uses it.
    ///
    /// # Errors
    /// InvalidValue (damaged, or not made for the network), NotSupported, with one log line.
    pub fn open(bytes: &[u8], device: &Arc<Device>) -> Result<RemoteEvent> {
        let function = device.function();
        if !Caps::of(function).is_ok_and(|caps| caps.net) {
            log::error!(target: LOG, "device {function} with profile {} has no sync events of RDMA peers",
                function.card().profile());
            return Err(Error::new(Code::NotSupported, "the device has no remote sync events"));
        }
        let descriptor = import::read(bytes, Kind::Net)?;
        Ok(RemoteEvent { descriptor, device: device.clone(), target: OnceLock::new() })
    }

    /// What the export says: the peer's process, and the event's number and secret there.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// The device it was opened on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Is it an event of this machine, as far as its bytes tell? Its value can be reached then.
    pub fn is_near(&self) -> bool {
        self.descriptor.card.folder == Card::of(self.device.function()).folder
    }

    /// The value, which is looked for the first time: that asks the peer's process, and may take as long as it does. What
    /// was not found is looked for again.
    ///
    /// # Errors
    /// As [`Target::find`].
    pub fn reach(&self) -> Result<&Target> {
        if let Some(target) = self.target.get() {
            return Ok(target);
        }
        let found = Target::find(&self.descriptor, &self.device)?;
        Ok(self.target.get_or_init(|| found))
    }

    /// The value, if it was found before. Asks nobody.
    #[inline]
    pub fn reached(&self) -> Option<&Target> {
        self.target.get()
    }
}

/// The value of an event of this machine that was exported for the network, for the engine that serves RDMA peers.
#[derive(Debug)]
pub struct Target(Live);

impl Target {
    /// The live event that a network export speaks of.
    ///
    /// # Errors
    /// InvalidValue (forged or stale), and what asking another process answers, with one log line.
    pub fn find(descriptor: &Descriptor, device: &Arc<Device>) -> Result<Target> {
        Live::attach(descriptor, device).map(Target)
    }

    /// The value.
    ///
    /// # Errors
    /// Shutdown or ConnectionReset when the event, or its process, has ended.
    pub fn get(&self) -> Result<u64> {
        self.0.cell().get()
    }

    /// Changes the value.
    ///
    /// # Errors
    /// As [`Target::get`].
    pub fn set(&self, value: u64) -> Result<()> {
        self.0.cell().set(value)
    }

    /// Adds to the value; gives the value before.
    ///
    /// # Errors
    /// As [`Target::get`].
    pub fn add(&self, value: u64) -> Result<u64> {
        self.0.cell().add(value)
    }
}
