//! The kit of a command that was installed alone, by `cargo install`.
//!
//! Cargo installs programs, not libraries. So such a command builds its library once, from the sources that it was built
//! from itself (the folder, or Cargo's checkout of a repository), and keeps it in the user's data folder:
//!
//! ```text
//! $XDG_DATA_HOME/softdpu/<version>/     ~/.local/share without the variable
//!     libsoftdpu_c.a, ...               what Cargo built
//!     softdpu-sdk                       the kit, as in a build tree
//!     built-for                         which command that was for
//! ```
//!
//! A command that is installed anew, from newer sources, builds anew.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::error::{Context, KitError};
use crate::kit::Kit;
use crate::workspace::build_archive;
use crate::{ARCHIVE, CHECK_ARCHIVE, RECORD_ARCHIVE};

const STAMP: &str = "built-for";

/// Is this the output folder of a build, rather than a place where programs are installed?
pub(crate) fn is_build_tree(folder: &Path) -> bool {
    folder.join("deps").is_dir() || folder.join(ARCHIVE).is_file()
}

/// The kit of an executable that was installed alone; built when there is none yet.
pub(crate) fn kit(executable: &Path) -> Result<Kit, KitError> {
    let folder = data_folder()?.join("softdpu").join(env!("CARGO_PKG_VERSION"));
    fs::create_dir_all(&folder).at("create", &folder)?;
    let lock_path = folder.join(".lock");
    let lock = File::create(&lock_path).at("create", &lock_path)?;
    lock.lock().at("lock", &lock_path)?;
    let (stamp, wanted) = (folder.join(STAMP), identity(executable)?);
    let fits = fs::read_to_string(&stamp).is_ok_and(|found| found == wanted);
    if !fits {
        build(&folder)?;
    } else if let Some(kit) = Kit::made_before(&folder) {
        // The sources need not be there any more.
        return Ok(kit);
    }
    let kit = Kit::of_build(&folder)?;
    fs::write(&stamp, wanted).at("write", &stamp)?;
    Ok(kit)
}

fn data_folder() -> Result<PathBuf, KitError> {
    let set = |name| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let given = set("XDG_DATA_HOME").filter(|p| p.is_absolute());
    let found = given.or_else(|| Some(set("HOME")?.join(".local/share")));
    found.ok_or(KitError::NoHome)
}

/// Which file that is: place, length and time.
fn identity(executable: &Path) -> Result<String, KitError> {
    let about = fs::metadata(executable).at("look at", executable)?;
    let time = about.modified().at("look at", executable)?;
    let time = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    Ok(format!("{} {} {time}\n", executable.display(), about.len()))
}

/// Has Cargo build the static libraries, and puts them into `folder`.
fn build(folder: &Path) -> Result<(), KitError> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../doca/Cargo.toml");
    if !sources.is_file() {
        return Err(KitError::NoSources { looked_at: sources });
    }
    log::warn!(target: "softdpu::sdk", "building the C library for this installation, once; it takes some minutes");
    // Who set a folder for builds wants it used, and kept.
    let shared = env::var_os("CARGO_TARGET_DIR").filter(|v| !v.is_empty()).map(PathBuf::from);
    let own = folder.join("build");
    let target = shared.clone().unwrap_or_else(|| own.clone());
    let target = std::path::absolute(&target).at("resolve", &target)?;
    let profile = target.join(if cfg!(debug_assertions) { "debug" } else { "release" });
    build_archive(&profile)?;
    for name in [ARCHIVE, CHECK_ARCHIVE, RECORD_ARCHIVE] {
        let (from, to) = (profile.join(name), folder.join(name));
        fs::copy(&from, &to).at("copy", &from)?;
    }
    if shared.is_none() {
        fs::remove_dir_all(&own).at("remove", &own)?;
    }
    Ok(())
}
