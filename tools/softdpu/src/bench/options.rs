//! The command line of `softdpu bench`.

use std::ffi::OsString;
use std::time::Duration;

use lexopt::Parser;
use lexopt::prelude::*;
use softdpu::Reach;
use softdpu::card::EngineKind;

use super::{ENGINES, name};
use crate::card::{CARD_HELP, CardOptions};
use crate::message::Failure;

const HELP: &str = "\
Measures an engine against what the processor does alone, in the same run.

Usage: softdpu bench [OPTIONS] ENGINE

ENGINE is aes_gcm, comch, compress, dma, erasure_coding (or ec), eth (or eth_rxq, eth_txq), rdma, sha, or all for every
engine of this version.
comch measures between two processes: sizes up to 1K as messages, there and back (while both look, and while both
sleep) and one way, against packets of a socket; longer ones as buffers from a producer to a consumer, against copies
into slots of shared memory that the other process reads. Each end has a processor of its own. Beside it stands
what is aimed at and, of messages whose ends look, what shared memory does alone. rdma measures writes
and reads in memory of another process and messages of up to 1K to it, all tasks of a row on the same bytes; the latency
of 8 bytes, which the other process answers; and additions of four processes to one word, beside what is aimed at. Where
ucx_perftest is installed, its puts, gets and active messages are measured in turn with that. eth measures frames from
a send queue to a receive queue over the wire of two ports: in this process, then into another one, in batches and
as single tasks that are awaited one by one, against copies into slots as above and, where dpdk-testpmd is installed, in
turn with its memif devices.

Options:
  --sizes LIST                bytes per task, with K, M or G (default 64,4K,64K,1M,4M; eth 64,1514)
  --depth LIST                tasks in flight (default 1,32)
  --threads LIST              threads, each with its own context (default 1)
  --wait poll|event|both      look for completions all the time, or sleep until told (default poll; comch both)
  --face handler|future|both  how the program is told (default handler)
  --seconds N                 time per row (default 0.5)
  --between-processes         dma alone: into memory that a second process exports, which sleeps meanwhile
  --reach LIST                how that memory is reached: mapped, kernel, worker (default all three)
  --network                   rdma alone: a peer that shares nothing with this process but the network, against bare
                              libfabric, and TCP beside it
  --json                      one JSON document, {\"rows\": [...]}
";

/// The help text.
pub(crate) fn help() -> String {
    format!("{HELP}{CARD_HELP}")
}

/// Options of a later release.
const LATER: [&str; 2] = ["svg", "compare"];

/// Depths and threads beyond this say nothing more.
const MAX_DEPTH: u64 = 4096;
const MAX_THREADS: u64 = 256;
/// Most bytes that all buffers of a row may take, to refuse what would only swap.
const MAX_MEMORY: u64 = 8 << 30;

#[derive(Debug)]
pub(crate) struct Options {
    /// `None`: all.
    pub(crate) engine: Option<EngineKind>,
    pub(crate) card: CardOptions,
    pub(crate) json: bool,
    pub(crate) sizes: Vec<u64>,
    /// The same for frames, which have sizes of their own unless some are asked for.
    pub(crate) frame_sizes: Vec<u64>,
    pub(crate) depths: Vec<u32>,
    pub(crate) threads: Vec<u32>,
    pub(crate) waits: Vec<Wait>,
    /// The same for messages between processes: both, unless one is asked for.
    pub(crate) message_waits: Vec<Wait>,
    pub(crate) faces: Vec<Face>,
    pub(crate) time: Duration,
    /// The ways to another process's memory that are measured; none: within this process.
    pub(crate) reaches: Vec<Reach>,
    /// RDMA over the network.
    pub(crate) network: bool,
}

/// How completions are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Poll,
    Event,
}

impl Wait {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Event => "event",
        }
    }
}

/// How the program is told of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Handler,
    Future,
}

impl Face {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Handler => "handler",
            Self::Future => "future",
        }
    }
}

impl Options {
    /// `None`: help was asked for.
    pub(crate) fn parse(mut arguments: Parser) -> Result<Option<Self>, Failure> {
        let mut options = Self {
            engine: None,
            card: CardOptions::default(),
            json: false,
            sizes: vec![64, 4 << 10, 64 << 10, 1 << 20, 4 << 20],
            frame_sizes: vec![64, 1514],
            depths: vec![1, 32],
            threads: vec![1],
            waits: vec![Wait::Poll],
            message_waits: vec![Wait::Poll, Wait::Event],
            faces: vec![Face::Handler],
            time: Duration::from_millis(500),
            reaches: Vec::new(),
            network: false,
        };
        let (mut engine, mut between) = (None, false);
        while let Some(argument) = arguments.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("json") => options.json = true,
                Long("sizes") => {
                    options.sizes = list(&arguments.value()?, "--sizes", 1 << 40)?;
                    options.frame_sizes.clone_from(&options.sizes);
                }
                Long("depth") => options.depths = small_list(&arguments.value()?, "--depth", MAX_DEPTH)?,
                Long("threads") => {
                    options.threads = small_list(&arguments.value()?, "--threads", MAX_THREADS)?
                }
                Long("wait") => {
                    let all = [("poll", Wait::Poll), ("event", Wait::Event)];
                    options.waits = choice(&arguments.value()?, "--wait", &all)?;
                    options.message_waits.clone_from(&options.waits);
                }
                Long("face") => {
                    let all = [("handler", Face::Handler), ("future", Face::Future)];
                    options.faces = choice(&arguments.value()?, "--face", &all)?;
                }
                Long("between-processes") => between = true,
                Long("network") => options.network = true,
                Long("reach") => options.reaches = reaches(&arguments.value()?)?,
                Long("seconds") => options.time = seconds(&arguments.value()?)?,
                Long(name) if LATER.contains(&name) => {
                    return Err(Failure::usage(format!(
                        "bench: --{name} is not available yet in this version"
                    )));
                }
                Long(name) if CardOptions::NAMES.contains(&name) => {
                    let name = name.to_owned();
                    options.card.set(&name, arguments.value()?)?;
                }
                Value(name) if engine.is_none() => engine = Some(name),
                other => return Err(other.unexpected().into()),
            }
        }
        options.engine = which_engine(engine)?;
        options.check_between(between)?;
        options.check_memory()?;
        Ok(Some(options))
    }

    fn check_between(&mut self, between: bool) -> Result<(), Failure> {
        if !between && !self.reaches.is_empty() {
            return Err(Failure::usage("bench: --reach goes with --between-processes"));
        }
        if between && self.engine != Some(EngineKind::Dma) {
            return Err(Failure::usage("bench: --between-processes measures dma alone"));
        }
        if self.network && self.engine != Some(EngineKind::Rdma) {
            return Err(Failure::usage("bench: --network measures rdma alone"));
        }
        if between && self.reaches.is_empty() {
            self.reaches = vec![Reach::Mapped, Reach::KernelCopy, Reach::Worker];
        }
        Ok(())
    }

    /// A source and a destination per task in flight, for the engine and for the yardstick.
    fn check_memory(&self) -> Result<(), Failure> {
        let largest = |list: &[u32]| list.iter().copied().max().unwrap_or(1);
        let size = self.sizes.iter().copied().max().unwrap_or(0);
        let pairs = u64::from(largest(&self.depths)) * u64::from(largest(&self.threads));
        let bytes = size.saturating_mul(pairs).saturating_mul(4);
        if bytes <= MAX_MEMORY {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "bench: the largest row would need {bytes} bytes for its buffers, more than {MAX_MEMORY}; \
             take smaller --sizes, --depth or --threads"
        )))
    }
}

/// `None` stands for all.
fn which_engine(engine: Option<OsString>) -> Result<Option<EngineKind>, Failure> {
    if engine.as_ref().is_some_and(|e| e == "all") {
        return Ok(None);
    }
    let wanted = engine.as_ref().and_then(|e| match e.to_str()? {
        // Two engines that are measured together.
        "eth" | "eth_rxq" => Some(EngineKind::EthTxq),
        name => name.parse().ok(),
    });
    let mut kinds = ENGINES.iter().map(|(kind, _)| *kind);
    kinds.find(|kind| Some(*kind) == wanted).map(Some).ok_or_else(|| {
        let given =
            engine.map_or("no engine given".to_owned(), |e| format!("no bench for '{}'", e.display()));
        let names: Vec<_> = ENGINES.iter().map(|(kind, _)| name(*kind)).chain(["all"]).collect();
        Failure::usage(format!("bench: {given}; this version measures: {}", names.join(", ")))
    })
}

/// A number of bytes with an optional unit.
pub(crate) fn size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' | b'k' => (&text[..text.len() - 1], 10),
        b'M' | b'm' => (&text[..text.len() - 1], 20),
        b'G' | b'g' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn list(value: &OsString, option: &str, most: u64) -> Result<Vec<u64>, Failure> {
    let text = value.to_string_lossy();
    let wrong =
        |item: &str| Failure::usage(format!("bench: {option}: '{item}' is not a number from 1 to {most}"));
    let number = |item: &str| size(item.trim()).filter(|n| (1..=most).contains(n)).ok_or_else(|| wrong(item));
    text.split(',').map(number).collect()
}

fn small_list(value: &OsString, option: &str, most: u64) -> Result<Vec<u32>, Failure> {
    // The bound keeps every number small.
    Ok(list(value, option, most)?.into_iter().filter_map(|n| u32::try_from(n).ok()).collect())
}

fn choice<T: Copy>(value: &OsString, option: &str, all: &[(&str, T)]) -> Result<Vec<T>, Failure> {
    let text = value.to_string_lossy();
    if text == "both" {
        return Ok(all.iter().map(|(_, t)| *t).collect());
    }
    let found = all.iter().find(|(name, _)| *name == text);
    let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
    let wrong = || Failure::usage(format!("bench: {option}: '{text}'; allowed: {}, both", names.join(", ")));
    found.map(|(_, t)| vec![*t]).ok_or_else(wrong)
}

fn reaches(value: &OsString) -> Result<Vec<Reach>, Failure> {
    let wrong = |e| Failure::usage(format!("bench: --reach: {e}"));
    value.to_string_lossy().split(',').map(|item| item.trim().parse().map_err(wrong)).collect()
}

fn seconds(value: &OsString) -> Result<Duration, Failure> {
    let text = value.to_string_lossy();
    let parsed = text.parse::<f64>().ok().filter(|s| (0.001..=3600.0).contains(s));
    parsed.map(Duration::from_secs_f64).ok_or_else(|| {
        Failure::usage(format!("bench: --seconds: '{text}' is not a number from 0.001 to 3600"))
    })
}
