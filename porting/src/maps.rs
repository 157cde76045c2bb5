//! Memory of the program as maps of the card: made when a task first needs one, kept until the memory is given back.

use crate::abi::{Common, Object};
use crate::card::{check, made};
use softdpu::{Access, Code, Error, Result};
use softdpu_memory::region::{FAR, MOVED, Region};
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
            log::error!(target: "softdpu::bridge", "memory of another process, or none any more: the card is not given any");
            return Err(Error::new(Code::NotSupported, "only memory of this process goes to the card"));
        }
        let map = register(common, region, device)?;
        maps.insert(key, map);
        Ok(map)
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

fn register(common: &Common, region: &Region, device: Object) -> Result<Object> {
    let mut map = None;
    let status = common.doca_mmap_create(&mut map);
    let map = made(status, map, "doca_mmap_create")?;
    // Nobody else is to reach it; whether the card may write is as it was registered.
    let access = region.granted() & Access::LOCAL_READ_WRITE;
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
