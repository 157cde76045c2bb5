//! Registration: making a range reachable for devices.
//!
//! [`register`] checks the range against the kernel's list of mappings, counts it against the locked-memory limit when
//! the machine plays strict, takes keys and device addresses, and opens the region with its access word. What it
//! returns holds all that; the owner closes the region first and drops the [`Registration`] afterwards.

use crate::device::{Device, Registered};
use crate::keys::{self, Key};
use crate::procmaps;
use crate::region::{Access, CAN_READ, CAN_WRITE, DEVICE_SHIFT, Region, SHARED};
use crate::report::Listed;
use core::fmt::{self, Display};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use rustix::process::{Resource, getrlimit};
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, OnceLock};

/// What is to be registered.
pub struct Request<'a> {
    /// How log lines name the object: "memory map 0x..".
    pub object: &'a dyn Display,
    /// First address, as the program names it. For memory of this process also where it is mapped.
    pub base: usize,
    /// Bytes, not 0.
    pub len: usize,
    /// Bytes to add to a program's address to reach the byte; 0 for memory of this process.
    pub delta: isize,
    /// What was granted.
    pub access: Access,
    /// The devices; at least one.
    pub devices: &'a [Arc<Device>],
    /// Others may write while engines look, and the library must not assume more (the Rust face's shared memory).
    pub shared: bool,
    /// The library mapped the range itself and knows that it is whole and writable.
    pub trusted: bool,
    /// For every device, also those that are opened later: `devices` may be empty.
    pub everywhere: bool,
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: [{:#x}, +{}) {:?}", self.object, self.base, self.len, self.access)
    }
}

/// A registered range: its keys and device addresses, and its share of the locked-memory limit. Dropping it gives
/// those back; it does not close the region.
#[derive(Debug)]
pub struct Registration {
    devices: Vec<Known>,
    /// The key on every other device.
    elsewhere: Option<Key>,
    writable: bool,
    _pinned: Option<Pinned>,
    _listed: Listed,
}

/// How one device knows the range.
#[derive(Debug)]
struct Known {
    place: Registered,
    key: Key,
    address: u64,
}

impl Registration {
    /// The key of the range on `device`, if it is registered there.
    pub fn mkey(&self, device: &Device) -> Option<u32> {
        let known = self.known(device).map(|known| known.key.number());
        known.or_else(|| self.elsewhere.as_ref().map(Key::number))
    }

    /// The key on the first device, or on every device.
    pub fn any_key(&self) -> Option<u32> {
        let first = self.devices.first().map(|known| &known.key);
        first.or(self.elsewhere.as_ref()).map(Key::number)
    }

    /// Where `device` sees the first byte, if it is registered there.
    pub fn device_address(&self, device: &Device) -> Option<u64> {
        self.known(device).map(|known| known.address)
    }

    /// May the memory be written at all (whatever was granted)?
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    fn known(&self, device: &Device) -> Option<&Known> {
        self.devices.iter().find(|known| known.place.device().id() == device.id())
    }
}

/// Registers a range and opens `region` for it. Any thread; one at a time per region.
///
/// A read-only mapping is registered with the right to read alone, whatever was granted.
///
/// # Errors
/// InvalidValue (no device, empty range, or one that wraps), Driver (a hole in the range, or more memory than may be
/// locked), NoMemory. One log line names the rule and the numbers. The region stays closed.
pub fn register(region: &Region, request: &Request<'_>) -> Result<Registration> {
    let Request { object, base, len, access, devices, .. } = *request;
    if devices.is_empty() && !request.everywhere {
        log::error!(target: "softdpu::mmap", "{object}: no device was added");
        return Err(Error::new(Code::InvalidValue, "no device to register the memory with"));
    }
    if len == 0 || base == 0 || base.checked_add(len).is_none() {
        log::error!(target: "softdpu::mmap", "{object}: [{base:#x}, +{len}) is no range of memory");
        return Err(Error::new(Code::InvalidValue, "empty or impossible range"));
    }
    let writable = request.trusted || look(request)?;
    let pinned = pin(request)?;
    let mut known = Vec::new();
    known
        .try_reserve_exact(devices.len())
        .map_err(|_| Error::new(Code::NoMemory, "no memory for a registration"))?;
    for device in devices {
        let place = place(request, device)?;
        let address = keys::device_address(device, base, len)?;
        known.push(Known { place, key: Key::new()?, address });
    }
    let writes = if writable && access.contains(Access::LOCAL_READ_WRITE) { CAN_WRITE } else { 0 };
    let shared = if request.shared { SHARED } else { 0 };
    let everybody = if request.everywhere { u64::MAX << DEVICE_SHIFT } else { 0 };
    let first = CAN_READ | writes | shared | everybody;
    let word = devices.iter().fold(first, |word, device| word | device.bit());
    let elsewhere = request.everywhere.then(Key::new).transpose()?;
    region.grant(access);
    region.open(base, len, request.delta, word);
    let listed = Listed::new(base, len, access, devices);
    Ok(Registration { devices: known, elsewhere, writable, _pinned: pinned, _listed: listed })
}

/// Is the range whole? Tells whether it may be written.
fn look(request: &Request<'_>) -> Result<bool> {
    let Request { object, base, len, access, .. } = *request;
    match procmaps::survey(base.wrapping_add_signed(request.delta), len) {
        Ok(survey) => {
            if !survey.writable && access.intersects(Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE) {
                log::info!(target: "softdpu::mmap",
                    "{object}: [{base:#x}, +{len}) lies in a read-only mapping: {access:?} is reduced to reading");
            }
            Ok(survey.writable)
        }
        Err(hole) => {
            log::error!(target: "softdpu::mmap", "{object}: [{base:#x}, +{len}) cannot be registered: {hole}");
            Err(Error::new(Code::Driver, "the range has a hole"))
        }
    }
}

/// Takes the region's place on a device, unless it is too large or one too many.
fn place(request: &Request<'_>, device: &Arc<Device>) -> Result<Registered> {
    let Request { object, len, .. } = request;
    let (function, limits) = (device.function(), &device.function().limits().memory);
    if *len as u64 > limits.max_region_size {
        log::error!(target: "softdpu::mmap",
            "{object}: {len} bytes cannot be registered with {function}: its largest region has {} bytes", limits.max_region_size);
        return Err(Error::new(Code::Driver, "the region is too large for the device"));
    }
    device.add_region().ok_or_else(|| {
        log::error!(target: "softdpu::mmap",
            "{object}: {function} has {} regions already, as many as it can have", limits.max_regions);
        Error::new(Code::Driver, "the device has as many regions as it can have")
    })
}

/// Bytes that count as locked, in all strict registrations of the process.
static LOCKED: AtomicU64 = AtomicU64::new(0);

/// A share of the locked-memory limit.
#[derive(Debug)]
struct Pinned(u64);

impl Drop for Pinned {
    fn drop(&mut self) {
        LOCKED.fetch_sub(self.0, Relaxed);
    }
}

/// The limit that a plan of faults wants, in strict mode or not: `SOFTDPU_MEMLOCK`, in bytes.
fn short() -> Option<u64> {
    static SHORT: OnceLock<Option<u64>> = OnceLock::new();
    *SHORT.get_or_init(|| std::env::var("SOFTDPU_MEMLOCK").ok()?.parse().ok())
}

/// Imitates what a kernel does when a driver pins the pages of a range: whole pages count, every registration counts
/// for itself, and the limit is that of an ordinary user (rights to exceed it are not looked at).
fn pin(request: &Request<'_>) -> Result<Option<Pinned>> {
    let strict =
        request.devices.iter().map(|device| device.function().settings()).filter(|settings| settings.strict);
    let own = || getrlimit(Resource::Memlock).current;
    let limits = strict.filter_map(|settings| settings.memlock.or_else(own));
    let Some(limit) = limits.chain(short()).min() else {
        return Ok(None);
    };
    let page = rustix::param::page_size();
    let first = request.base & !(page - 1);
    let end = (request.base + request.len).checked_next_multiple_of(page).unwrap_or(usize::MAX);
    let bytes = (end - first) as u64;
    let room = |locked: u64| locked.checked_add(bytes).filter(|&total| total <= limit);
    match LOCKED.fetch_update(Relaxed, Relaxed, room) {
        Ok(_) => Ok(Some(Pinned(bytes))),
        Err(locked) => {
            log::error!(target: "softdpu::mmap",
                "{}: {bytes} bytes cannot be pinned: {locked} bytes are locked already, the locked-memory limit is {limit} \
                 bytes (strict mode, or a plan of faults; raise it with `ulimit -l`, the `memlock` of the topology file or the plan, \
                 or leave strict mode)",
                request.object);
            Err(Error::new(Code::Driver, "locked-memory limit"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::ALIVE;
    use softdpu_card::Machine;

    fn devices(machine: &Machine, n: usize) -> Vec<Arc<Device>> {
        machine.functions()[..n].iter().map(|function| Device::open(function.clone()).unwrap()).collect()
    }

    fn request<'a>(memory: &[u8], access: Access, devices: &'a [Arc<Device>]) -> Request<'a> {
        let (base, len) = (memory.as_ptr() as usize, memory.len());
        Request {
            object: &"test map",
            base,
            len,
            delta: 0,
            access,
            devices,
            shared: false,
            trusted: false,
            everywhere: false,
        }
    }

    #[test]
    fn the_access_word_says_what_devices_may_do() {
        let machine = Machine::builder().build().unwrap();
        let devices = devices(&machine, 2);
        let heap = vec![0u8; 5000];
        let region = Region::closed();
        let bits = devices[0].bit() | devices[1].bit();
        for (mask, writes) in
            [(0x00, 0), (0x01, CAN_WRITE), (0x10, 0), (0x20, 0), (0x21, CAN_WRITE), (0x07, CAN_WRITE)]
        {
            let access = Access::from_bits(mask).unwrap();
            let _registration = register(&region, &request(&heap, access, &devices)).unwrap();
            assert_eq!(region.word(), ALIVE | CAN_READ | writes | bits, "{access:?}");
            region.close();
        }
        let access = Access::LOCAL_READ_WRITE;
        register(&region, &Request { shared: true, ..request(&heap, access, &devices) }).unwrap();
        assert_ne!(region.word() & SHARED, 0);
    }

    #[test]
    fn each_device_has_its_own_key_and_address() {
        let machine = Machine::builder().build().unwrap();
        let devices = devices(&machine, 3);
        let heap = vec![0u8; 5000];
        let (one, two) = (Region::closed(), Region::closed());
        let a = register(&one, &request(&heap, Access::LOCAL_READ_WRITE, &devices[..2])).unwrap();
        let b = register(&two, &request(&heap, Access::LOCAL_READ_WRITE, &devices[..2])).unwrap();
        let mut keys: Vec<_> =
            [&a, &b].iter().flat_map(|r| devices[..2].iter().map(|d| r.mkey(d).unwrap())).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 4);
        assert_eq!(a.mkey(&devices[0]), a.mkey(&devices[0]));
        assert_ne!(a.device_address(&devices[0]), b.device_address(&devices[0]));
        assert_eq!((a.mkey(&devices[2]), a.device_address(&devices[2])), (None, None));
    }

    #[test]
    fn a_map_for_everybody_knows_devices_that_come_later() {
        let machine = Machine::builder().build().unwrap();
        let (region, heap) = (Region::closed(), vec![0u8; 5000]);
        let everywhere = Request { everywhere: true, ..request(&heap, Access::LOCAL_READ_WRITE, &[]) };
        let registration = register(&region, &everywhere).unwrap();
        for device in devices(&machine, 3) {
            assert_ne!(region.word() & device.bit(), 0);
            assert_eq!(registration.mkey(&device), registration.any_key());
        }
        assert!(registration.any_key().is_some());
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let machine = Machine::builder().build().unwrap();
        let devices = devices(&machine, 1);
        let region = Region::closed();
        let heap = [0u8; 16];
        let ok = request(&heap, Access::LOCAL_READ_WRITE, &devices);
        let code = |request: &Request<'_>| register(&region, request).unwrap_err().code();
        assert_eq!(
            code(&Request { devices: &[], ..request(&heap, Access::LOCAL_READ_WRITE, &[]) }),
            Code::InvalidValue
        );
        assert_eq!(code(&Request { len: 0, ..ok }), Code::InvalidValue);
        assert_eq!(code(&Request { len: usize::MAX, ..ok }), Code::InvalidValue);
        assert_eq!(code(&Request { base: 4096, len: 4096, ..ok }), Code::Driver);
        assert!(!region.is_open());
    }

    #[test]
    fn regions_are_as_many_and_as_large_as_the_card_says() {
        let text =
            "[[card]]\nname = \"small\"\n[card.limits.memory]\nmax_regions = 2\nmax_region_size = 4096\n";
        let machine = Machine::builder().config_text(text).build().unwrap();
        let devices = devices(&machine, 2);
        let heap = vec![0u8; 8192];
        let regions = [Region::closed(), Region::closed(), Region::closed()];
        let try_one = |at: usize, len: usize, devices: &[Arc<Device>]| {
            register(&regions[at], &request(&heap[..len], Access::LOCAL_READ_WRITE, devices))
        };
        assert_eq!(try_one(0, 4097, &devices).unwrap_err().code(), Code::Driver);
        let (one, two) = (try_one(0, 4096, &devices[..1]).unwrap(), try_one(1, 4096, &devices).unwrap());
        // Full on the first device, and not on the second, which must not keep what failed.
        assert_eq!(try_one(2, 16, &devices).unwrap_err().code(), Code::Driver);
        let turned: Vec<_> = devices.iter().rev().cloned().collect();
        for _ in 0..5 {
            assert_eq!(try_one(2, 16, &turned).unwrap_err().code(), Code::Driver);
        }
        let three = try_one(2, 16, &devices[1..]).unwrap();
        assert!(three.mkey(&devices[1]).is_some() && three.mkey(&devices[0]).is_none());
        drop((one, three));
        assert!(try_one(2, 16, &devices).is_ok());
        drop(two);
    }

    #[test]
    fn strict_machines_count_locked_pages() {
        let text = "strict = true\nmemlock = 1048576\n[[card]]\nname = \"strict\"\n";
        let machine = Machine::builder().config_text(text).build().unwrap();
        let devices = devices(&machine, 1);
        let (one, two) = (Region::closed(), Region::closed());
        let heap = vec![0u8; 1_100_000];
        let small = request(&heap[..600_000], Access::LOCAL_READ_WRITE, &devices);
        assert_eq!(
            register(&one, &request(&heap, Access::LOCAL_READ_WRITE, &devices)).unwrap_err().code(),
            Code::Driver
        );
        let held = register(&one, &small).unwrap();
        assert_eq!(register(&two, &small).unwrap_err().code(), Code::Driver);
        drop(held);
        assert!(register(&two, &small).is_ok());
    }
}
