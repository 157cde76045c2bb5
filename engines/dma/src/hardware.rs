//! How a copy is carried out.

use crate::caps::Caps;
use crate::task::{Job, Memcpy};
use crate::taste::Taste;
use softdpu_card::{EngineKind, Function};
use softdpu_memory::RemoteBuf;
use softdpu_memory::buf::Buf;
use softdpu_memory::cache;
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::device::Device;
use softdpu_memory::node::Node;
use softdpu_room::carry::{PART_BYTES, SPLIT_FROM, part_bytes};
use softdpu_room::engine::{Compute, Engine, EngineInfo, Shape, Work};
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::task::{Handler, deliver};
use softdpu_room::touch::{self, Tell};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;
use std::time::Instant;

/// The DMA engine.
#[derive(Debug)]
pub struct Dma {
    gate: Gate,
    /// Copies of at least this many bytes may go past the cache.
    stream_from: u64,
    taste: Taste,
}

/// Configuration of a DMA context of the Rust face.
#[derive(Default)]
pub struct Config {
    /// Tasks in flight at most; 0 stands for 64.
    pub memcpy: u32,
    /// Gets every copy that was posted, within memory of this process.
    pub on_memcpy: Option<Handler<Memcpy>>,
    /// Gets every copy that was posted from memory of another process.
    pub on_fetch: Option<Handler<Memcpy<RemoteBuf, Buf>>>,
    /// Gets every copy that was posted to memory of another process.
    pub on_store: Option<Handler<Memcpy<Buf, RemoteBuf>>>,
    /// Gets every copy that was posted from memory of another process to such memory.
    pub on_through: Option<Handler<Memcpy<RemoteBuf, RemoteBuf>>>,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("memcpy", &self.memcpy)
            .field("on_memcpy", &self.on_memcpy.is_some())
            .field("on_fetch", &self.on_fetch.is_some())
            .field("on_store", &self.on_store.is_some())
            .field("on_through", &self.on_through.is_some())
            .finish()
    }
}

impl Dma {
    /// The engine of a context on `device`.
    ///
    /// # Errors
    /// NotSupported when the device has no DMA engine.
    pub fn on(device: &Device) -> Result<Dma> {
        let caps = Caps::of(device.function())?;
        Ok(Dma {
            gate: Gate::new(device.bit(), caps.max_buf_size, caps.max_buf_list_len),
            stream_from: cache::stream_from(),
            taste: Taste::default(),
        })
    }

    /// As the room's work.
    pub fn work(self, handlers: Config) -> Box<dyn Work> {
        Computed::new(self, handlers)
    }
}

impl Engine for Dma {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "dma", kind: EngineKind::Dma, tasks: &["memcpy"], fatal: true };
    type Caps = Caps;
    type Config = Config;
    type Job = Job;
    type Event = core::convert::Infallible;

    fn caps(function: &Function) -> Result<Caps> {
        Caps::of(function)
    }

    fn build(device: &Arc<Device>, config: Config) -> Result<(Box<dyn Work>, u32)> {
        let limit = Caps::of(device.function())?.max_num_tasks;
        let count = Self::INFO.room_for(device, config.memcpy, 64, limit)?;
        Ok((Dma::on(device)?.work(config), count))
    }
}

impl Dma {
    /// What is not a cache line between lone buffers.
    #[inline(never)]
    fn check_any(&self, job: &Job) -> Result<()> {
        if copy::is_lone_still(job.src().any(), job.dst().any(), &self.gate, LONE_BYTES) {
            return Ok(());
        }
        let (src, dst) = both(job).ok_or_else(|| missing(job))?;
        copy::check(src, dst, &self.gate).map(|_| ())
    }

    /// Apart, so that a cache line's way stays short.
    #[inline(never)]
    fn quick_lone(&self, job: &Job) -> Option<u64> {
        copy::transfer_lone(job.src().any(), job.dst().any(), &self.gate, LONE_BYTES)
    }

    /// In pieces, so that an owner who takes its memory back waits for one of them at most.
    #[cold]
    fn run_slow(&self, src: &Node, dst: &Node) -> Result<u64> {
        let total = copy::check(src, dst, &self.gate)?;
        let mut from = 0;
        while from < total {
            let len = PART_BYTES.min(total - from);
            copy::transfer_part(src, dst, from, len, false)?;
            from += len;
        }
        copy::commit(dst, total);
        Ok(total)
    }
}

/// Most bytes of a copy that is carried out in one straight line; what is longer is cut into parts.
const LONE_BYTES: usize = SPLIT_FROM as usize - 1;

/// Where the part that would begin at `from` begins instead, so that parts come from the front and from the back of the
/// job in turn and two threads stay apart ([`copy::is_spread`]). The last part, which may be shorter, comes to lie in
/// between.
fn from_both_ends(total: u64, from: u64) -> u64 {
    let size = part_bytes(total);
    let (number, last) = (from / size, total.div_ceil(size) - 1);
    let at_front = number / 2 * size;
    if number.is_multiple_of(2) {
        at_front
    } else if number == last {
        at_front + size
    } else {
        total - at_front - size
    }
}

#[inline(always)]
fn both(job: &Job) -> Option<(&Node, &Node)> {
    Some((job.src().node()?, job.dst().node()?))
}

#[cold]
fn missing(job: &Job) -> Error {
    let which = if job.src().node().is_none() { "source" } else { "destination" };
    log::error!(target: "softdpu::dma", "dma memcpy: the {which} buffer is NULL or was released");
    Error::new(Code::InvalidValue, "a buffer is missing")
}

impl Compute for Dma {
    type Engine = Dma;
    type Handlers = Config;

    #[inline(always)]
    fn deliver(
        handlers: &mut Config,
        job: Job,
        result: Result<u64>,
        outbox: &mut Outbox<'_, Dma>,
    ) -> Option<Job> {
        if job.0.is::<Buf, Buf>() {
            return deliver(&mut handlers.on_memcpy, job, result, outbox);
        }
        // The frequent way stays short.
        core::hint::cold_path();
        if job.0.is::<Buf, RemoteBuf>() {
            deliver(&mut handlers.on_store, job, result, outbox)
        } else if job.0.is::<RemoteBuf, Buf>() {
            deliver(&mut handlers.on_fetch, job, result, outbox)
        } else {
            deliver(&mut handlers.on_through, job, result, outbox)
        }
    }

    fn shape(&self, job: &Job) -> Shape {
        match both(job) {
            _ if copy::waits([job.src(), job.dst()]) => Shape::Whole,
            Some((src, _)) if copy::volume(src) < SPLIT_FROM => Shape::Small,
            Some((src, dst)) if copy::is_far([job.src(), job.dst()]) && !copy::is_spread(src, dst) => {
                Shape::Steps
            }
            Some(_) => Shape::Parts,
            _ => Shape::Small,
        }
    }

    fn touches(&self, job: &Job, tell: Tell<'_>) {
        touch::source(job.src(), tell);
        touch::destination(job.dst(), tell);
    }

    #[inline]
    fn check(&self, job: &Job) -> Result<()> {
        if copy::is_line(job.src().any(), job.dst().any(), &self.gate) {
            return Ok(());
        }
        self.check_any(job)
    }

    fn run(&self, job: &mut Job) -> Result<u64> {
        let (src, dst) = both(job).ok_or_else(|| missing(job))?;
        if copy::waits([job.src(), job.dst()]) {
            return self.run_slow(src, dst);
        }
        copy::transfer(src, dst, &self.gate)
    }

    #[inline(always)]
    fn quick(&self, job: &mut Job) -> Option<u64> {
        // Released buffers have neither data nor room, so they need no look of their own here.
        match copy::transfer_line(job.src().any(), job.dst().any(), &self.gate) {
            None => self.quick_lone(job),
            done => done,
        }
    }

    fn open(&self, job: &Job) -> Result<u64> {
        let (src, dst) = both(job).ok_or_else(|| missing(job))?;
        copy::check(src, dst, &self.gate)
    }

    fn part(&self, job: &Job, from: u64, len: u64) -> Result<()> {
        let (src, dst) = both(job).ok_or_else(|| missing(job))?;
        let total = copy::volume(src);
        if copy::is_far([job.src(), job.dst()]) {
            return copy::transfer_part(src, dst, from_both_ends(total, from), len, false);
        }
        if total < self.stream_from {
            return copy::transfer_part(src, dst, from, len, false);
        }
        let past_cache = self.taste.past_cache();
        let start = Instant::now();
        copy::transfer_part(src, dst, from, len, past_cache)?;
        self.taste.learn(past_cache, len, start.elapsed());
        Ok(())
    }

    fn step(&self, job: &mut Job, from: u64, len: u64) -> Result<()> {
        let (src, dst) = both(job).ok_or_else(|| missing(job))?;
        copy::transfer_part(src, dst, from, len, false)
    }

    fn close(&self, job: &mut Job, total: u64) -> Result<u64> {
        let (_, dst) = both(job).ok_or_else(|| missing(job))?;
        copy::commit(dst, total);
        Ok(total)
    }

    /// A copy that fails on the card fails as an I/O error, whatever the reason; the reason is in the log.
    fn status(&self, _: Error) -> Code {
        Code::IoFailed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_from_both_ends_cover_the_job() {
        for total in [1, 4096, 1 << 20, (1 << 20) + 1, (3 << 20) - 77, (16 << 20) + (300 << 10), 5 << 30] {
            let size = part_bytes(total);
            let count = total.div_ceil(size);
            let part = |number: u64| (from_both_ends(total, number * size), size.min(total - number * size));
            let mut parts: Vec<_> = (0..count).map(part).collect();
            if count > 3 {
                assert_eq!((parts[0].0, parts[1].0 + parts[1].1), (0, total), "{total}");
            }
            parts.sort_unstable();
            let end = parts.iter().fold(0, |end, &(from, len)| {
                assert_eq!(from, end, "{total}");
                from + len
            });
            assert_eq!(end, total);
        }
    }
}
