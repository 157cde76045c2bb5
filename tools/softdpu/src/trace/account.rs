//! What is kept of a trace when it is read: of every task a few numbers, of every thread when it was busy.

use std::collections::BTreeMap;
use std::io::BufRead;

use softdpu_trace::histogram::Histogram;
use softdpu_trace::read::{Line, ReadError, each, nanos};

use crate::top::clean;

/// Slow tasks that are named.
const SLOWEST: usize = 5;

/// A process with its contexts and threads.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub(super) name: String,
    pub(super) contexts: BTreeMap<String, Context>,
    pub(super) threads: BTreeMap<u32, Thread>,
    pub(super) lost: u64,
    pub(super) torn: u64,
    /// It wrote to its end.
    pub(super) ended: bool,
}

#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) device: String,
    pub(super) id: String,
    pub(super) kinds: BTreeMap<String, Kind>,
    /// From submit to report.
    pub(super) tasks: Vec<(u64, u64)>,
    pub(super) failed: Vec<(u64, u64)>,
    pub(super) unfinished: Vec<u64>,
}

/// Tasks of one kind.
#[derive(Debug, Default)]
pub(super) struct Kind {
    pub(super) errors: BTreeMap<String, u64>,
    pub(super) bytes: u64,
    /// From submit to report.
    pub(super) times: Histogram,
    pub(super) queued: Sum,
    pub(super) worked: Sum,
    pub(super) unreported: Sum,
    pub(super) unfinished: u64,
}

/// A sum of nanoseconds, and of how many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) sum: u64,
    pub(super) count: u64,
}

impl Sum {
    fn add(&mut self, micros: Option<f64>) {
        if let Some(micros) = micros {
            self.sum = self.sum.saturating_add(nanos(micros));
            self.count += 1;
        }
    }

    pub(super) fn mean(self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }
}

#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) name: String,
    pub(super) work: Vec<(u64, u64)>,
    pub(super) callbacks: Vec<(u64, u64)>,
    pub(super) submits: u64,
}

impl Thread {
    pub(super) fn is_empty(&self) -> bool {
        self.work.is_empty() && self.callbacks.is_empty() && self.submits == 0
    }
}

/// A task that took long.
#[derive(Debug)]
pub(super) struct Slow {
    pub(super) nanos: u64,
    pub(super) at: u64,
    pub(super) pid: u32,
    pub(super) context: String,
    pub(super) kind: String,
    pub(super) number: u64,
    pub(super) queued: Option<u64>,
    pub(super) worked: Option<u64>,
    pub(super) unreported: Option<u64>,
}

/// A trace.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) processes: BTreeMap<u32, Process>,
    /// The longest first.
    pub(super) slowest: Vec<Slow>,
    extent: Option<(u64, u64)>,
}

impl Account {
    pub(super) fn read(from: impl BufRead) -> Result<Account, ReadError> {
        let mut account = Account::default();
        each(from, |_, line| {
            account.line(line);
            Ok(())
        })?;
        Ok(account)
    }

    /// When it begins and ends; never empty.
    pub(super) fn extent(&self) -> (u64, u64) {
        let (first, last) = self.extent.unwrap_or((0, 1));
        (first, last.max(first + 1))
    }

    fn line(&mut self, line: &Line<'_>) {
        if line.ph != "M" {
            let (first, last) = self.extent.unwrap_or((u64::MAX, 0));
            self.extent = Some((first.min(line.begin()), last.max(line.end())));
        }
        let process = self.processes.entry(line.pid).or_default();
        match (line.ph, line.cat) {
            ("X" | "B", Some("task")) => {
                if let Some(slow) = process.task(line) {
                    self.remember(slow);
                }
            }
            ("X", Some("work")) => process.thread(line.tid).work.push((line.begin(), line.end())),
            ("X", Some("callback")) => process.thread(line.tid).callbacks.push((line.begin(), line.end())),
            ("X", Some("submit")) => process.thread(line.tid).submits += 1,
            ("i", _) => process.lost = process.lost.saturating_add(line.args.count.unwrap_or(0)),
            ("M", _) => process.meta(line),
            _ => {}
        }
    }

    fn remember(&mut self, slow: Slow) {
        let place = self.slowest.partition_point(|other| other.nanos >= slow.nanos);
        if place < SLOWEST {
            self.slowest.insert(place, slow);
            self.slowest.truncate(SLOWEST);
        }
    }
}

impl Process {
    fn thread(&mut self, tid: u32) -> &mut Thread {
        self.threads.entry(tid).or_default()
    }

    fn task(&mut self, line: &Line<'_>) -> Option<Slow> {
        let name = line.args.context.unwrap_or("?");
        if !self.contexts.contains_key(name) {
            self.contexts.insert(clean(name), Context::default());
        }
        let context = self.contexts.get_mut(name)?;
        if !context.kinds.contains_key(&*line.name) {
            context.kinds.insert(clean(&line.name), Kind::default());
        }
        let kind = context.kinds.get_mut(&*line.name)?;
        let (begin, end) = (line.begin(), line.end());
        if line.ph == "B" {
            kind.unfinished += 1;
            context.unfinished.push(begin);
            return None;
        }
        let args = &line.args;
        kind.times.add(end - begin);
        kind.bytes = kind.bytes.saturating_add(args.bytes.unwrap_or(0));
        kind.queued.add(args.queued_us);
        kind.worked.add(args.work_us);
        kind.unreported.add(args.unreported_us);
        match args.error {
            Some(error) => {
                *kind.errors.entry(clean(error)).or_default() += 1;
                context.failed.push((begin, end));
            }
            None => context.tasks.push((begin, end)),
        }
        Some(Slow {
            nanos: end - begin,
            at: begin,
            pid: line.pid,
            context: name.to_owned(),
            kind: line.name.clone().into_owned(),
            number: args.number.unwrap_or(0),
            queued: args.queued_us.map(nanos),
            worked: args.work_us.map(nanos),
            unreported: args.unreported_us.map(nanos),
        })
    }

    fn meta(&mut self, line: &Line<'_>) {
        let args = &line.args;
        let name = || clean(args.name.as_deref().unwrap_or("?"));
        match &*line.name {
            "process_name" => self.name = name(),
            "thread_name" => self.thread(line.tid).name = name(),
            "softdpu_context" => {
                let context = self.contexts.entry(clean(args.context.unwrap_or("?"))).or_default();
                context.device = clean(args.device.as_deref().unwrap_or("?"));
                context.id = clean(args.id.unwrap_or("?"));
            }
            "softdpu_end" => {
                self.ended = true;
                self.torn = args.torn.unwrap_or(0);
            }
            _ => {}
        }
    }
}
