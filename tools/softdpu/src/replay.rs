//! `softdpu replay`: prints the calls of a program, or makes them again and compares.

use std::env;
use std::ffi::OsString;
use std::io::{BufWriter, Write, stdout};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use lexopt::Parser;
use lexopt::prelude::*;
use softdpu_record::file::Record;
use softdpu_record::listing::{self, Filter, Total};
use softdpu_record::replay::{self, Report};

use crate::message::{Failure, Outcome};
use crate::output;
use crate::run::Setup;

/// The sub-command that repeats calls in its own process, started by `replay` with the library and the card.
pub(crate) const HERE: &str = "replay-here";

const HELP: &str = "\
Makes the calls of a program again that 'softdpu run --record FILE -- PROGRAM' wrote, without the program, and says
whether they give the same: results, values, callbacks, and the bytes that tasks wrote.

Usage: softdpu replay [OPTIONS] FILE
       softdpu replay --print [OPTIONS] FILE

Options:
  --patience SECONDS          how long a callback is waited for (default 10)
  --json                      what came of it as JSON
  and those of 'softdpu run', with which the calls are repeated: --side, --profile, --config, --strict, --check,
  --faults, --seed, --trace, --metrics, --record and their companions

Options of --print, which shows what was recorded and calls nothing:
  --function TEXT             only functions with this in their name
  --handle NAME               only calls with this handle, as it is printed: dma#1
  --thread N                  only calls of this thread, the first is 0
  --json                      one JSON document instead

  -h, --help                  this text

Calls that cannot be repeated, as those about objects of other processes, are answered from the record and counted.
docs/record.md says what a record holds and what a replay is.
Exit status: 0 identical, or printed; 1 a call differs, or the file cannot be read; 2 wrong use.
";

#[derive(Debug)]
struct Options {
    file: Option<PathBuf>,
    print: bool,
    json: bool,
    filter: Filter,
    filtered: bool,
    setup: Setup,
    set: bool,
    patience: u64,
}

pub(crate) fn main(arguments: Parser) -> Outcome {
    let Some(options) = read(arguments)? else { return output::print(HELP) };
    let Some(file) = &options.file else { return Err(Failure::usage("replay: no file given")) };
    if options.print && options.set {
        return Err(Failure::usage(
            "replay: --print calls nothing, so options of 'softdpu run' do not go with it",
        ));
    }
    if !options.print && options.filtered {
        return Err(Failure::usage("replay: --function, --handle and --thread go with --print"));
    }
    if options.print {
        return print(file, &options);
    }
    // What is wrong with the file is said here, before anything is started.
    Record::open(file).map_err(Failure::failed)?;
    let me = env::current_exe().map_err(|e| Failure::failed(format!("this command is not found: {e}")))?;
    let mut command = options.setup.command(&me.into_os_string())?;
    command.arg(HERE).arg(file).arg(options.patience.to_string()).args(options.json.then_some("--json"));
    let ended = command.status().map_err(|e| Failure::failed(format!("replay: cannot start: {e}")))?;
    match (ended.code(), ended.signal()) {
        (Some(code), _) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(1))),
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            Err(Failure::failed(format!(
                "replay: ended by signal {signal} in a call that cannot be repeated"
            )))
        }
    }
}

/// The command line; `None`: help is wanted.
fn read(mut arguments: Parser) -> Result<Option<Options>, Failure> {
    let mut options = Options {
        file: None,
        print: false,
        json: false,
        filter: Filter::default(),
        filtered: false,
        setup: Setup::default(),
        set: false,
        patience: 10,
    };
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("print") => options.print = true,
            Long("json") => options.json = true,
            Long("patience") => options.patience = arguments.value()?.parse()?,
            Long("function") => options.filter.function = Some(text(arguments.value()?)),
            Long("handle") => options.filter.handle = Some(text(arguments.value()?)),
            Long("thread") => options.filter.thread = Some(arguments.value()?.parse()?),
            Long(name) if Setup::NAMES.contains(&name) => {
                let name = name.to_owned();
                options.setup.set(&name, &mut arguments)?;
                options.set = true;
            }
            Value(file) if options.file.is_none() => options.file = Some(file.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    let Filter { function, handle, thread } = &options.filter;
    options.filtered = function.is_some() || handle.is_some() || thread.is_some();
    Ok(Some(options))
}

/// Repeats the calls in this process, which the library was made known to.
pub(crate) fn here(mut arguments: Parser) -> Outcome {
    let file = arguments.value()?;
    let patience: u64 = arguments.value()?.parse()?;
    let json = arguments.next()?.is_some();
    let record = Record::open(Path::new(&file)).map_err(Failure::failed)?;
    let record: &'static Record = Box::leak(Box::new(record));
    let report = replay::run(record, Duration::from_secs(patience)).map_err(Failure::failed)?;
    let said = match json {
        true => output::json(&document(record, &report))?,
        false => format!("{report}\n"),
    };
    output::print(&said)?;
    let lost = record.lost();
    if lost > 0 && !json {
        eprintln!("softdpu: {lost} entries were lost when it was recorded");
    }
    Ok(ExitCode::from(u8::from(report.difference.is_some())))
}

fn document(record: &Record, report: &Report) -> serde_json::Value {
    let difference = report.difference.as_ref().map(|d| {
        serde_json::json!({
            "call": d.call, "function": d.function, "place": d.place, "recorded": d.recorded, "here": d.here,
        })
    });
    serde_json::json!({
        "identical": difference.is_none(), "calls": report.calls, "made": report.made, "callbacks": report.callbacks,
        "early": report.early, "memory": report.memory,
        "uncompared": report.uncompared, "answered": report.answered, "lost": record.lost(),
        "difference": difference,
    })
}

fn text(value: OsString) -> String {
    value.to_string_lossy().into_owned()
}

/// Prints as it reads: a listing may be long.
fn print(file: &Path, options: &Options) -> Outcome {
    let record = Record::open(file).map_err(Failure::failed)?;
    let mut out = BufWriter::new(stdout().lock());
    let mut done = Ok(());
    if options.json {
        done = done.and_then(|()| {
            write!(out, "{{\"calls\":{},\"lost\":{},\"rows\":[", record.calls(), record.lost())
        });
    }
    let mut between = "\n";
    listing::rows(&record, &options.filter, |row| {
        if done.is_err() {
            return;
        }
        done = match options.json {
            true => write!(out, "{between}{}", row.json()),
            false => writeln!(out, "{row}"),
        };
        between = ",\n";
    });
    let end = match options.json {
        true => "\n]}\n".to_owned(),
        false => format!("{}\n", Total(&record)),
    };
    let done = done.and_then(|()| out.write_all(end.as_bytes())).and_then(|()| out.flush());
    output::written(done)
}
