//! What a memory map is, and every rule about what it may do when.
//!
//! ```text
//! configurable --start--> started --stop--> configurable     started: registration, exports
//! imported --stop--> dead                                    imported: as if started, never configurable
//! ```
#![expect(unsafe_code, reason = "declares the object behind a handle")]

use softdpu_memory::device::Device;
use softdpu_memory::dmabuf::{DmabufMap, DmabufRange};
use softdpu_memory::export::{Exported, Imported, MAX_TOKEN};
use softdpu_memory::handle::{Head, Object, Slab, kind};
use softdpu_memory::lease::Lease;
use softdpu_memory::region::{Access, Region};
use softdpu_memory::register::{Registration, Request, register};
use softdpu_status::{Code, Error, Result};
use std::ffi::c_void;
use std::fmt::{self, Arguments};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The log target of this family.
pub(super) const LOG: &str = "softdpu::mmap";

/// How many devices a map may hold when the program says nothing.
const DEFAULT_MAX_DEVICES: u32 = 8;

/// What C calls `struct doca_mmap`. It begins as [`softdpu_memory::handle::MemoryMap`] does, which is all that engines
/// see of it.
#[derive(Debug)]
#[repr(C)]
pub struct Mmap {
    head: Head,
    /// What buffers and engines see of the map.
    region: &'static Region,
    state: Mutex<State>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Mmap {
    const KIND: u32 = kind::MMAP;
    const NAME: &'static str = "memory map";
}

pub(super) static MAPS: Slab<Mmap> = Slab::new();

/// `doca_mmap_memrange_free_cb_t`.
pub type FreeCallback = unsafe extern "C" fn(addr: *mut c_void, len: usize, cookie: *mut c_void);

/// What to call when the map is destroyed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Farewell {
    pub(super) callback: FreeCallback,
    pub(super) cookie: *mut c_void,
    /// The map was started since the callback was set.
    armed: bool,
}

// SAFETY: the cookie is the program's and only handed back to it.
unsafe impl Send for Farewell {}

/// Where the map stands.
#[derive(Debug)]
pub(super) enum Phase {
    /// Before start, and after stop.
    Configurable,
    Started(Registration),
    Imported,
    /// An import that was stopped.
    Dead,
}

/// What the region belongs to. Held until the map is destroyed: its place must not go to another map before.
#[derive(Debug)]
pub(super) enum Holder {
    Own(#[expect(dead_code, reason = "holds the region")] Lease),
    Import(Box<Imported>),
}

/// Everything but what buffers need.
#[derive(Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    pub(super) range: Option<(usize, usize)>,
    /// Where the bytes are, if not at the range's own addresses; mapped while started.
    pub(super) dmabuf: Option<DmabufRange>,
    pub(super) mapped: Option<DmabufMap>,
    pub(super) access: Access,
    pub(super) devices: Vec<Arc<Device>>,
    /// Started for every device (the textbook's way, when none was added).
    pub(super) everywhere: bool,
    pub(super) max_devices: u32,
    /// Replaced secrets, by device.
    pub(super) tokens: Vec<(u8, Token)>,
    pub(super) farewell: Option<Farewell>,
    pub(super) user_data: u64,
    pub(super) was_started: bool,
    pub(super) was_exported: bool,
    /// Live exports. Gone before the region is closed.
    pub(super) exports: Vec<Exported>,
    /// Exports for peers in this very process, which the program knows nothing of.
    pub(super) lent: Vec<Exported>,
    pub(super) holder: Holder,
}

/// An access token and its length.
pub(super) type Token = ([u8; MAX_TOKEN], usize);

impl Farewell {
    pub(super) fn new(callback: FreeCallback, cookie: *mut c_void) -> Farewell {
        Farewell { callback, cookie, armed: false }
    }
}

impl State {
    /// The import behind the map, if it is one.
    pub(super) fn import(&self) -> Option<&Imported> {
        match &self.holder {
            Holder::Own(_) => None,
            Holder::Import(import) => Some(import),
        }
    }
}

/// `memory map 0x..`: how log lines name a map.
pub(super) struct Name<'a>(pub(super) &'a Mmap);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory map {:p}", self.0)
    }
}

impl Mmap {
    /// An empty map.
    ///
    /// # Errors
    /// NoMemory.
    pub(super) fn empty() -> Result<Mmap> {
        let lease = Lease::new()?;
        let (region, access) = (lease.region(), Access::LOCAL_READ_WRITE);
        Ok(Mmap::with(region, Phase::Configurable, Holder::Own(lease), access, None, Vec::new(), 0))
    }

    /// A map over an exporter's memory.
    ///
    /// # Errors
    /// NoMemory.
    pub(super) fn imported(import: Imported, user_data: u64) -> Result<Mmap> {
        let (region, access) = (import.region(), import.access());
        let mut devices = Vec::new();
        devices
            .try_reserve_exact(1)
            .map_err(|_| Error::new(Code::NoMemory, "no memory for a device list"))?;
        devices.push(import.device().clone());
        let range = Some((region.base(), region.len()));
        Ok(Mmap::with(
            region,
            Phase::Imported,
            Holder::Import(Box::new(import)),
            access,
            range,
            devices,
            user_data,
        ))
    }

    fn with(
        region: &'static Region,
        phase: Phase,
        holder: Holder,
        access: Access,
        range: Option<(usize, usize)>,
        devices: Vec<Arc<Device>>,
        user_data: u64,
    ) -> Mmap {
        let state = State {
            phase,
            range,
            dmabuf: None,
            mapped: None,
            access,
            devices,
            everywhere: false,
            max_devices: DEFAULT_MAX_DEVICES,
            tokens: Vec::new(),
            farewell: None,
            user_data,
            was_started: false,
            was_exported: false,
            exports: Vec::new(),
            lent: Vec::new(),
            holder,
        };
        Mmap { head: Head::unborn(), region, state: Mutex::new(state) }
    }

    /// What buffers point into. Stays in place when the map is destroyed, but then belongs to nobody or another map.
    #[inline(always)]
    pub(crate) fn region(&self) -> &'static Region {
        self.region
    }

    /// The range, once set.
    pub(crate) fn range(&self) -> Option<(usize, usize)> {
        self.lock().range
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// May buffers be made although the region is closed? Only on an import whose exporter has stopped: the importer
    /// cannot know, and its tasks will tell.
    #[cold]
    pub(crate) fn allows_buffers(&self) -> Result<()> {
        if matches!(self.lock().phase, Phase::Imported) {
            return Ok(());
        }
        Err(self.refuse(Code::BadState, "the memory map is not started", format_args!("is not started")))
    }

    /// An error and its log line.
    #[cold]
    pub(super) fn refuse(&self, code: Code, what: &'static str, line: Arguments<'_>) -> Error {
        log::error!(target: LOG, "{}: {line}", Name(self));
        Error::new(code, what)
    }

    /// The state, when it may be configured. `started` is the answer for a started map, `imported` for an import.
    pub(super) fn configurable(
        &self,
        call: &str,
        started: Code,
        imported: Code,
    ) -> Result<MutexGuard<'_, State>> {
        let state = self.lock();
        let (code, why) = match state.phase {
            Phase::Configurable => return Ok(state),
            Phase::Started(..) => (started, "is started"),
            Phase::Imported | Phase::Dead => (imported, "was created from an export"),
        };
        Err(self.refuse(
            code,
            "the memory map cannot be configured now",
            format_args!("{call}: the map {why}"),
        ))
    }

    fn refuse_bufs(&self, call: &str) -> Result<()> {
        match self.region.bufs() {
            n if n > 0 && self.region.is_counted() => {
                let line = format_args!("{call}: {n} buffers still point into the map");
                Err(self.refuse(Code::NotPermitted, "buffers still point into the memory map", line))
            }
            _ => Ok(()),
        }
    }

    /// Registers the range with the devices.
    pub(super) fn start(&self) -> Result<()> {
        self.start_for(false)
    }

    /// The same; without devices with every one there is and will be, if `everywhere`.
    pub(crate) fn start_for(&self, everywhere: bool) -> Result<()> {
        let state = &mut *self.configurable("doca_mmap_start", Code::NotPermitted, Code::NotPermitted)?;
        let everywhere = everywhere && state.devices.is_empty();
        let Some((base, len)) = state.range else {
            return Err(self.refuse(
                Code::InvalidValue,
                "no range",
                format_args!("started without a memory range"),
            ));
        };
        let mapped = state.dmabuf.as_ref().map(DmabufRange::map).transpose()?;
        let delta = mapped.as_ref().map_or(0, |map| map.addr().wrapping_sub(base) as isize);
        let registration = register(
            self.region,
            &Request {
                object: &Name(self),
                base,
                len,
                delta,
                access: state.access,
                devices: &state.devices,
                shared: false,
                trusted: false,
                everywhere,
            },
        )?;
        state.phase = Phase::Started(registration);
        state.everywhere = everywhere;
        state.mapped = mapped;
        state.was_started = true;
        if let Some(farewell) = &mut state.farewell {
            farewell.armed = true;
        }
        Ok(())
    }

    /// Ends exports and registration.
    pub(super) fn stop(&self) -> Result<()> {
        self.refuse_bufs("doca_mmap_stop")?;
        self.unregister(&mut self.lock());
        Ok(())
    }

    fn unregister(&self, state: &mut State) {
        state.exports.clear();
        state.lent.clear();
        state.everywhere = false;
        match &state.holder {
            Holder::Own(_) => self.region.close(),
            Holder::Import(import) => import.close(),
        }
        // The registration goes after the region was closed.
        state.phase = match &state.phase {
            Phase::Configurable | Phase::Started(_) => Phase::Configurable,
            Phase::Imported | Phase::Dead => Phase::Dead,
        };
        state.mapped = None;
    }

    /// Stops the map for good. Returns the range and what to call now.
    pub(super) fn finish(&self) -> Result<Option<(Farewell, usize, usize)>> {
        self.refuse_bufs("doca_mmap_destroy")?;
        let mut state = self.lock();
        self.unregister(&mut state);
        let farewell = state.farewell.take().filter(|farewell| farewell.armed);
        Ok(farewell.zip(state.range).map(|(farewell, (base, len))| (farewell, base, len)))
    }

    /// Adds a device.
    pub(super) fn add(&self, device: &Arc<Device>) -> Result<()> {
        let mut state = self.configurable("doca_mmap_add_dev", Code::NotPermitted, Code::NotPermitted)?;
        let function = device.function();
        if state.devices.iter().any(|other| other.id() == device.id()) {
            let line = format_args!("device {function} was added before");
            return Err(self.refuse(Code::AlreadyExist, "the device was added before", line));
        }
        if state.devices.len() >= state.max_devices as usize {
            let line = format_args!(
                "no room for device {function}: the map holds {} devices, limit {} \
                (doca_mmap_set_max_num_devices)",
                state.devices.len(),
                state.max_devices
            );
            return Err(self.refuse(Code::NoMemory, "device limit of the memory map", line));
        }
        state
            .devices
            .try_reserve(1)
            .map_err(|_| Error::new(Code::NoMemory, "no memory for a device list"))?;
        state.devices.push(device.clone());
        Ok(())
    }

    /// Takes a device out.
    pub(super) fn remove(&self, device: &Device) -> Result<()> {
        let mut state = self.configurable("doca_mmap_rm_dev", Code::NotPermitted, Code::NotPermitted)?;
        let at = self.member(&state, device)?;
        state.devices.remove(at);
        state.tokens.retain(|(id, _)| *id != device.id());
        Ok(())
    }

    /// Where the device stands in the list.
    pub(super) fn member(&self, state: &State, device: &Device) -> Result<usize> {
        state.devices.iter().position(|other| other.id() == device.id()).ok_or_else(|| {
            let line = format_args!("device {} was not added", device.function());
            self.refuse(Code::NotFound, "the device is not in the memory map", line)
        })
    }

    /// Makes buffers countable by several threads.
    pub(super) fn share(&self) -> Result<()> {
        let state = self.lock();
        let (bufs, started) = (self.region.bufs(), matches!(state.phase, Phase::Started(_)));
        if started || bufs > 0 {
            let line = format_args!(
                "thread safety must be enabled before start and before the first buffer \
                (started: {started}, buffers: {bufs})"
            );
            return Err(self.refuse(Code::NotPermitted, "too late for thread safety", line));
        }
        self.region.share();
        Ok(())
    }
}
