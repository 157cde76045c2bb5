//! Numbers under which a device knows registered memory: keys and device addresses.
//!
//! A key looks like that of a card: 24 bits of index, 8 bits that change each time the index is given out again, so
//! that a key of a stopped map does not fit the next one. It is a plain number in host byte order, never 0, unique
//! among all living registrations of the process.
//!
//! A device address is where the device sees the range: same offset in its page as the host address, never shared by
//! two registrations of one device, never reused while the process lives, and never equal to the host address, so
//! that a program that mixes the two up is found out.

use crate::device::{Device, MAX_OPEN};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use softdpu_status::{Code, Error, Result};
use std::sync::{Mutex, MutexGuard};

/// The most keys alive at once.
const MAX_KEYS: usize = 1 << 24;

/// Smallest and largest unit in which device addresses are laid out: an offset below the unit is kept.
const SMALL: u64 = 64 << 10;
const LARGE: u64 = 2 << 20;

/// Where device addresses begin and end.
const FIRST: u64 = 1 << 52;
const LAST: u64 = 1 << 62;

struct Keys {
    /// What changes, per index.
    variants: Vec<u8>,
    free: Vec<u32>,
}

static KEYS: Mutex<Keys> = Mutex::new(Keys { variants: Vec::new(), free: Vec::new() });

static NEXT: [AtomicU64; MAX_OPEN] = [const { AtomicU64::new(FIRST) }; MAX_OPEN];

fn keys() -> MutexGuard<'static, Keys> {
    KEYS.lock().unwrap_or_else(|e| e.into_inner())
}

/// A key; dropping it frees the number.
#[derive(Debug)]
pub struct Key(u32);

impl Key {
    /// A key that no living registration has. Any thread.
    ///
    /// # Errors
    /// NoMemory.
    pub fn new() -> Result<Key> {
        let no_memory = Error::new(Code::NoMemory, "no memory for a key");
        let keys = &mut *keys();
        if let Some(index) = keys.free.pop() {
            let variant = keys.variants[index as usize].wrapping_add(1);
            keys.variants[index as usize] = variant;
            return Ok(Key::of(index, variant));
        }
        let index = keys.variants.len();
        // The last index is left out, so that `index + 1` fits into 24 bits.
        if index >= MAX_KEYS - 1 {
            log::error!(target: "softdpu::mmap", "{index} memory keys are in use, limit {}", MAX_KEYS - 1);
            return Err(no_memory);
        }
        keys.variants.try_reserve(1).map_err(|_| no_memory)?;
        // Room for the way back of every key, so that dropping never allocates.
        let room = keys.variants.len() + 1 - keys.free.len();
        keys.free.try_reserve(room).map_err(|_| no_memory)?;
        keys.variants.push(0);
        Ok(Key::of(index as u32, 0))
    }

    fn of(index: u32, variant: u8) -> Key {
        Key((index + 1) << 8 | u32::from(variant))
    }

    /// The number.
    pub fn number(&self) -> u32 {
        self.0
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        keys().free.push((self.0 >> 8) - 1);
    }
}

/// A fresh device address for `[base, base + len)` on `device`. Any thread.
///
/// # Errors
/// NoMemory when the address space of the device is used up.
pub fn device_address(device: &Device, base: usize, len: usize) -> Result<u64> {
    let unit = if len as u64 >= LARGE { LARGE } else { SMALL };
    let offset = base as u64 & (unit - 1);
    // One unit stays free behind each range: running over an end hits nothing.
    let span =
        (offset.saturating_add(len as u64)).checked_next_multiple_of(unit).and_then(|s| s.checked_add(unit));
    let place = |next: u64| {
        let start = next.next_multiple_of(unit);
        start.checked_add(span?).filter(|&end| end <= LAST)
    };
    let next = &NEXT[usize::from(device.id())];
    match next.fetch_update(Relaxed, Relaxed, place) {
        Ok(before) => Ok(before.next_multiple_of(unit) + offset),
        Err(next) => {
            log::error!(target: "softdpu::mmap",
                "device {}: no device addresses left for {len} bytes, used up to {next:#x}", device.function().pci());
            Err(Error::new(Code::NoMemory, "no device addresses left"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use softdpu_card::Machine;

    #[test]
    fn keys_are_unique_while_they_live_and_change_when_reused() {
        let first = Key::new().unwrap();
        let old = first.number();
        let others: Vec<_> = (0..100).map(|_| Key::new().unwrap()).collect();
        let mut all: Vec<_> = others.iter().chain([&first]).map(Key::number).collect();
        assert!(!all.contains(&0));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 101);
        drop(first);
        assert_ne!(Key::new().unwrap().number(), old);
    }

    #[test]
    fn device_addresses_keep_the_offset_and_do_not_overlap() {
        let machine = Machine::builder().build().unwrap();
        let device = Device::open(machine.functions()[0].clone()).unwrap();
        let mut seen: Vec<(u64, u64)> = Vec::new();
        let ranges = [
            (0x1234, 1),
            (0x1234, 1),
            (0xfff, 0x1001),
            (0x7f00_0000_1000, 5 << 30),
            (0x7f00_0020_0000, 2 << 20),
        ];
        for (base, len) in ranges {
            let at = device_address(&device, base, len).unwrap();
            assert_eq!(at & 0xffff, base as u64 & 0xffff);
            assert_ne!(at, base as u64);
            assert!(seen.iter().all(|&(a, l)| at + len as u64 <= a || a + l <= at));
            seen.push((at, len as u64));
        }
        assert_eq!(device_address(&device, 8, usize::MAX - 8).unwrap_err().code(), Code::NoMemory);
        assert!(device_address(&device, 8, 8).is_ok());
    }
}
