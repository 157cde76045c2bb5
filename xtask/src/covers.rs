//! Which C programs of the conformance suite test which functions.
//!
//! A program says so in a comment: `covers: doca_x doca_y`, on as many lines as it takes; `covers: @` stands for
//! every function of the contract that the program names in its code.

use crate::root;
use crate::table::Function;
use std::collections::{BTreeMap, BTreeSet};

/// For each function the programs that test it, sorted.
pub(crate) type Coverage = BTreeMap<String, BTreeSet<String>>;

/// Reads the conformance programs.
pub(crate) fn load(table: &[Function]) -> Result<Coverage, String> {
    let mut coverage = Coverage::new();
    let programs =
        root::files("conformance/c", |p| root::has_extension(p, "c") || root::has_extension(p, "cpp"));
    for path in programs {
        let text = root::read(&path)?;
        let program = path.rsplit('/').next().unwrap_or(&path);
        for name in covered(&text, table) {
            if !table.iter().any(|f| f.name == name) {
                return Err(format!("{path}: covers {name}, which is not in contract/functions.toml"));
            }
            coverage.entry(name).or_default().insert(program.to_owned());
        }
    }
    Ok(coverage)
}

fn covered(text: &str, table: &[Function]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut all = false;
    let mut listing = false;
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['*', '/']).trim_end_matches(['*', '/']).trim();
        let list = match line.split_once("covers:") {
            Some((_, list)) => list,
            None if listing => line,
            None => continue,
        };
        let words: Vec<&str> = list.split([' ', ',']).filter(|w| !w.is_empty()).collect();
        if !words.iter().all(|w| *w == "@" || w.starts_with("doca_") || w.starts_with("softdpu_")) {
            listing = false;
            continue;
        }
        listing = !words.is_empty();
        all |= words.contains(&"@");
        names.extend(words.iter().filter(|w| **w != "@").map(|w| (*w).to_owned()));
    }
    if all {
        let used: BTreeSet<&str> = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        names.extend(table.iter().filter(|f| used.contains(f.name.as_str())).map(|f| f.name.clone()));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::covered;

    #[test]
    fn lists_go_over_lines_and_end() {
        let text = "/*\n * covers: doca_a doca_b\n *   doca_c\n *\n * doca_d does not count\n */\n";
        let names: Vec<_> = covered(text, &[]).into_iter().collect();
        assert_eq!(names, ["doca_a", "doca_b", "doca_c"]);
    }

    #[test]
    fn the_sign_stands_for_what_is_called() {
        let table = crate::table::load().expect("a valid table");
        let text = "/* covers: @ */\nint main(void) { doca_dma_create(0, 0); doca_dma_creates(); }";
        let names: Vec<_> = covered(text, &table).into_iter().collect();
        assert_eq!(names, ["doca_dma_create"]);
    }
}
