//! The DMA engine on the measuring bench, into memory of another process.
//!
//! The owner is this command once more: it exports memory and then sleeps, as an owner may. Mapped memory is measured
//! against the C library's memcpy into a shared mapping, the other ways against one direct write per task without an
//! engine.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use lexopt::Parser;
use softdpu::Reach;
use softdpu::card::{EngineKind, Machine, Side};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::memory::Memory;
use softdpu::{
    Access, Buf, Context, Device, Handler, ProgressEngine, RemoteBuf, RemoteMemory, Session, Starting,
};

use super::Row;
use super::dma::tasks_in;
use super::lane::{Names, Shape, Subject, leave_out, length, row, shapes, text};
use super::measure::Lane;
use super::memcpy::Yardstick;
use super::options::Options;
use crate::card::CardOptions;
use crate::message::{Failure, Outcome};
use crate::session;

/// The sub-command that owners are started with; not for people.
pub(crate) const OWNER: &str = "bench-owner";

/// All rows that the options ask for.
pub(crate) fn rows(options: &Options) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for &reach in &options.reaches {
        let machine = options.card.machine_reaching(reach)?;
        let session = session::open(machine.clone());
        let device = open(&session, &machine, Side::Dpu).map_err(Failure::failed)?;
        let limit = device.function().limits().dma.max_buf_size;
        for &size in &options.sizes {
            if size > limit {
                leave_out("dma", size, format_args!("the device takes at most {limit} bytes per task"));
                continue;
            }
            for shape in shapes(options) {
                let made = one((&session, &device), options, reach, size, shape);
                rows.push(made.map_err(Failure::failed)?);
            }
        }
    }
    Ok(rows)
}

fn one(
    (session, device): (&Session, &Device),
    options: &Options,
    reach: Reach,
    size: u64,
    shape: Shape,
) -> Result<Row, String> {
    let bytes = length(size)?;
    let part = shape.depth as usize * bytes.next_multiple_of(64);
    // Besides the lanes that are measured there is one that finds out how much to measure.
    let parts = shape.threads as usize + 1;
    let owner = Owner::start(&options.card, reach, part * parts)?;
    let remote = RemoteMemory::import(device, &owner.letter).map_err(text)?;
    // Both contestants copy from the same kind of memory to the same places: a lane of each has one part.
    let (ours, theirs) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mine = |next: &AtomicUsize| next.fetch_add(1, Ordering::Relaxed) % parts * part;
    let made = || tasks(device, bytes, shape.depth, (&remote, mine(&ours)));
    let names = |yardstick| Names { engine: "dma", op: "memcpy", yardstick };
    let mut row = if reach == Reach::Mapped {
        let local = || tasks_in(Memory::memfd, device, bytes, shape.depth);
        let yardstick = || Yardstick::new(local()?);
        row((session, device), options, (names("memcpy"), size, shape), made, yardstick)?
    } else {
        let yardstick = || {
            let sources = tasks_in(Memory::heap, device, bytes, shape.depth)?;
            Ok(Direct { remote: &remote, sources, at: mine(&theirs), next: 0 })
        };
        row((session, device), options, (names("write"), size, shape), made, yardstick)?
    };
    row.reach = Some(remote.reach().name());
    Ok(row)
}

impl Subject for Memcpy<Buf, RemoteBuf> {
    fn start(
        pe: &mut ProgressEngine,
        device: &Device,
        depth: u32,
        handler: Handler<Self>,
    ) -> softdpu::Result<Starting<Dma>> {
        Context::start(pe, device, Config { memcpy: depth, on_store: Some(handler), ..Config::default() })
    }

    fn renew(&mut self) {
        self.dst.reset();
    }
}

/// As many tasks as fly at once: from windows of this process to windows of the other one, from offset `at` on.
fn tasks(
    device: &Device,
    size: usize,
    depth: u32,
    (remote, at): (&RemoteMemory, usize),
) -> Result<Vec<Memcpy<Buf, RemoteBuf>>, String> {
    let stride = size.next_multiple_of(64);
    let here = tasks_in(Memory::heap, device, size, depth)?;
    let there = |(i, task): (usize, Memcpy)| {
        let at = at + i * stride;
        let dst = remote.buf(at..at + size).map_err(|e| e.to_string())?;
        Ok(Memcpy { src: task.src, dst })
    };
    here.into_iter().enumerate().map(there).collect()
}

/// The yardstick where memory is not mapped: the same bytes to the same places, by a call per task.
struct Direct<'a> {
    remote: &'a RemoteMemory,
    /// Their sources.
    sources: Vec<Memcpy>,
    at: usize,
    next: usize,
}

impl Lane for Direct<'_> {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        for _ in 0..tasks {
            let source = self.sources[self.next].src.as_slice().ok_or("the memory is not private")?;
            let at = self.at + self.next * source.len().next_multiple_of(64);
            self.remote.write(at, source).map_err(text)?;
            self.next = if self.next + 1 == self.sources.len() { 0 } else { self.next + 1 };
        }
        Ok(())
    }
}

/// A process that exports memory and sleeps; it ends with this.
struct Owner {
    process: Child,
    letter: Vec<u8>,
}

impl Owner {
    fn start(card: &CardOptions, reach: Reach, len: usize) -> Result<Self, String> {
        let command = std::env::current_exe().map_err(|e| format!("this command is not found: {e}"))?;
        let started = Command::new(command)
            .args([OWNER, reach.name(), &len.to_string()])
            .envs(card.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = started.map_err(|e| format!("no second process: {e}"))?;
        let mut line = String::new();
        let read = process.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        let mut owner = Self { process, letter: Vec::new() };
        let line = line.trim();
        let byte = |at: usize| line.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let letter: Option<Vec<u8>> = (0..line.len()).step_by(2).map(byte).collect();
        match (read, letter) {
            (Some(Ok(_)), Some(letter)) if !letter.is_empty() => owner.letter = letter,
            _ => return Err("the second process exported nothing".to_owned()),
        }
        Ok(owner)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // The end of its input tells it to end.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// The owner: memory that can be reached in the way that is measured, its descriptor in a line, and then sleep until
/// nobody listens any more.
pub(crate) fn owner(mut arguments: Parser) -> Outcome {
    let wrong = || Failure::usage(format!("{OWNER}: started by 'softdpu bench' alone"));
    let mut argument = || -> Result<String, Failure> {
        let value = arguments.value().map_err(|_| wrong())?;
        value.into_string().map_err(|_| wrong())
    };
    let reach: Reach = argument()?.parse().map_err(|_| wrong())?;
    let len: usize = argument()?.parse().map_err(|_| wrong())?;
    let machine = CardOptions::default().machine()?;
    let failed = |error: softdpu::Error| Failure::failed(text(error));
    let session = session::open(machine.clone());
    let device = open(&session, &machine, Side::Host).map_err(Failure::failed)?;
    // Plain memory of a program cannot be mapped by others.
    let builder = if reach == Reach::Mapped { Memory::heap(len) } else { Memory::vec(vec![1; len]) };
    let memory = builder.access(Access::PCI_READ_WRITE).register(&[device.shared()]).map_err(failed)?;
    let mut all = memory.buf(..).map_err(|e| Failure::failed(e.to_string()))?;
    // Pages that were never written would cost the first copies.
    for at in (0..len).step_by(1 << 20) {
        let zeros = vec![0; (1 << 20).min(len - at)];
        all.write_at(at, &zeros).map_err(|e| Failure::failed(e.to_string()))?;
    }
    drop(all);
    let export = memory.export(device.shared()).map_err(failed)?;
    let letter: String = export.bytes().iter().map(|b| format!("{b:02x}")).collect();
    let told = crate::output::print(&format!("{letter}\n"));
    std::io::stdin().lines().for_each(drop);
    told
}

/// The first function of a side that copies; any one where the side is not seen.
fn open(session: &Session, machine: &Machine, side: Side) -> Result<Device, String> {
    let copies = || machine.functions().iter().filter(|f| f.supports(EngineKind::Dma));
    let function = copies().find(|f| f.side() == side).or_else(|| copies().next());
    let function = function.ok_or("no device has a DMA engine")?;
    session.device(&function.pci().to_string()).and_then(|d| d.open()).map_err(text)
}
