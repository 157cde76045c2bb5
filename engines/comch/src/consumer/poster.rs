//! Receives on their way: the task, where it is posted, and what a producer made of it.

use crate::caps::MAX_IMM;
use crate::receives::{Filled, Posted, Receives};
use crate::streams::Member;
use softdpu_memory::buf::Buf;
use softdpu_memory::copy;
use softdpu_memory::node::Lent;
use softdpu_memory::region::Region;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// No slot.
const NONE: u32 = u32::MAX;

/// A receive.
#[derive(Debug)]
pub struct ReceiveJob {
    pub(crate) dst: Lent,
    pub(super) slot: u32,
    /// Why it cannot be posted.
    pub(super) fault: Option<Code>,
    producer: u32,
    imm_len: u32,
    imm: [u8; MAX_IMM as usize],
    /// The buffer (Rust); none where the program keeps it (C).
    pub(crate) owned: Option<Buf>,
}

impl ReceiveJob {
    /// Into the room of a buffer; nobody's stands for immediate data alone.
    pub fn new(dst: Lent) -> ReceiveJob {
        let imm = [0; MAX_IMM as usize];
        ReceiveJob { dst, slot: NONE, fault: None, producer: 0, imm_len: 0, imm, owned: None }
    }

    /// After success: who sent it.
    pub fn producer(&self) -> u32 {
        self.producer
    }

    /// Where the immediate data is, as long as the job is in its place; NULL for none.
    #[cfg(feature = "capi")]
    pub(crate) fn imm_address(&self) -> *const u8 {
        if self.imm_len == 0 { core::ptr::null() } else { self.imm.as_ptr() }
    }

    /// After success: the immediate data.
    pub fn imm(&self) -> &[u8] {
        &self.imm[..self.imm_len as usize]
    }
}

/// What submits and turns share.
pub(crate) struct Poster {
    pub(super) member: Arc<Member>,
    pub(super) region: Option<&'static Region>,
    /// Rust: buffers lie in the consumer's memory, which their types see to.
    pub(super) has_memory: bool,
    pub(super) receives: Receives,
    pub(super) next: u64,
    pub(super) free: Vec<u32>,
    /// What was posted in each slot.
    pub(super) posted: Vec<Posted>,
    pub(super) closed: bool,
}

impl Poster {
    pub(super) fn post(&mut self, job: &mut ReceiveJob) -> Result<(), Code> {
        job.slot = NONE;
        (job.producer, job.imm_len) = (0, 0);
        job.fault = match self.place(job.dst) {
            Err(error) => Some(error.code()),
            Ok(_) if self.closed || !self.member.carrier().is_up() => Some(Code::ConnectionReset),
            Ok((addr, room)) => {
                let slot = self.free.pop().ok_or(Code::Full)?;
                job.slot = slot;
                let posted = Posted { slot, addr, room };
                self.posted[slot as usize] = posted;
                self.receives.post(self.next, posted);
                self.next += 1;
                None
            }
        };
        Ok(())
    }

    /// Where a receive may be filled, as the program names it.
    fn place(&self, dst: Lent) -> Result<(u64, u64)> {
        let bad = |what: &'static str| {
            log::error!(target: crate::LOG, "receive of consumer {}: {what}", self.member.id());
            Error::new(Code::InvalidValue, what)
        };
        let Some(node) = dst.node() else {
            return if dst.handle().is_null() { Ok((0, 0)) } else { Err(bad("the buffer was released")) };
        };
        if node.next().is_some() {
            return Err(bad("a list of buffers; it takes single ones"));
        }
        match self.region {
            Some(region) if core::ptr::eq(region, node.region()) => {
                Ok((node.tail() as u64, node.room() as u64))
            }
            Some(_) => Err(bad("the buffer does not lie in the consumer's memory map")),
            None if self.has_memory => Ok((node.tail() as u64, node.room() as u64)),
            None => Err(bad("a buffer; this consumer takes immediate data alone")),
        }
    }
}

pub(super) fn lock(poster: &Mutex<Poster>) -> MutexGuard<'_, Poster> {
    poster.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a producer says it did, as far as that can be: the buffer grows, the immediate data is in the job.
pub(super) fn accept(
    receives: &Receives,
    imm: u32,
    posted: Posted,
    filled: Filled,
    job: &mut ReceiveJob,
) -> Result<u64, Code> {
    if filled.status != 0 {
        return Err(Code::from_number(filled.status).unwrap_or(Code::IoFailed));
    }
    if filled.bytes > posted.room || filled.imm_len > imm {
        log::error!(target: crate::LOG, "producer {} says {} bytes and {} of immediate data, posted were {} and {imm}",
            filled.producer, filled.bytes, filled.imm_len, posted.room);
        return Err(Code::IoFailed);
    }
    if filled.bytes > 0 {
        // A program may have given the buffer away meanwhile.
        match job.dst.node() {
            Some(node) if node.tail() as u64 == posted.addr && filled.bytes <= node.room() as u64 => {
                copy::commit(node, filled.bytes);
            }
            _ => return Err(Code::InvalidValue),
        }
    }
    receives.imm(filled.slot, &mut job.imm[..filled.imm_len as usize]);
    (job.producer, job.imm_len) = (filled.producer, filled.imm_len);
    Ok(filled.bytes)
}
