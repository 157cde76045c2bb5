//! The DMA engine on the measuring bench: copies against the C library's.

use softdpu::card::{EngineKind, Machine};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::memory::{Memory, MemoryBuilder};
use softdpu::{Access, Context, Device, Handler, ProgressEngine, Starting};

use super::Row;
use super::lane::{Names, Subject, leave_out, length, row, shapes, text};
use super::memcpy::Yardstick;
use super::options::Options;
use crate::session;

const NAMES: Names = Names { engine: "dma", op: "memcpy", yardstick: "memcpy" };

/// All rows that the options ask for.
pub(crate) fn rows(machine: &Machine, options: &Options) -> Result<Vec<Row>, String> {
    let session = session::open(machine.clone());
    let device = session.first_with(EngineKind::Dma).and_then(|d| d.open()).map_err(text)?;
    let limit = device.function().limits().dma.max_buf_size;
    let mut rows = Vec::new();
    for &size in &options.sizes {
        if size > limit {
            leave_out("dma", size, format_args!("the device takes at most {limit} bytes per task"));
            continue;
        }
        let bytes = length(size)?;
        for shape in shapes(options) {
            let made = || tasks(&device, bytes, shape.depth);
            let yardstick = || Yardstick::new(made()?);
            rows.push(row((&session, &device), options, (NAMES, size, shape), made, yardstick)?);
        }
    }
    Ok(rows)
}

impl Subject for Memcpy {
    fn start(
        pe: &mut ProgressEngine,
        device: &Device,
        depth: u32,
        handler: Handler<Self>,
    ) -> softdpu::Result<Starting<Dma>> {
        Context::start(pe, device, Config { memcpy: depth, on_memcpy: Some(handler), ..Config::default() })
    }

    fn renew(&mut self) {
        self.dst.reset();
    }
}

/// As many tasks as fly at once, each with windows of its own that begin on a cache line, the sources filled.
fn tasks(device: &Device, size: usize, depth: u32) -> Result<Vec<Memcpy>, String> {
    tasks_in(Memory::heap, device, size, depth)
}

/// The same in memory of a kind.
pub(super) fn tasks_in(
    kind: impl Fn(usize) -> MemoryBuilder,
    device: &Device,
    size: usize,
    depth: u32,
) -> Result<Vec<Memcpy>, String> {
    let stride = size.next_multiple_of(64);
    let memory = kind(2 * depth as usize * stride).access(Access::LOCAL_READ_WRITE);
    let memory = memory.register(&[device.shared()]).map_err(text)?;
    let window = |n: usize| memory.buf(n * stride..n * stride + size).map_err(|e| e.to_string());
    let task = |i: usize| -> Result<Memcpy, String> {
        let mut task = Memcpy { src: window(2 * i)?, dst: window(2 * i + 1)? };
        for buf in [&mut task.src, &mut task.dst] {
            // Pages that were never written would all be the one zero page.
            buf.set_data(..).map_err(|e| e.to_string())?;
            buf.as_mut_slice().ok_or("the memory is not private")?.fill(i as u8 | 1);
        }
        task.dst.reset();
        Ok(task)
    };
    (0..depth as usize).map(task).collect()
}
