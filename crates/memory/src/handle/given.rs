//! How objects of the C face begin: what engines need of those that a program hands them.
#![expect(unsafe_code, reason = "says which objects these are")]

use super::{Head, Object, kind};
use crate::device::Device;
use crate::region::Region;
use softdpu_card::{Function, Representor};
use std::sync::Arc;

/// The beginning of every opened device's object: what engines and memory maps need of it. The C face's own device type
/// begins with the same two fields.
#[derive(Debug)]
#[repr(C)]
pub struct OpenDevice {
    head: Head,
    device: Arc<Device>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for OpenDevice {
    const KIND: u32 = kind::DEV;
    const NAME: &'static str = "device";
}

impl OpenDevice {
    /// The device; keep a clone to keep it open.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

/// The beginning of every device information record: what capability queries of engines need of it. The C face's own
/// type begins with the same two fields.
#[derive(Debug)]
#[repr(C)]
pub struct DeviceRecord {
    head: Head,
    function: Arc<Function>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for DeviceRecord {
    const KIND: u32 = kind::DEVINFO;
    const NAME: &'static str = "device information";
}

impl DeviceRecord {
    /// The function it describes.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }
}

/// What an opened representor stands for. Whoever uses it keeps a clone of the `Arc`.
#[derive(Debug)]
pub struct OpenRep {
    representor: Arc<Representor>,
    manager: Arc<Device>,
}

impl OpenRep {
    /// A representor of `manager`.
    pub fn new(representor: Arc<Representor>, manager: Arc<Device>) -> OpenRep {
        OpenRep { representor, manager }
    }

    /// The host function that is represented.
    pub fn representor(&self) -> &Arc<Representor> {
        &self.representor
    }

    /// The card device that manages it; open as long as this lives.
    pub fn manager(&self) -> &Arc<Device> {
        &self.manager
    }
}

/// The beginning of every opened representor's object: what engines need of it. The C face's own type begins with the
/// same two fields.
#[derive(Debug)]
#[repr(C)]
pub struct OpenRepresentor {
    head: Head,
    open: Arc<OpenRep>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for OpenRepresentor {
    const KIND: u32 = kind::DEV_REP;
    const NAME: &'static str = "representor";
}

impl OpenRepresentor {
    /// What it stands for; keep a clone to keep it open.
    pub fn open(&self) -> &Arc<OpenRep> {
        &self.open
    }
}

/// The beginning of every memory map's object: what engines need of it. The C face's own type begins with the same two
/// fields.
#[derive(Debug)]
#[repr(C)]
pub struct MemoryMap {
    head: Head,
    region: &'static Region,
}

// SAFETY: repr(C), head first.
unsafe impl Object for MemoryMap {
    const KIND: u32 = kind::MMAP;
    const NAME: &'static str = "memory map";
}

impl MemoryMap {
    /// What buffers and engines see of the map.
    pub fn region(&self) -> &'static Region {
        self.region
    }
}
