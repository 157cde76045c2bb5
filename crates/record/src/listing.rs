//! Prints a file: a line for each call with what it was given and what it gave back, and functions of the program that ran
//! within it, indented.

mod row;
mod words;

use std::collections::HashMap;
use std::fmt;

use crate::contract::{CALLBACKS, FUNCTIONS};
use crate::file::{Entry, Kind, Record};
use crate::names::Names;
pub use row::Row;

/// Which rows are wanted; what is `None` lets all through.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Part of the name of a function.
    pub function: Option<String>,
    /// A handle as it is printed, `dma#1`.
    pub handle: Option<String>,
    /// A thread, by the order in which they first called.
    pub thread: Option<usize>,
}

impl Filter {
    fn wants(&self, row: &Row) -> bool {
        self.function.as_ref().is_none_or(|part| row.function.contains(part.as_str()))
            && self.thread.is_none_or(|thread| row.thread == thread)
            && self.handle.as_ref().is_none_or(|handle| row.names(handle))
    }
}

/// Goes through a file and gives its rows.
#[derive(Debug)]
struct Walk {
    names: Names,
    places: HashMap<u64, String>,
    threads: Vec<u32>,
    /// Calls and functions that a thread is within: their number, and what the row of their end needs.
    open: HashMap<u32, Vec<usize>>,
    calls: usize,
}

/// Calls `f` with every row that the filter wants, in the order of the file.
pub fn rows(record: &Record, filter: &Filter, mut f: impl FnMut(&Row)) {
    let mut walk = Walk {
        names: Names::default(),
        places: HashMap::new(),
        threads: Vec::new(),
        open: HashMap::new(),
        calls: 0,
    };
    let mut pending: Option<Row> = None;
    for entry in record.entries() {
        let Some(row) = walk.row(&entry) else { continue };
        match pending.take() {
            // Nothing happened within: one row.
            Some(begun) if begun.is_ended_by(&row) => {
                let whole = begun.ended(row);
                if filter.wants(&whole) {
                    f(&whole);
                }
                continue;
            }
            Some(begun) if filter.wants(&begun) => f(&begun),
            _ => {}
        }
        if row.begins {
            pending = Some(row);
        } else if filter.wants(&row) {
            f(&row);
        }
    }
    if let Some(row) = pending.filter(|row| filter.wants(row)) {
        f(&row);
    }
}

impl Walk {
    fn row(&mut self, entry: &Entry<'_>) -> Option<Row> {
        let thread = self.thread(entry.thread);
        let depth = self.open.get(&entry.thread).map_or(0, Vec::len);
        let mut row = Row { thread, depth, ..Row::default() };
        match entry.kind {
            Kind::Place => {
                let words = entry.part(0, 0).map(|text| String::from_utf8_lossy(text).into_owned());
                self.places.insert(entry.first, words.unwrap_or_default());
                return None;
            }
            Kind::Call => self.call(entry, &mut row),
            Kind::Return => self.returned(entry, &mut row),
            Kind::Called => self.called(entry, &mut row),
            Kind::Returned => {
                row.number = self.close(entry.thread);
                row.depth = depth.saturating_sub(1);
                row.function = CALLBACKS[usize::from(entry.index)].name.to_owned();
                row.callback = true;
                row.result = Some(words::count(entry.first));
            }
            Kind::Idle => {
                row.function = "doca_pe_progress".to_owned();
                row.arguments.push(("pe", self.names.of(entry.first, "pe")));
                row.result = Some(format!("0, {} times", entry.words[0]));
            }
            Kind::Memory => {
                let side = if entry.index == 0 { "memory before" } else { "memory after" };
                row.function = side.to_owned();
                row.arguments.push(("addr", format!("{:#x}", entry.first)));
                row.arguments.push(("len", entry.words[0].to_string()));
                row.arguments.push(("hash", format!("{:016x}", entry.words[1])));
            }
            Kind::Ended => {
                row.function = "end of the program".to_owned();
                row.result = Some(entry.first.to_string());
            }
        }
        Some(row)
    }

    /// Threads are counted in the order in which they first called.
    fn thread(&mut self, system: u32) -> usize {
        self.threads.iter().position(|&t| t == system).unwrap_or_else(|| {
            self.threads.push(system);
            self.threads.len() - 1
        })
    }

    fn call(&mut self, entry: &Entry<'_>, row: &mut Row) {
        let function = &FUNCTIONS[usize::from(entry.index)];
        self.calls += 1;
        self.open.entry(entry.thread).or_default().push(self.calls);
        row.number = Some(self.calls);
        row.function = function.name.to_owned();
        row.begins = true;
        row.place = self.places.get(&entry.first).cloned();
        row.arguments = words::given(entry, function.parameters, &mut self.names);
    }

    fn returned(&mut self, entry: &Entry<'_>, row: &mut Row) {
        let function = &FUNCTIONS[usize::from(entry.index)];
        row.number = self.close(entry.thread);
        row.depth = row.depth.saturating_sub(1);
        row.function = function.name.to_owned();
        row.result = words::result(entry, function, &mut self.names);
        row.taken = words::taken(entry, function, &mut self.names);
    }

    fn called(&mut self, entry: &Entry<'_>, row: &mut Row) {
        let callback = &CALLBACKS[usize::from(entry.index)];
        self.open.entry(entry.thread).or_default().push(0);
        row.function = callback.name.to_owned();
        row.callback = true;
        row.begins = true;
        row.arguments = words::given(entry, callback.parameters, &mut self.names);
    }

    fn close(&mut self, thread: u32) -> Option<usize> {
        self.open.get_mut(&thread).and_then(Vec::pop).filter(|&number| number != 0)
    }
}

/// The last line of a text: how much there was.
#[derive(Debug)]
pub struct Total<'a>(pub &'a Record);

impl fmt::Display for Total<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = self.0.entries().any(|entry| entry.kind == Kind::Ended);
        let end = if ended { "" } else { ", and no end: the program was killed, or goes on" };
        write!(f, "{} calls, {} entries lost{end}", self.0.calls(), self.0.lost())
    }
}
