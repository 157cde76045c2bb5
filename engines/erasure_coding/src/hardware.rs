//! What the engine refuses, and how a job is cut.

use crate::caps::{Caps, Kind};
use crate::matrix::Matrix;
use crate::strip::Strip;
use crate::task::{Create, GaloisMul, Job, Recover, Update};
use softdpu_card::{EngineKind, Function};
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::device::Device;
use softdpu_memory::node::Node;
use softdpu_memory::view;
use softdpu_room::carry::PART_BYTES;
use softdpu_room::engine::{Compute, Engine, EngineInfo, Shape, Work};
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::task::{Handler, deliver};
use softdpu_room::touch::{self, Tell};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// The erasure coding engine.
#[derive(Debug)]
pub struct ErasureCoding {
    caps: Caps,
    gate: Gate,
}

/// Configuration of an erasure coding context of the Rust face.
#[derive(Default)]
pub struct Config {
    /// Tasks in flight at most, of all kinds together; 0 stands for 64.
    pub tasks: u32,
    /// Gets every multiplication that was posted.
    pub on_galois_mul: Option<Handler<GaloisMul>>,
    /// Gets every creation that was posted.
    pub on_create: Option<Handler<Create>>,
    /// Gets every update that was posted.
    pub on_update: Option<Handler<Update>>,
    /// Gets every recovery that was posted.
    pub on_recover: Option<Handler<Recover>>,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("tasks", &self.tasks)
            .field("on_galois_mul", &self.on_galois_mul.is_some())
            .field("on_create", &self.on_create.is_some())
            .field("on_update", &self.on_update.is_some())
            .field("on_recover", &self.on_recover.is_some())
            .finish()
    }
}

impl ErasureCoding {
    /// The engine of a context on `device`.
    ///
    /// # Errors
    /// NotSupported when the device has no erasure coding engine.
    pub fn on(device: &Device) -> Result<ErasureCoding> {
        let caps = Caps::of(device.function())?;
        Ok(ErasureCoding { caps, gate: Gate::new(device.bit(), u64::MAX, caps.max_buf_list_len) })
    }

    /// As the room's work.
    pub fn work(self, handlers: Config) -> Box<dyn Work> {
        Computed::new(self, handlers)
    }

    /// Checks everything a job needs; gives the size of its blocks.
    fn admit(&self, job: &Job, matrix: &Matrix) -> Result<u64> {
        if !self.caps.supports(job.kind) {
            log::error!(target: "softdpu::erasure_coding", "{} task: the device does not run this kind", job.kind.name());
            return Err(Error::new(Code::NotSupported, "the device does not run this kind of task"));
        }
        let (src, dst) = both(job)?;
        let (data, rdnc) = matrix.origin();
        self.caps.admit(data, rdnc)?;
        let elements = src.list().chain(dst.list()).count();
        let most = self.caps.max_buf_list_len as usize;
        if elements > most {
            let line =
                format_args!("source and destination list of {elements} elements together, limit {most}");
            return refuse(job, "more list elements than the device takes", line);
        }
        let bytes = view::check_source(src, &self.gate)?;
        let block = self.block_size(job, matrix, bytes)?;
        let room = view::check_room(dst, &self.gate)?;
        // A block has at most 2^40 bytes, and there are a few hundred.
        let need = block * matrix.outputs() as u64;
        if need > room {
            let outputs = matrix.outputs();
            let line = format_args!(
                "{outputs} blocks of {block} bytes do not fit behind the destination's data, room for {room} bytes"
            );
            return refuse(job, "the destination is too small", line);
        }
        Ok(block)
    }

    fn block_size(&self, job: &Job, matrix: &Matrix, bytes: u64) -> Result<u64> {
        let (inputs, step) = (matrix.inputs() as u64, u64::from(self.caps.block_alignment));
        let block = bytes / inputs;
        if !bytes.is_multiple_of(inputs) || block == 0 || !block.is_multiple_of(step) {
            let line =
                format_args!("source of {bytes} bytes is not {inputs} blocks of a multiple of {step} bytes");
            return refuse(job, "the source is not a number of blocks", line);
        }
        if block > self.caps.max_block_size {
            let line = format_args!("blocks of {block} bytes, limit {}", self.caps.max_block_size);
            return refuse(job, "blocks larger than the device takes", line);
        }
        Ok(block)
    }
}

#[cold]
fn refuse<T>(job: &Job, what: &'static str, line: std::fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: "softdpu::erasure_coding", "{} task: {line}", job.kind.name());
    Err(Error::new(Code::InvalidValue, what))
}

fn both(job: &Job) -> Result<(&Node, &Node)> {
    match (job.src.node(), job.dst.node()) {
        (Some(src), Some(dst)) => Ok((src, dst)),
        (src, _) => {
            let which = if src.is_none() { "source" } else { "destination" };
            refuse(job, "a buffer is missing", format_args!("the {which} buffer is NULL or was released"))
        }
    }
}

/// What a job reads and writes, per byte of a block: the measure of its parts.
fn width(matrix: &Matrix) -> u64 {
    (matrix.inputs() + matrix.outputs()) as u64
}

/// How far into its blocks a job is after `done` of its bytes: all parts are cut here, so that they fit together.
fn position(matrix: &Matrix, block: u64, done: u64) -> u64 {
    if done >= block * width(matrix) { block } else { done / width(matrix) / 64 * 64 }
}

impl Engine for ErasureCoding {
    const INFO: &'static EngineInfo = &EngineInfo {
        name: "erasure_coding",
        kind: EngineKind::ErasureCoding,
        tasks: &["galois_mul", "create", "update", "recover"],
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
        let count = Self::INFO.room_for(device, config.tasks, 64, limit)?;
        Ok((ErasureCoding::on(device)?.work(config), count))
    }
}

impl Compute for ErasureCoding {
    type Engine = ErasureCoding;
    type Handlers = Config;

    fn deliver(
        handlers: &mut Config,
        job: Job,
        result: Result<u64>,
        outbox: &mut Outbox<'_, ErasureCoding>,
    ) -> Option<Job> {
        match job.kind {
            Kind::GaloisMul => deliver(&mut handlers.on_galois_mul, job, result, outbox),
            Kind::Create => deliver(&mut handlers.on_create, job, result, outbox),
            Kind::Update => deliver(&mut handlers.on_update, job, result, outbox),
            Kind::Recover => deliver(&mut handlers.on_recover, job, result, outbox),
        }
    }

    fn shape(&self, job: &Job) -> Shape {
        if copy::waits([job.src, job.dst]) {
            return Shape::Whole;
        }
        let bytes = copy::volume(job.src.any());
        let is_large = |m: &Matrix| bytes / m.inputs() as u64 * width(m) > PART_BYTES;
        if job.peek(is_large) == Some(true) { Shape::Parts } else { Shape::Small }
    }

    fn touches(&self, job: &Job, tell: Tell<'_>) {
        touch::source(job.src, tell);
        touch::destination(job.dst, tell);
    }

    fn check(&self, job: &Job) -> Result<()> {
        job.with(|matrix| self.admit(job, matrix)).map(|_| ())
    }

    fn run(&self, job: &mut Job) -> Result<u64> {
        job.with(|matrix| {
            let block = self.admit(job, matrix)?;
            let (src, dst) = both(job)?;
            Strip { block, from: 0, to: block }.compute(matrix, src, dst, &self.gate)?;
            let written = block * matrix.outputs() as u64;
            copy::commit(dst, written);
            Ok(written)
        })
    }

    fn open(&self, job: &Job) -> Result<u64> {
        job.with(|matrix| Ok(self.admit(job, matrix)? * width(matrix)))
    }

    fn part(&self, job: &Job, from: u64, len: u64) -> Result<()> {
        job.with(|matrix| {
            let (src, dst) = both(job)?;
            let block = copy::volume(src) / matrix.inputs() as u64;
            let at = |done| position(matrix, block, done);
            Strip { block, from: at(from), to: at(from + len) }.compute(matrix, src, dst, &self.gate)
        })
    }

    fn close(&self, job: &mut Job, total: u64) -> Result<u64> {
        job.with(|matrix| {
            let written = total / width(matrix) * matrix.outputs() as u64;
            copy::commit(both(job)?.1, written);
            Ok(written)
        })
    }
}
