//! Licences and sources of what the project is built from, and the notices that go with what is shipped.
//!
//! `xtask/licences.toml` lists the licences that fit MIT OR Apache-2.0, the sources packages may come from, and the
//! libraries of other languages that packages carry inside. The check fails for anything that is not listed.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::metadata::{self, Package};
use crate::{Findings, Outcome, conclude, root};

const SETTINGS: &str = "xtask/licences.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// SPDX identifiers.
    licences: Vec<String>,
    sources: Vec<String>,
    carried: Vec<Carried>,
}

/// A library that a package carries as source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Carried {
    /// The package.
    pub(crate) package: String,
    pub(crate) name: String,
    /// SPDX expression.
    pub(crate) licence: String,
}

/// The libraries of other languages inside packages.
pub(crate) fn carried() -> Result<Vec<Carried>, String> {
    Ok(load()?.carried)
}

fn load() -> Result<Settings, String> {
    toml::from_str(&root::read(SETTINGS)?).map_err(|e| format!("{SETTINGS}: {e}"))
}

/// Checks every package of the build, those of tests and house tasks included.
pub(crate) fn run() -> Outcome {
    let settings = load().map_err(|e| vec![e])?;
    let all = metadata::packages().map_err(|e| vec![e])?;
    let mut findings = Findings::new();
    for package in all.values() {
        findings.extend(judge(package, &settings));
    }
    for carried in &settings.carried {
        if !all.values().any(|p| p.name == carried.package) {
            findings.push(format!("{SETTINGS}: nothing needs {} any more", carried.package));
        }
        if !satisfied(&carried.licence, &settings.licences) {
            findings.push(format!("{SETTINGS}: {}: licence {:?}", carried.name, carried.licence));
        }
    }
    conclude(findings, format!("{} packages have listed licences and sources", all.len()))
}

fn judge(package: &Package, settings: &Settings) -> Findings {
    let Package { name, version, licence, source, .. } = package;
    let mut findings = Findings::new();
    if licence.is_empty() {
        findings.push(format!("{name} {version}: the manifest names no licence"));
    } else if !satisfied(licence, &settings.licences) {
        findings.push(format!("{name} {version}: licence {licence:?} is not listed in {SETTINGS}"));
    }
    match source {
        Some(source) if !settings.sources.contains(source) => {
            findings.push(format!("{name} {version}: comes from {source}, which {SETTINGS} does not list"));
        }
        Some(_) if package.checksum.is_none() => {
            findings.push(format!("{name} {version}: Cargo.lock has no checksum"));
        }
        _ => {}
    }
    findings
}

/// Does an SPDX expression hold with the listed licences alone? `A/B` is an old way to write `A OR B`.
fn satisfied(expression: &str, listed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    either(&words, &mut at, listed) == Some(true) && at == words.len()
}

/// `None`: not an expression.
fn either(words: &[&str], at: &mut usize, listed: &[String]) -> Option<bool> {
    let mut holds = both(words, at, listed)?;
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        holds |= both(words, at, listed)?;
    }
    Some(holds)
}

fn both(words: &[&str], at: &mut usize, listed: &[String]) -> Option<bool> {
    let mut holds = one(words, at, listed)?;
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        holds &= one(words, at, listed)?;
    }
    Some(holds)
}

fn one(words: &[&str], at: &mut usize, listed: &[String]) -> Option<bool> {
    let word = *words.get(*at)?;
    *at += 1;
    if word == "(" {
        let holds = either(words, at, listed)?;
        let closed = *words.get(*at)? == ")";
        *at += 1;
        return closed.then_some(holds);
    }
    let mut licence = word.to_owned();
    if words.get(*at) == Some(&"WITH") {
        licence = format!("{licence} WITH {}", words.get(*at + 1)?);
        *at += 2;
    }
    Some(listed.contains(&licence))
}

/// The notices that the licences of foreign code want shipped along.
pub(crate) fn notices() -> Result<String, String> {
    let all = metadata::packages()?;
    let carried = carried()?;
    let mut text = String::from("Code of others that the binaries of SoftDPU contain, with its licences.\n");
    for package in metadata::below(&all, &metadata::SHIPPED)?.into_iter().filter(|p| p.source.is_some()) {
        let Package { name, version, licence, .. } = package;
        let _ = write!(text, "\n{}\n{name} {version}: {licence}\n", "=".repeat(100));
        for library in carried.iter().filter(|c| c.package == *name) {
            let _ = writeln!(text, "contains {}: {}", library.name, library.licence);
        }
        for (file, content) in licence_files(&package.folder)? {
            let _ = write!(text, "\n-- {file}\n\n{}\n", content.trim_end());
        }
    }
    Ok(text)
}

/// The licence files at the top of a package, and those of what it carries one or two folders below, by name.
fn licence_files(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((inside, depth)) = open.pop() {
        let entries = fs::read_dir(&inside).map_err(|e| format!("{}: {e}", inside.display()))?;
        for path in entries.flatten().map(|e| e.path()) {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_uppercase();
            if path.is_dir() && depth < 2 && !name.starts_with('.') {
                open.push((path, depth + 1));
                continue;
            }
            let wanted = ["LICENSE", "LICENCE", "COPYING", "NOTICE"].iter().any(|w| name.starts_with(w));
            if wanted && path.is_file() {
                let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
                let relative = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                found.push((relative, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_understood() {
        let listed: Vec<String> =
            ["MIT", "ISC", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].map(String::from).into();
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "MIT AND ISC",
            "ISC AND (Apache-2.0 OR ISC) AND (GPL-2.0 OR MIT)",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(satisfied(good, &listed), "{good}");
        }
        for bad in
            ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT)", "MIT MIT", "MIT OR", "MIT WITH", "ISC AND"]
        {
            assert!(!satisfied(bad, &listed), "{bad}");
        }
    }

    #[test]
    fn every_package_is_listed() {
        if let Err(findings) = run() {
            panic!("{}", findings.join("\n"));
        }
    }

    #[test]
    fn notices_have_the_texts() {
        let text = notices().unwrap();
        for wanted in ["lexopt", "aws-lc-sys", "libdeflate", "Permission is hereby granted"] {
            assert!(text.contains(wanted), "{wanted}");
        }
    }
}
