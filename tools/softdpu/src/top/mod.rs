//! `softdpu top`: what the processes in the runtime folder are doing.
//!
//! | file | what |
//! |---|---|
//! | `report.rs` | asking processes, and what they answer |
//! | `document.rs` | two rounds of answers, compared |
//! | `view.rs` | tables for people |
//! | `ports.rs` | network ports in both |
//! | `tasks.rs` | what processes count of their tasks, in both |
//! | `terminal.rs` | keys, signals, drawing in place |

mod document;
mod ports;
mod report;
mod tasks;
mod terminal;
mod view;

use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use lexopt::Parser;
use lexopt::prelude::*;
use softdpu_link::Folder;

use crate::message::{Failure, Outcome};
use crate::output;
use document::{Document, History};
pub(crate) use report::clean;
use terminal::{Terminal, Wake};

const HELP: &str = "\
Shows what the processes that share the cards are doing: cards, processes, contexts and their tasks, rates per
engine, memory, connections, network ports; of programs under 'softdpu run --metrics' also tasks per kind with
their durations.

Usage: softdpu top [OPTIONS]

On a terminal the tables are updated in place; q or Ctrl-C ends. Elsewhere one snapshot follows the other.
Listed are the processes of this user in the runtime folder (SOFTDPU_RUNTIME_DIR) that have started a context
or exported memory. Rates are measured between two looks, by this command's clock.

Options:
  --interval SECONDS   time between two looks (default 1; 0.1 to 3600)
  --once               look twice, print one snapshot, end
  --json               JSON instead of tables: with --once one document, else one per look, a line each
  -h, --help           this text

Exit status: 0 done, 1 the runtime folder cannot be used, 2 wrong use.
";

#[derive(Debug)]
struct Options {
    interval: Duration,
    once: bool,
    json: bool,
}

pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let mut options = Options { interval: Duration::from_secs(1), once: false, json: false };
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return output::print(HELP),
            Long("interval") => options.interval = interval(&arguments.value()?.string()?)?,
            Long("once") => options.once = true,
            Long("json") => options.json = true,
            other => return Err(other.unexpected().into()),
        }
    }
    let folder = Folder::prepare().map_err(Failure::failed)?;
    let mut eye = Eye { folder: folder.path().display().to_string(), history: History::default() };
    if options.once {
        eye.look();
        thread::sleep(options.interval);
        return output::print(&text(&eye.look(), options.json, true)?);
    }
    if terminal::is_drawable() && !options.json {
        live(&mut eye, options.interval)
    } else {
        stream(&mut eye, &options)
    }
}

fn interval(text: &str) -> Result<Duration, Failure> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| Failure::usage(format!("--interval {text}: allowed are 0.1 to 3600 seconds")))
}

/// Looks again and again, and remembers the last time.
struct Eye {
    folder: String,
    history: History,
}

impl Eye {
    fn look(&mut self) -> Document {
        self.history.next(clean(&self.folder), report::ask_all())
    }
}

fn text(document: &Document, json: bool, alone: bool) -> Result<String, Failure> {
    match (json, alone) {
        (true, true) => output::json(document),
        (true, false) => serde_json::to_string(document)
            .map(|line| line + "\n")
            .map_err(|e| Failure::failed(format!("cannot write JSON: {e}"))),
        (false, _) => Ok(view::lines(document, None).join("\n") + "\n"),
    }
}

/// One snapshot after the other, until nobody reads them.
fn stream(eye: &mut Eye, options: &Options) -> Outcome {
    eye.look();
    loop {
        thread::sleep(options.interval);
        let mut text = text(&eye.look(), options.json, false)?;
        if !options.json {
            text.push('\n');
        }
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            Err(e) => return Err(Failure::failed(format!("cannot write: {e}"))),
        }
    }
}

/// In place, until somebody ends it.
fn live(eye: &mut Eye, interval: Duration) -> Outcome {
    if std::env::var_os("SOFTDPU_LOG").is_none() {
        // Messages would be written across the tables.
        log::set_max_level(log::LevelFilter::Off);
    }
    let terminal = Terminal::enter()?;
    let mut document = eye.look();
    // The first rates soon.
    let mut time = interval.min(Duration::from_millis(300));
    loop {
        if terminal.draw(&view::lines(&document, Some(terminal.size()))).is_err() {
            // The terminal is gone, and everything shown on it.
            return Ok(ExitCode::SUCCESS);
        }
        match terminal.wait(time) {
            Wake::End => return Ok(ExitCode::SUCCESS),
            Wake::Resized => {}
            Wake::Time => {
                document = eye.look();
                time = interval;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals() {
        assert_eq!(interval("0.5").unwrap(), Duration::from_millis(500));
        for bad in ["", "0", "-1", "nan", "inf", "1e9", "1s"] {
            assert!(interval(bad).is_err(), "{bad}");
        }
    }
}
