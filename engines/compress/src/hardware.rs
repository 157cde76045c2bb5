//! How a job is carried out: its checks, and where its input and output lie.

use crate::caps::{Caps, Kind};
use crate::codec::{Failure, Recipe};
use crate::task::{CompressDeflate, DecompressDeflate, DecompressLz4Block, DecompressLz4Stream, Job};
use crate::tools::{Shelf, Tools};
use softdpu_card::{EngineKind, Function};
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::device::Device;
use softdpu_memory::node::Node;
use softdpu_memory::view::{self, Hold};
use softdpu_room::engine::{Compute, Engine, EngineInfo, Shape, Work};
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::task::{Handler, deliver};
use softdpu_room::touch::{self, Tell};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// Tasks with more input than this go to a worker of the card: they take a millisecond and more.
const LONG_FROM: u64 = 128 << 10;
/// The same for what may come out of a decompression, should the input be one long repetition.
const LONG_RESULT_FROM: u64 = 16 << 20;

/// Most bytes that are copied while a list is held, so that the owner of imported memory can always stop soon.
const HELD: usize = 256 << 10;

/// How hard compression tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// Fast: the level of a card. What contexts use unless told otherwise, and what C programs get.
    pub const FAST: Level = Level(1);
    /// About 6 % smaller, at half the speed.
    pub const BALANCED: Level = Level(6);
    /// As small as it gets, very slowly.
    pub const SMALL: Level = Level(12);

    /// A level from 1 (fast) to 12 (small).
    pub const fn new(level: u8) -> Option<Level> {
        if level >= 1 && level <= 12 { Some(Level(level)) } else { None }
    }

    /// As a number from 1 to 12.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for Level {
    fn default() -> Level {
        Level::FAST
    }
}

/// The compression engine.
///
/// Streams use the whole window of DEFLATE, 32 KiB. Tasks with long input are carried out by the card's workers, shorter
/// ones by whoever comes first.
///
/// ```
/// use softdpu_card::{EngineKind, Machine};
/// use softdpu_compress::{Compress, CompressDeflate, Config, DecompressDeflate, Level};
/// use softdpu_memory::{Access, Memory};
/// use softdpu_room::{pump::ProgressEngine, session::Session, typed::Context};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let session = Session::new(Machine::builder().build()?, softdpu_board::threads());
/// let device = session.first_with(EngineKind::Compress)?.open()?;
/// let mut pe = ProgressEngine::new(&session)?;
/// let config = Config { level: Level::BALANCED, ..Config::default() };
/// let mut compress = Context::<Compress>::start(&mut pe, &device, config)?.wait(&mut pe)?;
///
/// let memory = Memory::heap(12 << 10).access(Access::LOCAL_READ_WRITE).register(&[device.shared()])?;
/// let (mut src, dst, back) = (memory.buf(..4096)?, memory.buf(4096..8192)?, memory.buf(8192..)?);
/// src.push_slice(&b"again and ".repeat(400))?;
/// let flight = compress.submit(CompressDeflate { src, dst }).map_err(|refused| refused.error)?;
/// let packed = pe.run(flight);
/// let sums = packed.result?;
/// assert!(packed.task.dst.data_len() < 100);
///
/// let task = DecompressDeflate { src: packed.task.dst, dst: back };
/// let flight = compress.submit(task).map_err(|refused| refused.error)?;
/// let plain = pe.run(flight);
/// assert_eq!(plain.result?, sums);
/// assert_eq!(plain.task.dst.as_slice(), packed.task.src.as_slice());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Compress {
    gate: Gate,
    caps: Caps,
    level: Level,
    shelf: Shelf,
}

/// Configuration of a compression context of the Rust face.
#[derive(Default)]
pub struct Config {
    /// Tasks in flight at most, all kinds together; 0 stands for 64.
    pub tasks: u32,
    /// How hard compression tries.
    pub level: Level,
    /// Gets every compression that was posted.
    pub on_compress_deflate: Option<Handler<CompressDeflate>>,
    /// Gets every DEFLATE decompression that was posted.
    pub on_decompress_deflate: Option<Handler<DecompressDeflate>>,
    /// Gets every LZ4 stream decompression that was posted.
    pub on_decompress_lz4_stream: Option<Handler<DecompressLz4Stream>>,
    /// Gets every LZ4 block decompression that was posted.
    pub on_decompress_lz4_block: Option<Handler<DecompressLz4Block>>,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("tasks", &self.tasks)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

impl Compress {
    /// The engine of a context on `device`.
    ///
    /// # Errors
    /// NotSupported when the device has no compression engine.
    pub fn on(device: &Device, level: Level) -> Result<Compress> {
        let caps = Caps::of(device.function())?;
        let gate = Gate::new(device.bit(), caps.max_buf_size, caps.max_buf_list_len);
        Ok(Compress { gate, caps, level, shelf: Shelf::default() })
    }

    /// As the room's work.
    pub fn work(self, handlers: Config) -> Box<dyn Work> {
        Computed::new(self, handlers)
    }

    fn recipe(&self, job: &Job) -> Recipe {
        Recipe {
            kind: job.kind,
            block_checksums: job.block_checksums != 0,
            independent_blocks: job.independent_blocks != 0,
            level: self.level.0,
        }
    }

    /// Everything that can be said before the work: gives the lists, the bytes to read and the room to write.
    fn admit<'j>(&self, job: &'j Job) -> Result<Lists<'j>> {
        if !self.caps.supports(job.kind) {
            return refuse(
                Code::NotSupported,
                "the device lacks this task",
                format_args!("{} task: the device cannot do it", job.kind.name()),
            );
        }
        let (Some(src), Some(dst)) = (job.src.node(), job.dst.node()) else { return Err(missing(job)) };
        let name = job.kind.name();
        let bytes = view::check_source(src, &self.gate)?;
        let room = view::check_room(dst, &self.gate)?;
        if bytes == 0 {
            return refuse(
                Code::InvalidValue,
                "the source holds no data",
                format_args!("{name}: source buffer {src:p}: data length 0"),
            );
        }
        if room == 0 {
            return refuse(
                Code::InvalidValue,
                "the destination has no room",
                format_args!("{name}: destination buffer {dst:p}: no room behind its data"),
            );
        }
        let most = self.gate.max_bytes();
        if room > most {
            return refuse(
                Code::InvalidValue,
                "more bytes than one task may move",
                format_args!(
                    "{name}: destination buffer {dst:p}: room for {room} bytes, limit of one task {most}"
                ),
            );
        }
        match (usize::try_from(bytes), usize::try_from(room)) {
            (Ok(bytes), Ok(room)) => Ok(Lists { src, dst, bytes, room }),
            _ => Err(Error::new(Code::InvalidValue, "lists longer than memory")),
        }
    }
}

/// The lists of an admitted job.
#[derive(Clone, Copy, Debug)]
struct Lists<'j> {
    src: &'j Node,
    dst: &'j Node,
    bytes: usize,
    room: usize,
}

#[cold]
fn refuse<T>(code: Code, what: &'static str, line: core::fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: "softdpu::compress", "{line}");
    Err(Error::new(code, what))
}

#[cold]
fn missing(job: &Job) -> Error {
    let which = if job.src.node().is_none() { "source" } else { "destination" };
    log::error!(target: "softdpu::compress", "{}: the {which} buffer is NULL or was released", job.kind.name());
    Error::new(Code::InvalidValue, "a buffer is missing")
}

/// Says in one log line why a job failed while it was carried out.
#[cold]
fn failed(kind: Kind, lists: Lists<'_>, failure: Failure) -> Error {
    let Lists { src, dst, bytes, room } = lists;
    let name = kind.name();
    match failure {
        Failure::Codec(error) => error,
        Failure::TooLong => {
            log::error!(target: "softdpu::compress",
                "{name}: destination buffer {dst:p}: the result of {bytes} bytes does not fit, room for {room}");
            Error::new(Code::IoFailed, "the destination is too small")
        }
        Failure::Checksum => {
            log::error!(target: "softdpu::compress", "{name}: source buffer {src:p}: a block checksum is wrong ({bytes} bytes)");
            Error::new(Code::IoFailed, "a block checksum is wrong")
        }
        Failure::Damaged => {
            log::error!(target: "softdpu::compress",
                "{name}: source buffer {src:p}: its {bytes} bytes are damaged, end early, or do not fit room for {room}");
            Error::new(Code::IoFailed, "the input is damaged")
        }
    }
}

/// Input and output each in one piece of private memory: the codec works where they lie. `None`: they are not.
fn in_place(
    recipe: Recipe,
    lists: Lists<'_>,
    tools: &mut Tools,
    gate: &Gate,
) -> Result<Option<(usize, u64)>> {
    let cap = lists.room.min(recipe.bound(lists.bytes));
    let mut hold = Hold::both(lists.src, lists.dst, gate)?;
    let (sources, mut sink) = hold.split();
    let Some(from) = sources.slice(0, lists.bytes) else { return Ok(None) };
    match sink.slice(cap) {
        Some(to) if to.len() == cap => {
            let done = recipe.run(&mut tools.codecs, from, to);
            done.map(Some).map_err(|failure| failed(recipe.kind, lists, failure))
        }
        _ => Ok(None),
    }
}

/// The general way: lists in pieces, memory that others may write, input and output that overlap. The codec works on
/// memory of its own, while nothing is held.
fn bounced(recipe: Recipe, lists: Lists<'_>, tools: &mut Tools, gate: &Gate) -> Result<(usize, u64)> {
    let cap = lists.room.min(recipe.bound(lists.bytes));
    let to = tools.output.take(cap)?;
    let hold = Hold::source(lists.src, gate)?;
    let done = match hold.sources().slice(0, lists.bytes) {
        Some(from) => recipe.run(&mut tools.codecs, from, to),
        None => {
            drop(hold);
            let from = tools.input.take(lists.bytes)?;
            for (i, piece) in from.chunks_mut(HELD).enumerate() {
                Hold::source(lists.src, gate)?.sources().read((i * HELD) as u64, piece);
            }
            recipe.run(&mut tools.codecs, from, to)
        }
    };
    let (n, sums) = done.map_err(|failure| failed(recipe.kind, lists, failure))?;
    for (i, piece) in to[..n].chunks(HELD).enumerate() {
        let mut hold = Hold::room(lists.dst, gate)?;
        let mut sink = hold.split().1;
        sink.advance((i * HELD) as u64);
        sink.write(piece);
    }
    Ok((n, sums))
}

impl Engine for Compress {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "compress", kind: EngineKind::Compress, tasks: Kind::NAMES, fatal: false };
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
        Ok((Compress::on(device, config.level)?.work(config), count))
    }
}

impl Compute for Compress {
    type Engine = Compress;
    type Handlers = Config;

    fn deliver(
        handlers: &mut Config,
        job: Job,
        result: Result<u64>,
        outbox: &mut Outbox<'_, Compress>,
    ) -> Option<Job> {
        match job.kind {
            Kind::CompressDeflate => deliver(&mut handlers.on_compress_deflate, job, result, outbox),
            Kind::DecompressDeflate => deliver(&mut handlers.on_decompress_deflate, job, result, outbox),
            Kind::DecompressLz4Stream => deliver(&mut handlers.on_decompress_lz4_stream, job, result, outbox),
            Kind::DecompressLz4Block => deliver(&mut handlers.on_decompress_lz4_block, job, result, outbox),
        }
    }

    fn shape(&self, job: &Job) -> Shape {
        let (Some(src), Some(dst)) = (job.src.node(), job.dst.node()) else { return Shape::Small };
        let bytes = copy::volume(src);
        let grows = job.kind != Kind::CompressDeflate && bytes.saturating_mul(1032) > LONG_RESULT_FROM;
        if copy::waits([job.src, job.dst]) || bytes > LONG_FROM || grows && view::room(dst) > LONG_RESULT_FROM
        {
            Shape::Whole
        } else {
            Shape::Small
        }
    }

    fn touches(&self, job: &Job, tell: Tell<'_>) {
        touch::source(job.src, tell);
        touch::destination(job.dst, tell);
    }

    fn check(&self, job: &Job) -> Result<()> {
        self.admit(job).map(|_| ())
    }

    fn open(&self, _: &Job) -> Result<u64> {
        // The whole job is its one part.
        Ok(1)
    }

    fn run(&self, job: &mut Job) -> Result<u64> {
        let lists = self.admit(job)?;
        let recipe = self.recipe(job);
        let (n, sums) = self.shelf.lend(|tools| match in_place(recipe, lists, tools, &self.gate)? {
            Some(done) => Ok(done),
            None => bounced(recipe, lists, tools, &self.gate),
        })?;
        copy::commit(lists.dst, n as u64);
        Ok(sums)
    }
}
