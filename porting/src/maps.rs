//! Memory as maps of the card. For memory of the program one is made when a task first needs it, and kept until the memory is
//! given back; memory that was imported has one from the start.

use crate::abi::{Common, Object};
use crate::card::{check, made};
use softdpu::{Access, Code, Error, Result};
use softdpu_memory::region::{CAN_WRITE, FAR, MOVED, Region};
use std::collections::HashMap;
use std::sync::Mutex;

/// Maps by region and device.
#[derive(Debug, Default)]
pub(crate) struct Maps(Mutex<HashMap<(usize, Object), Object>>);

impl Maps {
    /// The map of a region for a device. The region stays open while the map is used: whoever asks has a buffer on it.
    pub(crate) fn of(&self, common: &Common, region: &Region, device: Object) -> Result<Object> {
        let key = (core::ptr::from_ref(region) as usize, device);
        let mut maps = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(map) = maps.get(&key) {
            return Ok(*map);
        }
        if !region.is_open() || region.word() & (FAR | MOVED) != 0 {
            log::error!(target: "softdpu::bridge", "memory that was imported through another device, or not through the card, or is gone");
            return Err(Error::new(Code::NotSupported, "the device of the card has no such memory"));
        }
        // Nobody else is to reach it; whether the card may write is as it was registered.
        let writable = region.word() & CAN_WRITE != 0;
        let access = if writable { Access::LOCAL_READ_WRITE } else { Access::LOCAL_READ_ONLY };
        let map = register(common, region, device, access)?;
        maps.insert(key, map);
        Ok(map)
    }

    /// A map that stands behind an imported region.
    pub(crate) fn adopt(&self, region: &Region, device: Object, map: Object) {
        let key = (core::ptr::from_ref(region) as usize, device);
        self.0.lock().unwrap_or_else(|e| e.into_inner()).insert(key, map);
    }

    /// A region is closed: its bytes may go as soon as this returns.
    pub(crate) fn forget(&self, common: &Common, region: &Region) {
        let address = core::ptr::from_ref(region) as usize;
        let mut maps = self.0.lock().unwrap_or_else(|e| e.into_inner());
        maps.retain(|(of, _), map| {
            if *of == address {
                // A map that cannot be destroyed stays registered; nobody uses it again.
                let _ = check(common.doca_mmap_destroy(*map), "doca_mmap_destroy");
            }
            *of != address
        });
    }
}

/// A map over memory of this process.
pub(crate) fn register(common: &Common, region: &Region, device: Object, access: Access) -> Result<Object> {
    let mut map = None;
    let status = common.doca_mmap_create(&mut map);
    let map = made(status, map, "doca_mmap_create")?;
    let ready = check(common.doca_mmap_add_dev(map, device), "doca_mmap_add_dev")
        .and_then(|()| {
            check(common.doca_mmap_set_memrange(map, region.base(), region.len()), "doca_mmap_set_memrange")
        })
        .and_then(|()| {
            check(common.doca_mmap_set_permissions(map, access.bits()), "doca_mmap_set_permissions")
        })
        .and_then(|()| check(common.doca_mmap_start(map), "doca_mmap_start"));
    if let Err(error) = ready {
        let _ = check(common.doca_mmap_destroy(map), "doca_mmap_destroy");
        return Err(error);
    }
    Ok(map)
}
