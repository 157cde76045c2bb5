//! The engine: what it refuses, and which way a job takes.

use crate::caps::Caps;
use crate::config::{Config, Handlers};
use crate::ffi::Cipher;
use crate::in_place;
use crate::key::Iv;
use crate::message;
use crate::pieces::{Pieces, Tray, Trays, is_private};
use crate::task::{Direction, Job, Parts, TagLen};
use crate::twice::Twice;
use softdpu_card::{EngineKind, Function};
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::device::Device;
use softdpu_memory::node::Node;
use softdpu_memory::view::{self, Hold};
use softdpu_room::carry::PART_BYTES;
use softdpu_room::engine::{Compute, Engine, EngineInfo, Shape, Work};
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::touch::{self, Tell};
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard};

/// The AES-GCM engine.
#[derive(Debug)]
pub struct AesGcm {
    gate: Gate,
    caps: Caps,
    /// Address of the context whose keys it takes (C); 0 for the Rust face.
    owner: usize,
    /// Does the device take every key and tag there is, both ways?
    is_usual: bool,
    /// Long messages under way, by the address of their job.
    long: Mutex<Vec<(usize, Long)>>,
    trays: Trays,
}

impl AesGcm {
    /// The engine of a context on `device`.
    ///
    /// # Errors
    /// NotSupported when the device has no AES-GCM engine.
    pub fn on(device: &Device) -> Result<AesGcm> {
        let caps = Caps::of(device.function())?;
        let gate = Gate::new(device.bit(), caps.max_buf_size, caps.max_buf_list_len);
        let is_usual =
            caps.encrypt && caps.decrypt && caps.key_128 && caps.key_256 && caps.tag_96 && caps.tag_128;
        Ok(AesGcm { gate, caps, owner: 0, is_usual, long: Mutex::new(Vec::new()), trays: Trays::default() })
    }

    /// The same for a context of the C face, which takes its own keys alone.
    #[cfg(feature = "capi")]
    pub(crate) fn of_context(self, owner: usize) -> AesGcm {
        AesGcm { owner, ..self }
    }

    /// As the room's work.
    pub fn work(self, handlers: Handlers) -> Box<dyn Work> {
        Computed::new(self, handlers)
    }

    fn long(&self) -> MutexGuard<'_, Vec<(usize, Long)>> {
        self.long.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes a long message under way out of the table.
    fn take_long(&self, job: &Job) -> Option<Long> {
        let mut long = self.long();
        let at = long.iter().position(|(address, _)| *address == address_of(job))?;
        Some(long.swap_remove(at).1)
    }
}

/// A long message under way.
#[derive(Debug)]
enum Long {
    Pieces(Pieces),
    Twice(Twice),
}

/// A text of one part is not cut for the few bytes of additional data and tag that come with it.
const BESIDES: u64 = 4096;

/// Jobs stay where they are while they fly.
fn address_of(job: &Job) -> usize {
    core::ptr::from_ref(job) as usize
}

impl Engine for AesGcm {
    const INFO: &'static EngineInfo = &EngineInfo {
        name: "aes_gcm",
        kind: EngineKind::AesGcm,
        tasks: &["encrypt", "decrypt"],
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
        Ok((AesGcm::on(device)?.work(Handlers::of(config)), count))
    }
}

/// A job that was found in order.
pub(crate) struct Plan<'a> {
    pub(crate) src: &'a Node,
    pub(crate) dst: &'a Node,
    pub(crate) cipher: &'a Cipher,
    pub(crate) iv: Iv,
    pub(crate) direction: Direction,
    pub(crate) aad: usize,
    pub(crate) text: usize,
    pub(crate) tag: usize,
}

impl Plan<'_> {
    /// Bytes of the source before the tag, and of the destination before the tag.
    pub(crate) fn body(&self) -> usize {
        self.aad + self.text
    }

    /// Bytes read.
    pub(crate) fn taken(&self) -> usize {
        self.body() + if self.direction == Direction::Decrypt { self.tag } else { 0 }
    }

    /// Bytes written.
    pub(crate) fn given(&self) -> usize {
        self.body() + if self.direction == Direction::Encrypt { self.tag } else { 0 }
    }

    /// The failure of a message that is not authentic.
    #[cold]
    pub(crate) fn not_authentic(&self) -> Error {
        log::error!(target: "softdpu::aes_gcm",
            "aes_gcm decrypt: authentication failed: the tag of {} bytes does not fit {} bytes of additional data and {} of \
             cipher text under this key and vector", self.tag, self.aad, self.text);
        Error::new(Code::IoFailed, "authentication failed")
    }
}

#[cold]
fn refuse<T>(job: &Parts, code: Code, what: &'static str, line: core::fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: "softdpu::aes_gcm", "aes_gcm {}: {line}", job.direction.name());
    Err(Error::new(code, what))
}

impl AesGcm {
    /// Looks at everything a job needs.
    #[inline(always)]
    fn plan<'a>(&self, job: &'a Job) -> Result<Plan<'a>> {
        let job = &job.parts();
        let (Some(src), Some(dst)) = (job.src.node(), job.dst.node()) else {
            let which = if job.src.node().is_none() { "source" } else { "destination" };
            let line = format_args!("the {which} buffer is NULL or was released");
            return refuse(job, Code::InvalidValue, "a buffer is missing", line);
        };
        let cipher = self.cipher(job)?;
        let Some(tag) = TagLen::from_len(job.tag_len).filter(|tag| self.caps.takes_tag(*tag)) else {
            let line = format_args!(
                "tag of {} bytes, the device takes 12: {}, 16: {}",
                job.tag_len, self.caps.tag_96, self.caps.tag_128
            );
            return refuse(job, Code::InvalidValue, "the tag's length is not supported", line);
        };
        if job.iv.said() > self.caps.max_iv_len {
            let line = format_args!(
                "initialisation vector of {} bytes, limit {}",
                job.iv.said(),
                self.caps.max_iv_len
            );
            return refuse(job, Code::InvalidValue, "the initialisation vector is too long", line);
        }
        let bytes = view::check_source(src, &self.gate)?;
        let room = view::check_room(dst, &self.gate)? + if job.in_place { bytes } else { 0 };
        let (aad, tag) = (u64::from(job.aad_len), tag.len() as u64);
        let (least, written) = match job.direction {
            Direction::Encrypt => (aad, bytes + tag),
            Direction::Decrypt => (aad + tag, bytes.saturating_sub(tag)),
        };
        if bytes < least {
            let line = format_args!(
                "source buffer {src:p}: {bytes} bytes, less than {aad} of additional data{}",
                if least > aad { " and the tag" } else { "" }
            );
            return refuse(job, Code::InvalidValue, "the source is too short", line);
        }
        if written > room {
            let line = format_args!(
                "destination buffer {dst:p}: {written} bytes do not fit behind its data, room for {room}"
            );
            return refuse(job, Code::InvalidValue, "the destination is too small", line);
        }
        if written > self.caps.max_buf_size {
            let line = format_args!("{written} bytes to write, limit of one task {}", self.caps.max_buf_size);
            return refuse(job, Code::InvalidValue, "more bytes than one task may write", line);
        }
        let text = (bytes - least) as usize;
        Ok(Plan {
            src,
            dst,
            cipher,
            iv: job.iv,
            direction: job.direction,
            aad: aad as usize,
            text,
            tag: tag as usize,
        })
    }

    #[inline]
    fn cipher<'a>(&self, job: &Parts) -> Result<&'a Cipher> {
        let Some(key) = job.key.get() else {
            let line = format_args!("the key is NULL or was destroyed");
            return refuse(job, Code::InvalidValue, "the key is missing", line);
        };
        if key.owner() != self.owner {
            let line = format_args!("key {key:p} belongs to another context");
            return refuse(job, Code::InvalidValue, "the key belongs to another context", line);
        }
        if !self.caps.goes(job.direction) || !self.caps.takes_key(key.cipher().bits()) {
            let line = format_args!("not on this device, or not with keys of {} bits", key.cipher().bits());
            return refuse(job, Code::NotSupported, "not supported by the device", line);
        }
        Ok(key.cipher())
    }

    /// The whole of a message. The destination's data does not grow yet.
    fn carry_out(&self, plan: &Plan<'_>) -> Result<()> {
        let mut hold = Hold::both(plan.src, plan.dst, &self.gate)?;
        if let Some(outcome) = message::whole(plan, &mut hold) {
            return outcome;
        }
        if plan.direction == Direction::Decrypt
            && !is_private(hold.split().1, plan.given())
            && let Some(outcome) = message::unseen(plan, &mut hold)
        {
            return outcome;
        }
        let mut pieces = Pieces::begin(plan, &mut hold, self.trays.take())?;
        let outcome =
            pieces.advance(plan, &mut hold, 0, plan.taken()).and_then(|()| pieces.end(plan, &mut hold));
        self.put_away(plan, pieces);
        outcome
    }

    fn put_away(&self, plan: &Plan<'_>, pieces: Pieces) {
        let (stream, tray): (_, Tray) = pieces.into_parts();
        plan.cipher.give_back(stream);
        self.trays.give_back(tray);
    }
}

impl Compute for AesGcm {
    type Engine = AesGcm;
    type Handlers = Handlers;

    #[inline]
    fn deliver(
        handlers: &mut Handlers,
        job: Job,
        result: Result<u64>,
        outbox: &mut Outbox<'_, AesGcm>,
    ) -> Option<Job> {
        handlers.deliver(job, result, outbox)
    }

    fn shape(&self, job: &Job) -> Shape {
        let job = job.parts();
        match job.src.node() {
            _ if copy::waits([job.src, job.dst]) => Shape::Whole,
            Some(src) if copy::volume(src) > PART_BYTES + BESIDES => {
                if job.in_place {
                    Shape::Whole
                } else {
                    Shape::Steps
                }
            }
            _ => Shape::Small,
        }
    }

    fn touches(&self, job: &Job, tell: Tell<'_>) {
        let parts = job.parts();
        touch::source(parts.src, tell);
        touch::destination(parts.dst, tell);
    }

    fn check(&self, job: &Job) -> Result<()> {
        self.plan(job).map(|_| ())
    }

    fn run(&self, job: &mut Job) -> Result<u64> {
        let plan = self.plan(job)?;
        if job.parts().in_place {
            return in_place::run(&plan, &self.gate, &self.trays);
        }
        self.carry_out(&plan)?;
        copy::commit(plan.dst, plan.given() as u64);
        Ok(plan.given() as u64)
    }

    /// A message that is not long and lies in one piece, with nothing unusual about it.
    #[inline(always)]
    fn quick(&self, job: &mut Job) -> Option<u64> {
        let job = job.parts();
        let (src, dst) = (job.src.any(), job.dst.any());
        let key = job.key.get().filter(|key| key.owner() == self.owner && self.is_usual)?;
        if job.in_place {
            return in_place::quick(key.cipher(), &job, &self.gate);
        }
        message::quick(key.cipher(), &job, src, dst, &self.gate)
    }

    fn open(&self, job: &Job) -> Result<u64> {
        let plan = self.plan(job)?;
        // What a flushed job left behind at this place goes.
        drop(self.take_long(job));
        if self.shape(job) == Shape::Steps
            && let Some(twice) = Twice::begin(&plan, &mut Hold::both(plan.src, plan.dst, &self.gate)?)
        {
            self.long().push((address_of(job), Long::Twice(twice)));
            return Ok(Twice::total(&plan));
        }
        Ok(plan.taken() as u64)
    }

    fn step(&self, job: &mut Job, from: u64, len: u64) -> Result<()> {
        let plan = self.plan(job)?;
        let mut hold = Hold::both(plan.src, plan.dst, &self.gate)?;
        let mut long = match self.take_long(job) {
            Some(long) => long,
            None if from == 0 => Long::Pieces(Pieces::begin(&plan, &mut hold, self.trays.take())?),
            None => return Err(Error::new(Code::Unexpected, "a long message was lost")),
        };
        let (from, len) = (from as usize, len as usize);
        let outcome = match &mut long {
            Long::Pieces(pieces) => pieces.advance(&plan, &mut hold, from, len),
            Long::Twice(twice) => twice.advance(&plan, &mut hold, from, len),
        };
        match (outcome, &mut long) {
            (Ok(()), _) => self.long().push((address_of(job), long)),
            (Err(e), Long::Pieces(pieces)) => {
                pieces.withdraw(&plan, &mut hold);
                return Err(e);
            }
            (Err(e), Long::Twice(_)) => return Err(e),
        }
        Ok(())
    }

    /// Flushed half way: plain text that nobody vouched for does not stay.
    fn abandon(&self, job: &mut Job) {
        let Some(Long::Pieces(mut pieces)) = self.take_long(job) else { return };
        if let Ok(plan) = self.plan(job)
            && let Ok(mut hold) = Hold::both(plan.src, plan.dst, &self.gate)
        {
            pieces.withdraw(&plan, &mut hold);
            self.put_away(&plan, pieces);
        }
    }

    fn close(&self, job: &mut Job, _: u64) -> Result<u64> {
        let plan = self.plan(job)?;
        match self.take_long(job) {
            Some(Long::Pieces(mut pieces)) => {
                let mut hold = Hold::both(plan.src, plan.dst, &self.gate)?;
                let outcome = pieces.end(&plan, &mut hold);
                self.put_away(&plan, pieces);
                outcome?;
            }
            Some(Long::Twice(_)) => {}
            None => return Err(Error::new(Code::Unexpected, "a long message was lost")),
        }
        copy::commit(plan.dst, plan.given() as u64);
        Ok(plan.given() as u64)
    }
}
