//! What the card has of a running context: the context, a progress engine and an inventory of its own, tasks and their
//! descriptors.

use crate::abi::{Common, IDLE, Landing, Object, RUNNING};
use crate::card::{Card, check, made};
use crate::engines::{Driven, Made, Task};
use core::mem::ManuallyDrop;
use softdpu::{Code, Error, Result};
use softdpu_memory::copy;
use softdpu_memory::device::Device;
use softdpu_memory::node::Node;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a context of the card may take to begin, or to come to rest.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Live<E: Driven> {
    made: Made,
    store: E::Store,
    device: Object,
    /// Of this context alone, so that whoever turns the lane may progress it.
    progress: Option<Object>,
    inventory: Option<Object>,
    /// Descriptors in the inventory, and how many of them are out.
    stock: u32,
    out: u32,
    landing: ManuallyDrop<Box<Landing>>,
}

/// A task that the card has: itself, its lists of descriptors, and how many those are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    task: Task,
    src: Object,
    dst: Option<Object>,
    out: u32,
}

impl<E: Driven> Live<E> {
    /// A running context of an engine on a device.
    pub(crate) fn start(
        card: &'static Card,
        home: &Arc<Device>,
        device: Object,
        tasks: u32,
    ) -> Result<Live<E>> {
        let made = E::make(card, device, tasks)?;
        let landing = ManuallyDrop::new(Box::default());
        let store = E::store(home, device, tasks);
        let mut live =
            Live { made, store, device, progress: None, inventory: None, stock: 0, out: 0, landing };
        match live.prepare(&card.common, tasks) {
            Ok(()) => Ok(live),
            Err(error) => {
                live.end(card);
                Err(error)
            }
        }
    }

    fn prepare(&mut self, common: &Common, tasks: u32) -> Result<()> {
        let context = self.made.context;
        let mut object = None;
        let status = common.doca_pe_create(&mut object);
        let progress = *self.progress.insert(made(status, object, "doca_pe_create")?);
        // Two per task; lists have the inventory grow.
        self.stock = tasks.saturating_mul(2).max(16);
        let status = common.doca_buf_inventory_create(self.stock as usize, &mut object);
        let inventory = *self.inventory.insert(made(status, object, "doca_buf_inventory_create")?);
        check(common.doca_buf_inventory_start(inventory), "doca_buf_inventory_start")?;
        check(common.doca_ctx_set_user_data(context, self.landing.address()), "doca_ctx_set_user_data")?;
        check(common.doca_pe_connect_ctx(progress, context), "doca_pe_connect_ctx")?;
        let status = common.doca_ctx_start(context);
        if status != Code::InProgress.number() {
            check(status, "doca_ctx_start")?;
        }
        if becomes(common, self.made.context, self.progress, RUNNING) {
            Ok(())
        } else {
            Err(Error::new(Code::TimeOut, "the card does not start"))
        }
    }

    /// One look at the card; false when there was nothing.
    pub(crate) fn progress(&self, card: &Card) -> bool {
        self.progress.is_some_and(|progress| card.common.doca_pe_progress(progress) != 0)
    }

    /// The numbers of the tasks that are through since the last call.
    pub(crate) fn landed(&self) -> Vec<u64> {
        self.landing.take()
    }

    /// Gives a job to the card.
    pub(crate) fn begin(&mut self, card: &Card, job: &mut E::Job, number: u64) -> Result<Sent> {
        let common = &card.common;
        let missing = Error::new(Code::InvalidValue, "a buffer is missing");
        let (src, dst) = E::lists(job).ok_or(missing)?;
        let src = src.node().ok_or(missing)?;
        let dst = dst.map(|dst| dst.node().ok_or(missing)).transpose()?;
        let out = (src.list().count() + dst.map_or(0, |dst| dst.list().count())) as u32;
        self.grow(common, out)?;
        let source = self.list(card, src, |node| (node.data(), node.data_len(), node.data_len()))?;
        let target = dst.map(|dst| self.list(card, dst, |node| (node.tail(), node.room(), 0))).transpose();
        let target = target.inspect_err(|_| release(common, source))?;
        let store = &mut self.store;
        let task = E::task(card, self.made, store, job, (source, target), number).and_then(|task| {
            let sent = check(common.doca_task_submit(task.task), "doca_task_submit");
            sent.map(|()| task).inspect_err(|error| {
                let _ = E::result(card, store, job, task, Err(*error));
                E::over(card, store, task);
            })
        });
        let task = task.inspect_err(|_| {
            release(common, source);
            target.inspect(|target| release(common, *target));
        })?;
        self.out += out;
        Ok(Sent { task, src: source, dst: target, out })
    }

    /// Sees to it that so many descriptors are there.
    fn grow(&mut self, common: &Common, wanted: u32) -> Result<()> {
        let more = (self.out + wanted).saturating_sub(self.stock);
        if let (Some(inventory), 1..) = (self.inventory, more) {
            check(common.doca_buf_inventory_expand(inventory, more), "doca_buf_inventory_expand")?;
            self.stock += more;
        }
        Ok(())
    }

    /// Descriptors for a list of ours: per element, an address, bytes from there on, and how many of them are data.
    /// Elements without bytes are left out, unless there are no others.
    fn list(
        &self,
        card: &Card,
        list: &Node,
        part: impl Fn(&Node) -> (usize, usize, usize),
    ) -> Result<Object> {
        let inventory = self.inventory.ok_or(Error::new(Code::BadState, "no inventory"))?;
        let mut head = None;
        let is_useful = |node: &&Node| part(node).1 != 0;
        let only = list.list().all(|node| !is_useful(&node)).then_some(list);
        for node in list.list().filter(is_useful).chain(only) {
            let added = card.maps.of(&card.common, node.region(), self.device).and_then(|map| {
                let (at, len, data) = part(node);
                let mut buf = None;
                let status = card
                    .common
                    .doca_buf_inventory_buf_get_by_args(inventory, map, at, len, at, data, &mut buf);
                let buf = made(status, buf, "doca_buf_inventory_buf_get_by_args")?;
                match head {
                    None => head = Some(buf),
                    Some(head) => {
                        let chained =
                            check(card.common.doca_buf_chain_list(head, buf), "doca_buf_chain_list");
                        chained.inspect_err(|_| release(&card.common, buf))?;
                    }
                }
                Ok(())
            });
            added.inspect_err(|_| {
                if let Some(head) = head {
                    release(&card.common, head);
                }
            })?;
        }
        head.ok_or(Error::new(Code::InvalidValue, "an empty list"))
    }

    /// Takes a task back that is through: its result, and the data of the destination.
    pub(crate) fn finish(&mut self, card: &Card, job: &mut E::Job, sent: Sent) -> Result<u64> {
        let Sent { task, src, dst, out } = sent;
        let common = &card.common;
        let status = common.doca_task_get_status(task.task);
        let written = dst.map_or(0, |dst| data_of(common, dst));
        let outcome = check(status, "a task of the card").map(|()| written);
        let result = E::result(card, &mut self.store, job, task, outcome);
        E::over(card, &mut self.store, task);
        release(common, src);
        dst.inspect(|dst| release(common, *dst));
        self.out -= out;
        if let (Ok(_), Some((_, Some(dst)))) = (&result, E::lists(job))
            && let Some(node) = dst.node()
        {
            copy::commit(node, written);
        }
        result
    }

    /// Stops the context and gives everything back. What does not come to rest is left as it is: the card may still use it.
    pub(crate) fn end(mut self, card: &Card) {
        let common = &card.common;
        E::clear(card, &mut self.store);
        let mut state = -1;
        let asked = common.doca_ctx_get_state(self.made.context, &mut state);
        if asked == 0 && state != IDLE {
            let status = common.doca_ctx_stop(self.made.context);
            if status != Code::InProgress.number() && status != Code::BadState.number() {
                let _ = check(status, "doca_ctx_stop");
            }
        }
        if !becomes(common, self.made.context, self.progress, IDLE) {
            log::error!(target: "softdpu::bridge", "{}: the context of the card does not come to rest; it is left alone",
                E::INFO.name);
            // The card may still look at what is kept for it.
            core::mem::forget(self.store);
            return;
        }
        // What cannot be given back is lost; the log line says what.
        let _ = E::destroy(card, self.made, self.store);
        if let Some(progress) = self.progress {
            let _ = check(common.doca_pe_destroy(progress), "doca_pe_destroy");
        }
        if let Some(inventory) = self.inventory {
            let _ = check(common.doca_buf_inventory_destroy(inventory), "doca_buf_inventory_destroy");
        }
        // Nothing of the card knows its address any more.
        drop(ManuallyDrop::into_inner(self.landing));
    }
}

/// Progresses until a context is in a state; false when that takes too long.
pub(crate) fn becomes(common: &Common, context: Object, progress: Option<Object>, wanted: i32) -> bool {
    let end = Instant::now() + PATIENCE;
    loop {
        let mut state = -1;
        if common.doca_ctx_get_state(context, &mut state) == 0 && state == wanted {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        if let Some(progress) = progress {
            common.doca_pe_progress(progress);
        }
    }
}

/// Bytes of data of a list of descriptors.
fn data_of(common: &Common, list: Object) -> u64 {
    let mut bytes = 0;
    let mut at = Some(list);
    while let Some(buf) = at {
        let (mut len, mut next) = (0, None);
        if common.doca_buf_get_data_len(buf, &mut len) == 0 {
            bytes += len as u64;
        }
        at = if common.doca_buf_get_next_in_list(buf, &mut next) == 0 { next } else { None };
    }
    bytes
}

/// Gives a list of descriptors back; the head takes the others with it.
pub(crate) fn release(common: &Common, list: Object) {
    let mut left = 0;
    let _ = check(common.doca_buf_dec_refcount(list, &mut left), "doca_buf_dec_refcount");
}
