//! What `run` and `explore` say about failures and schedules: `--faults`, `--seed`, `--only`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use softdpu_faults::plan::Plan;
use softdpu_faults::schedule::Only;
use softdpu_faults::start;

use crate::message::Failure;

/// The options, read and found good.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultOptions {
    /// The plan and its file.
    pub(crate) plan: Option<(PathBuf, Plan)>,
    pub(crate) seed: Option<u64>,
    pub(crate) only: Option<Only>,
}

impl FaultOptions {
    /// Long options that take a value and belong here.
    pub(crate) const NAMES: [&str; 3] = ["faults", "seed", "only"];

    /// Takes one of [`Self::NAMES`].
    pub(crate) fn set(&mut self, name: &str, value: OsString) -> Result<(), Failure> {
        let text = value.to_string_lossy();
        match name {
            "faults" => {
                let plan = Plan::read(Path::new(&value)).map_err(|e| Failure::usage(e.to_string()))?;
                // The program may change its folder before it reads it.
                let path = std::path::absolute(&value);
                let path = path.map_err(|e| Failure::usage(format!("--faults {text}: {e}")))?;
                self.plan = Some((path, plan));
            }
            "seed" => {
                let seed = text
                    .parse()
                    .map_err(|_| Failure::usage(format!("--seed {text}: not a number from 0 on")))?;
                self.seed = Some(seed);
            }
            _ => {
                let only = text.parse().map_err(|e| Failure::usage(format!("--only: {e}")))?;
                self.only = Some(only);
            }
        }
        Ok(())
    }

    /// The variables that tell a program the same.
    ///
    /// # Errors
    /// Options that go together came alone.
    pub(crate) fn environment(&self) -> Result<Vec<(&'static str, OsString)>, Failure> {
        if self.only.is_some() && self.seed.is_none() {
            return Err(Failure::usage("--only says which part of the schedule of a --seed is wanted"));
        }
        let mut all: Vec<(&'static str, OsString)> = Vec::new();
        all.extend(self.seed.map(|seed| (start::SEED, seed.to_string().into())));
        all.extend(self.only.as_ref().map(|only| (start::ONLY, only.to_string().into())));
        if let Some((path, plan)) = &self.plan {
            all.push((start::FAULTS, path.into()));
            // Whoever asks for faults wants to see where they came.
            if std::env::var_os("SOFTDPU_LOG").is_none() {
                all.push(("SOFTDPU_LOG", "warning".into()));
            }
            if let Some(bytes) = plan.memlock {
                all.push(("SOFTDPU_MEMLOCK", bytes.to_string().into()));
            }
        }
        Ok(all)
    }
}
