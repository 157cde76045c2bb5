//! `softdpu trace`: what a trace says, as tables and as a picture.
//!
//! | file | what |
//! |---|---|
//! | `start.rs` | `softdpu run --trace` |
//! | `account.rs` | what is kept of a trace when it is read |
//! | `summary.rs` | tables |
//! | `timeline.rs` | a picture in characters |
//! | `svg.rs` | the same as SVG |

mod account;
mod start;
mod summary;
mod svg;
mod timeline;

use std::fs::File;
use std::io::{BufReader, IsTerminal};
use std::path::{Path, PathBuf};

use lexopt::Parser;
use lexopt::prelude::*;
use softdpu_trace::read::check;

use crate::message::{Failure, Outcome};
use crate::output;
use account::Account;
pub(crate) use start::Tracing;

const HELP: &str = "\
Reads a trace that 'softdpu run --trace FILE -- PROGRAM' made.

Usage: softdpu trace summary [--json] FILE
       softdpu trace timeline [OPTIONS] FILE
       softdpu trace check [--json] FILE

  summary    tasks per context and kind: how many, how fast, how long they queued, were worked on, and
             waited for progress; what threads did; the slowest tasks; what is missing
  timeline   tasks in flight per context and work per thread over time
  check      whether the file is a trace in order: form, names, nesting of spans, arrows, counts

Options of timeline:
  --width N      characters of a row (default: as wide as the terminal, else 100; 20 to 1000)
  --from TIME    begin, as in 1.5s, 20ms, 300us, 7000ns, counted from the first event
  --to TIME      end
  --svg FILE     a picture instead, as an SVG file ('-': to stdout)

  -h, --help     this text

The file opens in chrome://tracing and in ui.perfetto.dev, too; docs/trace.md says what it holds.
Exit status: 0 done, 1 the file cannot be read or is no trace in order, 2 wrong use.
";

#[derive(Debug, Default)]
struct Options {
    file: Option<PathBuf>,
    json: bool,
    width: Option<usize>,
    from: Option<u64>,
    to: Option<u64>,
    svg: Option<PathBuf>,
}

pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let what = match arguments.next()? {
        Some(Short('h') | Long("help")) => return output::print(HELP),
        Some(Value(what)) => what,
        Some(other) => return Err(other.unexpected().into()),
        None => return Err(Failure::usage("trace: summary, timeline or check?")),
    };
    let what = what.to_string_lossy().into_owned();
    if !["summary", "timeline", "check"].contains(&&*what) {
        return Err(Failure::usage(format!(
            "trace: unknown '{what}'; there are summary, timeline and check"
        )));
    }
    let mut options = Options::default();
    let drawn = what == "timeline";
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return output::print(HELP),
            Long("json") if !drawn => options.json = true,
            Long("width") if drawn => options.width = Some(width(&arguments.value()?.string()?)?),
            Long("from") if drawn => options.from = Some(time(&arguments.value()?.string()?)?),
            Long("to") if drawn => options.to = Some(time(&arguments.value()?.string()?)?),
            Long("svg") if drawn => options.svg = Some(arguments.value()?.into()),
            Value(file) if options.file.is_none() => options.file = Some(file.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    let Some(file) = &options.file else { return Err(Failure::usage("trace: no file given")) };
    let named = |e: &dyn std::fmt::Display| Failure::failed(format!("{}: {e}", file.display()));
    let text = open(file).map_err(|e| named(&e))?;
    if what == "check" {
        return output::print(&checked(file, &check(text).map_err(|e| named(&e))?, options.json)?);
    }
    let account = Account::read(text).map_err(|e| named(&e))?;
    match &*what {
        "summary" if options.json => output::print(&output::json(&summary::document(&account))?),
        "summary" => output::print(&summary::text(&account)),
        _ => timeline_of(&account, &options),
    }
}

fn open(file: &Path) -> std::io::Result<BufReader<File>> {
    Ok(BufReader::with_capacity(1 << 20, File::open(file)?))
}

fn checked(file: &Path, found: &softdpu_trace::read::Checked, json: bool) -> Result<String, Failure> {
    if json {
        return output::json(&serde_json::json!({
            "lines": found.lines, "processes": found.processes, "tasks": found.tasks, "spans": found.spans,
            "unfinished": found.unfinished, "flows": found.flows, "lost": found.lost,
        }));
    }
    Ok(format!(
        "{}: in order: {} tasks and {} unfinished of {} processes, {} spans, {} arrows, {} events lost\n",
        file.display(),
        found.tasks,
        found.unfinished,
        found.processes,
        found.spans,
        found.flows,
        found.lost
    ))
}

fn timeline_of(account: &Account, options: &Options) -> Outcome {
    let (first, last) = account.extent();
    let from = first + options.from.unwrap_or(0);
    let to = options.to.map_or(last, |to| first + to);
    if from >= to {
        return Err(Failure::usage("trace: there is nothing between --from and --to"));
    }
    let Some(file) = &options.svg else {
        let width = options.width.or_else(terminal_width).unwrap_or(100);
        return output::print(&timeline::text(account, from, to, width));
    };
    let picture = svg::picture(account, from, to);
    if file == Path::new("-") {
        return output::print(&picture);
    }
    std::fs::write(file, picture).map_err(|e| Failure::failed(format!("{}: {e}", file.display())))?;
    Ok(std::process::ExitCode::SUCCESS)
}

fn terminal_width() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns >= 20)
}

fn width(text: &str) -> Result<usize, Failure> {
    let width = text.parse().ok().filter(|width| (20..=1000).contains(width));
    width.ok_or_else(|| Failure::usage(format!("trace: --width {text}: allowed are 20 to 1000")))
}

/// A time with its unit, in nanoseconds.
fn time(text: &str) -> Result<u64, Failure> {
    let unit = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let read = unit.iter().find_map(|(name, nanos)| {
        let number = text.strip_suffix(name)?.trim_end().parse::<f64>().ok()?;
        (0.0..1e9).contains(&number).then_some((number * nanos) as u64)
    });
    read.ok_or_else(|| {
        Failure::usage(format!("trace: '{text}' is no time; wanted is one like 1.5s, 20ms, 300us, 7000ns"))
    })
}

/// Nanoseconds for people: `950 ns`, `12.3 us`, `1.25 s`.
pub(crate) fn time_text(nanos: u64) -> String {
    let n = nanos as f64;
    let (n, unit) = match nanos {
        0..1_000 => return format!("{nanos} ns"),
        1_000..1_000_000 => (n / 1e3, "us"),
        1_000_000..1_000_000_000 => (n / 1e6, "ms"),
        _ => (n / 1e9, "s"),
    };
    let digits = if n < 9.995 { 2 } else { usize::from(n < 99.95) };
    format!("{n:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, nanos) in [("1.5s", 1_500_000_000), ("20ms", 20_000_000), ("300 us", 300_000), ("7ns", 7)]
        {
            assert_eq!(time(text).unwrap(), nanos);
        }
        for bad in ["", "5", "-1s", "nans", "1e99s", "ms"] {
            assert!(time(bad).is_err(), "{bad}");
        }
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1234, "1.23 us"),
            (45_600_000, "45.6 ms"),
            (2_000_000_000, "2.00 s"),
        ] {
            assert_eq!(time_text(nanos), text);
        }
    }
}
