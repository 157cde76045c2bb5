//! The textbook's RDMA write: from an address to an address.
//!
//! A write that may not be done is a task that fails with NOT_PERMITTED: a write of nothing goes in its place, so that
//! it is reported in its turn and the connection lives on.
#![expect(unsafe_code, reason = "C entry points")]

use super::channel::{Channel, meant};
use super::{LOG, answer, refuse};
use crate::call::{enter, output};
use crate::mmap::all;
use core::ffi::{c_int, c_void};
use core::ptr::{from_ref, null};
use softdpu_engines::rdma::{Caps, c as rdma};
use softdpu_memory::device::Device;
use softdpu_memory::export::Imported;
use softdpu_memory::handle::live;
use softdpu_memory::node::Node;
use softdpu_memory::region::{CAN_READ, PEER_WRITE, Region};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The way to a map of this process, as an RDMA peer has it.
#[derive(Debug)]
pub(super) struct Route {
    map: *const Region,
    import: Imported,
}

// SAFETY: the address is only compared.
unsafe impl Send for Route {}

/// A write is over: its descriptors go back. What had none was not permitted.
pub(super) unsafe extern "C" fn landed(task: *const Slot, _task_data: u64, _ctx_data: u64) {
    // SAFETY: a task that is just being reported; its descriptors were taken for it.
    unsafe {
        let (src, dst) =
            (rdma::doca_rdma_task_write_get_src_buf(task), rdma::doca_rdma_task_write_get_dst_buf(task));
        match (live(src), live(dst)) {
            (Some(src), Some(dst)) => [src, dst].iter().for_each(|node| node.give_back_list()),
            _ => (*task).set_status(Code::NotPermitted.number()),
        }
    }
}

/// A write failed on its way; so did the connection.
pub(super) unsafe extern "C" fn failed(task: *const Slot, task_data: u64, ctx_data: u64) {
    // SAFETY: as in `landed`; the value of a context of a channel's own is that channel.
    unsafe {
        let status = (*task).status();
        landed(task, task_data, ctx_data);
        (*task).set_status(status);
        if let Some(channel) = live(ctx_data as usize as *const Channel).filter(|channel| channel.is_own()) {
            channel.broken.store(true, Ordering::Release);
        }
    }
}

/// What is to be written where.
#[derive(Clone, Copy)]
struct Wish {
    from: usize,
    len: usize,
    to: usize,
}

impl Channel {
    /// A descriptor of the source.
    fn source(&self, wish: Wish, device: &Device) -> Result<&Node> {
        let need = CAN_READ | device.bit();
        let fits = |region: &Region| {
            region.is_open() && region.holds(wish.from, wish.len) && region.word() & need == need
        };
        let found = all::find(|map| {
            let region = map.region();
            fits(region).then(|| self.store.take(region)).flatten()
        });
        let Some(node) = found else {
            let line = format_args!(
                "doca_rdma_task_write: {} bytes at {:#x} are in no started map of device {}",
                wish.len,
                wish.from,
                device.function()
            );
            return Err(refuse(Code::InvalidValue, "the source is in no map", line));
        };
        node.aim(wish.from, wish.len, wish.from, wish.len);
        Ok(node)
    }

    /// A descriptor of the destination; `None` when nobody permits it.
    fn destination(&self, wish: Wish, device: &Arc<Device>) -> Option<&Node> {
        let routes = &mut self.inside().routes;
        routes.retain(|route| route.import.region().is_open());
        let node = all::find(|map| {
            let region = map.region();
            if !region.is_open() || !region.holds(wish.to, wish.len) {
                return None;
            }
            if !self.is_own() {
                let reached = map.is_of_peer() && region.word() & PEER_WRITE != 0;
                return reached.then(|| self.store.take(region)).flatten();
            }
            if !map.is_own() {
                return None;
            }
            let known = routes.iter().position(|route| route.leads_to(region));
            let at = match known {
                Some(at) => at,
                None => {
                    routes.push(Route { map: from_ref(region), import: map.lend(device).ok()? });
                    routes.len() - 1
                }
            };
            self.store.take(routes[at].import.region())
        });
        match node {
            Some(node) => node.aim(wish.to, wish.len, wish.to, 0),
            None => log::error!(target: LOG,
                "doca_rdma_task_write: {} bytes to {:#x}: no map that may be written there has them", wish.len, wish.to),
        }
        node
    }

    /// Makes and submits the task.
    fn write(&'static self, wish: Wish, call: &str) -> Result<*const Slot> {
        let device = self.core().device();
        let most = Caps::of(device.function())?.max_message_size as usize;
        if wish.len > most {
            let line = format_args!("{call}: {} bytes, the device writes at most {most} at once", wish.len);
            return Err(refuse(Code::InvalidValue, "more than one write may move", line));
        }
        self.inside().tasks.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a task"))?;
        if self.store.available() < 2 {
            self.store.expand(64)?;
        }
        let conn = self.connection(call)?;
        let src = self.source(wish, device)?;
        let dst = self.destination(wish, device);
        let (from, to) = dst.map_or((null(), null()), |dst| (from_ref(src), from_ref(dst)));
        if dst.is_none() {
            src.give_back_list();
        }
        let mut task = null::<Slot>();
        // SAFETY: handles of this library and a live local.
        let made = unsafe {
            answer(rdma::doca_rdma_task_write_allocate_init(self.core(), conn, from, to, 0, &raw mut task))
        };
        let submitted = made.and_then(|()| {
            // SAFETY: a task that was just made.
            unsafe {
                answer(crate::task::doca_task_submit(task)).inspect_err(|_| crate::task::doca_task_free(task))
            }
        });
        if let Err(error) = submitted {
            if let Some(dst) = dst {
                [src, dst].iter().for_each(|node| node.give_back_list());
            }
            return Err(error);
        }
        self.inside().tasks.insert(task as usize);
        Ok(task)
    }
}

impl Route {
    fn leads_to(&self, region: &Region) -> bool {
        let import = self.import.region();
        std::ptr::eq(self.map, region) && import.base() == region.base() && import.len() == region.len()
    }
}

/// Begins a write of `len` bytes at `buf` to `remote_addr`.
///
/// # Safety
/// NULL or handles of this library that belong to the calling thread; `task` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_rdma_task_write(
    ctx: *const c_void,
    buf: *const c_void,
    len: usize,
    remote_addr: u64,
    task: *mut *const Slot,
) -> c_int {
    const CALL: &str = "doca_rdma_task_write";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (slot, channel) = unsafe { (output(task, CALL)?, meant(ctx, CALL)?) };
        let wish = Wish { from: buf as usize, len, to: remote_addr as usize };
        slot.set(channel.write(wish, CALL)?);
        Ok(())
    })
}
