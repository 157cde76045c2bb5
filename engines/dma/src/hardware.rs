//! How a copy is carried out.

use crate::caps::Caps;
use crate::task::{Job, Memcpy};
use crate::taste::Taste;
use softdpu_card::{EngineKind, Function};
use softdpu_memory::copy::{self, Gate, STREAM_FROM};
use softdpu_memory::device::Device;
use softdpu_memory::node::Node;
use softdpu_room::carry::SPLIT_FROM;
use softdpu_room::engine::{Compute, Engine, EngineInfo, Shape, Work};
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::task::{Handler, deliver};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;
use std::time::Instant;

/// The DMA engine.
#[derive(Debug)]
pub struct Dma {
    gate: Gate,
    taste: Taste,
}

/// Configuration of a DMA context of the Rust face.
#[derive(Default)]
pub struct Config {
    /// Tasks in flight at most; 0 stands for 64.
    pub memcpy: u32,
    /// Gets every copy that was posted.
    pub on_memcpy: Option<Handler<Memcpy>>,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Config {{ memcpy: {}, on_memcpy: {} }}", self.memcpy, self.on_memcpy.is_some())
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
            taste: Taste::default(),
        })
    }

    /// As the room's work.
    pub fn work(self, on_memcpy: Option<Handler<Memcpy>>) -> Box<dyn Work> {
        Computed::new(self, on_memcpy)
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
        let count = if config.memcpy == 0 { 64 } else { config.memcpy };
        let limit = Caps::of(device.function())?.max_num_tasks;
        if count > limit {
            log::error!(target: "softdpu::dma", "dma context on {}: {count} tasks asked for, limit {limit}",
                device.function().pci());
            return Err(Error::new(Code::InvalidValue, "more tasks than the device takes"));
        }
        Ok((Dma::on(device)?.work(config.on_memcpy), count))
    }
}

#[inline(always)]
fn both(job: &Job) -> Option<(&Node, &Node)> {
    Some((job.src.node()?, job.dst.node()?))
}

#[cold]
fn missing(job: &Job) -> Error {
    let which = if job.src.node().is_none() { "source" } else { "destination" };
    log::error!(target: "softdpu::dma", "dma memcpy: the {which} buffer is NULL or was released");
    Error::new(Code::InvalidValue, "a buffer is missing")
}

impl Compute for Dma {
    type Engine = Dma;
    type Handlers = Option<Handler<Memcpy>>;

    #[inline(always)]
    fn deliver(
        on_memcpy: &mut Option<Handler<Memcpy>>,
        job: Job,
        result: Result<u64>,
        outbox: &mut Outbox<'_, Dma>,
    ) -> Option<Job> {
        deliver(on_memcpy, job, result, outbox)
    }

    fn shape(&self, job: &Job) -> Shape {
        match job.src.node() {
            Some(src) if copy::volume(src) >= SPLIT_FROM => Shape::Parts,
            _ => Shape::Small,
        }
    }

    #[inline]
    fn check(&self, job: &Job) -> Result<()> {
        if copy::is_line(job.src.any(), job.dst.any(), &self.gate) {
            return Ok(());
        }
        let (src, dst) = both(job).ok_or_else(|| missing(job))?;
        copy::check(src, dst, &self.gate).map(|_| ())
    }

    fn run(&self, job: &mut Job) -> Result<u64> {
        let (src, dst) = both(job).ok_or_else(|| missing(job))?;
        copy::transfer(src, dst, &self.gate)
    }

    #[inline(always)]
    fn quick(&self, job: &mut Job) -> Option<u64> {
        // Released buffers have neither data nor room, so they need no look of their own here.
        copy::transfer_line(job.src.any(), job.dst.any(), &self.gate)
    }

    fn open(&self, job: &Job) -> Result<u64> {
        let (src, dst) = both(job).ok_or_else(|| missing(job))?;
        copy::check(src, dst, &self.gate)
    }

    fn part(&self, job: &Job, from: u64, len: u64) -> Result<()> {
        let (src, dst) = both(job).ok_or_else(|| missing(job))?;
        if copy::volume(src) < STREAM_FROM {
            return copy::transfer_part(src, dst, from, len, false);
        }
        let past_cache = self.taste.past_cache();
        let start = Instant::now();
        copy::transfer_part(src, dst, from, len, past_cache)?;
        self.taste.learn(past_cache, len, start.elapsed());
        Ok(())
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
