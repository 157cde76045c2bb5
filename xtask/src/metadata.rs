//! What Cargo says about the packages that go into what is shipped: names, versions, licences, sources, checksums.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::root;

/// The packages whose code is in the command and the libraries.
pub(crate) const SHIPPED: [&str; 3] = ["softdpu-cli", "softdpu-capi", "softdpu-check"];

/// One package of the build.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// SPDX expression; empty where the manifest has none.
    pub(crate) licence: String,
    /// `None`: one of ours.
    pub(crate) source: Option<String>,
    pub(crate) description: String,
    pub(crate) folder: PathBuf,
    /// SHA-256 of the package file, from the lock file.
    pub(crate) checksum: Option<String>,
    /// Ids of what it needs to run, or to be built.
    pub(crate) needs: BTreeSet<String>,
    /// May it be published?
    pub(crate) is_public: bool,
}

/// Every package of the workspace and what it is built from, by id.
pub(crate) type Packages = BTreeMap<String, Package>;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<RawPackage>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct RawPackage {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    description: Option<String>,
    manifest_path: PathBuf,
    publish: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Need>,
}

#[derive(Deserialize)]
struct Need {
    pkg: String,
    dep_kinds: Vec<NeedKind>,
}

#[derive(Deserialize)]
struct NeedKind {
    kind: Option<String>,
}

/// Asks Cargo; without the network, where it has seen all packages of the lock file before. After a build alone it has
/// not: what only tests need is missing.
pub(crate) fn packages() -> Result<Packages, String> {
    let text = ask("--offline").or_else(|_| ask("--locked"))?;
    let raw: Metadata = serde_json::from_slice(&text).map_err(|e| format!("cargo metadata: {e}"))?;
    let checksums = checksums(&root::read("Cargo.lock")?)?;
    let mut all = Packages::new();
    for package in raw.packages {
        let key = (package.name.clone(), package.version.clone());
        all.insert(
            package.id.clone(),
            Package {
                checksum: checksums.get(&key).cloned(),
                name: package.name,
                version: package.version,
                licence: package.license.unwrap_or_default(),
                source: package.source,
                description: package.description.unwrap_or_default(),
                folder: package.manifest_path.parent().unwrap_or(Path::new("/")).to_owned(),
                needs: BTreeSet::new(),
                is_public: package.publish.is_none_or(|registries| !registries.is_empty()),
            },
        );
    }
    for node in raw.resolve.nodes {
        // Without a kind: needed to run. What only tests need is left out.
        let wanted = |need: &&Need| need.dep_kinds.iter().any(|k| k.kind.as_deref() != Some("dev"));
        let needs = node.deps.iter().filter(wanted).map(|need| need.pkg.clone()).collect();
        if let Some(package) = all.get_mut(&node.id) {
            package.needs = needs;
        }
    }
    Ok(all)
}

fn ask(how: &str) -> Result<Vec<u8>, String> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--format-version", "1", how, "--filter-platform"]);
    cargo.arg(format!("{}-unknown-linux-gnu", env::consts::ARCH)).current_dir(root::root());
    let done = cargo.output().map_err(|e| format!("cannot run cargo: {e}"))?;
    if done.status.success() {
        Ok(done.stdout)
    } else {
        Err(format!("cargo metadata: {}", String::from_utf8_lossy(&done.stderr).trim()))
    }
}

/// The packages with these names and everything below them, sorted by name and version.
pub(crate) fn below<'a>(all: &'a Packages, names: &[&str]) -> Result<Vec<&'a Package>, String> {
    let mut open = Vec::new();
    for name in names {
        let found = all.values().find(|p| p.name == *name && p.source.is_none());
        open.push(found.ok_or_else(|| format!("the workspace has no package {name}"))?);
    }
    let mut found = BTreeMap::new();
    while let Some(package) = open.pop() {
        if found.insert((&package.name, &package.version), package).is_none() {
            open.extend(package.needs.iter().filter_map(|id| all.get(id)));
        }
    }
    Ok(found.into_values().collect())
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// Checksums of a lock file by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>, String> {
    let lock: Lock = toml::from_str(lock).map_err(|e| format!("Cargo.lock: {e}"))?;
    Ok(lock.package.into_iter().filter_map(|p| Some(((p.name, p.version), p.checksum?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_is_known() {
        let all = packages().unwrap();
        let shipped = below(&all, &SHIPPED).unwrap();
        let names: Vec<_> = shipped.iter().map(|p| p.name.as_str()).collect();
        for name in ["softdpu-room", "softdpu-dma", "aws-lc-sys", "lexopt"] {
            assert!(names.contains(&name), "{name} is missing: {names:?}");
        }
        assert!(!names.contains(&"xtask") && !names.contains(&"loom"), "{names:?}");
        for package in shipped {
            assert!(package.source.is_none() || package.checksum.is_some(), "{package:?}");
        }
        assert!(below(&all, &["no-such-package"]).is_err());
    }
}
