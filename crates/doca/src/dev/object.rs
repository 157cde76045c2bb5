//! The objects behind the handles, and the way from a handle to what it stands for.
//!
//! A device that is in use is one whose [`Device`] is held by somebody besides its handle: memory maps, contexts
//! and opened representors hold a clone of the `Arc`, and that is all they have to do to keep it open. The same
//! goes for representors and [`OpenRep`].
#![expect(unsafe_code, reason = "handles are pointers that C hands in")]

use softdpu_card::{Function, PciAddr, Representor};
use softdpu_memory::device::Device;
use softdpu_memory::handle::{Head, Object, Slab, checked, kind};
use softdpu_status::Result;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// `struct doca_devinfo`: an element of a list, or part of an opened device.
#[derive(Debug)]
#[repr(C)]
pub struct DevInfo {
    head: Head,
    pub(super) function: Arc<Function>,
    /// What was asked of the list it belongs to; `None` for the record of an opened device.
    pub(super) search: Option<Arc<Search>>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for DevInfo {
    const KIND: u32 = kind::DEVINFO;
    const NAME: &'static str = "device information";
}

/// `struct doca_dev`: an opened device. One object per device, however often it is opened.
///
/// It begins as [`softdpu_memory::handle::OpenDevice`] does, which is all that engines see of it.
#[derive(Debug)]
#[repr(C)]
pub struct Dev {
    head: Head,
    pub(super) device: Arc<Device>,
    pub(super) info: NonNull<DevInfo>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Dev {
    const KIND: u32 = kind::DEV;
    const NAME: &'static str = "device";
}

/// `struct doca_devinfo_rep`: an element of a list of representors, or part of an opened one.
#[derive(Debug)]
#[repr(C)]
pub struct RepInfo {
    head: Head,
    pub(super) representor: Arc<Representor>,
    /// The device that manages it. Weak, so that a list does not keep a device open.
    pub(super) manager: Weak<Device>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for RepInfo {
    const KIND: u32 = kind::DEVINFO_REP;
    const NAME: &'static str = "representor information";
}

/// `struct doca_dev_rep`: an opened representor. Every open makes a new one.
///
/// It begins as [`softdpu_memory::handle::OpenRepresentor`] does, which is all that engines see of it.
#[derive(Debug)]
#[repr(C)]
pub struct DevRep {
    head: Head,
    pub(super) open: Arc<OpenRep>,
    pub(super) info: NonNull<RepInfo>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for DevRep {
    const KIND: u32 = kind::DEV_REP;
    const NAME: &'static str = "representor";
}

pub use softdpu_memory::handle::OpenRep;

/// What a program asked of a list of devices, so that a search without result can be explained.
#[derive(Debug, Default)]
pub(super) struct Search(Mutex<Asked>);

/// See [`Search`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// The last PCI address that was compared.
    pub(super) address: Option<PciAddr>,
    /// Some comparison was successful.
    pub(super) matched: bool,
    /// Names were read.
    pub(super) named: bool,
    /// A device was opened from the list.
    pub(super) opened: bool,
}

impl Search {
    /// Notes what was asked.
    pub(super) fn note(&self, change: impl FnOnce(&mut Asked)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What was asked so far.
    pub(super) fn asked(&self) -> Asked {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

static INFOS: Slab<DevInfo> = Slab::new();
static DEVS: Slab<Dev> = Slab::new();
static REP_INFOS: Slab<RepInfo> = Slab::new();
static REPS: Slab<DevRep> = Slab::new();

impl DevInfo {
    pub(super) fn make(function: Arc<Function>, search: Option<Arc<Search>>) -> Result<NonNull<DevInfo>> {
        INFOS.make(DevInfo { head: Head::unborn(), function, search })
    }

    /// # Safety
    /// The record is alive and nobody uses it any more.
    pub(super) unsafe fn retire(info: NonNull<DevInfo>) {
        // SAFETY: the caller's promise; it came from `make`.
        unsafe { INFOS.retire(info) }
    }
}

impl Dev {
    pub(super) fn make(device: Arc<Device>) -> Result<NonNull<Dev>> {
        let info = DevInfo::make(Arc::clone(device.function()), None)?;
        DEVS.make(Dev { head: Head::unborn(), device, info }).inspect_err(|_| {
            // SAFETY: made above and given to nobody.
            unsafe { DevInfo::retire(info) }
        })
    }

    /// From now on the handle is refused; the object stays until it is retired.
    pub(super) fn kill(&self) {
        self.head.kill();
    }

    /// # Safety
    /// The device was not retired and nobody uses it or its record any more.
    pub(super) unsafe fn retire(dev: NonNull<Dev>) {
        // SAFETY: alive by the caller's promise, so its record is alive too and belongs to it alone.
        unsafe {
            let info = dev.as_ref().info;
            DEVS.retire(dev);
            DevInfo::retire(info);
        }
    }
}

impl RepInfo {
    pub(super) fn make(representor: Arc<Representor>, manager: Weak<Device>) -> Result<NonNull<RepInfo>> {
        REP_INFOS.make(RepInfo { head: Head::unborn(), representor, manager })
    }

    /// # Safety
    /// The record is alive and nobody uses it any more.
    pub(super) unsafe fn retire(info: NonNull<RepInfo>) {
        // SAFETY: the caller's promise; it came from `make`.
        unsafe { REP_INFOS.retire(info) }
    }
}

impl DevRep {
    pub(super) fn make(representor: Arc<Representor>, manager: Arc<Device>) -> Result<NonNull<DevRep>> {
        let info = RepInfo::make(Arc::clone(&representor), Arc::downgrade(&manager))?;
        let open = Arc::new(OpenRep::new(representor, manager));
        REPS.make(DevRep { head: Head::unborn(), open, info }).inspect_err(|_| {
            // SAFETY: made above and given to nobody.
            unsafe { RepInfo::retire(info) }
        })
    }

    /// # Safety
    /// The representor is alive and nobody uses it or its record any more.
    pub(super) unsafe fn retire(rep: NonNull<DevRep>) {
        // SAFETY: alive by the caller's promise, so its record is alive too and belongs to it alone.
        unsafe {
            let info = rep.as_ref().info;
            REPS.retire(rep);
            RepInfo::retire(info);
        }
    }
}

/// The function that a device information record describes.
///
/// # Errors
/// InvalidValue, with a log line that names `call`, for NULL, wrong kind and destroyed handles.
///
/// # Safety
/// As [`softdpu_memory::handle::live`].
pub unsafe fn function<'a>(info: *const DevInfo, call: &str) -> Result<&'a Arc<Function>> {
    // SAFETY: the caller's promise.
    unsafe { checked(info, call) }.map(|info| &info.function)
}

/// The device behind an opened handle. Keep a clone to keep it open.
///
/// # Errors
/// As [`function`].
///
/// # Safety
/// As [`softdpu_memory::handle::live`].
pub unsafe fn device<'a>(dev: *const Dev, call: &str) -> Result<&'a Arc<Device>> {
    // SAFETY: the caller's promise.
    unsafe { checked(dev, call) }.map(|dev| &dev.device)
}

/// What an opened representor stands for. Keep a clone to keep it open.
///
/// # Errors
/// As [`function`].
///
/// # Safety
/// As [`softdpu_memory::handle::live`].
pub unsafe fn open_representor<'a>(rep: *const DevRep, call: &str) -> Result<&'a Arc<OpenRep>> {
    // SAFETY: the caller's promise.
    unsafe { checked(rep, call) }.map(|rep| &rep.open)
}
