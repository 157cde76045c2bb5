//! What is to fail: the plan and its file.
//!
//! ```toml
//! [[fault]]
//! engine = "dma"
//! task = 3
//! error = "IO_FAILED"
//! ```
//! `docs/faults.md` describes every key.

mod error;
mod file;

pub use error::PlanError;
use file::{Entry, File};
use softdpu_status::Code;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

/// A plan: what is to fail, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The faults.
    pub faults: Vec<Fault>,
    /// Bytes that may be locked in memory, for maps; `None`: as ever.
    pub memlock: Option<u64>,
}

/// One `[[fault]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Where it stands in the plan, from 1.
    pub index: usize,
    /// The line of its table.
    pub line: usize,
    /// The engine: a name of [`ENGINES`], or `*`.
    pub engine: String,
    /// The task kind; all when `None`.
    pub op: Option<String>,
    /// The context's number in the process; all when `None`.
    pub context: Option<u32>,
    /// Tasks for this peer; all when `None`.
    pub peer: Option<Peer>,
    /// Tasks with memory here; all when `None`.
    pub memory: Option<Place>,
    /// Which of those tasks.
    pub which: Which,
    /// How often at most.
    pub count: u64,
    /// What happens.
    pub effect: Effect,
}

/// Who is at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The process of this number.
    Process(u32),
    /// The card with this network address.
    Address(IpAddr),
    /// A process that runs this program, as `ps -e` names it: without folders, its first 15 bytes.
    Program(String),
}

/// Where in memory: source or destination lie there, in whole or in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// In the map of this number; in any when `None`.
    pub map: Option<u32>,
    /// In these bytes of the map, or at these addresses where no map is named.
    pub range: Option<(u64, u64)>,
}

/// Which of the tasks that the others leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Which {
    /// All.
    All,
    /// This one, from 1.
    Number(u64),
    /// Every so manieth.
    Every(u64),
    /// Each with this probability, by the seed.
    Probability(f64),
}

/// What happens to a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// It fails, and is not carried out (where tasks are booked at submission, carried out).
    Error(Code),
    /// Its completion comes so much later.
    Delay(Duration),
    /// The work is lost: a frame to send is not sent, any other task does not come back before its context stops.
    Drop,
    /// Its submission is refused so many times.
    QueueFull(u32),
    /// The peer is not ready to receive, so many times in a row; more than seven of them fail the task.
    NotReady(u32),
    /// The peer is gone when it begins.
    Disconnect,
    /// For so long from its beginning on, no frame passes the link.
    LinkDown(Duration),
    /// Its allocation is refused with this code (C).
    Alloc(Code),
}

/// Names that plans use for engines; a context of `comch` is any of the four.
pub const ENGINES: [&str; 16] = [
    "*",
    "aes_gcm",
    "comch",
    "comch_server",
    "comch_client",
    "comch_producer",
    "comch_consumer",
    "compress",
    "dma",
    "erasure_coding",
    "eth_rxq",
    "eth_txq",
    "mmap_advise",
    "rdma",
    "sha",
    "sync_event",
];

/// Other names for engines.
const ALIASES: [(&str, &str); 2] = [("ec", "erasure_coding"), ("eth", "eth")];

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn parse(text: &str) -> Result<Plan, PlanError> {
        let file: File = toml::from_str(text).map_err(|e| {
            let offset = e.span().map_or(0, |span| span.start);
            PlanError::at(text, offset, e.message())
        })?;
        let faults = file.fault.iter().enumerate();
        let faults = faults.map(|(n, entry)| {
            let start = entry.span().start;
            fault(entry.get_ref(), n + 1, start, text)
        });
        Ok(Plan { faults: faults.collect::<Result<_, _>>()?, memlock: file.memlock })
    }

    /// Reads a plan from a file.
    ///
    /// # Errors
    /// As [`Plan::parse`], with the name of the file; or why it cannot be read.
    pub fn read(path: &Path) -> Result<Plan, PlanError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| PlanError::new(e.to_string()).in_file(&name))?;
        Plan::parse(&text).map_err(|e| e.in_file(&name))
    }

    /// The plan as a file that reads back as the same plan, but for the lines.
    pub fn to_toml(&self) -> String {
        let mut text = self.memlock.map_or(String::new(), |bytes| format!("memlock = {bytes}\n\n"));
        for fault in &self.faults {
            text.push_str(&fault.to_toml());
        }
        text
    }
}

impl Fault {
    fn to_toml(&self) -> String {
        let mut text = format!("[[fault]]\nengine = \"{}\"\n", self.engine);
        let mut add = |key: &str, value: String| {
            text.push_str(&format!("{key} = {value}\n"));
        };
        if let Some(op) = &self.op {
            add("op", format!("\"{op}\""));
        }
        if let Some(context) = self.context {
            add("context", context.to_string());
        }
        match &self.peer {
            None => {}
            Some(Peer::Process(number)) => add("peer", number.to_string()),
            Some(Peer::Address(address)) => add("peer", format!("\"{address}\"")),
            Some(Peer::Program(name)) => add("peer", toml::Value::from(name.as_str()).to_string()),
        }
        if let Some(Place { map, range }) = self.memory {
            map.into_iter().for_each(|map| add("map", map.to_string()));
            range.into_iter().for_each(|(from, to)| add("address", format!("[{from:#x}, {to:#x}]")));
        }
        match self.which {
            Which::All => {}
            Which::Number(n) => add("task", n.to_string()),
            Which::Every(n) => add("every", n.to_string()),
            Which::Probability(p) => add("probability", format!("{p:?}")),
        }
        match self.effect {
            Effect::Error(code) => add("error", format!("\"{}\"", short(code))),
            Effect::Delay(time) => add("delay_us", time.as_micros().to_string()),
            Effect::Drop => add("drop", "true".into()),
            Effect::QueueFull(n) => add("queue_full", n.to_string()),
            Effect::NotReady(n) => add("receive_not_ready", n.to_string()),
            Effect::Disconnect => add("disconnect", "true".into()),
            Effect::LinkDown(time) => add("link_down_us", time.as_micros().to_string()),
            Effect::Alloc(code) => add("alloc", format!("\"{}\"", short(code))),
        }
        if self.count != u64::MAX {
            add("count", self.count.to_string());
        }
        text.push('\n');
        text
    }
}

/// A code as plans have it.
fn short(code: Code) -> &'static str {
    code.name().trim_start_matches("DOCA_ERROR_")
}

impl core::fmt::Display for Effect {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Effect::Error(code) => write!(f, "fails with {}", short(*code)),
            Effect::Delay(time) => write!(f, "comes {} us later", time.as_micros()),
            Effect::Drop => f.write_str("is lost"),
            Effect::QueueFull(n) => write!(f, "is refused {n} times, the queue is full"),
            Effect::NotReady(n) => write!(f, "finds the peer not ready to receive {n} times"),
            Effect::Disconnect => f.write_str("finds the peer gone"),
            Effect::LinkDown(time) => write!(f, "takes the link down for {} us", time.as_micros()),
            Effect::Alloc(code) => write!(f, "is not allocated: {}", short(*code)),
        }
    }
}

fn fault(entry: &Entry, index: usize, start: usize, text: &str) -> Result<Fault, PlanError> {
    let bad = |offset: usize, cause: String| PlanError::at(text, offset, cause);
    let Some(engine) = &entry.engine else {
        return Err(bad(
            start,
            format!("fault {index}: `engine` is missing; it names an engine, or \"*\" for all"),
        ));
    };
    let name = engine.get_ref().as_str();
    let name = ALIASES.iter().find(|alias| alias.0 == name).map_or(name, |alias| alias.1);
    if !ENGINES.contains(&name) && name != "eth" {
        let known = ENGINES.join(", ");
        return Err(bad(engine.span().start, format!("`{name}` is no engine; engines: {known}, ec, eth")));
    }
    let count = match &entry.count {
        None => u64::MAX,
        Some(count) if *count.get_ref() == 0 => {
            return Err(bad(count.span().start, "`count` is how often it happens: at least 1".into()));
        }
        Some(count) => *count.get_ref(),
    };
    if let Some(op) = &entry.op
        && !op.get_ref().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    {
        let cause = format!("`op`: {:?} is no kind of task; those are of a-z, 0-9 and _", op.get_ref());
        return Err(bad(op.span().start, cause));
    }
    Ok(Fault {
        index,
        line: error::line_and_column(text, start).0,
        engine: name.to_owned(),
        op: entry.op.as_ref().map(|op| op.get_ref().clone()),
        context: entry.context,
        peer: entry.peer(name).map_err(|(at, cause)| bad(at, cause))?,
        memory: entry.memory(name).map_err(|(at, cause)| bad(at, cause))?,
        which: entry.which(start).map_err(|(at, cause)| bad(at, cause))?,
        count,
        effect: entry.effect(start).map_err(|(at, cause)| bad(at, cause))?,
    })
}

#[cfg(test)]
mod tests;
