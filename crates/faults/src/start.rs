//! Installs what the environment asks for: `SOFTDPU_SEED`, `SOFTDPU_SEED_ONLY` and `SOFTDPU_FAULTS`, which `softdpu run`
//! sets from its options.

use crate::inject::Faults;
use crate::plan::Plan;
use crate::schedule::{Only, Schedule};
use softdpu_room::instrument;
use std::env;
use std::path::Path;
use std::sync::{Arc, Once};

/// The seed of the schedule.
pub const SEED: &str = "SOFTDPU_SEED";
/// The part of the schedule that is wanted.
pub const ONLY: &str = "SOFTDPU_SEED_ONLY";
/// The plan's file.
pub const FAULTS: &str = "SOFTDPU_FAULTS";
/// The file for what was done.
pub const RECORD: &str = crate::record::VARIABLE;

/// Installs a schedule and a plan, for contexts that start from now on. Schedules belong on a board without workers.
pub fn install(seed: Option<(u64, Option<Only>)>, plan: Option<Plan>) {
    let number = seed.as_ref().map(|seed| seed.0);
    if let Some((seed, only)) = seed {
        instrument::decide(Arc::new(Schedule::new(seed, only)));
    }
    if let Some(plan) = plan {
        instrument::decide(Arc::new(Faults::new(plan, number)));
    }
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Does the environment ask for a seed, and so for a board without workers?
pub fn is_seeded() -> bool {
    variable(SEED).is_some()
}

/// Installs what the environment asks for, once in a process. What cannot be read is told in the log and left out: `softdpu
/// run` has looked at it before.
pub fn from_environment() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let text = |name| variable(name).map(|value| value.to_string_lossy().into_owned());
        let complain = |name: &str, cause: String| {
            log::error!(target: "softdpu::fault", "{name}: {cause}; left out");
        };
        let only = text(ONLY).and_then(|v| v.parse().map_err(|e| complain(ONLY, e)).ok());
        let seed = text(SEED)
            .and_then(|v| v.parse().map_err(|_| complain(SEED, format!("'{v}' is no number"))).ok());
        let plan = variable(FAULTS)
            .and_then(|path| Plan::read(Path::new(&path)).map_err(|e| complain(FAULTS, e.to_string())).ok());
        install(seed.map(|seed| (seed, only)), plan);
    });
}
