//! The engine.

use crate::task::{InvalidateCache, Job};
use softdpu_card::{EngineKind, Function, Side};
use softdpu_memory::copy;
use softdpu_memory::device::Device;
use softdpu_room::engine::{Compute, Engine, EngineInfo, Work};
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::task::{Handler, deliver};
use softdpu_room::touch::{self, Tell};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// Advice about memory maps.
#[derive(Debug)]
pub struct MmapAdvise {
    max_bytes: u64,
}

/// Configuration of a context of the Rust face.
#[derive(Default)]
pub struct Config {
    /// Tasks in flight at most; 0 stands for 16.
    pub invalidate_cache: u32,
    /// Gets every invalidation that was posted.
    pub on_invalidate_cache: Option<Handler<InvalidateCache>>,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Config {{ invalidate_cache: {} }}", self.invalidate_cache)
    }
}

/// What a device can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Most bytes of one buffer.
    pub max_buf_size: u64,
    /// Most tasks in flight of one context.
    pub max_num_tasks: u32,
}

impl Caps {
    /// Of this function: functions of the card's own side have caches to invalidate, as on real cards. The limits are
    /// those of the DMA engine, whose view of memory this is about.
    ///
    /// # Errors
    /// NotSupported on the host side, and on cards without a DMA engine.
    pub fn of(function: &Function) -> Result<Caps> {
        if function.side() != Side::Dpu || !function.supports(EngineKind::Dma) {
            return Err(Error::new(Code::NotSupported, "the device has no caches to invalidate"));
        }
        let limits = &function.limits().dma;
        Ok(Caps { max_buf_size: limits.max_buf_size, max_num_tasks: limits.max_num_tasks })
    }
}

impl MmapAdvise {
    /// The engine of a context on `device`.
    ///
    /// # Errors
    /// NotSupported when the device cannot do it.
    pub fn on(device: &Device) -> Result<MmapAdvise> {
        Ok(MmapAdvise { max_bytes: Caps::of(device.function())?.max_buf_size })
    }

    /// As the room's work.
    pub fn work(self, handler: Option<Handler<InvalidateCache>>) -> Box<dyn Work> {
        Computed::new(self, handler)
    }
}

impl Engine for MmapAdvise {
    const INFO: &'static EngineInfo = &EngineInfo {
        name: "mmap_advise",
        kind: EngineKind::Dma,
        tasks: &["invalidate_cache"],
        fatal: false,
    };
    type Caps = Caps;
    type Config = Config;
    type Job = Job;
    type Event = core::convert::Infallible;

    fn caps(function: &Function) -> Result<Caps> {
        Caps::of(function)
    }

    fn build(device: &Arc<Device>, config: Config) -> Result<(Box<dyn Work>, u32)> {
        let limit = Caps::of(device.function())?.max_num_tasks;
        let count = Self::INFO.room_for(device, config.invalidate_cache, 16, limit)?;
        Ok((MmapAdvise::on(device)?.work(config.on_invalidate_cache), count))
    }
}

impl Compute for MmapAdvise {
    type Engine = MmapAdvise;
    type Handlers = Option<Handler<InvalidateCache>>;

    fn deliver(
        handler: &mut Option<Handler<InvalidateCache>>,
        job: Job,
        result: Result<u64>,
        outbox: &mut Outbox<'_, MmapAdvise>,
    ) -> Option<Job> {
        deliver(handler, job, result, outbox)
    }

    fn touches(&self, job: &Job, tell: Tell<'_>) {
        touch::source(job.buf, tell);
    }

    fn check(&self, job: &Job) -> Result<()> {
        let Some(buf) = job.buf.node() else {
            log::error!(target: "softdpu::mmap_advise", "invalidate cache: the buffer is NULL or was released");
            return Err(Error::new(Code::InvalidValue, "the buffer is missing"));
        };
        if !buf.list().all(|n| n.region().is_open()) {
            log::error!(target: "softdpu::mmap_advise", "invalidate cache: a memory map of buffer {buf:p} is not started");
            return Err(Error::new(Code::InvalidValue, "memory map is not started"));
        }
        let bytes = copy::volume(buf);
        if bytes > self.max_bytes {
            log::error!(target: "softdpu::mmap_advise", "invalidate cache: buffer {buf:p} holds {bytes} bytes, limit {}",
                self.max_bytes);
            return Err(Error::new(Code::InvalidValue, "more bytes than one task may take"));
        }
        Ok(())
    }

    fn run(&self, job: &mut Job) -> Result<u64> {
        self.check(job)?;
        // What other processors wrote before this is seen by whoever reads after it.
        softdpu_room::sync::fence(softdpu_room::sync::Ordering::SeqCst);
        Ok(0)
    }
}
