//! Makes the calls of a record again, against the library of this process, and compares.
//!
//! Each thread of the program has one here, and all entries happen in the order of the file: a call begins when everything
//! before it in the file has happened. Handles and addresses are replaced by those that the same calls gave here. What the
//! program's functions did when the library called them is done when it calls them here.
//!
//! Time is no part of a record. Progress that found nothing is left out; progress that found something is repeated until it
//! does here. What the library reports earlier than it did, where its contract promises no order, is kept until its turn.
//! A value that is read from the library is asked for again for a while until it is the one recorded.

mod arguments;
mod compare;
mod ffi;
mod memory;
mod runner;
mod stage;
mod world;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::contract::FUNCTIONS;
use crate::file::{Kind, Record};
use stage::Stage;

/// What came of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Calls in the record.
    pub calls: usize,
    /// Those that were made.
    pub made: usize,
    /// Functions of the program that ran.
    pub callbacks: usize,
    /// Those that were called out of their order.
    pub early: usize,
    /// Pieces of memory that were compared.
    pub memory: usize,
    /// Pieces that were not, since a task before them read more than a record keeps.
    pub uncompared: usize,
    /// Calls that were answered from the record, by what they lack.
    pub answered: BTreeMap<&'static str, usize>,
    /// The first difference.
    pub difference: Option<Difference>,
}

/// Where a replay is not what was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The number of the call, from 1.
    pub call: usize,
    /// The function, or the type of the function of the program.
    pub function: String,
    /// Where the recorded program called it.
    pub place: String,
    /// What was recorded.
    pub recorded: String,
    /// What is.
    pub here: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "call {} differs: {}    [{}]", self.call, self.function, self.place)?;
        write!(f, "  recorded: {}\n  here:     {}", self.recorded, self.here)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(difference) = &self.difference {
            writeln!(f, "{difference}")?;
        }
        let same = if self.difference.is_none() { "identical" } else { "until then" };
        write!(
            f,
            "{same}: {} calls, {} callbacks, {} pieces of memory",
            self.made, self.callbacks, self.memory
        )?;
        if self.uncompared > 0 {
            write!(f, "\n{} pieces of memory not compared: larger ones were read before", self.uncompared)?;
        }
        if self.early > 0 {
            write!(f, "\n{} callbacks came before their turn", self.early)?;
        }
        for (reason, count) in &self.answered {
            write!(f, "\n{count} calls answered from the record: {reason}")?;
        }
        Ok(())
    }
}

/// Repeats a record. The library is looked for where programs find it. `patience` is how long a callback is waited for.
///
/// # Errors
/// There is no library, or it lacks a function.
pub fn run(record: &'static Record, patience: Duration) -> Result<Report, String> {
    if !ffi::open() {
        return Err("libsoftdpu.so.2 cannot be loaded".to_owned());
    }
    let mut places = BTreeMap::new();
    let mut steps = Vec::new();
    for entry in record.entries() {
        match entry.kind {
            Kind::Place => {
                let words = entry.part(0, 0).map(|text| String::from_utf8_lossy(text).into_owned());
                places.insert(entry.first, words.unwrap_or_default());
            }
            Kind::Idle | Kind::Ended => {}
            _ => steps.push(entry),
        }
    }
    let found = (0..FUNCTIONS.len()).map(|f| ffi::find(f).ok_or(FUNCTIONS[f].name)).collect::<Vec<_>>();
    if let Some(Err(name)) = found.iter().find(|found| found.is_err()) {
        return Err(format!("the library has no function {name}"));
    }
    let found = found.into_iter().map(|f| f.unwrap_or_default()).collect();
    let stage: &'static Stage = Box::leak(Box::new(Stage::new(steps, places, found, patience)));
    let mut threads = Vec::new();
    for thread in stage.threads() {
        let name = format!("replay-{thread}");
        let spawned = std::thread::Builder::new().name(name).spawn(move || runner::run(stage, thread));
        threads.push(spawned.map_err(|e| format!("a thread: {e}"))?);
    }
    Ok(stage.wait(threads, record.calls()))
}
