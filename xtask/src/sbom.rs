//! The bill of materials of what is shipped: CycloneDX 1.5 in JSON, the same for the same lock file.

use serde_json::{Value, json};

use crate::metadata::{self, Package, Packages};
use crate::{Outcome, licences, root};

/// Prints it, or writes it into a file.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let text = document().map_err(|e| vec![e])?;
    match arguments {
        [] => Ok(text),
        [file] if !file.starts_with('-') => {
            std::fs::write(root::root().join(file), text).map_err(|e| vec![format!("{file}: {e}")])?;
            Ok(format!("{file} written"))
        }
        _ => Err(vec!["usage: cargo xtask sbom [FILE]".into()]),
    }
}

/// The document: the packages whose code is in the command and the libraries, their licences and checksums, and who
/// needs whom. No time and no number of its own, so that two builds of one state have the same.
pub(crate) fn document() -> Result<String, String> {
    let all = metadata::packages()?;
    let shipped = metadata::below(&all, &metadata::SHIPPED)?;
    let carried = licences::carried()?;
    let mut components = Vec::new();
    for package in &shipped {
        let mut component = component(package);
        let inside: Vec<Value> = carried
            .iter()
            .filter(|c| c.package == package.name)
            .map(|c| {
                json!({
                    "type": "library",
                    "bom-ref": format!("{}#{}", purl(package), c.name),
                    "name": c.name,
                    "licenses": [{ "expression": c.licence }],
                })
            })
            .collect();
        if !inside.is_empty() {
            component["components"] = json!(inside);
        }
        components.push(component);
    }
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "softdpu",
                "name": "softdpu",
                "version": env!("CARGO_PKG_VERSION"),
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": components,
        "dependencies": dependencies(&all, &shipped),
    });
    serde_json::to_string_pretty(&document).map(|text| text + "\n").map_err(|e| e.to_string())
}

fn purl(package: &Package) -> String {
    // A plus is not allowed to stand for itself there.
    format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"))
}

fn component(package: &Package) -> Value {
    let licence = package.licence.replace('/', " OR ");
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "purl": purl(package),
        "licenses": [{ "expression": licence }],
    });
    if !package.description.is_empty() {
        component["description"] =
            json!(package.description.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if let Some(checksum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

fn dependencies(all: &Packages, shipped: &[&Package]) -> Vec<Value> {
    let line = |from: String, to: Vec<String>| json!({ "ref": from, "dependsOn": to });
    let tops = shipped.iter().filter(|p| metadata::SHIPPED.contains(&p.name.as_str()));
    let mut lines = vec![line("softdpu".into(), tops.map(|p| purl(p)).collect())];
    for package in shipped {
        let needs = package.needs.iter().filter_map(|id| all.get(id)).map(purl).collect();
        lines.push(line(purl(package), needs));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_reference_leads_somewhere_and_every_foreign_package_has_its_hash() {
        let text = document().unwrap();
        assert_eq!(text, document().unwrap(), "the same twice");
        let document: Value = serde_json::from_str(&text).unwrap();
        let list = |v: &Value| v.as_array().unwrap().clone();
        let components = list(&document["components"]);
        let mut refs: BTreeSet<String> =
            components.iter().map(|c| c["bom-ref"].as_str().unwrap().to_owned()).collect();
        assert_eq!(refs.len(), components.len(), "references are unique");
        refs.insert("softdpu".into());
        for line in list(&document["dependencies"]) {
            assert!(refs.contains(line["ref"].as_str().unwrap()), "{line}");
            for to in list(&line["dependsOn"]) {
                assert!(refs.contains(to.as_str().unwrap()), "{line}");
            }
        }
        for component in &components {
            let ours = component["name"].as_str().unwrap().starts_with("softdpu");
            let hash = component["hashes"][0]["content"].as_str().map_or(0, str::len);
            assert_eq!(hash, if ours { 0 } else { 64 }, "{component}");
            assert!(component["licenses"][0]["expression"].is_string());
        }
        let carried = components.iter().filter(|c| c["components"].is_array()).count();
        assert_eq!(carried, 3);
    }
}
