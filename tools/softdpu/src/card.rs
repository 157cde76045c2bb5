//! The card as command-line options: `--side`, `--profile`, `--config`, `--strict`. An option beats the
//! environment variable of the same name; what neither names has its default.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use softdpu_card::{Machine, Profile, Reach, View};

use crate::message::Failure;

/// What the command line says about the card.
#[derive(Debug, Default)]
pub(crate) struct CardOptions {
    side: Option<View>,
    profile: Option<Profile>,
    config: Option<PathBuf>,
    strict: bool,
}

/// The part of a help text that describes these options.
// Not continued with a backslash, which would take the blanks of the first line.
pub(crate) const CARD_HELP: &str = "  --side dpu|host|both        the functions to see (default both)
  --profile all|bf2|bf3|cx7   the card to imitate (default all)
  --config FILE               a topology file
";

impl CardOptions {
    /// Long options that take a value and belong here.
    pub(crate) const NAMES: [&str; 3] = ["side", "profile", "config"];

    /// Takes one of [`Self::NAMES`].
    pub(crate) fn set(&mut self, name: &str, value: OsString) -> Result<(), Failure> {
        match name {
            "side" => self.side = Some(parsed(&value)?),
            "profile" => self.profile = Some(parsed(&value)?),
            _ => {
                // Absolute: the program may change its folder before it asks for a device.
                let path = std::path::absolute(&value);
                self.config =
                    Some(path.map_err(|e| Failure::usage(format!("--config {}: {e}", value.display())))?);
            }
        }
        Ok(())
    }

    /// `--strict`.
    pub(crate) fn set_strict(&mut self) {
        self.strict = true;
    }

    /// The variables that tell a program the same.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = Vec::new();
        variables.extend(self.side.map(|side| ("SOFTDPU_SIDE", side.name().into())));
        variables.extend(self.profile.map(|profile| ("SOFTDPU_PROFILE", profile.name().into())));
        variables.extend(self.config.as_ref().map(|path| ("SOFTDPU_CONFIG", path.into())));
        variables.extend(self.strict.then(|| ("SOFTDPU_STRICT", "1".into())));
        variables
    }

    /// The machine that a program started with these options and this environment sees. A refused option or
    /// file is wrong use; so is a refused variable.
    pub(crate) fn machine(&self) -> Result<Machine, Failure> {
        self.build(None, None)
    }

    /// The same, seen from this side.
    pub(crate) fn seen_from(&self, view: View) -> Result<Machine, Failure> {
        self.build(Some(view), None)
    }

    /// The same, with memory of other processes reached in this way alone.
    pub(crate) fn machine_reaching(&self, reach: Reach) -> Result<Machine, Failure> {
        self.build(None, Some(reach))
    }

    fn build(&self, view: Option<View>, reach: Option<Reach>) -> Result<Machine, Failure> {
        let mut builder = Machine::builder().ports_from_env();
        if let Some(path) = self.config.clone().or_else(|| variable("SOFTDPU_CONFIG").map(PathBuf::from)) {
            builder = builder.config_file(path);
        }
        if let Some(profile) = either(self.profile, "SOFTDPU_PROFILE")? {
            builder = builder.profile(profile);
        }
        if let Some(view) = either(view.or(self.side), "SOFTDPU_SIDE")? {
            builder = builder.view(view);
        }
        if let Some(reach) = either(reach, "SOFTDPU_REACH")? {
            builder = builder.reach(reach);
        }
        match variable("SOFTDPU_STRICT").as_ref().map(|value| value.to_string_lossy()).as_deref() {
            _ if self.strict => builder = builder.strict(true),
            None => {}
            Some("1") => builder = builder.strict(true),
            Some("0") => builder = builder.strict(false),
            Some(other) => return Err(Failure::usage(format!("SOFTDPU_STRICT: '{other}'; allowed: 0, 1"))),
        }
        builder.build().map_err(|e| Failure::usage(e.to_string()))
    }
}

/// An empty variable counts as not set.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn either<T: FromStr<Err = String>>(option: Option<T>, name: &str) -> Result<Option<T>, Failure> {
    match (option, variable(name)) {
        (Some(option), _) => Ok(Some(option)),
        (None, Some(value)) => {
            let value = value.to_string_lossy();
            value.parse().map(Some).map_err(|e| Failure::usage(format!("{name}: {e}")))
        }
        (None, None) => Ok(None),
    }
}

fn parsed<T: FromStr<Err = String>>(value: &OsString) -> Result<T, Failure> {
    value.to_string_lossy().parse().map_err(Failure::usage)
}
