//! What a connected endpoint is made of, and what its users call its parts.
#![expect(unsafe_code, reason = "calls libfabric")]

use super::abi::{
    Domain, Endpoint, FORMAT_MSG, Fabric, Queue, QueueAttr, RECEIVE, Region, TRANSMIT, WAIT_FD,
};
use super::load::Found;
use super::object::{Begins, Own, text};
use super::store::{Shape, Store};
use core::ptr::null_mut;

/// What a buffer that is sent is for; each has its own, so that one never waits for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Requests.
    Request = 0,
    /// Answers.
    Answer = 1,
}

/// Where the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is being made.
    Dialing,
    /// It carries messages.
    Open,
    /// It is over.
    Closed,
}

/// A message that came, in a buffer that is the owner's until it is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) slot: u32,
    pub(crate) len: u32,
}

/// Of buffers that are free, the one that was used last but `span - 1`.
pub(super) fn next(free: &mut Vec<u32>, span: usize) -> Option<u32> {
    let at = free.len().saturating_sub(span);
    (at < free.len()).then(|| free.remove(at))
}

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
