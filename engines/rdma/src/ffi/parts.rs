//! What a connected endpoint is made of.
#![expect(unsafe_code, reason = "calls libfabric")]

use super::abi::{
    Domain, Endpoint, FORMAT_MSG, Fabric, Queue, QueueAttr, RECEIVE, Region, TRANSMIT, WAIT_FD,
};
use super::load::Found;
use super::object::{Begins, Own, text};
use super::store::{Shape, Store};
use core::ptr::null_mut;

// SAFETY: declared so.
unsafe impl Begins for Domain {}
// SAFETY: declared so.
unsafe impl Begins for Queue {}
// SAFETY: declared so.
unsafe impl Begins for Endpoint {}
// SAFETY: declared so.
unsafe impl Begins for Region {}

pub(super) type Parts = (Own<Domain>, Own<Queue>, Own<Endpoint>);

/// Each connection has a domain to itself: whoever moves the bytes of one moves those of no other.
pub(super) fn open(fabric: &Own<Fabric>, found: &Found) -> Result<Parts, String> {
    let mut attr = QueueAttr {
        size: 2 * Shape::ALL as usize,
        format: FORMAT_MSG,
        wait: WAIT_FD,
        ..QueueAttr::default()
    };
    let (mut domain, mut queue, mut endpoint) = (null_mut(), null_mut(), null_mut());
    // SAFETY: open objects; on success open objects are stored.
    unsafe {
        let code = ((*(*fabric.raw()).ops).domain)(fabric.raw(), found.raw(), &raw mut domain, null_mut());
        let domain = (code == 0)
            .then(|| Own::new(domain))
            .flatten()
            .ok_or_else(|| format!("no domain: {}", text(code)))?;
        let code = ((*(*domain.raw()).ops).queue)(domain.raw(), &raw mut attr, &raw mut queue, null_mut());
        let queue = (code == 0)
            .then(|| Own::new(queue))
            .flatten()
            .ok_or_else(|| format!("no queue: {}", text(code)))?;
        let code =
            ((*(*domain.raw()).ops).endpoint)(domain.raw(), found.raw(), &raw mut endpoint, null_mut());
        let endpoint = (code == 0)
            .then(|| Own::new(endpoint))
            .flatten()
            .ok_or_else(|| format!("no endpoint: {}", text(code)))?;
        Ok((domain, queue, endpoint))
    }
}

pub(super) fn register(domain: &Own<Domain>, store: &Store) -> Result<Own<Region>, String> {
    let mut region = null_mut();
    // SAFETY: an open domain, and memory that stays until the region is closed.
    let made = unsafe {
        let code = ((*(*domain.raw()).mr).register)(
            domain.fid(),
            store.buffer(0).cast(),
            Store::SCRATCH,
            RECEIVE | TRANSMIT,
            0,
            0,
            0,
            &raw mut region,
            null_mut(),
        );
        (code == 0).then(|| Own::new(region)).flatten().ok_or(code)
    };
    made.map_err(|code| format!("buffers cannot be registered: {}", text(code)))
}
