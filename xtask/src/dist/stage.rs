//! Puts together what is shipped, in a folder of the build tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use softdpu_sdk::{ARCHIVE, Layout, Sources, assemble};

use super::{place, remove};
use crate::{completions, licences, man, root, sbom};

/// What an installation is made from.
#[derive(Debug)]
pub(crate) struct Build {
    /// Cargo's output folder.
    pub(crate) profile: PathBuf,
    /// Leave debug information out?
    pub(crate) strip: bool,
}

/// Files of the source tree that are installed as they are: from, to (a folder below the prefix).
const EXTRA: [(&str, &str); 6] = [
    ("LICENSE-MIT", "share/doc/softdpu"),
    ("LICENSE-APACHE", "share/doc/softdpu"),
    ("README.md", "share/doc/softdpu"),
    ("CHANGELOG.md", "share/doc/softdpu"),
    ("SECURITY.md", "share/doc/softdpu"),
    ("MATRIX.md", "share/doc/softdpu"),
];

/// Where a system looks for completions of zsh; the other shells agree with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZshFolder {
    /// Where zsh's own installation looks.
    Site,
    /// Where Debian's zsh looks for files of packages.
    Vendor,
}

impl ZshFolder {
    fn path(self) -> &'static str {
        match self {
            ZshFolder::Site => "share/zsh/site-functions/_softdpu",
            ZshFolder::Vendor => "share/zsh/vendor-completions/_softdpu",
        }
    }
}

/// Everything below `staged`, which is made afresh, as it will lie below `prefix`.
pub(crate) fn stage(
    build: &Build,
    staged: &Path,
    prefix: &Path,
    layout: &Layout,
    zsh: ZshFolder,
) -> Result<(), String> {
    remove(staged)?;
    let source = root::root();
    let sources = Sources { archive: build.profile.join(ARCHIVE), headers: source.join("crates/doca") };
    assemble(&sources, staged, prefix, layout).map_err(|e| e.to_string())?;
    let command = build.profile.join("softdpu");
    place(&command, &staged.join("bin/softdpu"))?;
    for (from, to) in EXTRA {
        let (from, to) = (source.join(from), staged.join(to));
        if let (true, Some(name)) = (from.is_file(), from.file_name()) {
            place(&from, &to.join(name))?;
        }
    }
    for path in root::files("docs", |p| root::has_extension(p, "md")) {
        place(&source.join(&path), &staged.join("share/doc/softdpu").join(&path))?;
    }
    man::write(&staged.join("share/man"))?;
    let commands = completions::commands(&command)?;
    let generated = [
        ("share/bash-completion/completions/softdpu", completions::bash(&commands)),
        (zsh.path(), completions::zsh(&commands)),
        ("share/fish/vendor_completions.d/softdpu.fish", completions::fish(&commands)),
        ("share/doc/softdpu/THIRD-PARTY.txt", licences::notices()?),
        ("share/doc/softdpu/sbom.cdx.json", sbom::document()?),
    ];
    for (path, text) in generated {
        write(&staged.join(path), text.as_bytes())?;
    }
    if build.strip {
        strip(staged, layout)?;
    }
    Ok(())
}

/// Writes a file and the folders to it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let written = fs::create_dir_all(path.parent().unwrap_or(path)).and_then(|()| fs::write(path, bytes));
    written.map_err(|e| format!("{}: {e}", path.display()))
}

/// Takes debug information out of everything that has some.
fn strip(staged: &Path, layout: &Layout) -> Result<(), String> {
    let lib = staged.join(layout.lib);
    let mut whole = vec![staged.join("bin/softdpu")];
    let mut archives = Vec::new();
    for entry in fs::read_dir(&lib).map_err(|e| format!("{}: {e}", lib.display()))?.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type().is_ok_and(|t| t.is_file()) {
            continue;
        } else if name == "libsoftdpu.a" {
            archives.push(path);
        } else if name.contains(".so") {
            whole.push(path);
        }
    }
    run_strip("--strip-unneeded", &whole)?;
    run_strip("--strip-debug", &archives)
}

fn run_strip(what: &str, files: &[PathBuf]) -> Result<(), String> {
    let done = Command::new("strip").args(["--enable-deterministic-archives", what]).args(files).output();
    let done = done.map_err(|e| format!("cannot run strip (install binutils): {e}"))?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}
