//! What a memory map is, and every rule about what it may do when.
//!
//! ```text
//! configurable --start--> started --stop--> configurable     started: registration, exports
//! imported --stop--> dead                                    imported: as if started, never configurable
//! ```
#![expect(unsafe_code, reason = "declares the object behind a handle")]

use softdpu_memory::device::Device;
use softdpu_memory::export::{self, Exported, Imported, Kind, MAX_TOKEN, Origin};
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

/// What C calls `struct doca_mmap`.
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

/// Where the map stands, with what it holds there.
#[derive(Debug)]
enum Phase {
    /// Before start, and after stop.
    Configurable(Lease),
    Started(Lease, Registration),
    Imported(Imported),
    /// An import that was stopped.
    Dead,
}

/// Everything but what buffers need.
#[derive(Debug)]
pub(super) struct State {
    phase: Phase,
    range: Option<(usize, usize)>,
    access: Access,
    devices: Vec<Arc<Device>>,
    max_devices: u32,
    /// Replaced secrets, by device.
    tokens: Vec<(u8, Token)>,
    farewell: Option<Farewell>,
    user_data: u64,
    was_started: bool,
    was_exported: bool,
    /// Live exports. Gone before the region is closed.
    exports: Vec<Exported>,
}

type Token = ([u8; MAX_TOKEN], usize);

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
        Ok(Mmap::with(region, Phase::Configurable(lease), access, None, Vec::new(), 0))
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
        Ok(Mmap::with(region, Phase::Imported(import), access, range, devices, user_data))
    }

    fn with(
        region: &'static Region,
        phase: Phase,
        access: Access,
        range: Option<(usize, usize)>,
        devices: Vec<Arc<Device>>,
        user_data: u64,
    ) -> Mmap {
        let state = State {
            phase,
            range,
            access,
            devices,
            max_devices: DEFAULT_MAX_DEVICES,
            tokens: Vec::new(),
            farewell: None,
            user_data,
            was_started: false,
            was_exported: false,
            exports: Vec::new(),
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
        if matches!(self.lock().phase, Phase::Imported(_)) {
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
            Phase::Configurable(_) => return Ok(state),
            Phase::Started(..) => (started, "is started"),
            Phase::Imported(_) | Phase::Dead => (imported, "was created from an export"),
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
        let state = &mut *self.configurable("doca_mmap_start", Code::NotPermitted, Code::NotPermitted)?;
        let Some((base, len)) = state.range else {
            return Err(self.refuse(
                Code::InvalidValue,
                "no range",
                format_args!("started without a memory range"),
            ));
        };
        let registration = register(
            self.region,
            &Request {
                object: &Name(self),
                base,
                len,
                delta: 0,
                access: state.access,
                devices: &state.devices,
                shared: false,
                trusted: false,
            },
        )?;
        state.phase = match std::mem::replace(&mut state.phase, Phase::Dead) {
            Phase::Configurable(lease) => Phase::Started(lease, registration),
            other => other,
        };
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
        self.region.close();
        state.phase = match std::mem::replace(&mut state.phase, Phase::Dead) {
            Phase::Started(lease, _) => Phase::Configurable(lease),
            Phase::Imported(_) => Phase::Dead,
            other => other,
        };
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
        if state.has(device) {
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
    fn member(&self, state: &State, device: &Device) -> Result<usize> {
        state.devices.iter().position(|other| other.id() == device.id()).ok_or_else(|| {
            let line = format_args!("device {} was not added", device.function());
            self.refuse(Code::NotFound, "the device is not in the memory map", line)
        })
    }

    /// Makes buffers countable by several threads.
    pub(super) fn share(&self) -> Result<()> {
        let state = self.lock();
        let (bufs, started) = (self.region.bufs(), matches!(state.phase, Phase::Started(..)));
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

    /// Replaces the secret of later exports on `device`.
    pub(super) fn set_token(&self, device: &Device, token: &[u8]) -> Result<()> {
        if self.lock().was_exported {
            return Err(self.refuse(
                Code::NotPermitted,
                "the map was exported",
                format_args!("was exported before"),
            ));
        }
        let mut state =
            self.configurable("doca_mmap_set_export_access_token", Code::BadState, Code::NotPermitted)?;
        self.member(&state, device)?;
        let mut bytes = [0; MAX_TOKEN];
        match bytes.get_mut(..token.len()) {
            Some(to) if !token.is_empty() => to.copy_from_slice(token),
            _ => {
                let line =
                    format_args!("an access token of {} bytes, allowed are 1 to {MAX_TOKEN}", token.len());
                return Err(self.refuse(Code::InvalidValue, "length of the access token", line));
            }
        }
        state.tokens.retain(|(id, _)| *id != device.id());
        state.tokens.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a token"))?;
        state.tokens.push((device.id(), (bytes, token.len())));
        Ok(())
    }

    /// The descriptor for `device`, made once while the map is started. It stays where it is until stop.
    pub(super) fn export(&self, device: &Arc<Device>, kind: Kind) -> Result<(*const u8, usize)> {
        let state = &mut *self.lock();
        let origin = self.origin(state, device, kind)?;
        let made = state.exports.iter().find(|made| made.kind() == kind && made.device().id() == device.id());
        if let Some(made) = made {
            return Ok((made.bytes().as_ptr(), made.bytes().len()));
        }
        let token = state.tokens.iter().find(|(id, _)| *id == device.id());
        let token = token.and_then(|(_, (bytes, len))| bytes.get(..*len));
        let exported = export::export(&Name(self), origin, device, kind, token)?;
        state.exports.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for an export"))?;
        let bytes = (exported.bytes().as_ptr(), exported.bytes().len());
        state.exports.push(exported);
        state.was_exported = true;
        Ok(bytes)
    }

    fn origin<'a>(&self, state: &'a State, device: &Device, kind: Kind) -> Result<Origin<'a>> {
        let refuse = |line| self.refuse(Code::NotPermitted, "the memory map cannot be exported", line);
        let (mkey, writable, parent) = match &state.phase {
            Phase::Started(_, registration) => (registration.mkey(device), registration.is_writable(), None),
            Phase::Imported(import) if kind == Kind::Rdma && import.kind() == Kind::Pci => {
                let here = import.device().id() == device.id();
                (here.then(|| import.mkey()), import.is_writable(), Some(import))
            }
            Phase::Imported(import) => {
                return Err(refuse(format_args!(
                    "a map imported over {} has no {kind} export",
                    import.kind()
                )));
            }
            Phase::Configurable(_) | Phase::Dead => {
                return Err(refuse(format_args!("{kind} export needs a started map")));
            }
        };
        self.member(state, device)?;
        let access = state.access;
        Ok(Origin { region: self.region, access, writable, mkey: mkey.unwrap_or_default(), parent })
    }

    /// The key of the range on a device.
    pub(super) fn mkey(&self, device: &Device) -> Result<u32> {
        let key = match &self.lock().phase {
            Phase::Started(_, registration) => registration.mkey(device),
            Phase::Imported(import) if import.device().id() == device.id() => Some(import.mkey()),
            _ => None,
        };
        key.ok_or_else(|| {
            let line = format_args!(
                "no memory key: the map is not started, or device {} not in it",
                device.function()
            );
            self.refuse(Code::InvalidValue, "no memory key", line)
        })
    }
}

impl State {
    fn has(&self, device: &Device) -> bool {
        self.devices.iter().any(|other| other.id() == device.id())
    }

    pub(super) fn range(&self) -> Option<(usize, usize)> {
        self.range
    }

    pub(super) fn set_range(&mut self, base: usize, len: usize) {
        self.range = Some((base, len));
    }

    pub(super) fn set_access(&mut self, access: Access) {
        self.access = access;
    }

    pub(super) fn set_farewell(&mut self, callback: FreeCallback, cookie: *mut c_void) {
        self.farewell = Some(Farewell { callback, cookie, armed: false });
    }

    pub(super) fn user_data(&self) -> u64 {
        self.user_data
    }

    pub(super) fn set_user_data(&mut self, user_data: u64) {
        self.user_data = user_data;
    }

    pub(super) fn devices(&self) -> usize {
        self.devices.len()
    }

    pub(super) fn max_devices(&self) -> u32 {
        self.max_devices
    }

    pub(super) fn set_max_devices(&mut self, max: u32) {
        self.max_devices = max;
    }

    pub(super) fn was_started(&self) -> bool {
        self.was_started
    }

    pub(super) fn was_exported(&self) -> bool {
        self.was_exported
    }

    pub(super) fn is_import(&self) -> bool {
        matches!(self.phase, Phase::Imported(_) | Phase::Dead)
    }
}
