//! Receives on their way: the task, where it is posted, and what a producer made of it.

use crate::caps::MAX_IMM;
use crate::receives::Receives;
use crate::rings::{Filled, Posted};
use crate::streams::Member;
use crate::sync::{AtomicBool, Ordering};
use softdpu_memory::buf::Buf;
use softdpu_memory::copy;
use softdpu_memory::node::Lent;
use softdpu_memory::region::Region;
use softdpu_room::biased::Biased;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

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

/// Receives that wait to be published together.
const TOGETHER: u64 = 16;

/// What submits and turns share.
pub(crate) struct Desk {
    pub(super) poster: Biased<Poster>,
    pub(super) member: Arc<Member>,
    /// Something was posted and not published.
    held_back: AtomicBool,
}

impl Desk {
    pub(super) fn new(poster: Poster) -> Arc<Desk> {
        let member = poster.member.clone();
        Arc::new(Desk { poster: Biased::new(poster), member, held_back: AtomicBool::new(false) })
    }

    /// A receive was submitted.
    #[inline]
    pub(super) fn post(&self, job: &mut ReceiveJob) -> Result<(), Code> {
        let (posted, hungry) = self.poster.with(|poster| {
            let posted = poster.post(job);
            let many = poster.next - poster.published >= TOGETHER;
            if poster.together && !many {
                self.held_back.store(true, Ordering::Relaxed);
            }
            (posted, (many || !poster.together) && poster.publish())
        });
        self.tell(hungry);
        posted
    }

    /// Publishes what was held back.
    #[inline]
    pub(super) fn publish(&self) {
        if self.held_back.load(Ordering::Relaxed) {
            self.held_back.store(false, Ordering::Relaxed);
            let hungry = self.poster.visit(Poster::publish);
            self.tell(hungry);
            if hungry {
                // In a turn: no lock of a program's face is held.
                self.member.carrier().wake();
            }
        }
    }

    #[inline]
    fn tell(&self, hungry: bool) {
        if hungry {
            self.member.carrier().feed(self.member.id());
        }
    }
}

/// Where receives are posted.
pub(crate) struct Poster {
    pub(super) member: Arc<Member>,
    pub(super) region: Option<&'static Region>,
    /// Rust: buffers lie in the consumer's memory, which their types see to.
    pub(super) has_memory: bool,
    pub(super) receives: Receives,
    pub(super) next: u64,
    pub(super) published: u64,
    /// Are receives published together, since many come at a time?
    pub(super) together: bool,
    pub(super) free: Vec<u32>,
    /// What was posted in each slot.
    pub(super) posted: Vec<Posted>,
    pub(super) closed: bool,
}

impl Poster {
    /// True: somebody is hungry.
    #[inline]
    fn publish(&mut self) -> bool {
        self.published != self.next && {
            self.published = self.next;
            self.receives.publish(self.next)
        }
    }

    fn post(&mut self, job: &mut ReceiveJob) -> Result<(), Code> {
        job.slot = NONE;
        (job.producer, job.imm_len) = (0, 0);
        job.fault = match self.place(job.dst) {
            Err(error) => Some(error.code()),
            Ok(_) if self.closed || !self.member.carrier().is_up() => Some(Code::ConnectionReset),
            Ok((addr, room)) => {
                let slot = self.free.pop().ok_or(Code::Full)?;
                job.slot = slot;
                // No send has more.
                let room = u32::try_from(room).unwrap_or(u32::MAX);
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

/// What a producer says it did, as far as that can be: the buffer grows, the immediate data is in the job.
pub(super) fn accept(
    receives: &Receives,
    imm: u32,
    posted: Posted,
    filled: Filled,
    job: &mut ReceiveJob,
) -> Result<u64, Code> {
    if filled.status != 0 {
        return Err(Code::from_number(filled.status.into()).unwrap_or(Code::IoFailed));
    }
    if filled.bytes > posted.room || u32::from(filled.imm_len) > imm {
        log::error!(target: crate::LOG, "producer {} says {} bytes and {} of immediate data, posted were {} and {imm}",
            filled.producer, filled.bytes, filled.imm_len, posted.room);
        return Err(Code::IoFailed);
    }
    let bytes = u64::from(filled.bytes);
    if bytes > 0 {
        // A program may have given the buffer away meanwhile.
        match job.dst.node() {
            Some(node) if node.tail() as u64 == posted.addr && bytes <= node.room() as u64 => {
                copy::commit(node, bytes);
            }
            _ => return Err(Code::InvalidValue),
        }
    }
    if filled.imm_len > 0 {
        receives.imm(filled.slot, &mut job.imm[..filled.imm_len.into()]);
    }
    (job.producer, job.imm_len) = (filled.producer, filled.imm_len.into());
    Ok(bytes)
}
