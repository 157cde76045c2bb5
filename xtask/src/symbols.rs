//! Compares the symbols of a library with the contract: everything is there, nothing else of that name.

use crate::table::{self, Function};
use crate::{Findings, Outcome, conclude};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Checks one library. A static library holds internal symbols besides, so there only those with the names of
/// the C face count; a shared library must export nothing else at all.
pub(crate) fn run(library: &Path) -> Outcome {
    let table = table::load().map_err(|e| vec![e])?;
    let shared = library.extension().is_none_or(|e| e != "a");
    let exported = exported(library, shared).map_err(|e| vec![e])?;
    let findings = compare(&table, &exported, shared);
    conclude(findings, format!("{}: all {} symbols are there", library.display(), exported.len()))
}

fn exported(library: &Path, shared: bool) -> Result<BTreeSet<String>, String> {
    let mut nm = Command::new("nm");
    nm.args(["--defined-only", "--extern-only", "--no-sort", "--format=posix"]);
    if shared {
        nm.arg("--dynamic");
    }
    let output = nm.arg(library).output().map_err(|e| format!("nm cannot be run: {e}"))?;
    if !output.status.success() {
        return Err(format!("{}: {}", library.display(), String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout), shared))
}

/// Names of functions and data; versions (`name@@NODE`) are cut off, the version nodes themselves left out.
fn parse(listing: &str, shared: bool) -> BTreeSet<String> {
    listing
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (name, kind) = (words.next()?, words.next()?);
            let name = name.split('@').next()?;
            let counts = matches!(kind, "T" | "W" | "D" | "B" | "R" | "V" | "i" | "A");
            let node = kind == "A" && name.starts_with("SOFTDPU_");
            let ours = shared || name.starts_with("doca_") || name.starts_with("softdpu_primer_");
            (counts && !node && ours).then(|| name.to_owned())
        })
        .collect()
}

fn compare(table: &[Function], exported: &BTreeSet<String>, shared: bool) -> Findings {
    let wanted: BTreeSet<&str> = table.iter().filter(|f| f.has_symbol()).map(|f| f.name.as_str()).collect();
    let mut findings: Findings = wanted
        .iter()
        .filter(|name| !exported.contains(**name))
        .map(|name| format!("{name} is in the table but not exported"))
        .collect();
    let extra = exported.iter().filter(|name| !wanted.contains(name.as_str()));
    let kind = if shared { "exported" } else { "defined" };
    findings.extend(extra.map(|name| format!("{name} is {kind} but not in the table")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_are_read() {
        let listing = "lib.a[x.o]:\ndoca_a T 0 10\ndoca_b@@SOFTDPU_3.3 T 0 10\nSOFTDPU_3.3 A 0\nmemcpy U\nother T 0 1\n";
        let shared: Vec<_> = parse(listing, true).into_iter().collect();
        assert_eq!(shared, ["doca_a", "doca_b", "other"]);
        let archive: Vec<_> = parse(listing, false).into_iter().collect();
        assert_eq!(archive, ["doca_a", "doca_b"]);
    }

    #[test]
    fn both_directions_are_compared() {
        let table = table::load().expect("a valid table");
        let mut names: BTreeSet<String> =
            table.iter().filter(|f| f.has_symbol()).map(|f| f.name.clone()).collect();
        assert_eq!(compare(&table, &names, true), Findings::new());
        names.remove("doca_dma_create");
        names.insert("doca_surplus".into());
        assert_eq!(compare(&table, &names, true).len(), 2);
    }
}
