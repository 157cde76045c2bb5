//! A machine: the cards that a process sees, and where they come from.

use crate::build;
use crate::config;
use crate::error::ConfigError;
use crate::function::{Function, Side};
use crate::port::Backend;
use crate::profile::Profile;
use crate::reach::Reach;
use crate::topology::{self, Plan};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// Variable that names the topology file.
const CONFIG: &str = "SOFTDPU_CONFIG";
/// Variable that names the profile of every card.
const PROFILE: &str = "SOFTDPU_PROFILE";
/// Variable that chooses the side.
const SIDE: &str = "SOFTDPU_SIDE";
/// Variable that switches strict mode on or off.
const STRICT: &str = "SOFTDPU_STRICT";
/// Variables that say what is behind a port, each followed by the name of its interface.
const PORT: &str = "SOFTDPU_PORT_";
/// Variable that demands a reach.
const REACH: &str = "SOFTDPU_REACH";

/// Largest topology file that is read; a larger one is refused.
const MAX_FILE: u64 = 1 << 20;

/// Settings that hold for every card of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Settings {
    /// Imitate the limits of a real card and kernel: the locked-memory limit at registration, page alignment
    /// in the primer.
    pub strict: bool,
    /// Strict mode: the locked-memory limit in bytes; without it that of the process.
    pub memlock: Option<u64>,
    /// Map POSIX shared memory of a peer of the same user directly instead of copying through the kernel.
    pub trust_shm: bool,
    /// Reach memory of other processes in this way or not at all; without it the best one there is.
    pub reach: Option<Reach>,
    /// Fabric provider that RDMA between machines asks for, e.g. `tcp;ofi_rxm`; without it the default.
    pub fabric_provider: Option<String>,
}

/// Which functions of its machine a process sees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum View {
    /// Card and host functions.
    #[default]
    Both,
    /// Card functions only, as a program on the card would.
    Dpu,
    /// Host functions only.
    Host,
}

impl View {
    /// `both`, `dpu` or `host`.
    pub const fn name(self) -> &'static str {
        match self {
            View::Both => "both",
            View::Dpu => "dpu",
            View::Host => "host",
        }
    }

    /// Whether functions of this side are seen.
    pub const fn shows(self, side: Side) -> bool {
        matches!((self, side), (View::Both, _) | (View::Dpu, Side::Dpu) | (View::Host, Side::Host))
    }
}

impl FromStr for View {
    type Err = String;

    fn from_str(text: &str) -> Result<View, String> {
        [View::Both, View::Dpu, View::Host]
            .into_iter()
            .find(|view| view.name() == text)
            .ok_or_else(|| format!("unknown side `{text}`; allowed: dpu, host, both"))
    }
}

/// The cards that this process sees. Immutable, so it may be shared by any number of threads.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) settings: Arc<Settings>,
    pub(crate) view: View,
    pub(crate) visible: Vec<Arc<Function>>,
    pub(crate) hidden: Vec<Arc<Function>>,
}

impl Machine {
    /// The machine that the environment describes.
    ///
    /// `SOFTDPU_CONFIG` names a topology file, without it there is one card with the default functions;
    /// `SOFTDPU_PROFILE` (`all`, `bf2`, `bf3`, `cx7`) is the profile of every card and beats the file;
    /// `SOFTDPU_SIDE` (`dpu`, `host`, `both`) chooses what is seen; `SOFTDPU_STRICT` (`0`, `1`) beats the
    /// file's `strict`; `SOFTDPU_REACH` (`mapped`, `kernel`, `worker`) beats its `reach`. A variable that is empty
    /// counts as not set. `SOFTDPU_PORT_p0`, and so on for every interface, is the backend of that port, e.g.
    /// `tap:sd0`, and beats the file.
    pub fn from_env() -> Result<Machine, ConfigError> {
        Machine::from_variables(|name| std::env::var_os(name))
    }

    /// The same with another source of variables.
    pub(crate) fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Result<Machine, ConfigError> {
        let text = |name: &'static str| -> Result<Option<String>, ConfigError> {
            let Some(value) = get(name).filter(|value| !value.is_empty()) else { return Ok(None) };
            let value = value.into_string();
            value.map(Some).map_err(|_| ConfigError::new("the value is not UTF-8").with_variable(name))
        };
        let mut builder = Machine::builder();
        if let Some(path) = get(CONFIG).filter(|value| !value.is_empty()) {
            builder = builder.config_file(PathBuf::from(path));
        }
        if let Some(profile) = text(PROFILE)? {
            let profile =
                profile.parse().map_err(|cause: String| ConfigError::new(cause).with_variable(PROFILE))?;
            builder = builder.profile(profile);
        }
        if let Some(side) = text(SIDE)? {
            let view = side.parse().map_err(|cause: String| ConfigError::new(cause).with_variable(SIDE))?;
            builder = builder.view(view);
        }
        if let Some(strict) = text(STRICT)? {
            builder = builder.strict(match strict.as_str() {
                "1" => true,
                "0" => false,
                _ => {
                    let cause = format!("`{strict}` is not a switch; allowed: 0, 1");
                    return Err(ConfigError::new(cause).with_variable(STRICT));
                }
            });
        }
        if let Some(reach) = text(REACH)? {
            let reach =
                reach.parse().map_err(|cause: String| ConfigError::new(cause).with_variable(REACH))?;
            builder = builder.reach(reach);
        }
        let build = |builder: MachineBuilder| builder.build_with(|iface| text_of_port(&get, iface));
        build(builder).map_err(|error| match (error.variable(), error.file()) {
            // What a file says wrong came in through the variable that named the file.
            (None, Some(_)) => error.with_variable(CONFIG),
            _ => error,
        })
    }

    /// A machine put together by the program instead of the environment.
    pub fn builder() -> MachineBuilder {
        MachineBuilder::default()
    }

    /// The functions this process sees, in the order of the table or file.
    pub fn functions(&self) -> &[Arc<Function>] {
        &self.visible
    }

    /// The functions of the same cards that this process does not see because of its side.
    pub fn hidden_functions(&self) -> &[Arc<Function>] {
        &self.hidden
    }

    /// Which side is seen.
    pub fn view(&self) -> View {
        self.view
    }

    /// Settings that hold for all cards.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// Where the cards are described.
#[derive(Clone, Debug, Default)]
enum Source {
    #[default]
    Default,
    File(PathBuf),
    Text(String),
}

/// Describes a machine; see [`Machine::builder`].
#[derive(Clone, Debug, Default)]
pub struct MachineBuilder {
    source: Source,
    profile: Option<Profile>,
    view: View,
    strict: Option<bool>,
    reach: Option<Reach>,
    ports_from_env: bool,
    pub(crate) is_real: bool,
}

impl MachineBuilder {
    /// Takes the cards from a topology file.
    #[must_use]
    pub fn config_file(self, path: impl Into<PathBuf>) -> MachineBuilder {
        MachineBuilder { source: Source::File(path.into()), ..self }
    }

    /// Takes the cards from the text of a topology file.
    #[must_use]
    pub fn config_text(self, text: impl Into<String>) -> MachineBuilder {
        MachineBuilder { source: Source::Text(text.into()), ..self }
    }

    /// Gives every card this profile, whatever the file says.
    #[must_use]
    pub fn profile(self, profile: Profile) -> MachineBuilder {
        MachineBuilder { profile: Some(profile), ..self }
    }

    /// Chooses the side that is seen; without it both.
    #[must_use]
    pub fn view(self, view: View) -> MachineBuilder {
        MachineBuilder { view, ..self }
    }

    /// Switches strict mode on or off, whatever the file says.
    #[must_use]
    pub fn strict(self, strict: bool) -> MachineBuilder {
        MachineBuilder { strict: Some(strict), ..self }
    }

    /// Demands a way to reach memory of other processes, whatever the file says.
    #[must_use]
    pub fn reach(self, reach: Reach) -> MachineBuilder {
        MachineBuilder { reach: Some(reach), ..self }
    }

    /// Has `SOFTDPU_PORT_p0` and so on say what is behind ports, as [`Machine::from_env`] does.
    #[must_use]
    pub fn ports_from_env(self) -> MachineBuilder {
        MachineBuilder { ports_from_env: true, ..self }
    }

    /// Builds the machine.
    ///
    /// # Errors
    /// [`ConfigError`] when a file cannot be read or its content is refused.
    pub fn build(self) -> Result<Machine, ConfigError> {
        let asks = self.ports_from_env;
        self.build_with(
            |iface| if asks { text_of_port(|name| std::env::var_os(name), iface) } else { Ok(None) },
        )
    }

    /// The same; `port` tells the backend of a port by the name of its interface, where it beats the rest.
    fn build_with(
        self,
        port: impl Fn(&str) -> Result<Option<Backend>, ConfigError>,
    ) -> Result<Machine, ConfigError> {
        let mut plan = self.plan()?;
        for function in plan.cards.iter_mut().flat_map(|card| &mut card.functions) {
            if let Some(backend) = port(&function.iface)? {
                function.backend = backend;
            }
        }
        if let Some(strict) = self.strict {
            plan.settings.strict = strict;
        }
        plan.settings.reach = self.reach.or(plan.settings.reach);
        let machine = build::machine(plan, self.view, self.is_real);
        if machine.visible.is_empty() {
            log::warn!(
                target: "softdpu::card",
                "no device is visible with side `{}`: {} functions are on the other side",
                self.view.name(),
                machine.hidden.len()
            );
        }
        Ok(machine)
    }

    fn plan(&self) -> Result<Plan, ConfigError> {
        match &self.source {
            Source::Default => Ok(topology::default_plan(self.profile.unwrap_or_default())),
            Source::Text(text) => config::read(text, self.profile),
            Source::File(path) => {
                let name = path.display().to_string();
                let text = read_file(path).map_err(|cause| ConfigError::new(cause).in_file(&name))?;
                config::read(&text, self.profile).map_err(|error| error.in_file(&name))
            }
        }
    }
}

/// What a variable says about the port of an interface.
fn text_of_port(get: impl Fn(&str) -> Option<OsString>, iface: &str) -> Result<Option<Backend>, ConfigError> {
    let name = format!("{PORT}{iface}");
    let Some(value) = get(&name).filter(|value| !value.is_empty()) else { return Ok(None) };
    let value = value.into_string().map_err(|_| "the value is not UTF-8".to_owned());
    value
        .and_then(|value| value.parse())
        .map(Some)
        .map_err(|cause| ConfigError::new(format!("{name}: {cause}")))
}

/// The text of a file of bounded size, or why there is none.
fn read_file(path: &Path) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("cannot read the topology file: {error}");
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("the topology file is larger than {MAX_FILE} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        format!("the topology file is not UTF-8 from byte {} on", error.utf8_error().valid_up_to())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(variables: &[(&str, &str)]) -> Result<Machine, ConfigError> {
        Machine::from_variables(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
    }

    fn text(variables: &[(&str, &str)]) -> String {
        machine(variables).unwrap_err().to_string()
    }

    #[test]
    fn without_variables_there_is_the_default_card() {
        let machine = machine(&[(PROFILE, ""), (CONFIG, ""), (SIDE, "")]).unwrap();
        assert_eq!(machine.functions().len(), 4);
        assert_eq!(machine.functions()[0].card().profile(), Profile::All);
        assert!(!machine.settings().strict);
    }

    #[test]
    fn variables_choose_profile_side_and_strictness() {
        let machine = machine(&[(PROFILE, "bf3"), (SIDE, "host"), (STRICT, "1")]).unwrap();
        assert_eq!((machine.functions().len(), machine.hidden_functions().len()), (2, 2));
        assert!(machine.functions().iter().all(|function| function.side() == Side::Host));
        assert_eq!(machine.functions()[0].card().profile(), Profile::Bf3);
        assert!(machine.settings().strict && machine.functions()[0].settings().strict);
    }

    #[test]
    fn refused_values_name_their_variable_and_the_allowed_ones() {
        assert_eq!(
            text(&[(PROFILE, "bf9")]),
            "SOFTDPU_PROFILE: unknown profile `bf9`; allowed: all, bf2, bf3, cx7"
        );
        assert_eq!(text(&[(SIDE, "arm")]), "SOFTDPU_SIDE: unknown side `arm`; allowed: dpu, host, both");
        assert_eq!(text(&[(STRICT, "yes")]), "SOFTDPU_STRICT: `yes` is not a switch; allowed: 0, 1");
        assert_eq!(
            text(&[(REACH, "local")]),
            "SOFTDPU_REACH: unknown reach `local`; allowed: mapped, kernel, worker"
        );
    }

    #[test]
    fn a_reach_comes_from_the_file_and_the_variable_beats_it() {
        let file = || Machine::builder().config_text("reach = \"kernel\"");
        assert_eq!(file().build().unwrap().settings().reach, Some(Reach::KernelCopy));
        assert_eq!(file().reach(Reach::Worker).build().unwrap().settings().reach, Some(Reach::Worker));
        let by_variable = machine(&[(REACH, "mapped")]).unwrap();
        assert_eq!(by_variable.functions()[0].settings().reach, Some(Reach::Mapped));
        // Another way to the same card: it stays the same card.
        let plain = machine(&[]).unwrap();
        let hash = |m: &Machine| m.functions()[0].card().topology_hash();
        assert_eq!(hash(&plain), hash(&by_variable));
        assert!(Machine::builder().config_text("reach = \"local\"").build().is_err());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_with_its_variable() {
        let missing = text(&[(CONFIG, "/nonexistent/cards.toml")]);
        assert!(missing.starts_with("SOFTDPU_CONFIG: /nonexistent/cards.toml: cannot read"), "{missing}");
        let folder = text(&[(CONFIG, "/")]);
        assert!(folder.starts_with("SOFTDPU_CONFIG: /: cannot read"), "{folder}");
        let endless = text(&[(CONFIG, "/dev/zero")]);
        assert!(endless.contains("larger than"), "{endless}");
    }

    #[test]
    fn values_that_are_not_utf8_are_refused_not_ignored() {
        use std::os::unix::ffi::OsStringExt;
        let odd = |name: &str| (name == PROFILE).then(|| OsString::from_vec(vec![0xff]));
        let error = Machine::from_variables(odd).unwrap_err().to_string();
        assert!(error.starts_with("SOFTDPU_PROFILE: ") && error.contains("UTF-8"), "{error}");
    }
}
