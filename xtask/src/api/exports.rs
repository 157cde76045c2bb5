//! Which items of other packages a package offers as its own, and under which names.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Where an item is defined, as rustdoc writes it: package, modules, name.
pub(crate) type Definition = Vec<String>;

/// What rustdoc says of a package.
///
/// # Errors
/// No such file, or none of rustdoc's.
pub(crate) fn load(folder: &Path, package: &str) -> Result<Value, String> {
    let path = folder.join(format!("{}.json", package.replace('-', "_")));
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Items of other packages by definition, with the shortest name under which each is offered.
///
/// # Errors
/// A re-export that leads nowhere.
pub(crate) fn of(described: &Value) -> Result<BTreeMap<Definition, String>, String> {
    let mut found = BTreeMap::new();
    let root = id(&described["root"]).ok_or("no root module")?;
    let name = described["index"][&root]["name"].as_str().ok_or("the package has no name")?;
    walk(described, &root, name, &mut found)?;
    Ok(found)
}

/// The number of an item, as the tables have it.
pub(crate) fn id(value: &Value) -> Option<String> {
    value.as_u64().map(|n| n.to_string())
}

fn walk(
    described: &Value,
    module: &str,
    path: &str,
    found: &mut BTreeMap<Definition, String>,
) -> Result<(), String> {
    let items = described["index"][module]["inner"]["module"]["items"].as_array();
    for item in items.into_iter().flatten().filter_map(id) {
        let entry = &described["index"][&item];
        if entry["visibility"] != "public" {
            continue;
        }
        let inner = &entry["inner"];
        if let Some(exported) = inner.get("use") {
            follow(described, exported, path, found)?;
        } else if let (Some(_), Some(name)) = (inner.get("module"), entry["name"].as_str()) {
            walk(described, &item, &format!("{path}::{name}"), found)?;
        }
    }
    Ok(())
}

fn follow(
    described: &Value,
    exported: &Value,
    path: &str,
    found: &mut BTreeMap<Definition, String>,
) -> Result<(), String> {
    let source = exported["source"].as_str().unwrap_or_default();
    let target = id(&exported["id"]).ok_or_else(|| format!("{path}: `use {source}` leads nowhere"))?;
    if !described["index"][&target].is_null() {
        // Of the package itself: it is described where it is.
        return Ok(());
    }
    if exported["is_glob"] == true {
        return Err(format!("{path}: `use {source}::*` of another package: name the items"));
    }
    let definition = described["paths"][&target]["path"].as_array();
    let definition = definition.ok_or_else(|| format!("{path}: `use {source}` leads nowhere"))?;
    let definition: Definition = definition.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let name = format!("{path}::{}", exported["name"].as_str().unwrap_or_default());
    let known = found.entry(definition).or_insert_with(|| name.clone());
    let rank = |name: &str| (name.matches("::").count(), name.to_owned());
    if rank(&name) < rank(known) {
        *known = name;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn described() -> Value {
        json!({
            "root": 0,
            "index": {
                "0": {"name": "a", "visibility": "public", "inner": {"module": {"items": [1, 2, 3]}}},
                "1": {"name": "inside", "visibility": "public", "inner": {"module": {"items": [4]}}},
                "2": {"name": null, "visibility": "public",
                      "inner": {"use": {"source": "b::Thing", "name": "Thing", "id": 9, "is_glob": false}}},
                "3": {"name": "hidden", "visibility": "crate", "inner": {"module": {"items": [5]}}},
                "4": {"name": null, "visibility": "public",
                      "inner": {"use": {"source": "b::Thing", "name": "Other", "id": 9, "is_glob": false}}},
                "5": {"name": null, "visibility": "public",
                      "inner": {"use": {"source": "b::Secret", "name": "Secret", "id": 8, "is_glob": false}}}
            },
            "paths": {"9": {"path": ["b", "deep", "Thing"]}, "8": {"path": ["b", "Secret"]}}
        })
    }

    #[test]
    fn the_shortest_name_counts_and_private_modules_do_not() {
        let found = of(&described()).unwrap();
        let definition = ["b", "deep", "Thing"].map(str::to_owned).to_vec();
        assert_eq!(found, BTreeMap::from([(definition, "a::Thing".to_owned())]));
    }

    #[test]
    fn what_leads_nowhere_is_said() {
        let mut described = described();
        described["paths"] = json!({});
        assert!(of(&described).unwrap_err().contains("b::Thing"));
    }
}
