//! Leaves out what is not needed for a failure: first halves, then ever smaller pieces of what the schedule and the plan
//! did, for as long as the program still fails in the same way.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use softdpu_faults::plan::{Fault, Plan, Which};
use softdpu_faults::schedule::Only;

use super::Asked;
use super::record::{self, Thing};
use super::runner::{Ending, Runner};
use crate::faults::FaultOptions;
use crate::message::Failure;

/// Runs, and time, after which what is left is good enough.
const MOST_RUNS: u32 = 400;
const MOST_TIME: Duration = Duration::from_secs(120);
/// A run that does not fail is tried once more: threads of the program may have been in the way.
const TRIES: u32 = 2;

/// What is left.
#[derive(Debug)]
pub(super) struct Shrunk {
    /// Of the schedule.
    pub(super) only: Option<Only>,
    /// Of the plan: a file of its own.
    pub(super) plan: Option<PathBuf>,
    pub(super) words: Vec<String>,
    pub(super) runs: u32,
    /// Replays that failed, of three.
    pub(super) replayed: u32,
}

/// One failure being shrunk.
struct Shrinker<'a> {
    runner: &'a Runner,
    asked: &'a Asked,
    seed: u64,
    ending: Ending,
    runs: u32,
    begun: Instant,
}

/// Shrinks the failure of `seed`.
pub(super) fn shrink(runner: &Runner, asked: &Asked, seed: u64, ending: &Ending) -> Result<Shrunk, Failure> {
    let mut shrinker = Shrinker { runner, asked, seed, ending: *ending, runs: 0, begun: Instant::now() };
    let Some(all) = shrinker.record()? else {
        return Ok(Shrunk { only: None, plan: None, words: Vec::new(), runs: shrinker.runs, replayed: 0 });
    };
    let things: Vec<Thing> = all.keys().copied().collect();
    let needed = shrinker.least(things)?;
    let words = needed.iter().filter_map(|thing| all.get(thing).cloned()).collect();
    let options = shrinker.options(&needed)?;
    let mut replayed = 0;
    for _ in 0..3 {
        replayed += u32::from(runner.run(&options, None)? == *ending);
    }
    let plan = match &options.plan {
        None => None,
        Some((_, plan)) => {
            // Beside the program's caller, not in a folder that goes away.
            let path = std::path::absolute(format!("softdpu-explore-{seed}.toml")).map_err(failed)?;
            fs::write(&path, plan.to_toml()).map_err(failed)?;
            Some(path)
        }
    };
    Ok(Shrunk { only: options.only, plan, words, runs: shrinker.runs, replayed })
}

fn failed(error: std::io::Error) -> Failure {
    Failure::failed(format!("explore: {error}"))
}

impl Shrinker<'_> {
    /// What was done in a run that failed alike; `None` when none did.
    fn record(&mut self) -> Result<Option<BTreeMap<Thing, String>>, Failure> {
        let options = FaultOptions { seed: Some(self.seed), ..self.asked.faults.clone() };
        for _ in 0..3 {
            let path = self.runner.file("record");
            let _ = fs::remove_file(&path);
            self.runs += 1;
            if self.runner.run(&options, Some(&path))? == self.ending {
                return Ok(Some(record::read(&fs::read_to_string(&path).unwrap_or_default())));
            }
        }
        Ok(None)
    }

    /// The options that do these things and no others.
    fn options(&self, things: &[Thing]) -> Result<FaultOptions, Failure> {
        let mut only = Only::default();
        let mut faults: Vec<Fault> = Vec::new();
        for thing in things {
            match *thing {
                Thing::Wait(spot) => drop(only.0.insert(spot)),
                Thing::Fault(index, n) => {
                    let plan = self.asked.faults.plan.as_ref().map(|plan| &plan.1);
                    if let Some(fault) = plan.and_then(|plan| plan.faults.get(index - 1)) {
                        faults.push(Fault { which: Which::Number(n), count: 1, ..fault.clone() });
                    }
                }
            }
        }
        let plan = match &self.asked.faults.plan {
            None => None,
            Some((_, whole)) => {
                let plan = Plan { faults, memlock: whole.memlock };
                let path = self.runner.file("plan.toml");
                fs::write(&path, plan.to_toml()).map_err(failed)?;
                Some((path, plan))
            }
        };
        Ok(FaultOptions { plan, seed: Some(self.seed), only: Some(only) })
    }

    /// Does the program fail alike when only these things are done to it?
    fn fails_with(&mut self, things: &[Thing]) -> Result<bool, Failure> {
        let options = self.options(things)?;
        for _ in 0..TRIES {
            self.runs += 1;
            if self.runner.run(&options, None)? == self.ending {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn may_go_on(&self) -> bool {
        self.runs < MOST_RUNS && self.begun.elapsed() < MOST_TIME
    }

    /// As few of `things` as it takes, so that none of them can be left out alone (or the time is up).
    fn least(&mut self, mut things: Vec<Thing>) -> Result<Vec<Thing>, Failure> {
        if self.fails_with(&[])? {
            return Ok(Vec::new());
        }
        let mut pieces = 2;
        while things.len() > 1 && self.may_go_on() {
            let size = things.len().div_ceil(pieces);
            let chunks: Vec<Vec<Thing>> = things.chunks(size).map(<[Thing]>::to_vec).collect();
            let mut smaller = None;
            for (at, chunk) in chunks.iter().enumerate() {
                let rest: Vec<Thing> = chunks
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| *n != at)
                    .flat_map(|(_, c)| c.clone())
                    .collect();
                // A piece alone is the greater step, but of more than two seldom enough.
                if pieces == 2 && self.fails_with(chunk)? {
                    smaller = Some((chunk.clone(), 2));
                    break;
                }
                if pieces > 2 && self.fails_with(&rest)? {
                    smaller = Some((rest, pieces - 1));
                    break;
                }
                if !self.may_go_on() {
                    break;
                }
            }
            match smaller {
                Some((left, cut)) => (things, pieces) = (left, cut.max(2)),
                None if size == 1 => break,
                None => pieces = (pieces * 2).min(things.len()),
            }
        }
        Ok(things)
    }
}
