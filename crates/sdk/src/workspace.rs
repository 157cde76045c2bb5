//! For tests and house tasks of this workspace: have Cargo build the library, then take its kit.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::ARCHIVE;
use crate::error::{Context, KitError};
use crate::kit::{Kit, profile_folder};

/// The kit of the profile that the calling test was built with, with an up-to-date library.
///
/// Cargo does not build a static library for the tests of other packages, so this asks for it (once per
/// process; a no-op when it is current).
///
/// # Errors
/// As [`build_archive`] and [`Kit::of_build`].
pub fn kit_for_tests() -> Result<Kit, KitError> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let executable = env::current_exe().at("find", Path::new("the running executable"))?;
    let profile = profile_folder(executable.parent().unwrap_or(Path::new("/")));
    let built = BUILT.get_or_init(|| {
        build_archive(profile).map_err(|error| match error {
            KitError::Build { command } => command,
            other => other.to_string(),
        })
    });
    match built {
        Ok(_) => Kit::of_build(profile),
        Err(command) => Err(KitError::Build { command: command.clone() }),
    }
}

/// Builds the static libraries into a Cargo output folder such as `target/debug`; gives back the path of
/// the one with the C interface.
///
/// # Errors
/// [`KitError::Build`] when Cargo fails (its own messages go to stderr), [`KitError::NoArchive`] when it put
/// the library somewhere else.
pub fn build_archive(profile: &Path) -> Result<PathBuf, KitError> {
    let name = match profile.file_name().and_then(|n| n.to_str()) {
        None | Some("debug") => "dev",
        Some(other) => other,
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args([
        "build",
        "--quiet",
        "--package",
        "softdpu-capi",
        "--package",
        "softdpu-check",
        "--package",
        "softdpu-recorder",
    ]);
    command.args(["--profile", name]);
    if let Some(target) = profile.parent() {
        command.arg("--target-dir").arg(target);
    }
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    // The child's view of the build must be that of the user's shell, not that of the running test.
    for variable in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_MAKEFLAGS", "MAKEFLAGS"] {
        command.env_remove(variable);
    }
    let text = format!("{command:?}");
    if !command.stdin(Stdio::null()).status().is_ok_and(|s| s.success()) {
        return Err(KitError::Build { command: text });
    }
    let archive = profile.join(ARCHIVE);
    if archive.is_file() { Ok(archive) } else { Err(KitError::NoArchive { path: archive, build: text }) }
}
