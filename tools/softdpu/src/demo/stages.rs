//! Keeps account of the phases while they happen, and tells the reader about them.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::two_sides::CardProcess;

/// The step that is no phase of a program but the point of the demonstration; it bears no number.
pub(crate) const COMPARE: &str = "compare";

/// One phase of the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) seconds: f64,
    pub(crate) ok: bool,
}

/// The phases so far.
#[derive(Debug)]
pub(crate) struct Stages {
    list: Vec<Stage>,
    card_process: Option<CardProcess>,
    /// Whether phases are explained on stdout.
    aloud: bool,
}

impl Stages {
    pub(crate) fn new(aloud: bool) -> Self {
        Self { list: Vec::new(), card_process: None, aloud }
    }

    /// Carries out a phase that moves no data. `explain` tells what it achieved.
    pub(crate) fn phase<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<T, String>,
        explain: impl FnOnce(&T) -> String,
    ) -> Result<T, String> {
        let start = Instant::now();
        let result = work();
        let stage = Stage {
            name,
            bytes_in: 0,
            bytes_out: 0,
            seconds: start.elapsed().as_secs_f64(),
            ok: result.is_ok(),
        };
        self.finished(stage, result.as_ref().map_or_else(|_| String::new(), explain))?;
        result.map_err(|e| format!("{name}: {e}"))
    }

    /// Enters a phase whose figures were gathered elsewhere. A text that cannot be written ends the program.
    pub(crate) fn finished(&mut self, stage: Stage, explanation: String) -> Result<(), String> {
        if self.aloud && stage.ok {
            let number = match stage.name {
                COMPARE => String::new(),
                _ => format!("{}.", 1 + self.list.iter().filter(|s| s.name != COMPARE).count()),
            };
            let text = format!("{number:<2} {:<9} {explanation}\n", stage.name);
            // Indents the lines after the first to where the first one begins.
            let text = text.trim_end().replace('\n', &format!("\n{:13}", "")) + "\n";
            say(&text)?;
        }
        self.list.push(stage);
        Ok(())
    }

    /// Enters a step of those that follow the phases; it bears no number.
    pub(crate) fn moved(&mut self, stage: Stage, line: &str) -> Result<(), String> {
        if self.aloud && stage.ok {
            let line = line.replace('\n', &format!("\n{:19}", ""));
            say(&format!("   {:<15} {line}\n", stage.name))?;
        }
        self.list.push(stage);
        Ok(())
    }

    /// Tells the reader that a step was left out; without explanations it is a message.
    pub(crate) fn left_out(&self, name: &str, why: &str) -> Result<(), String> {
        if self.aloud {
            return say(&format!("   {name:<15} {why}\n"));
        }
        eprintln!("softdpu: demo: {name} {why}");
        Ok(())
    }

    /// A line above what follows.
    pub(crate) fn heading(&self, text: &str) -> Result<(), String> {
        if self.aloud { say(&format!("\n{text}\n\n")) } else { Ok(()) }
    }

    pub(crate) fn is_aloud(&self) -> bool {
        self.aloud
    }

    /// Notes who was the card's process.
    pub(crate) fn two_sides(&mut self, who: CardProcess) {
        self.card_process = Some(who);
    }

    pub(crate) fn card_process(&self) -> Option<CardProcess> {
        self.card_process.clone()
    }

    pub(crate) fn into_list(self) -> Vec<Stage> {
        self.list
    }
}

/// On stdout. A reader that went away is not a failure.
fn say(text: &str) -> Result<(), String> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write: {e}")),
        _ => Ok(()),
    }
}

/// A bar on stderr while data moves, when somebody can see it.
#[derive(Debug)]
pub(crate) struct Bar {
    total: Option<u64>,
    shown: Option<Instant>,
    visible: bool,
}

impl Bar {
    pub(crate) fn new(total: Option<u64>, wanted: bool) -> Self {
        Self { total, shown: None, visible: wanted && io::stderr().is_terminal() }
    }

    /// Draws it again, a few times per second.
    pub(crate) fn at(&mut self, bytes: u64) {
        let due = self.shown.is_none_or(|t| t.elapsed() > Duration::from_millis(100));
        if !self.visible || !due {
            return;
        }
        self.shown = Some(Instant::now());
        match self.total.filter(|t| *t > 0) {
            Some(total) => {
                let tenth = (bytes * 40 / total).min(40) as usize;
                eprint!("\r[{:<40}] {:3} %", "#".repeat(tenth), (bytes * 100 / total).min(100));
            }
            None => eprint!("\r{} MiB", bytes >> 20),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.visible && self.shown.is_some() {
            eprint!("\r{:50}\r", "");
        }
    }
}
