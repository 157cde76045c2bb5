//! What is shown: the answers of two rounds, compared.
//!
//! Processes count modulo 2^32; whoever looks often enough sees the whole. Rates are by this process's clock.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use serde::Serialize;
use softdpu_link::Owner;

use super::ports::{PortRow, port_row};
use super::report::Text;
use super::report::{
    self, Answer, Board, Connection, Context, Device, Export, Import, Map, ProgressEngine, Report,
};
use super::tasks::{TasksRow, tasks_row};

/// One look at everything.
#[derive(Debug, Serialize)]
pub(crate) struct Document {
    pub(crate) runtime_dir: String,
    pub(crate) cards: Vec<CardRow>,
    pub(crate) engines: Vec<EngineRow>,
    pub(crate) processes: Vec<Process>,
}

/// A card that processes have opened.
#[derive(Debug, Serialize)]
pub(crate) struct CardRow {
    pub(crate) name: Text,
    pub(crate) profile: Text,
    pub(crate) topology: Text,
    pub(crate) processes: usize,
    /// Different functions that are open in some process.
    pub(crate) devices: usize,
}

/// All contexts of an engine.
#[derive(Debug, Default, Serialize)]
pub(crate) struct EngineRow {
    pub(crate) engine: Text,
    pub(crate) processes: usize,
    pub(crate) contexts: usize,
    pub(crate) in_flight: u64,
    pub(crate) tasks_per_s: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) started: u64,
    pub(crate) program: String,
    pub(crate) answers: bool,
    /// Why it does not.
    pub(crate) problem: Option<String>,
    pub(crate) uptime_s: f64,
    /// Of one processor.
    pub(crate) cpu_percent: Option<f64>,
    pub(crate) in_flight: u64,
    pub(crate) tasks_per_s: Option<f64>,
    /// Rows that did not fit into its report.
    pub(crate) left_out: u64,
    pub(crate) devices: Vec<Device>,
    pub(crate) boards: Vec<Board>,
    pub(crate) progress_engines: Vec<EngineOfProgress>,
    pub(crate) contexts: Vec<ContextRow>,
    pub(crate) maps: Vec<Map>,
    pub(crate) exports: Vec<Export>,
    pub(crate) imports: Vec<Import>,
    pub(crate) connections: Vec<ConnectionRow>,
    pub(crate) ports: Vec<PortRow>,
    pub(crate) tasks: Vec<TasksRow>,
}

#[derive(Debug, Serialize)]
pub(crate) struct EngineOfProgress {
    pub(crate) id: Text,
    pub(crate) contexts: u64,
    pub(crate) sleeps: bool,
    pub(crate) calls_per_s: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ContextRow {
    pub(crate) id: Text,
    pub(crate) engine: Text,
    pub(crate) device: Text,
    pub(crate) progress_engine: Text,
    pub(crate) state: Text,
    pub(crate) in_flight: u64,
    /// Allocated by a C program and not freed.
    pub(crate) held: Option<u64>,
    /// Since it was started, as far as that was seen.
    pub(crate) completed: u64,
    pub(crate) tasks_per_s: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ConnectionRow {
    pub(crate) id: Text,
    pub(crate) engine: Text,
    pub(crate) role: Text,
    pub(crate) device: Text,
    pub(crate) peer: u64,
    pub(crate) state: Text,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) messages_per_s: Option<f64>,
}

/// A counter of 32 bits, seen again and again.
#[derive(Clone, Copy, Debug)]
struct Counter {
    raw: u32,
    whole: u64,
}

impl Counter {
    fn first(raw: u64) -> Counter {
        Counter { raw: raw as u32, whole: u64::from(raw as u32) }
    }

    /// The counter now, and by how much it grew. One that goes back began anew.
    fn then(self, raw: u64) -> (Counter, u64) {
        let grown = (raw as u32).wrapping_sub(self.raw);
        if grown > u32::MAX / 2 {
            return (Counter::first(raw), u64::from(raw as u32));
        }
        (Counter { raw: raw as u32, whole: self.whole + u64::from(grown) }, u64::from(grown))
    }
}

/// What was seen of a process the last time.
#[derive(Debug)]
struct Seen {
    at: Instant,
    cpu: Option<f64>,
    counters: HashMap<(&'static str, Text, Text), Counter>,
    /// Counters that 64 bits are enough for: messages of connections, frames and bytes of ports.
    wide: HashMap<(&'static str, Text, Text), u64>,
}

/// What was seen the last time; see [`History::next`].
#[derive(Debug, Default)]
pub(crate) struct History(HashMap<Owner, Seen>);

impl History {
    /// What the answers say, compared with the last ones.
    pub(crate) fn next(&mut self, runtime_dir: String, answers: Vec<Answer>) -> Document {
        let before = std::mem::take(&mut self.0);
        let mut processes = Vec::with_capacity(answers.len());
        for Answer { owner, at, report } in answers {
            let mut look = Look::new(before.get(&owner), at, cpu_seconds(owner.pid));
            processes.push(process(owner, report, &mut look));
            self.0.insert(owner, look.now);
        }
        let rate = |process: &Process| process.tasks_per_s.unwrap_or(-1.0);
        processes.sort_by(|a, b| rate(b).total_cmp(&rate(a)).then(a.pid.cmp(&b.pid)));
        Document { runtime_dir, cards: cards(&processes), engines: engines(&processes), processes }
    }
}

/// One process, then and now.
pub(super) struct Look<'a> {
    before: Option<&'a Seen>,
    seconds: f64,
    now: Seen,
}

impl<'a> Look<'a> {
    fn new(before: Option<&'a Seen>, at: Instant, cpu: Option<f64>) -> Look<'a> {
        let seconds = before.map_or(0.0, |seen| at.duration_since(seen.at).as_secs_f64());
        Look { before, seconds, now: Seen { at, cpu, counters: HashMap::new(), wide: HashMap::new() } }
    }

    fn per_second(&self, n: f64) -> Option<f64> {
        (self.seconds > 0.0).then(|| n / self.seconds)
    }

    fn cpu_percent(&self) -> Option<f64> {
        let used = self.now.cpu? - self.before?.cpu?;
        Some(self.per_second(used)?.max(0.0) * 100.0)
    }

    /// The whole of a counter and its rate.
    fn count(&mut self, key: (&'static str, Text, Text), raw: u64) -> (u64, Option<f64>) {
        let before = self.before.and_then(|seen| seen.counters.get(&key));
        let (counter, rate) = match before {
            Some(counter) => {
                let (counter, grown) = counter.then(raw);
                (counter, self.per_second(grown as f64))
            }
            None => (Counter::first(raw), None),
        };
        self.now.counters.insert(key, counter);
        (counter.whole, rate)
    }

    /// The rate of a counter of 64 bits.
    pub(super) fn wide(&mut self, key: (&'static str, Text, Text), count: u64) -> Option<f64> {
        let before = self.before.and_then(|seen| seen.wide.get(&key)).copied();
        self.now.wide.insert(key, count);
        self.per_second(count.saturating_sub(before?) as f64)
    }
}

fn process(owner: Owner, report: Result<Report, String>, look: &mut Look<'_>) -> Process {
    let (report, problem) = match report {
        Ok(report) => (report, None),
        Err(problem) => (Report::default(), Some(problem)),
    };
    let contexts: Vec<_> = report.contexts.into_iter().map(|context| context_row(context, look)).collect();
    let told = report.program.as_str();
    Process {
        pid: owner.pid,
        started: owner.started,
        program: if told.is_empty() { name_of(owner.pid) } else { told.to_owned() },
        answers: problem.is_none(),
        problem,
        uptime_s: report.uptime_ms as f64 / 1000.0,
        cpu_percent: look.cpu_percent(),
        in_flight: contexts.iter().fold(0, |n, context| n.saturating_add(context.in_flight)),
        tasks_per_s: contexts.iter().filter_map(|context| context.tasks_per_s).reduce(|a, b| a + b),
        left_out: report.left_out,
        devices: report.devices,
        boards: report.boards,
        progress_engines: report.progress_engines.into_iter().map(|pe| engine_row(pe, look)).collect(),
        contexts,
        maps: report.maps,
        exports: report.exports,
        imports: report.imports,
        connections: report.connections.into_iter().map(|c| connection_row(c, look)).collect(),
        ports: report.ports.into_iter().map(|port| port_row(port, look)).collect(),
        tasks: report.tasks.into_iter().map(|tasks| tasks_row(tasks, look)).collect(),
    }
}

fn context_row(context: Context, look: &mut Look<'_>) -> ContextRow {
    let Context { id, engine, device, progress_engine, state, in_flight, completed, held } = context;
    let (completed, tasks_per_s) = look.count(("context", id.clone(), engine.clone()), completed);
    ContextRow { id, engine, device, progress_engine, state, in_flight, held, completed, tasks_per_s }
}

fn engine_row(pe: ProgressEngine, look: &mut Look<'_>) -> EngineOfProgress {
    let ProgressEngine { id, contexts, calls, sleeps } = pe;
    let (_, calls_per_s) = look.count(("progress engine", id.clone(), Text::default()), calls);
    EngineOfProgress { id, contexts, sleeps, calls_per_s }
}

fn connection_row(connection: Connection, look: &mut Look<'_>) -> ConnectionRow {
    let Connection { id, engine, role, device, peer, state, sent, received } = connection;
    let messages_per_s = look.wide(("connection", id.clone(), engine.clone()), sent.saturating_add(received));
    ConnectionRow { id, engine, role, device, peer, state, sent, received, messages_per_s }
}

/// Processes and functions of a card.
#[derive(Default)]
struct Use<'a> {
    processes: BTreeSet<u32>,
    devices: BTreeSet<&'a Text>,
}

fn cards(processes: &[Process]) -> Vec<CardRow> {
    let mut found: BTreeMap<[&Text; 3], Use<'_>> = BTreeMap::new();
    for process in processes {
        for device in &process.devices {
            let card = found.entry([&device.card, &device.topology, &device.profile]).or_default();
            card.processes.insert(process.pid);
            card.devices.insert(&device.pci);
        }
    }
    let row = |([name, topology, profile], card): ([&Text; 3], Use<'_>)| CardRow {
        name: name.clone(),
        profile: profile.clone(),
        topology: topology.clone(),
        processes: card.processes.len(),
        devices: card.devices.len(),
    };
    found.into_iter().map(row).collect()
}

fn engines(processes: &[Process]) -> Vec<EngineRow> {
    let mut found: BTreeMap<&Text, EngineRow> = BTreeMap::new();
    for process in processes {
        let mut own = BTreeSet::new();
        for context in &process.contexts {
            let row = found.entry(&context.engine).or_default();
            row.engine = context.engine.clone();
            row.processes += usize::from(own.insert(&context.engine));
            row.contexts += 1;
            row.in_flight = row.in_flight.saturating_add(context.in_flight);
            row.tasks_per_s += context.tasks_per_s.unwrap_or(0.0);
        }
    }
    let mut rows: Vec<_> = found.into_values().collect();
    rows.sort_by(|a, b| b.tasks_per_s.total_cmp(&a.tasks_per_s).then_with(|| a.engine.cmp(&b.engine)));
    rows
}

/// What the kernel calls a process.
fn name_of(pid: u32) -> String {
    let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    report::clean(String::from_utf8_lossy(&name).trim_end())
}

/// Processor time of a process so far: fields 14 and 15 of its status line. The name in field 2 may hold anything.
fn cpu_seconds(pid: u32) -> Option<f64> {
    let line = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let name_end = line.iter().rposition(|&b| b == b')')?;
    let fields = std::str::from_utf8(&line[name_end + 1..]).ok()?;
    let ticks: Vec<u64> =
        fields.split_ascii_whitespace().skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    let [user, system] = ticks[..] else { return None };
    Some((user + system) as f64 / rustix::param::clock_ticks_per_second() as f64)
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
