//! A device that reads buffers: what stands behind the submit of two arguments.
//!
//! Each submit is a DMA copy of the buffer's data into memory of the card. Whoever turns lanes carries it out; what was
//! read is looked at (and its checksum told in the log) at the next call of the session that passes by.
#![expect(unsafe_code, reason = "works with handles of the contract")]

use super::{LOG, answer, refuse};
use crate::dev::{Dev, device};
use crate::pe::{doca_pe_connect_ctx, doca_pe_create, doca_pe_destroy};
use softdpu_engines::dma::{Caps, c as dma};
use softdpu_memory::device::Device;
use softdpu_memory::export::checksum;
use softdpu_memory::lease::Lease;
use softdpu_memory::node::{Node, Store};
use softdpu_memory::region::CAN_WRITE;
use softdpu_room::context::{Core, State};
use softdpu_room::pe::Pe;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::ptr::null;
use std::sync::Arc;

/// Copies in flight per device.
const TASKS: u32 = 32;

/// The DMA context of a session on one device. Dropping it waits for what flies.
#[derive(Debug)]
pub(super) struct Reader {
    device: Arc<Device>,
    pe: &'static Pe,
    core: &'static Core,
    /// In a box: descriptors know where their store is.
    store: Box<Store>,
    reads: Vec<Read>,
}

/// A submitted buffer.
#[derive(Debug)]
struct Read {
    buf: *const Node,
    /// Copies that were not looked at.
    tasks: Vec<&'static Slot>,
    /// Descriptors of source and destination pieces.
    nodes: Vec<*const Node>,
    /// All copies were submitted.
    complete: bool,
    failed: Option<Code>,
    landing: Vec<u8>,
    lease: Lease,
}

// SAFETY: the addresses are of type-stable objects that one thread at a time works with, under the session's lock.
unsafe impl Send for Reader {}

/// Completions are looked for in the tasks themselves.
extern "C" fn landed(_task: *const Slot, _task_data: u64, _ctx_data: u64) {}

impl Reader {
    pub(super) fn new(dev: *const Dev) -> Result<Reader> {
        let (mut pe, mut core) = (null::<Pe>(), null::<Core>());
        // SAFETY: live locals, and handles made in this very function.
        unsafe {
            let device = device(dev, "doca_task_submit")?.clone();
            Caps::of(device.function()).inspect_err(|_| {
                log::error!(target: LOG, "doca_task_submit: device {} has no DMA engine", device.function());
            })?;
            answer(doca_pe_create(&raw mut pe))?;
            let mut set_up = || -> Result<()> {
                answer(dma::doca_dma_create(dev.cast(), &raw mut core))?;
                answer(dma::doca_dma_task_memcpy_set_conf(core, Some(landed), Some(landed), TASKS))?;
                answer(doca_pe_connect_ctx(pe, core))?;
                answer(crate::ctx::doca_ctx_start(core))
            };
            if let Err(error) = set_up() {
                if !core.is_null() {
                    dma::doca_dma_destroy(core);
                }
                doca_pe_destroy(pe);
                return Err(error);
            }
            let (pe, core) = ((*pe).as_static(), (*core).as_static());
            Ok(Reader { device, pe, core, store: Box::default(), reads: Vec::new() })
        }
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn is_running(&self) -> bool {
        self.core.state() == State::Running
    }

    /// Does a copy of the buffer fly?
    pub(super) fn reads(&self, buf: &Node) -> bool {
        self.reads.iter().any(|read| std::ptr::eq(read.buf, buf))
    }

    /// A little progress; false when nothing flies.
    pub(super) fn turn(&mut self) -> bool {
        if self.reads.is_empty() {
            return false;
        }
        if !self.pe.step() {
            std::thread::yield_now();
        }
        self.collect();
        true
    }

    /// Looks at what has landed.
    pub(super) fn collect(&mut self) {
        while self.pe.step() {}
        for read in &mut self.reads {
            read.look();
        }
        while let Some(at) = self.reads.iter().position(Read::is_over) {
            let read = self.reads.remove(at);
            let device = self.device.function();
            let (bytes, sum) = (read.landing.len(), checksum(&read.landing));
            match read.failed {
                None => log::info!(target: LOG, "device {device} read {bytes} bytes, checksum {sum:#018x}"),
                Some(code) => {
                    log::error!(target: LOG, "device {device} could not read {bytes} bytes: {code}")
                }
            }
        }
    }

    /// Begins to read the buffer's data.
    pub(super) fn submit(&mut self, node: &Node) -> Result<()> {
        let len: usize = node.list().map(Node::data_len).sum();
        if len == 0 || node.is_member() {
            let line =
                format_args!("doca_task_submit: buffer {node:p} has no data, or is not the head of its list");
            return Err(refuse(Code::InvalidValue, "a buffer without data", line));
        }
        // A list goes as one task; a single buffer in pieces, if it must.
        let most = Caps::of(self.device.function())?.max_buf_size.min(1 << 40) as usize;
        let piece = if node.next().is_some() { len } else { most };
        self.room(2 * len.div_ceil(piece))?;
        let read = Read::new(node, len, &self.device)?;
        self.reads.push(read);
        let mut outcome = Ok(());
        for at in (0..len).step_by(piece) {
            outcome = outcome.and_then(|()| self.copy(node, at, piece.min(len - at)));
        }
        if let Some(read) = self.reads.last_mut() {
            read.complete = true;
            if let Err(error) = outcome {
                read.failed = Some(error.code());
            }
        }
        outcome
    }

    /// Enough descriptors for one read.
    fn room(&self, wanted: usize) -> Result<()> {
        let free = self.store.available() as usize;
        if free >= wanted {
            return Ok(());
        }
        let more = u32::try_from(wanted - free).map_err(|_| Error::new(Code::TooBig, "too many pieces"))?;
        self.store.expand(more)
    }

    /// Submits one piece of the last read.
    fn copy(&mut self, node: &Node, at: usize, len: usize) -> Result<()> {
        while self.core.tasks_held() >= TASKS && self.turn() {}
        let Some(read) = self.reads.last_mut() else { return Err(Code::Unexpected.into()) };
        let (Some(src), Some(dst)) = (self.store.take(node.region()), self.store.take(read.lease.region()))
        else {
            return Err(Error::new(Code::NoMemory, "no memory for buffers"));
        };
        let to = read.landing.as_ptr() as usize + at;
        src.aim(node.data() + at, len, node.data() + at, len);
        dst.aim(to, len, to, 0);
        read.nodes.extend([std::ptr::from_ref(src), std::ptr::from_ref(dst)]);
        let from = if node.next().is_some() { node } else { src };
        let mut task = null();
        // SAFETY: handles of this library, alive until the task was looked at; a live local.
        let submitted = unsafe {
            answer(dma::doca_dma_task_memcpy_alloc_init(self.core, from, dst, 0, &raw mut task))?;
            let status = crate::task::doca_task_try_submit(task);
            if status != 0 {
                crate::task::doca_task_free(task);
            }
            answer(status)
        };
        submitted?;
        // SAFETY: a task that was just submitted.
        read.tasks.push(unsafe { (*task).as_static() });
        Ok(())
    }
}

impl Read {
    fn new(node: &Node, len: usize, device: &Device) -> Result<Read> {
        let mut landing = Vec::new();
        landing.try_reserve_exact(len).map_err(|_| {
            let line = format_args!("doca_task_submit: no memory on the card for {len} bytes");
            refuse(Code::NoMemory, "no memory on the card", line)
        })?;
        landing.resize(len, 0);
        let lease = Lease::new()?;
        lease.open(landing.as_ptr() as usize, len, 0, CAN_WRITE | device.bit());
        let (tasks, nodes) = (Vec::new(), Vec::new());
        Ok(Read { buf: node, tasks, nodes, complete: false, failed: None, landing, lease })
    }

    /// Takes note of copies that are over.
    fn look(&mut self) {
        let failed = &mut self.failed;
        self.tasks.retain(|slot| {
            if slot.is_in_flight() {
                return true;
            }
            if let Some(code) = Code::from_number(slot.status()) {
                failed.get_or_insert(code);
            }
            // SAFETY: a task of ours that landed.
            unsafe { crate::task::doca_task_free(*slot) };
            false
        });
    }

    fn is_over(&self) -> bool {
        self.complete && self.tasks.is_empty()
    }
}

impl Drop for Read {
    fn drop(&mut self) {
        for &node in &self.nodes {
            // SAFETY: taken for this read and given to nobody else.
            unsafe { (*node).give_back_list() };
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        while self.turn() {}
        // SAFETY: handles of ours, with no task left.
        unsafe {
            if self.core.state() != State::Idle {
                crate::ctx::doca_ctx_stop(self.core);
            }
            while self.core.state() != State::Idle {
                self.pe.step();
            }
            dma::doca_dma_destroy(self.core);
            doca_pe_destroy(self.pe);
        }
        self.store.dissolve();
    }
}
