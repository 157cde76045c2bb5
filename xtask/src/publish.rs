//! `cargo xtask package`: are the packages that others use ready to be published?
//!
//! Each must say what it is and carry its licences, and none may need a package that stays here. Then Cargo makes the
//! package files, which finds files outside of a package, missing versions and names that nobody could resolve.

use std::env;
use std::fs;
use std::process::Command;

use crate::metadata::{self, Package, Packages};
use crate::{Findings, Outcome, conclude, dist, root};

/// Files that each package carries.
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// The whole of it. `--verify` has Cargo build each package from its file, too, which takes long.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let verify = match arguments {
        [] => false,
        [flag] if flag == "--verify" => true,
        _ => return Err(vec!["usage: cargo xtask package [--verify]".into()]),
    };
    let all = metadata::packages().map_err(|e| vec![e])?;
    let findings = look(&all);
    if !findings.is_empty() {
        return Err(findings);
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["package", "--workspace", "--allow-dirty", "--offline", "--quiet"]).current_dir(root::root());
    for package in ours(&all).filter(|p| !p.is_public) {
        cargo.args(["--exclude", &package.name]);
    }
    if !verify {
        cargo.arg("--no-verify");
    }
    let target = dist::target_tree().map_err(|e| vec![e])?;
    let done = cargo.arg("--target-dir").arg(target).output();
    let done = done.map_err(|e| vec![format!("cannot run cargo: {e}")])?;
    let said = String::from_utf8_lossy(&done.stderr);
    let count = ours(&all).filter(|p| p.is_public).count();
    let failed =
        if done.status.success() { vec![] } else { vec![format!("cargo package:\n{}", said.trim())] };
    conclude(failed, format!("{count} packages can be published"))
}

fn ours(all: &Packages) -> impl Iterator<Item = &Package> {
    all.values().filter(|p| p.source.is_none())
}

/// What is missing, and who needs what stays here.
fn look(all: &Packages) -> Findings {
    let mut findings = Findings::new();
    for package in ours(all).filter(|p| p.is_public) {
        let name = &package.name;
        if package.description.is_empty() {
            findings.push(format!("{name}: no description"));
        }
        for licence in LICENCES.iter().filter(|file| !package.folder.join(file).is_file()) {
            findings.push(format!("{name}: no {licence}; link it to the one at the top"));
        }
        let script = fs::read_to_string(package.folder.join("build.rs")).unwrap_or_default();
        if script.contains("../") {
            findings.push(format!("{name}: its build script leaves the package; link what it needs"));
        }
        let private = package.needs.iter().filter_map(|id| all.get(id)).filter(|p| !p.is_public);
        findings.extend(private.map(|p| format!("{name}: needs {}, which is not published", p.name)));
    }
    for shipped in metadata::SHIPPED {
        if !ours(all).any(|p| p.name == shipped && p.is_public) {
            findings.push(format!("{shipped} is shipped, but not to be published"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_packages_have_what_they_need() {
        let all = metadata::packages().unwrap();
        assert_eq!(look(&all), Findings::new());
        assert!(ours(&all).any(|p| p.name == "xtask" && !p.is_public));
    }

    #[test]
    fn what_is_missing_is_found() {
        let mut all = metadata::packages().unwrap();
        for package in all.values_mut() {
            match package.name.as_str() {
                "softdpu-status" => package.is_public = false,
                "softdpu-link" => package.description.clear(),
                "softdpu-card" => package.folder = "/no/such/folder".into(),
                _ => {}
            }
        }
        let findings = look(&all).join("\n");
        for wanted in [
            "softdpu-memory: needs softdpu-status, which is not published",
            "softdpu-link: no description",
            "softdpu-card: no LICENSE-MIT",
        ] {
            assert!(findings.contains(wanted), "{wanted}: {findings}");
        }
    }
}
