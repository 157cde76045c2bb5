//! Puts a whole kit into a folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::archive::exported_symbols;
use crate::error::{Context, KitError};
use crate::layout::{Layout, Side};
use crate::link;
use crate::pkgconfig;
use crate::{CHECK_ARCHIVE, RECORD_ARCHIVE};

/// What a kit is made from. Both paths are absolute.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The static library.
    pub archive: PathBuf,
    /// The folder that holds `include` and `include-side`.
    pub headers: PathBuf,
}

/// The header that says for which side a program is compiled.
const SIDE_HEADER: &str = "doca_build_config.h";

impl Sources {
    /// The static library of the checker, beside the other one, if it was built.
    pub(crate) fn check(&self) -> Option<PathBuf> {
        Some(self.archive.with_file_name(CHECK_ARCHIVE)).filter(|path| path.is_file())
    }

    /// The static library of the recorder, likewise.
    pub(crate) fn record(&self) -> Option<PathBuf> {
        Some(self.archive.with_file_name(RECORD_ARCHIVE)).filter(|path| path.is_file())
    }

    /// The common headers.
    pub(crate) fn include(&self) -> PathBuf {
        self.headers.join("include")
    }

    /// One folder per side.
    pub(crate) fn include_side(&self) -> PathBuf {
        self.headers.join("include-side")
    }
}

/// Assembles a kit below `root` (created when missing) in the given layout.
///
/// `prefix` is the folder in which the kit will be used in the end; it differs from `root` for staged
/// installations. Existing files are overwritten; callers who need the change to be atomic assemble into a
/// fresh folder and rename it.
///
/// # Errors
/// The static library or the headers are missing or damaged, there is no C compiler, the link fails, or a
/// file cannot be written.
pub fn assemble(sources: &Sources, root: &Path, prefix: &Path, layout: &Layout) -> Result<(), KitError> {
    let symbols = exported_symbols(&sources.archive)?;
    fs::create_dir_all(root).at("create", root)?;
    let root = root.canonicalize().at("resolve", root)?;
    let lib = root.join(layout.lib);
    fs::create_dir_all(&lib).at("create", &lib)?;
    let scratch = root.join(format!(".scratch-{}", std::process::id()));
    fs::create_dir_all(&scratch).at("create", &scratch)?;
    let linked = link::libraries(&sources.archive, &symbols, &lib, &scratch)
        .and_then(|()| before(sources, &lib, &scratch));
    fs::remove_dir_all(&scratch).at("remove", &scratch)?;
    linked?;
    copy_tree(&sources.include(), &root.join(layout.include))?;
    copy_tree(&sources.include_side(), &root.join(layout.include_side))?;
    pkgconfig::write_all(&root, prefix, layout, sided(&root, layout))
}

/// The libraries that are loaded before the program's own, of those that were built.
fn before(sources: &Sources, lib: &Path, scratch: &Path) -> Result<(), KitError> {
    if let Some(archive) = sources.check() {
        link::check_library(&archive, &exported_symbols(&archive)?, lib, scratch)?;
    }
    if let Some(archive) = sources.record() {
        link::record_library(&archive, &exported_symbols(&archive)?, lib, scratch)?;
    }
    Ok(())
}

/// Whether even the host side needs its own include folder.
pub(crate) fn sided(root: &Path, layout: &Layout) -> bool {
    !root.join(layout.include).join(SIDE_HEADER).exists()
        && root.join(layout.include_side).join(Side::Host.name()).exists()
}

/// Copies the files of `from` into `to`, folders included; a missing `from` counts as empty.
fn copy_tree(from: &Path, to: &Path) -> Result<(), KitError> {
    fs::create_dir_all(to).at("create", to)?;
    if !from.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(from).at("list", from)? {
        let entry = entry.at("list", from)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_tree(&source, &target)?;
        } else {
            fs::copy(&source, &target).at("write", &target)?;
        }
    }
    Ok(())
}
