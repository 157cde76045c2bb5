//! The card: imports what the host exported, and takes its turns until the last.

use std::collections::VecDeque;
use std::io::{BufRead, stdin};
use std::ops::Range;
use std::process::ExitCode;
use std::time::Instant;

use lexopt::Parser;
use serde::Serialize;
use softdpu::card::{Feature, Function};
use softdpu::dma::{self, Dma, Memcpy};
use softdpu::memory::{Memory, RemoteBuf, RemoteMemory};
use softdpu::sha::{self, Sha};
use softdpu::sync_event::SyncEvent;
use softdpu::{Access, Context, Device, InFlight, ProgressEngine, Session, Task};

use super::{Farewell, Greeting, HEADER, Letter, RESULT, WINDOW, text, wait};
use crate::card::CardOptions;
use crate::demo::hash::{DIGEST, Running};
use crate::demo::slot::window;
use crate::demo::tally::Step;
use crate::message::{Failure, Outcome};
use crate::output;
use crate::session;

/// Bytes of a task, unless an engine takes less, and tasks in flight.
const PIECE: u64 = 1 << 20;
const TASKS: u32 = 8;

/// Bytes of a task on this function: a multiple of the blocks of the hash, or none.
pub(super) fn piece(function: &Function) -> usize {
    let limits = function.limits();
    let sha = if hashes(function) { limits.sha.max_src_buf_size } else { PIECE };
    PIECE.min(limits.dma.max_buf_size).min(sha) as usize / 64 * 64
}

fn hashes(function: &Function) -> bool {
    function.has(Feature::Sha256Partial)
}

/// The sub-command: a letter on standard input, a greeting and a farewell on standard output.
pub(crate) fn main(mut arguments: Parser) -> Outcome {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    let mut line = String::new();
    stdin().lock().read_line(&mut line).map_err(|e| Failure::usage(format!("standard input: {e}")))?;
    let letter: Letter = serde_json::from_str(&line).map_err(|_| {
        Failure::usage("'demo-card' is what 'softdpu demo' starts; by itself it has nothing to do")
    })?;
    let machine = CardOptions::default().machine()?;
    let session = session::open(machine);
    serve(&session, &letter).map_err(|why| Failure::failed(format!("demo: the card's process: {why}")))?;
    Ok(ExitCode::SUCCESS)
}

fn serve(session: &Session, letter: &Letter) -> Result<(), String> {
    let device = session.device(&letter.device).and_then(|info| info.open()).map_err(text)?;
    let begun = Instant::now();
    let there = |bytes| RemoteMemory::import(&device, bytes).map_err(text);
    let (source, result) = (there(&letter.source)?, there(&letter.result)?);
    let event = SyncEvent::import(&device, &letter.event).map_err(text)?;
    let seconds = begun.elapsed().as_secs_f64();
    let mut pe = ProgressEngine::new(session).map_err(text)?;
    let mut card = Card::start(&mut pe, &device, source, result)?;
    say(&Greeting { reach: card.source.reach().to_string(), seconds, sha: card.sha.is_some() })?;
    let mut turns = 0;
    loop {
        // When the host ends, so does the event.
        wait(&event, 2 * turns + 1, || Ok(()))?;
        let last = card.turn(&mut pe)?;
        event.set(2 * turns + 2).map_err(text)?;
        turns += 1;
        if last {
            break;
        }
    }
    say(&card.farewell)?;
    card.stop(&mut pe)
}

fn say(message: &impl Serialize) -> Result<(), String> {
    let line = serde_json::to_string(message).map_err(|e| e.to_string())? + "\n";
    output::print(&line).map(|_| ()).map_err(Failure::into_text)
}

struct Card {
    source: RemoteMemory,
    result: RemoteMemory,
    /// Memory of its own, where the bytes are hashed.
    memory: Memory,
    piece: usize,
    tasks: usize,
    dma: Context<Dma>,
    sha: Option<Context<Sha>>,
    hash: Running,
    farewell: Farewell,
}

impl Card {
    fn start(
        pe: &mut ProgressEngine,
        device: &Device,
        source: RemoteMemory,
        result: RemoteMemory,
    ) -> Result<Self, String> {
        let memory = Memory::heap(RESULT).access(Access::LOCAL_READ_WRITE);
        let memory = memory.register(&[device]).map_err(text)?;
        let tasks = TASKS.min(device.function().limits().dma.max_num_tasks);
        let config = dma::Config { memcpy: tasks, ..Default::default() };
        let dma = Context::<Dma>::start(pe, device, config).and_then(|s| s.wait(pe)).map_err(text)?;
        let sha = match hashes(device.function()) {
            true => {
                let config = sha::Config { tasks: 1, ..Default::default() };
                Some(Context::<Sha>::start(pe, device, config).and_then(|s| s.wait(pe)).map_err(text)?)
            }
            false => None,
        };
        Ok(Self {
            source,
            result,
            memory,
            piece: piece(device.function()),
            tasks: tasks as usize,
            dma,
            sha,
            hash: Running::new(Step::Hash, WINDOW),
            farewell: Farewell::default(),
        })
    }

    /// Fetches, hashes and stores what the host laid out. Was it the last turn?
    fn turn(&mut self, pe: &mut ProgressEngine) -> Result<bool, String> {
        let mut header = [0; HEADER];
        self.source.read(WINDOW, &mut header).map_err(text)?;
        let (len, last) = header.split_at(HEADER / 2);
        let [len, last] = [len, last].map(|n| u64::from_le_bytes(n.try_into().unwrap_or_default()));
        let len = usize::try_from(len).ok().filter(|len| *len <= WINDOW);
        let len = len.ok_or("the host says nonsense about its bytes")?;

        let begun = Instant::now();
        self.fetch(pe, len)?;
        add(&mut self.farewell.fetched, len, begun);
        let begun = Instant::now();
        self.hash(pe, len, last == 1)?;
        add(&mut self.farewell.hashed, len, begun);
        let begun = Instant::now();
        self.store(pe, 0..len)?;
        add(&mut self.farewell.stored, len, begun);
        if last == 1 && self.sha.is_some() {
            self.store(pe, WINDOW..WINDOW + DIGEST)?;
        }
        Ok(last == 1)
    }

    fn fetch(&mut self, pe: &mut ProgressEngine, len: usize) -> Result<(), String> {
        let (source, memory) = (&self.source, &self.memory);
        let task = |range: Range<usize>| {
            let dst = window(memory, range.clone(), 0)?;
            Ok(Memcpy { src: full(source, range)?, dst })
        };
        copy(&mut self.dma, pe, (pieces(0..len, self.piece), self.tasks), task)
    }

    fn hash(&mut self, pe: &mut ProgressEngine, len: usize, last: bool) -> Result<(), String> {
        let Some(sha) = &mut self.sha else { return Ok(()) };
        for range in pieces(0..len, self.piece) {
            let bytes = range.len();
            self.hash.add(sha, pe, &self.memory, window(&self.memory, range, bytes)?)?;
        }
        if last && !self.hash.is_finished() {
            let nothing = window(&self.memory, 0..WINDOW, 0)?;
            self.hash.add(sha, pe, &self.memory, nothing)?;
        }
        Ok(())
    }

    fn store(&mut self, pe: &mut ProgressEngine, range: Range<usize>) -> Result<(), String> {
        let (result, memory) = (&self.result, &self.memory);
        let task = |range: Range<usize>| {
            let dst = result.buf(range.clone()).map_err(|e| e.to_string())?;
            let bytes = range.len();
            Ok(Memcpy { src: window(memory, range, bytes)?, dst })
        };
        copy(&mut self.dma, pe, (pieces(range, self.piece), self.tasks), task)
    }

    fn stop(self, pe: &mut ProgressEngine) -> Result<(), String> {
        let sha = self.sha.map_or(Ok(()), |sha| sha.stop().wait(pe));
        self.dma.stop().wait(pe).and(sha).map_err(text)
    }
}

/// A window on the host's memory that is full of data.
fn full(memory: &RemoteMemory, range: Range<usize>) -> Result<RemoteBuf, String> {
    let mut buf = memory.buf(range).map_err(|e| e.to_string())?;
    buf.set_data(..).map_err(|e| e.to_string())?;
    Ok(buf)
}

fn pieces(range: Range<usize>, piece: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(piece).map(move |from| from..end.min(from + piece))
}

/// Carries out a copy for each range, so many at a time.
fn copy<S, D>(
    dma: &mut Context<Dma>,
    pe: &mut ProgressEngine,
    (ranges, most): (impl Iterator<Item = Range<usize>>, usize),
    task: impl Fn(Range<usize>) -> Result<Memcpy<S, D>, String>,
) -> Result<(), String>
where
    Memcpy<S, D>: Task<Engine = Dma, Output = u64>,
{
    let mut flying: VecDeque<(InFlight<Memcpy<S, D>>, usize)> = VecDeque::with_capacity(most);
    let land = |pe: &mut ProgressEngine, (flight, bytes): (InFlight<Memcpy<S, D>>, usize)| match pe
        .run(flight)
        .result
        .map_err(text)?
    {
        copied if copied == bytes as u64 => Ok(()),
        copied => Err(format!("a copy of {bytes} bytes gave {copied}")),
    };
    for range in ranges {
        if flying.len() == most
            && let Some(first) = flying.pop_front()
        {
            land(pe, first)?;
        }
        let bytes = range.len();
        let flight = dma.submit(task(range)?).map_err(|refused| text(refused.error))?;
        flying.push_back((flight, bytes));
    }
    flying.into_iter().try_for_each(|first| land(pe, first))
}

fn add(sum: &mut (u64, f64), bytes: usize, begun: Instant) {
    sum.0 += bytes as u64;
    sum.1 += begun.elapsed().as_secs_f64();
}
