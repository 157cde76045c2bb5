//! Clocks: `doca_clock_*`. The clocks of the machine, and those of the card, which are made of them.
//!
//! What they are made of, and how two are read at once, is in the room's `clock.rs`.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_clock.h"
)]

use crate::dev::{DevInfo, function};
use softdpu_memory::device::Device;
use softdpu_memory::handle::{Head, Object, OpenDevice, Slab, checked, kind};
use softdpu_room::clock::{self, Clock, Reading};
use softdpu_room::entry::{self, guard, guard_unforked};
use softdpu_status::{Code, Error, Result};
use std::ffi::c_int;
use std::sync::Arc;

/// Log target of this family.
const LOG: &str = "softdpu::clock";

/// What C calls `struct doca_clock`: keeps its device open, of which readings need nothing.
#[derive(Debug)]
#[repr(C)]
pub struct ClockObject {
    head: Head,
    _device: Arc<Device>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for ClockObject {
    const KIND: u32 = kind::CLOCK;
    const NAME: &'static str = "clock";
}

static CLOCKS: Slab<ClockObject> = Slab::new();

/// `union doca_clock_timespec_t`: seconds and nanoseconds, or cycles.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Timespec([u64; 2]);

impl From<Reading> for Timespec {
    fn from(reading: Reading) -> Timespec {
        match reading {
            Reading::Time(time) => Timespec([time.as_secs(), time.subsec_nanos().into()]),
            Reading::Cycles(cycles) => Timespec([cycles, 0]),
        }
    }
}

const CLOCK_TABLE: [(u64, Clock); 7] = [
    (0x1, Clock::CardFreeRunning),
    (0x1 << 1, Clock::CardRealTime),
    (0x1 << 8, Clock::CardTimer),
    (0x1 << 16, Clock::HostCycles),
    (0x1 << 17, Clock::HostRealTime),
    (0x1 << 18, Clock::HostMonotonic),
    (0x1 << 19, Clock::HostMonotonicRaw),
];

fn known(number: u64, call: &str) -> Result<Clock> {
    let found = CLOCK_TABLE.iter().find(|(known, _)| *known == number);
    found.map(|(_, clock)| *clock).ok_or_else(|| {
        log::error!(target: LOG, "{call}: {number:#x} is not exactly one of the clocks there are");
        Error::new(Code::NotSupported, "no such clock")
    })
}

macro_rules! capabilities {
    ($($name:ident;)*) => {$(
        /// Every card has it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(devinfo: *const DevInfo) -> c_int {
            // SAFETY: a handle, or NULL.
            guard(|| unsafe { function(devinfo, stringify!($name)) }.map(|_| ()))
        }
    )*};
}

capabilities! {
    doca_clock_cap_nic_free_running_is_supported;
    doca_clock_cap_nic_real_time_is_supported;
    doca_clock_cap_nic_dpa_timer_is_supported;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_clock_create(dev: *const OpenDevice, clock: *mut *const ClockObject) -> c_int {
    const CALL: &str = "doca_clock_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device().clone();
        if clock.is_null() {
            return entry::null(LOG, CALL, "clock");
        }
        let made = CLOCKS.make(ClockObject { head: Head::unborn(), _device: device })?;
        // SAFETY: a non-NULL out parameter.
        unsafe { clock.write(made.as_ptr()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_clock_destroy(clock: *const ClockObject) -> c_int {
    guard(|| {
        // SAFETY: a handle, or NULL; made by the slab, and not used any more.
        unsafe {
            checked(clock, "doca_clock_destroy")?;
            CLOCKS.retire_at(clock);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_clock_get_timestamp(
    clock: *const ClockObject,
    clock_type: u64,
    clock_ts: *mut Timespec,
) -> c_int {
    const CALL: &str = "doca_clock_get_timestamp";
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { checked(clock, CALL)? };
        if clock_ts.is_null() {
            return entry::null(LOG, CALL, "clock_ts");
        }
        let reading = clock::read(known(clock_type, CALL)?)?;
        // SAFETY: a non-NULL out parameter.
        unsafe { clock_ts.write(reading.into()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_clock_get_crosstimestamp(
    clock: *const ClockObject,
    primary_clock_type: u64,
    nic_clock_type: u64,
    primary_clock_ts: *mut Timespec,
    nic_clock_ts: *mut Timespec,
    error_margin_nsecs: *mut u64,
) -> c_int {
    const CALL: &str = "doca_clock_get_crosstimestamp";
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { checked(clock, CALL)? };
        if primary_clock_ts.is_null() || nic_clock_ts.is_null() || error_margin_nsecs.is_null() {
            return entry::null(LOG, CALL, "an output");
        }
        let (primary, card) = (known(primary_clock_type, CALL)?, known(nic_clock_type, CALL)?);
        if !card.is_of_card() {
            log::error!(target: LOG, "{CALL}: the second clock must be one of the card, {nic_clock_type:#x} is the host's");
            return Err(Error::new(Code::NotSupported, "not a clock of the card"));
        }
        let pair = clock::read_both(primary, card)?;
        // SAFETY: non-NULL out parameters.
        unsafe {
            primary_clock_ts.write(pair.primary.into());
            nic_clock_ts.write(pair.card.into());
            error_margin_nsecs.write(pair.margin);
        }
        Ok(())
    })
}
