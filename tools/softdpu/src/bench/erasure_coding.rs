//! The erasure coding engine on the measuring bench: a code of 8 data and 4 redundancy blocks, against its kernel called
//! directly. Sizes are bytes of data, that is 8 blocks; an update reads one changed block, old and new, and the old
//! redundancy.

use softdpu::card::{EngineKind, Machine};
use softdpu::erasure_coding::{Config, Create, ErasureCoding, Matrix, Recover, Update};
use softdpu::memory::{Buf, Memory};
use softdpu::{Access, Context, Device, Handler, ProgressEngine, Session, Starting};
use softdpu_kernels::gf256::Table;

use super::Row;
use super::lane::{Names, Shape, Subject, leave_out, length, row, shapes, text};
use super::measure::Lane;
use super::options::Options;
use crate::session;

const DATA: usize = 8;
const RDNC: usize = 4;

/// All rows that the options ask for.
pub(crate) fn rows(machine: &Machine, options: &Options) -> Result<Vec<Row>, String> {
    let session = session::open(machine.clone());
    let device = session.first_with(EngineKind::ErasureCoding).and_then(|d| d.open()).map_err(text)?;
    let limits = &device.function().limits().erasure_coding;
    let (limit, step) = (limits.max_block_size, u64::from(limits.block_alignment));
    let coding = Matrix::cauchy(DATA, RDNC).map_err(text)?;
    let recovery = coding.recover(&[0, 1, 2, 3]).map_err(text)?;
    let update = coding.update(&[0]).map_err(text)?;
    let mut rows = Vec::new();
    for &size in &options.sizes {
        let block = size / DATA as u64;
        if !size.is_multiple_of(DATA as u64) || block == 0 || !block.is_multiple_of(step) || block > limit {
            leave_out(
                "erasure_coding",
                size,
                format_args!("{DATA} blocks of a multiple of {step} bytes, at most {limit}"),
            );
            continue;
        }
        let block = length(block)?;
        for shape in shapes(options) {
            let bench = Bench { session: &session, device: &device, options, shape, block };
            rows.push(bench.row("create", &coding, |matrix, data, rdnc| Create { matrix, data, rdnc })?);
            rows.push(bench.row("recover", &recovery, |matrix, available, recovered| Recover {
                matrix,
                available,
                recovered,
            })?);
            rows.push(bench.row("update", &update, |matrix, changes, rdnc| Update {
                matrix,
                changes,
                rdnc,
            })?);
        }
    }
    Ok(rows)
}

macro_rules! subject {
    ($task:ident, $handler:ident, $dst:ident) => {
        impl Subject for $task {
            fn start(
                pe: &mut ProgressEngine,
                device: &Device,
                depth: u32,
                handler: Handler<Self>,
            ) -> softdpu::Result<Starting<ErasureCoding>> {
                let config = Config { tasks: depth, $handler: Some(handler), ..Config::default() };
                Context::start(pe, device, config)
            }

            fn renew(&mut self) {
                self.$dst.reset();
            }
        }
    };
}

subject!(Create, on_create, rdnc);
subject!(Recover, on_recover, recovered);
subject!(Update, on_update, rdnc);

struct Bench<'a> {
    session: &'a Session,
    device: &'a Device,
    options: &'a Options,
    shape: Shape,
    block: usize,
}

impl Bench<'_> {
    fn row<T: Subject>(
        &self,
        op: &'static str,
        matrix: &Matrix,
        task: impl Fn(Matrix, Buf, Buf) -> T + Sync,
    ) -> Result<Row, String> {
        let names = Names { engine: "erasure_coding", op, yardstick: "kernel" };
        let size = (matrix.inputs() * self.block) as u64;
        let tasks = || {
            let bufs = self.bufs(matrix)?;
            Ok(bufs.into_iter().map(|(src, dst)| task(matrix.clone(), src, dst)).collect())
        };
        let kernel = || Kernel::new(matrix, self.block, self.bufs(matrix)?);
        row((self.session, self.device), self.options, (names, size, self.shape), tasks, kernel)
    }

    /// Source and destination of as many tasks as fly at once, the sources filled.
    fn bufs(&self, matrix: &Matrix) -> Result<Vec<(Buf, Buf)>, String> {
        let (src, dst) = (matrix.inputs() * self.block, matrix.outputs() * self.block);
        let depth = self.shape.depth as usize;
        let memory = Memory::heap(depth * (src + dst)).access(Access::LOCAL_READ_WRITE);
        let memory = memory.register(&[self.device.shared()]).map_err(text)?;
        let pair = |n: usize| -> Result<(Buf, Buf), String> {
            let at = n * (src + dst);
            let window = |from: usize, len: usize| memory.buf(from..from + len).map_err(|e| e.to_string());
            let (mut from, mut to) = (window(at, src)?, window(at + src, dst)?);
            // Pages that were never written would all be the one zero page.
            for buf in [&mut from, &mut to] {
                buf.set_data(..).map_err(|e| e.to_string())?;
                let bytes = buf.as_mut_slice().ok_or("the memory is not private")?;
                bytes.iter_mut().enumerate().for_each(|(i, b)| *b = (i + i / 251 + n) as u8);
            }
            to.reset();
            Ok((from, to))
        };
        (0..depth).map(pair).collect()
    }
}

/// The yardstick: the same multiplications on the same kind of memory, without an engine.
struct Kernel {
    table: Table,
    block: usize,
    bufs: Vec<(Buf, Buf)>,
    next: usize,
}

impl Kernel {
    fn new(matrix: &Matrix, block: usize, mut bufs: Vec<(Buf, Buf)>) -> Result<Self, String> {
        let all = (0..matrix.inputs()).flat_map(|i| (0..matrix.outputs()).map(move |j| (i, j)));
        let coefficients: Option<Vec<u8>> = all.map(|(i, j)| matrix.coefficient(i, j)).collect();
        let coefficients = coefficients.ok_or("a coefficient is missing")?;
        let table = Table::new(matrix.outputs(), &coefficients).map_err(|e| e.to_string())?;
        for (_, dst) in &mut bufs {
            dst.set_data(..).map_err(|e| e.to_string())?;
        }
        Ok(Self { table, block, bufs, next: 0 })
    }
}

impl Lane for Kernel {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        for _ in 0..tasks {
            let (src, dst) = &mut self.bufs[self.next];
            let (Some(src), Some(dst)) = (src.as_slice(), dst.as_mut_slice()) else {
                return Err("the memory is not private".to_owned());
            };
            let (mut ins, mut outs): ([&[u8]; 16], [&mut [u8]; 16]) = Default::default();
            ins.iter_mut().zip(src.chunks_exact(self.block)).for_each(|(place, block)| *place = block);
            outs.iter_mut().zip(dst.chunks_exact_mut(self.block)).for_each(|(place, block)| *place = block);
            self.table.multiply(&ins[..self.table.inputs()], &mut outs[..self.table.outputs()]);
            self.next = (self.next + 1) % self.bufs.len();
        }
        Ok(())
    }
}
