//! `softdpu explore`: runs a program under many schedules, and shrinks the first one under which it fails.

mod record;
mod runner;
mod search;
mod shrink;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::Parser;
use lexopt::prelude::*;
use serde::Serialize;
use softdpu_sdk::Kit;

use crate::card::CardOptions;
use crate::faults::FaultOptions;
use crate::message::{Failure, Outcome};
use crate::output;
use runner::{Ending, Runner};
use shrink::Shrunk;

const HELP: &str = "\
Runs a program under many schedules of the card and stops at the first one under which it fails.

Usage: softdpu explore [OPTIONS] [--] PROGRAM [ARGUMENTS]

A schedule is how long each task waits before it begins and before it is reported, and which tasks pass which
where the contract promises no order; it follows from a seed. A program fails when it ends with another status
than 0, by a signal, or not at all. The first seed under which it does is run again with less and less of its
schedule (and of the faults of the plan) for as long as the program still fails in the same way; what is left,
and one command that replays it, are printed. Seed 0 is the order without a seed, and is tried first.

Complete repetition is promised for programs with one thread; for others, for each context.

Options:
  --seeds N                   how many seeds to try (default 1000)
  --first N                   the seed to begin with (default 0)
  --jobs N                    programs that run at the same time (default: one per processor)
  --timeout SECONDS           a program that runs longer has failed (default 60)
  --faults FILE               a plan of faults; what it leaves to chance, the seed decides
  --no-shrink                 only find the seed
  --json                      one JSON document
  --side, --profile, --config, --strict   as for 'softdpu run'
  -h, --help                  this text

Exit status: 0 when no seed fails, 1 when one does, 2 for wrong use.
";

/// What was asked for.
#[derive(Debug)]
struct Asked {
    seeds: u64,
    first: u64,
    jobs: usize,
    timeout: Duration,
    shrink: bool,
    json: bool,
    card: CardOptions,
    faults: FaultOptions,
    program: OsString,
    arguments: Vec<OsString>,
}

#[derive(Debug, Serialize)]
struct Document {
    seeds: u64,
    failed: Vec<u64>,
    first: Option<First>,
}

#[derive(Debug, Serialize)]
struct First {
    seed: u64,
    ending: String,
    /// What is needed of the schedule, and in words.
    only: Option<String>,
    needed: Vec<String>,
    faults: Option<PathBuf>,
    runs: u32,
    /// How many of three replays failed.
    replayed: Option<u32>,
    replay: String,
}

pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let Some(asked) = Asked::read(&mut arguments)? else { return output::print(HELP) };
    asked.card.machine()?;
    let kit = Kit::locate()?;
    let mut environment = asked.card.environment();
    environment.push(("LD_LIBRARY_PATH", crate::run::library_path(&kit.lib_dir())?));
    let runner = Runner::new(&asked.program, &asked.arguments, environment, asked.timeout)?;
    let found = search::first_failure(&runner, &asked)?;
    let Some((seed, ending)) = found else {
        let document = Document { seeds: asked.seeds, failed: Vec::new(), first: None };
        return match asked.json {
            true => output::print(&output::json(&document)?),
            false => output::print(&format!("No failure in {} schedules.\n", asked.seeds)),
        };
    };
    let last_words = runner.last_words(seed);
    let shrunk = if asked.shrink { Some(shrink::shrink(&runner, &asked, seed, &ending)?) } else { None };
    let first = asked.report(seed, &ending, shrunk);
    let text = if asked.json {
        output::json(&Document { seeds: seed - asked.first + 1, failed: vec![seed], first: Some(first) })?
    } else {
        first.text(&last_words)
    };
    output::print(&text)?;
    Ok(std::process::ExitCode::from(1))
}

impl Asked {
    /// `None`: the help is wanted.
    fn read(arguments: &mut Parser) -> Result<Option<Asked>, Failure> {
        let jobs = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let mut asked = Asked {
            seeds: 1000,
            first: 0,
            jobs,
            timeout: Duration::from_secs(60),
            shrink: true,
            json: false,
            card: CardOptions::default(),
            faults: FaultOptions::default(),
            program: OsString::new(),
            arguments: Vec::new(),
        };
        asked.program = loop {
            match arguments.next()? {
                Some(Short('h') | Long("help")) => return Ok(None),
                Some(Long("seeds")) => asked.seeds = at_least_one("--seeds", arguments.value()?.parse()?)?,
                Some(Long("first")) => asked.first = arguments.value()?.parse()?,
                Some(Long("jobs")) => {
                    asked.jobs = at_least_one("--jobs", arguments.value()?.parse::<u64>()?)? as usize;
                }
                Some(Long("timeout")) => {
                    asked.timeout =
                        Duration::from_secs(at_least_one("--timeout", arguments.value()?.parse()?)?);
                }
                Some(Long("no-shrink")) => asked.shrink = false,
                Some(Long("json")) => asked.json = true,
                Some(Long("strict")) => asked.card.set_strict(),
                Some(Long("faults")) => asked.faults.set("faults", arguments.value()?)?,
                Some(Long(name)) if CardOptions::NAMES.contains(&name) => {
                    let name = name.to_owned();
                    asked.card.set(&name, arguments.value()?)?;
                }
                Some(Value(program)) => break program,
                Some(other) => return Err(other.unexpected().into()),
                None => return Err(Failure::usage("explore: no program given")),
            }
        };
        asked.arguments = arguments.raw_args()?.collect();
        if asked.first.checked_add(asked.seeds).is_none() {
            return Err(Failure::usage("explore: --first and --seeds go past the last seed"));
        }
        Ok(Some(asked))
    }

    fn report(&self, seed: u64, ending: &Ending, shrunk: Option<Shrunk>) -> First {
        let only = shrunk.as_ref().and_then(|s| s.only.as_ref()).map(ToString::to_string);
        let given = self.faults.plan.as_ref().map(|plan| plan.0.clone());
        let faults = shrunk.as_ref().and_then(|s| s.plan.clone()).or(given);
        let mut replay = vec!["softdpu".to_owned(), "run".to_owned()];
        for (name, value) in self.card.environment() {
            let option = match name {
                "SOFTDPU_SIDE" => "--side",
                "SOFTDPU_PROFILE" => "--profile",
                "SOFTDPU_CONFIG" => "--config",
                _ => "--strict",
            };
            replay.push(option.to_owned());
            if option != "--strict" {
                replay.push(quoted(&value.to_string_lossy()));
            }
        }
        replay.extend(["--seed".to_owned(), seed.to_string()]);
        if let Some(only) = &only {
            replay.extend(["--only".to_owned(), only.clone()]);
        }
        if let Some(faults) = &faults {
            replay.extend(["--faults".to_owned(), quoted(&faults.to_string_lossy())]);
        }
        replay.push("--".to_owned());
        let words = std::iter::once(&self.program).chain(&self.arguments);
        replay.extend(words.map(|word| quoted(&word.to_string_lossy())));
        First {
            seed,
            ending: ending.to_string(),
            only,
            needed: shrunk.as_ref().map_or_else(Vec::new, |s| s.words.clone()),
            faults,
            runs: shrunk.as_ref().map_or(0, |s| s.runs),
            replayed: shrunk.as_ref().map(|s| s.replayed),
            replay: replay.join(" "),
        }
    }
}

impl First {
    fn text(&self, last_words: &str) -> String {
        let mut text = format!("Seed {}: the program {}.\n", self.seed, self.ending);
        for line in last_words.lines() {
            text += &format!("  | {line}\n");
        }
        match self.replayed {
            Some(0) => {
                text += "It did not fail again under the same seed: the failure depends on more than the schedule.\n"
            }
            Some(_) if self.needed.is_empty() => text += "Nothing of the schedule is needed for it.\n",
            Some(_) => {
                text += &format!("Needed for it, after {} runs with less and less:\n", self.runs);
                self.needed.iter().for_each(|word| text += &format!("  {word}\n"));
            }
            None => {}
        }
        if let Some(n @ 1..=2) = self.replayed {
            text += &format!("It failed in {n} of 3 replays: not all of it follows from the schedule.\n");
        }
        text + &format!("Replay: {}\n", self.replay)
    }
}

fn at_least_one(option: &str, n: u64) -> Result<u64, Failure> {
    if n >= 1 { Ok(n) } else { Err(Failure::usage(format!("explore: {option} is at least 1"))) }
}

/// As a shell wants it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_survive_a_shell() {
        for (word, text) in [("a-b/c.1", "a-b/c.1"), ("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'")] {
            assert_eq!(super::quoted(word), text);
        }
    }
}
