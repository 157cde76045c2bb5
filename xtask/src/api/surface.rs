//! The text of an interface: a line per item, in groups.

use super::exports::{self, Definition};
use public_api::{Builder, PublicItem};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Promises that every type makes by itself, and that nobody relies on. `Send` and `Sync` are not among them.
const BY_THEMSELVES: [&str; 4] =
    ["core::marker::Freeze", "Unpin", "UnsafeUnpin", "core::panic::unwind_safe::"];

/// The items of one package, as rustdoc describes it.
struct Package {
    described: serde_json::Value,
    items: Vec<PublicItem>,
}

impl Package {
    fn load(folder: &Path, package: &str) -> Result<Package, String> {
        let described = exports::load(folder, package)?;
        let file = folder.join(format!("{}.json", package.replace('-', "_")));
        let read = Builder::from_rustdoc_json(file).omit_blanket_impls(true).build();
        let items = read.map_err(|e| format!("{package}: {e}"))?.into_items().collect();
        Ok(Package { described, items })
    }

    /// The lines of an item and of all that is inside; and the names by which those call it.
    fn group(&self, definition: &Definition) -> Option<(Vec<String>, BTreeSet<String>)> {
        let paths = self.described["paths"].as_object()?;
        let is_it = |entry: &serde_json::Value| {
            entry["crate_id"] == 0 && entry["path"].as_array().is_some_and(|p| p.iter().eq(definition.iter()))
        };
        let id: u32 = paths.iter().find(|(_, entry)| is_it(entry))?.0.parse().ok()?;
        let mut names = BTreeSet::from([definition.join("::")]);
        let mut inside = BTreeSet::from([id]);
        let mut lines = Vec::new();
        // Whatever is inside comes behind what it is inside of, but names of one item may be apart.
        while let Some(more) = self.children(&inside) {
            inside.extend(more);
        }
        for item in self.items.iter().filter(|item| inside.contains(&item.id().0)) {
            let line = item.to_string();
            if item.id().0 == id {
                names.extend(own_name(&line, definition.first()?));
            }
            lines.extend(self.is_told(item, &line).then_some(line));
        }
        (!lines.is_empty()).then_some((lines, names))
    }

    fn children(&self, inside: &BTreeSet<u32>) -> Option<Vec<u32>> {
        let is_new = |item: &&PublicItem| {
            item.parent_id().is_some_and(|parent| inside.contains(&parent.0))
                && !inside.contains(&item.id().0)
        };
        let more: Vec<u32> = self.items.iter().filter(is_new).map(|item| item.id().0).collect();
        (!more.is_empty()).then_some(more)
    }

    /// Is it said by no other line? What implementing a trait brings along is said by the line of the implementation, but
    /// for the types it names.
    fn is_told(&self, item: &PublicItem, line: &str) -> bool {
        let of_a_trait = |parent: &PublicItem| {
            let line = parent.to_string();
            Some(parent.id()) == item.parent_id() && line.starts_with("impl") && line.contains(" for ")
        };
        if line.starts_with("impl") {
            return !BY_THEMSELVES.iter().any(|name| {
                line.contains(&format!("{name} for"))
                    || line.contains(&format!("{name}UnwindSafe for"))
                    || line.contains(&format!("{name}RefUnwindSafe for"))
            });
        }
        line.starts_with("pub type ") || !self.items.iter().any(of_a_trait)
    }
}

/// The path that a line is about.
fn own_name(line: &str, package: &str) -> Option<String> {
    let from = line.find(&format!("{package}::"))?;
    let rest = &line[from..];
    let end = rest.find(|c: char| !is_of_path(c)).unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches(':').to_owned())
}

fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == ':'
}

/// The interface of a package as text.
pub(crate) fn text(folder: &Path, package: &str) -> Result<String, Vec<String>> {
    let own = Package::load(folder, package).map_err(|e| vec![e])?;
    let exported = exports::of(&own.described).map_err(|e| vec![format!("{package}: {e}")])?;
    let mut others: BTreeMap<&str, Package> = BTreeMap::new();
    let mut groups = BTreeMap::new();
    let mut names = BTreeMap::new();
    let mut findings = Vec::new();
    for (definition, name) in &exported {
        let Some(home) = definition.first() else { continue };
        if !others.contains_key(home.as_str()) {
            others.insert(home, Package::load(folder, home).map_err(|e| vec![e])?);
        }
        match others[home.as_str()].group(definition) {
            Some((lines, known_as)) => {
                names.extend(known_as.into_iter().map(|n| (n, name.clone())));
                groups.insert(name.clone(), lines);
            }
            None => findings.push(format!("{package}: {name} is nothing public of {home}")),
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    let lines = own.items.iter().map(|item| (item, item.to_string()));
    let lines: Vec<String> =
        lines.filter(|(item, line)| own.is_told(item, line)).map(|(_, line)| line).collect();
    let mut told = BTreeSet::new();
    let mut text = String::new();
    for line in lines.iter().chain(groups.values().flatten()) {
        let line = renamed(line, &names);
        if told.insert(line.clone()) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    Ok(text)
}

/// A line in which every item has the name by which programs know it.
fn renamed(line: &str, names: &BTreeMap<String, String>) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| !is_of_path(c)).unwrap_or(rest.len());
        if end == 0 {
            text.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        text.push_str(&known_as(&rest[..end], names));
        rest = &rest[end..];
    }
    text
}

/// A path by the name of its longest beginning that has one.
fn known_as(path: &str, names: &BTreeMap<String, String>) -> String {
    let mut end = path.len();
    loop {
        if let Some(name) = names.get(&path[..end]) {
            return format!("{name}{}", &path[end..]);
        }
        match path[..end].rfind("::") {
            Some(at) => end = at,
            None => return path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_the_names_that_programs_know() {
        let names = [("b::deep::Thing", "a::Thing"), ("b::Thing", "a::Thing"), ("b::Things", "a::c::Things")];
        let names = names.map(|(from, to)| (from.to_owned(), to.to_owned())).into();
        let line = "pub fn b::Thing::take(&self, &[b::Things]) -> b::Other<b::deep::Thing>";
        assert_eq!(
            renamed(line, &names),
            "pub fn a::Thing::take(&self, &[a::c::Things]) -> b::Other<a::Thing>"
        );
    }

    #[test]
    fn a_line_tells_what_it_is_about() {
        let line = "#[non_exhaustive] pub struct b::x::Caps<E: b::Engine>";
        assert_eq!(own_name(line, "b").as_deref(), Some("b::x::Caps"));
        assert_eq!(own_name("pub fn c::f()", "b"), None);
    }
}
