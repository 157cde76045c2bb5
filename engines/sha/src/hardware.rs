//! How a hash is carried out: what is demanded of a job, and which way it goes.

use crate::algorithm::Algorithm;
use crate::caps::Caps;
use crate::even;
use crate::group;
use crate::single::{close, run, step};
use crate::task::{Finish, Hash, Job, Owned, Update};
use core::fmt;
use softdpu_card::{EngineKind, Function};
use softdpu_kernels::sha;
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::device::Device;
use softdpu_memory::node::Node;
use softdpu_memory::view;
use softdpu_room::carry::SPLIT_FROM;
use softdpu_room::engine::{Compute, Engine, EngineInfo, MOST_TOGETHER, Shape, Work};
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::task::{Handler, deliver};
use softdpu_room::touch::{self, Tell};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

const _: () = assert!(group::MOST == MOST_TOGETHER);

/// Calls a generic function with the hash function of a job.
macro_rules! by_algorithm {
    ($algorithm:expr, $function:ident($($argument:expr),*)) => {
        match $algorithm {
            Algorithm::Sha1 => $function::<sha::Sha1>($($argument),*),
            Algorithm::Sha256 => $function::<sha::Sha256>($($argument),*),
            Algorithm::Sha512 => $function::<sha::Sha512>($($argument),*),
        }
    };
}

/// The SHA engine.
#[derive(Debug)]
pub struct Sha {
    /// What the source must allow.
    gate: Gate,
    /// What the destination must allow.
    out: Gate,
    caps: Caps,
}

/// Handlers of posted tasks, by kind.
#[derive(Default)]
pub struct Handlers {
    /// Gets every [`Hash`](struct@Hash) that was posted.
    pub hash: Option<Handler<Hash>>,
    /// Gets every [`Update`] that was posted.
    pub update: Option<Handler<Update>>,
    /// Gets every [`Finish`] that was posted.
    pub finish: Option<Handler<Finish>>,
}

/// Configuration of a SHA context of the Rust face.
#[derive(Debug, Default)]
pub struct Config {
    /// Tasks in flight at most; 0 stands for 64.
    pub tasks: u32,
    /// Who gets posted tasks.
    pub handlers: Handlers,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = [self.hash.is_some(), self.update.is_some(), self.finish.is_some()];
        write!(f, "Handlers {{ hash: {}, update: {}, finish: {} }}", there[0], there[1], there[2])
    }
}

impl Sha {
    /// The engine of a context on `device`.
    ///
    /// # Errors
    /// NotSupported when the device has no SHA engine.
    pub fn on(device: &Device) -> Result<Sha> {
        let caps = Caps::of(device.function())?;
        Ok(Sha {
            gate: Gate::new(device.bit(), caps.max_src_buf_size, caps.max_buf_list_len),
            out: Gate::new(device.bit(), u64::MAX, u32::MAX),
            caps,
        })
    }

    /// As the room's work.
    pub fn work(self, handlers: Handlers) -> Box<dyn Work> {
        Computed::new(self, handlers)
    }

    /// Everything that must hold before a byte is hashed here. Returns the source, its bytes and the destination, which
    /// only a last piece needs.
    #[inline]
    pub(crate) fn admit<'a>(&self, job: &Job) -> Result<(&'a Node, u64, Option<&'a Node>)> {
        self.admit_to::<true>(job)
    }

    /// The same, here or wherever a board has it carried out.
    #[inline]
    fn admit_to<'a, const HERE: bool>(&self, job: &Job) -> Result<(&'a Node, u64, Option<&'a Node>)> {
        let hash = &job.hash;
        let able = if job.whole {
            self.caps.hashes(hash.algorithm())
        } else {
            self.caps.hashes_pieces(hash.algorithm())
        };
        if !able {
            let line = format_args!("the device does not compute {} in such a task", hash.algorithm());
            return refuse(Code::NotSupported, "algorithm not supported", line);
        }
        if !job.whole && (hash.finished || hash.broken || HERE && hash.elsewhere) {
            return refuse_state(job);
        }
        let Some(src) = job.src.node() else { return refuse_missing("source") };
        let bytes = view::check_source(src, &self.gate)?;
        let dst = if job.is_last() {
            let Some(dst) = job.dst.node() else { return refuse_missing("destination") };
            if dst.room() < hash.algorithm().digest_len() {
                return refuse_room(dst, hash.algorithm());
            }
            view::check_room(dst, &self.out)?;
            Some(dst)
        } else {
            if !bytes.is_multiple_of(hash.algorithm().block_len() as u64) {
                let line = format_args!(
                    "source buffer {src:p}: a piece of {bytes} bytes that is not the last, must be a multiple of {}",
                    hash.algorithm().block_len()
                );
                return refuse(Code::InvalidValue, "piece is no multiple of the block", line);
            }
            None
        };
        // The digest of nothing is well defined, but the contract of the C face has no empty sources.
        if bytes == 0 && (job.owned.is_none() || !job.is_last()) {
            let line = format_args!("source buffer {src:p}: data length 0");
            return refuse(Code::InvalidValue, "the source holds no data", line);
        }
        if hash.done.checked_add(bytes).is_none_or(|n| n > MOST_BYTES) {
            let line =
                format_args!("{bytes} bytes after {}: more than {MOST_BYTES} in one message", hash.done);
            return refuse(Code::TooBig, "message too long", line);
        }
        Ok((src, bytes, dst))
    }

    /// The whole of one job.
    #[inline]
    pub(crate) fn run_one(&self, job: &mut Job) -> Result<u64> {
        match even::one(self, job) {
            Some(bytes) => Ok(bytes),
            None => self.run_long(job),
        }
    }

    /// Is it a whole message, of a function that the device computes?
    #[inline(always)]
    pub(crate) fn takes_whole(&self, job: &Job) -> bool {
        job.whole && self.caps.hashes(job.hash.algorithm())
    }

    /// The whole of a job that is not of the simplest kind.
    #[inline(never)]
    pub(crate) fn run_long(&self, job: &mut Job) -> Result<u64> {
        by_algorithm!(job.hash.algorithm(), run(self, job))
    }

    /// What sources and destinations must allow.
    pub(crate) fn gates(&self) -> (&Gate, &Gate) {
        (&self.gate, &self.out)
    }
}

/// Most bytes of a message that is hashed without further ado.
const SHORT: usize = 4096;

/// Most bytes of a message: their number in bits is a 64-bit word.
const MOST_BYTES: u64 = u64::MAX >> 3;

#[cold]
#[inline(never)]
fn refuse<T>(code: Code, what: &'static str, line: fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: "softdpu::sha", "sha task: {line}");
    Err(Error::new(code, what))
}

#[cold]
fn refuse_missing<T>(which: &str) -> Result<T> {
    refuse(
        Code::InvalidValue,
        "a buffer is missing",
        format_args!("the {which} buffer is NULL or was released"),
    )
}

#[cold]
fn refuse_room<T>(dst: &Node, algorithm: Algorithm) -> Result<T> {
    let need = algorithm.digest_len();
    let line =
        format_args!("destination buffer {dst:p}: room for {} bytes, {algorithm} needs {need}", dst.room());
    refuse(Code::InvalidValue, "no room for the digest", line)
}

#[cold]
fn refuse_state<T>(job: &Job) -> Result<T> {
    if job.hash.finished {
        return refuse(
            Code::BadState,
            "the hash is finished",
            format_args!("the hash is finished; reset it to start anew"),
        );
    }
    if !job.hash.broken {
        return refuse(
            Code::BadState,
            "the hash is under way elsewhere",
            format_args!("the hash is under way on other hardware; reset it to start anew"),
        );
    }
    let line = format_args!("an earlier piece of the hash failed half way; reset it to start anew");
    refuse(Code::BadState, "the hash is broken", line)
}

impl Engine for Sha {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "sha", kind: EngineKind::Sha, tasks: &["hash", "partial_hash"], fatal: false };
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
        Ok((Sha::on(device)?.work(config.handlers), count))
    }
}

impl Compute for Sha {
    type Engine = Sha;
    type Handlers = Handlers;

    #[inline(always)]
    fn deliver(
        handlers: &mut Handlers,
        job: Job,
        result: Result<u64>,
        outbox: &mut Outbox<'_, Sha>,
    ) -> Option<Job> {
        match job.owned {
            Some(Owned::Hash(..)) => deliver(&mut handlers.hash, job, result, outbox),
            Some(Owned::Update(_)) => deliver(&mut handlers.update, job, result, outbox),
            Some(Owned::Finish(..)) => deliver(&mut handlers.finish, job, result, outbox),
            None => None,
        }
    }

    fn shape(&self, job: &Job) -> Shape {
        match job.src.node() {
            _ if copy::waits([job.src, job.dst]) => Shape::Whole,
            Some(src) if copy::volume(src) > SPLIT_FROM => Shape::Steps,
            _ => Shape::Small,
        }
    }

    fn touches(&self, job: &Job, tell: Tell<'_>) {
        touch::source(job.src, tell);
        if job.is_last() {
            touch::destination(job.dst, tell);
        }
    }

    /// A board may have given the context to other hardware.
    fn check(&self, job: &Job) -> Result<()> {
        self.admit_to::<false>(job).map(|_| ())
    }

    fn run(&self, job: &mut Job) -> Result<u64> {
        self.run_one(job)
    }

    const ALONE: bool = true;

    /// A short message with nothing unusual about it.
    #[inline]
    fn quick_alone(&self, job: &mut Job) -> Option<u64> {
        if job.src.any().data_len() > SHORT {
            return None;
        }
        even::one(self, job)
    }

    fn together(&self) -> usize {
        group::MOST
    }

    fn run_many(&self, jobs: &mut [&mut Job], results: &mut [Result<u64>]) {
        if let ([job], [result]) = (&mut *jobs, &mut *results) {
            *result = self.run_one(job);
            return;
        }
        if !even::many(self, jobs, results) {
            group::run_many(self, jobs, results);
        }
    }

    fn open(&self, job: &Job) -> Result<u64> {
        self.admit(job).map(|(_, bytes, _)| bytes)
    }

    fn step(&self, job: &mut Job, from: u64, len: u64) -> Result<()> {
        by_algorithm!(job.hash.algorithm(), step(self, job, from, len))
    }

    fn close(&self, job: &mut Job, total: u64) -> Result<u64> {
        by_algorithm!(job.hash.algorithm(), close(self, job, total))
    }
}
