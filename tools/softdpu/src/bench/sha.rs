//! The hash engine on the measuring bench: one digest per task, against the hash crates called directly, one message
//! after the other.

use softdpu::card::{EngineKind, Machine};
use softdpu::memory::{Buf, Memory};
use softdpu::sha::{Algorithm, Config, Hash, Sha};
use softdpu::{Access, Context, Device, Handler, ProgressEngine, Starting};

use super::Row;
use super::lane::{Names, Subject, leave_out, length, row, shapes, text};
use super::measure::Lane;
use super::options::Options;
use crate::session;

/// Room for every digest.
const PLACE: usize = 64;

/// All rows that the options ask for.
pub(crate) fn rows(machine: &Machine, options: &Options) -> Result<Vec<Row>, String> {
    let session = session::open(machine.clone());
    let device = session.first_with(EngineKind::Sha).and_then(|d| d.open()).map_err(text)?;
    let limit = device.function().limits().sha.max_src_buf_size;
    let mut rows = Vec::new();
    for &size in &options.sizes {
        if size > limit {
            leave_out("sha", size, format_args!("the device takes at most {limit} bytes per task"));
            continue;
        }
        let bytes = length(size)?;
        for shape in shapes(options) {
            for algorithm in Algorithm::ALL {
                let made = || tasks(&device, algorithm, bytes, shape.depth);
                let yardstick = || Ok(Yardstick { tasks: made()?, next: 0 });
                rows.push(row(
                    (&session, &device),
                    options,
                    (names(algorithm), size, shape),
                    made,
                    yardstick,
                )?);
            }
        }
    }
    Ok(rows)
}

fn names(algorithm: Algorithm) -> Names {
    let (op, yardstick) = match algorithm {
        Algorithm::Sha1 => ("sha1", "sha1 crate"),
        Algorithm::Sha256 => ("sha256", "sha2 crate"),
        Algorithm::Sha512 => ("sha512", "sha2 crate"),
    };
    Names { engine: "sha", op, yardstick }
}

impl Subject for Hash {
    fn start(
        pe: &mut ProgressEngine,
        device: &Device,
        depth: u32,
        handler: Handler<Self>,
    ) -> softdpu::Result<Starting<Sha>> {
        let mut config = Config { tasks: depth, ..Config::default() };
        config.handlers.hash = Some(handler);
        Context::start(pe, device, config)
    }

    fn renew(&mut self) {
        self.dst.reset();
    }
}

/// As many tasks as fly at once, each with a message of its own.
fn tasks(device: &Device, algorithm: Algorithm, size: usize, depth: u32) -> Result<Vec<Hash>, String> {
    let stride = size.next_multiple_of(64) + PLACE;
    let memory = Memory::heap(depth as usize * stride).access(Access::LOCAL_READ_WRITE);
    let memory = memory.register(&[device.shared()]).map_err(text)?;
    let task = |i: usize| -> Result<Hash, String> {
        let window = |from: usize, len: usize| -> Result<Buf, String> {
            memory.buf(from..from + len).map_err(|e| e.to_string())
        };
        let mut src = window(i * stride, size)?;
        let message: Vec<u8> = (0..size).map(|at| (at * 7 + i * 13) as u8).collect();
        src.push_slice(&message).map_err(|e| e.to_string())?;
        Ok(Hash { algorithm, src, dst: window((i + 1) * stride - PLACE, PLACE)? })
    };
    (0..depth as usize).map(task).collect()
}

/// The crates on the tasks' messages in turn.
struct Yardstick {
    tasks: Vec<Hash>,
    next: usize,
}

impl Lane for Yardstick {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        use sha2::Digest as _;
        for _ in 0..tasks {
            let task = &self.tasks[self.next];
            let message = task.src.as_slice().ok_or("the memory is not private")?;
            match task.algorithm {
                Algorithm::Sha1 => drop(std::hint::black_box(sha1::Sha1::digest(message))),
                Algorithm::Sha256 => drop(std::hint::black_box(sha2::Sha256::digest(message))),
                Algorithm::Sha512 => drop(std::hint::black_box(sha2::Sha512::digest(message))),
            }
            self.next = (self.next + 1) % self.tasks.len();
        }
        Ok(())
    }
}
