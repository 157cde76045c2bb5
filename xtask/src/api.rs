//! `cargo xtask api`: the Rust interface that is promised, as text files in `contract/rust`.
//!
//! A package that others build on must not change by accident. What it offers is written down item by item; a change shows
//! as a difference of that file, and is then either undone or made on purpose. `--check` compares only.
//!
//! Most of what `softdpu` offers is defined in the packages below it, which promise nothing themselves. Each item stands
//! under the name by which programs know it, wherever it is defined, so that moving it is no change.

mod exports;
mod surface;

use crate::{Findings, Outcome, conclude, dist, metadata, root};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages whose Rust interface is promised.
const PROMISED: [&str; 2] = ["softdpu", "softdpu-card-bridge"];

/// The form of rustdoc's JSON that the reader knows.
const FORMAT: u64 = 57;

/// Where the text of a package lies.
fn text_of(package: &str) -> String {
    format!("contract/rust/{package}.txt")
}

/// Writes the texts, or with `--check` tells what differs.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let only_check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err(vec!["usage: cargo xtask api [--check]".into()]),
    };
    let folder = documents().map_err(|e| vec![e])?;
    if let Some(other) = other_format(&folder).map_err(|e| vec![e])? {
        return Ok(format!("skipped: rustdoc of this toolchain writes format {other}, known is {FORMAT}"));
    }
    let mut findings = Findings::new();
    for package in PROMISED {
        let text = surface::text(&folder, package)?;
        let file = text_of(package);
        if only_check {
            let old = root::read(&file).unwrap_or_default();
            findings.extend(differences(&old, &text).into_iter().map(|line| format!("{file}: {line}")));
        } else {
            let path = root::root().join(&file);
            let placed =
                path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, &text));
            placed.map_err(|e| vec![format!("{file}: {e}")])?;
        }
    }
    if !findings.is_empty() {
        findings
            .push("the interface changed: undo it, or run cargo xtask api and say so in CHANGELOG.md".into());
    }
    conclude(findings, format!("{} interfaces are as written down", PROMISED.len()))
}

/// Lines that went and lines that came.
fn differences(old: &str, new: &str) -> Vec<String> {
    let gone = old.lines().filter(|line| !new.lines().any(|l| l == *line)).map(|line| format!("- {line}"));
    let come = new.lines().filter(|line| !old.lines().any(|l| l == *line)).map(|line| format!("+ {line}"));
    gone.chain(come).collect()
}

/// Has rustdoc describe the packages and everything of ours below them; the folder of the JSON files.
///
/// The form is no stable one, so rustdoc wants to be told that this is known. Only rustdoc is: everything below is built
/// as usual, and shared with other builds of the tree.
fn documents() -> Result<PathBuf, String> {
    let target = dist::target_tree()?;
    let wrapper = target.join("api").join("rustdoc");
    write_wrapper(&wrapper).map_err(|e| format!("{}: {e}", wrapper.display()))?;
    let all = metadata::packages()?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["doc", "--no-deps", "--lib", "--quiet", "--target-dir"]).arg(&target);
    for package in metadata::below(&all, &PROMISED)?.iter().filter(|p| p.source.is_none()) {
        cargo.args(["--package", &package.name]);
    }
    cargo.env("RUSTDOC", &wrapper).env("RUSTDOCFLAGS", "-Z unstable-options --output-format json");
    let done = cargo.current_dir(root::root()).output().map_err(|e| format!("cannot run cargo: {e}"))?;
    if done.status.success() {
        Ok(target.join("doc"))
    } else {
        Err(format!("cargo doc: {}", String::from_utf8_lossy(&done.stderr).trim()))
    }
}

fn write_wrapper(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // In place by a rename: a text file that is still open for writing cannot be run.
    let fresh = path.with_extension(std::process::id().to_string());
    fs::write(&fresh, "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n")?;
    fs::set_permissions(&fresh, fs::Permissions::from_mode(0o755))?;
    fs::rename(&fresh, path)
}

/// The form of the files, if it is not the known one.
fn other_format(folder: &Path) -> Result<Option<u64>, String> {
    let described = exports::load(folder, PROMISED[0])?;
    let format = described.get("format_version").and_then(serde_json::Value::as_u64).unwrap_or_default();
    Ok((format != FORMAT).then_some(format))
}

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn differences_say_what_went_and_came() {
        assert_eq!(differences("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
        assert!(differences("a\n", "a\n").is_empty());
    }
}
