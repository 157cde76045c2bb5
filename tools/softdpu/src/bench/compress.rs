//! The compression engine on the measuring bench, against the libraries it is built on, called directly with the same
//! checksums. Sizes and rates are those of the plain data, which is made up: words and numbers, with some noise.

use softdpu::card::{Feature, Machine};
use softdpu::compress::{Compress, CompressDeflate, Config, DecompressDeflate, DecompressLz4Block, Level};
use softdpu::memory::{Buf, Memory};
use softdpu::{Access, Context, Device, Handler, ProgressEngine, Session, Starting};
use softdpu_compress::bare;

use super::Row;
use super::lane::{Names, Shape, Subject, leave_out, length, row, shapes, text};
use super::measure::Lane;
use super::options::Options;
use crate::session;

/// What no stream of this much data is longer than.
fn bound(size: usize) -> usize {
    size + size / 100 + 64
}

/// All rows that the options ask for, of the kinds that the card can do.
pub(crate) fn rows(machine: &Machine, options: &Options) -> Result<Vec<Row>, String> {
    let session = session::open(machine.clone());
    let device =
        session.first_with(softdpu::card::EngineKind::Compress).and_then(|d| d.open()).map_err(text)?;
    let limit = device.function().limits().compress.max_buf_size;
    let mut rows = Vec::new();
    for &size in &options.sizes {
        let bytes = length(size)?;
        if bound(bytes) as u64 > limit {
            leave_out("compress", size, format_args!("a task takes at most {limit} bytes"));
            continue;
        }
        for shape in shapes(options) {
            let bench = Bench { session: &session, device: &device, options, shape, size: bytes };
            if device.function().has(Feature::CompressDeflate) {
                rows.push(bench.deflate()?);
            }
            if device.function().has(Feature::DecompressDeflate) {
                rows.push(bench.inflate()?);
            }
            if device.function().has(Feature::DecompressLz4Block) {
                rows.push(bench.lz4()?);
            }
        }
    }
    Ok(rows)
}

macro_rules! subject {
    ($task:ident, $handler:ident) => {
        impl Subject for $task {
            fn start(
                pe: &mut ProgressEngine,
                device: &Device,
                depth: u32,
                handler: Handler<Self>,
            ) -> softdpu::Result<Starting<Compress>> {
                Context::start(
                    pe,
                    device,
                    Config { tasks: depth, $handler: Some(handler), ..Config::default() },
                )
            }

            fn renew(&mut self) {
                self.dst.reset();
            }
        }
    };
}

subject!(CompressDeflate, on_compress_deflate);
subject!(DecompressDeflate, on_decompress_deflate);
subject!(DecompressLz4Block, on_decompress_lz4_block);

struct Bench<'a> {
    session: &'a Session,
    device: &'a Device,
    options: &'a Options,
    shape: Shape,
    size: usize,
}

impl Bench<'_> {
    fn deflate(&self) -> Result<Row, String> {
        let source = |seed: u64| Ok(plain(self.size, seed));
        let yardstick = || {
            let mut codec = bare::Deflate::new(Level::FAST).map_err(text)?;
            self.bare(source, bound(self.size), move |from, to| codec.run(from, to))
        };
        let tasks = || self.tasks(source, bound(self.size), |src, dst| CompressDeflate { src, dst });
        self.row("compress_deflate", "libdeflate+sums", tasks, yardstick)
    }

    fn inflate(&self) -> Result<Row, String> {
        let source = |seed: u64| {
            let mut stream = vec![0; bound(self.size)];
            let mut codec = bare::Deflate::new(Level::BALANCED).map_err(text)?;
            let done = codec.run(&plain(self.size, seed), &mut stream);
            stream.truncate(done.ok_or("the stream does not fit")?.0);
            Ok(stream)
        };
        let yardstick = || {
            let mut codec = bare::Inflate::new().map_err(text)?;
            self.bare(source, self.size, move |from, to| codec.run(from, to))
        };
        let tasks = || self.tasks(source, self.size, |src, dst| DecompressDeflate { src, dst });
        self.row("decompress_deflate", "libdeflate+sums", tasks, yardstick)
    }

    fn lz4(&self) -> Result<Row, String> {
        let source = |seed: u64| {
            let mut block = vec![0; bound(self.size)];
            let n = bare::lz4_compress(&plain(self.size, seed), &mut block);
            block.truncate(n.ok_or("the block does not fit")?);
            Ok(block)
        };
        let yardstick = || self.bare(source, self.size, bare::lz4_block);
        let tasks = || self.tasks(source, self.size, |src, dst| DecompressLz4Block { src, dst });
        self.row("decompress_lz4_block", "lz4+sums", tasks, yardstick)
    }

    fn row<T: Subject, Y: Lane>(
        &self,
        op: &'static str,
        yardstick: &'static str,
        tasks: impl Fn() -> Result<Vec<T>, String> + Sync,
        lane: impl Fn() -> Result<Y, String> + Sync,
    ) -> Result<Row, String> {
        let names = Names { engine: "compress", op, yardstick };
        row((self.session, self.device), self.options, (names, self.size as u64, self.shape), tasks, lane)
    }

    /// As many tasks as fly at once.
    fn tasks<T>(
        &self,
        source: impl Fn(u64) -> Result<Vec<u8>, String>,
        room: usize,
        task: impl Fn(Buf, Buf) -> T,
    ) -> Result<Vec<T>, String> {
        Ok(self.bufs(source, room)?.into_iter().map(|(src, dst)| task(src, dst)).collect())
    }

    /// The yardstick on the same kind of memory.
    fn bare<F: FnMut(&[u8], &mut [u8]) -> Option<(usize, u64)>>(
        &self,
        source: impl Fn(u64) -> Result<Vec<u8>, String>,
        room: usize,
        codec: F,
    ) -> Result<Bare<F>, String> {
        let mut bufs = self.bufs(source, room)?;
        for (_, dst) in &mut bufs {
            dst.set_data(..).map_err(|e| e.to_string())?;
        }
        Ok(Bare { codec, bufs, next: 0 })
    }

    fn bufs(
        &self,
        source: impl Fn(u64) -> Result<Vec<u8>, String>,
        room: usize,
    ) -> Result<Vec<(Buf, Buf)>, String> {
        let sources: Vec<_> =
            (1..=u64::from(self.shape.depth)).map(&source).collect::<Result<_, String>>()?;
        let total: usize = sources.iter().map(|s| s.len() + room + 128).sum();
        let memory = Memory::heap(total).access(Access::LOCAL_READ_WRITE);
        let memory = memory.register(&[self.device.shared()]).map_err(text)?;
        let mut at = 0;
        let mut window = |len: usize| {
            let buf = memory.buf(at..at + len).map_err(|e| e.to_string());
            at += len.next_multiple_of(64);
            buf
        };
        let pair = |bytes: &Vec<u8>| -> Result<(Buf, Buf), String> {
            let (mut src, mut dst) = (window(bytes.len())?, window(room)?);
            src.push_slice(bytes).map_err(|e| e.to_string())?;
            // Pages that were never written would cost a fault each at first.
            dst.push_slice(&vec![1; room]).map_err(|e| e.to_string())?;
            dst.reset();
            Ok((src, dst))
        };
        sources.iter().map(pair).collect()
    }
}

/// The yardstick: one codec on its tasks' buffers in turn.
struct Bare<F> {
    codec: F,
    bufs: Vec<(Buf, Buf)>,
    next: usize,
}

impl<F: FnMut(&[u8], &mut [u8]) -> Option<(usize, u64)>> Lane for Bare<F> {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        for _ in 0..tasks {
            let (src, dst) = &mut self.bufs[self.next];
            let (Some(src), Some(dst)) = (src.as_slice(), dst.as_mut_slice()) else {
                return Err("the memory is not private".to_owned());
            };
            std::hint::black_box((self.codec)(src, dst)).ok_or("the yardstick failed")?;
            self.next = (self.next + 1) % self.bufs.len();
        }
        Ok(())
    }
}

/// Plain data of some structure: DEFLATE halves it, more or less.
fn plain(len: usize, seed: u64) -> Vec<u8> {
    const WORDS: [&str; 24] = [
        "the", "of", "and", "a", "to", "in", "is", "that", "buffer", "queue", "memory", "device", "context",
        "progress", "return", "struct", "uint32_t", "error", "static", "const", "value", "length", "offset",
        "task",
    ];
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut roll = |sides: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % sides
    };
    let mut bytes = Vec::with_capacity(len + 16);
    while bytes.len() < len {
        match roll(8) {
            0 => bytes.extend_from_slice(&roll(1 << 53).to_le_bytes()[..4]),
            1 => bytes.extend_from_slice(format!("{} ", roll(100_000)).as_bytes()),
            _ => {
                // Low numbers more often than high ones, as words are.
                let n = roll(24).min(roll(24)) as usize;
                bytes.extend_from_slice(WORDS[n].as_bytes());
                bytes.push(if roll(12) == 0 { b'\n' } else { b' ' });
            }
        }
    }
    bytes.truncate(len);
    bytes
}
