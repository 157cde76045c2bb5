//! Shared by the tests: a device to register with, dice, a watchdog.
#![allow(dead_code, reason = "each test program uses its part")]

use softdpu_card::Machine;
use softdpu_memory::device::Device;
use std::sync::{Arc, Once};
use std::time::Duration;

/// Opens function `n` of the default machine; starts the watchdog.
pub(crate) fn device(n: usize) -> Arc<Device> {
    watchdog();
    let machine = Machine::builder().build().expect("default machine");
    Device::open(machine.functions()[n].clone()).expect("a free device")
}

/// Ends the process when its tests hang.
pub(crate) fn watchdog() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if cfg!(miri) {
            return;
        }
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(300));
            eprintln!("watchdog: tests hang");
            std::process::abort();
        });
    });
}

/// A small generator (xorshift), so that a failure can be repeated.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}
