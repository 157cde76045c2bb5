//! "Follow one task" cannot rot: the tables in `ARCHITECTURE.md` and at the head of this crate name files and functions,
//! and who calls whom. Each file is there, each function is defined in it, and each caller does call it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const STEPS: u32 = 12;
/// Callers that are no step.
const OUTSIDE: [&str; 3] = ["the program", "a worker", "the program or a worker"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One row of a table: `| 4a | file | function | called from | what happens |`.
#[derive(Debug)]
struct Row {
    step: String,
    file: String,
    function: String,
    callers: Vec<String>,
}

impl Row {
    fn number(&self) -> u32 {
        self.step.trim_end_matches(|c: char| c.is_ascii_lowercase()).parse().unwrap_or(0)
    }

    fn source(&self) -> String {
        let path = root().join(&self.file);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("step {}: {}: {e}", self.step, self.file))
    }
}

/// What stands between the first pair of backticks.
fn code(cell: &str) -> Option<&str> {
    cell.split('`').nth(1)
}

/// The rows below a heading, up to the next heading.
fn table(text: &str, heading: &str) -> Vec<Row> {
    let at = text.find(heading).unwrap_or_else(|| panic!("ARCHITECTURE.md has no heading {heading:?}"));
    let section = text[at + heading.len()..].split("\n#").next().unwrap_or_default();
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim().strip_prefix('|')?.split('|').map(str::trim).collect();
        let step = cells.first().filter(|s| s.starts_with(|c: char| c.is_ascii_digit()))?;
        let link = cells[1].split_once("](").and_then(|(_, target)| target.strip_suffix(')'));
        let file = code(cells[1]).unwrap_or_else(|| panic!("no file in {line:?}"));
        assert_eq!(link, Some(file), "the link of a step leads to the file it names: {line:?}");
        let function = code(cells[2]).unwrap_or_else(|| panic!("no function in {line:?}"));
        Some(Row {
            step: (*step).to_owned(),
            file: file.to_owned(),
            function: function.to_owned(),
            callers: cells[3].split(", ").map(str::to_owned).collect(),
        })
    };
    section.lines().filter_map(row).collect()
}

/// The text without comments and without what stands in string literals, so that braces and names are code.
fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with('"') {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|&(_, c)| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            rest = end.map_or("", |(end, _)| &rest[end + 1..]);
        } else {
            out.push('/');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where `name` stands as a whole word; what follows it.
fn words<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
    text.match_indices(name).filter_map(move |(at, _)| {
        let after = &text[at + name.len()..];
        let whole = !text[..at].ends_with(is_name) && !after.starts_with(is_name);
        whole.then_some(after)
    })
}

/// The bodies of all functions of this name.
fn bodies(text: &str, function: &str) -> Vec<String> {
    let text = bare(text);
    let text = text.as_str();
    let defined = text.match_indices(function).filter(|&(at, _)| text[..at].ends_with("fn "));
    let body = |at: usize| {
        let rest = &text[at..];
        let whole = !rest[function.len()..].starts_with(is_name);
        let open = rest.find('{').filter(|&open| rest.find(';').is_none_or(|end| open < end));
        let open = open.filter(|_| whole)?;
        let mut depth = 0;
        let end = rest[open..].char_indices().find(|&(_, c)| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        end.map(|(end, _)| rest[open..open + end].to_owned())
    };
    defined.filter_map(|(at, _)| body(at)).collect()
}

/// Is there a call `name(...)` or `name::<...>(...)`, or is the function handed on by name?
fn calls(body: &str, name: &str) -> bool {
    words(body, name).any(|after| after.starts_with('(') || after.starts_with("::<"))
}

/// Twelve steps, in order.
fn check_steps(rows: &[Row]) {
    let numbers: Vec<u32> = rows.iter().map(Row::number).collect();
    assert!(numbers.is_sorted(), "steps are in order: {numbers:?}");
    let mut once = numbers.clone();
    once.dedup();
    assert_eq!(once, (1..=STEPS).collect::<Vec<_>>(), "there are twelve steps");
}

fn check_calls(rows: &[Row]) {
    let by_step: BTreeMap<&str, &Row> = rows.iter().map(|r| (r.step.as_str(), r)).collect();
    assert_eq!(by_step.len(), rows.len(), "no step has two rows");
    for row in rows {
        let Row { step, file, function, .. } = row;
        assert!(
            !bodies(&row.source(), function).is_empty(),
            "step {step}: {file} defines no function {function}"
        );
        for caller in row.callers.iter().filter(|c| !OUTSIDE.contains(&c.as_str())) {
            let by = by_step.get(caller.as_str());
            let by = by.unwrap_or_else(|| panic!("step {step} is called from {caller:?}, which is no step"));
            let called = bodies(&by.source(), &by.function).iter().any(|body| calls(body, function));
            assert!(
                called,
                "step {caller} ({} in {}) does not call {function} of step {step}",
                by.function, by.file
            );
        }
    }
}

fn architecture() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there")
}

#[test]
fn the_walk_from_rust_is_true() {
    let rows = table(&architecture(), "### From Rust");
    check_steps(&rows);
    check_calls(&rows);
}

#[test]
fn the_walk_from_c_is_true() {
    let rows = table(&architecture(), "### From C");
    check_steps(&rows);
    check_calls(&rows);
}

#[test]
fn the_walk_of_a_large_task_is_true() {
    let rows = table(&architecture(), "### A large task");
    assert!(rows.len() > 8);
    check_calls(&rows);
}

/// The short table in the crate's documentation: its files are there, and the steps are the same twelve.
#[test]
fn the_short_walk_is_true() {
    let text = include_str!("../src/lib.rs");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|l| l.strip_prefix("//! | "))
        .filter(|l| l.starts_with(|c: char| c.is_ascii_digit()))
        .map(|l| l.split('|').map(str::trim).collect())
        .collect();
    let steps: Vec<&str> = rows.iter().map(|r| r[0]).collect();
    assert_eq!(steps, (1..=STEPS).map(|n| n.to_string()).collect::<Vec<_>>());
    for row in &rows {
        let names: Vec<&str> = row[1].split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty() || row[1].contains("board"), "step {} names no file", row[0]);
        for name in names {
            let folder =
                if row[1].starts_with("the engine's") { "engines/dma/src" } else { "crates/room/src" };
            let file = match name.strip_prefix("softdpu_memory::") {
                Some(module) => format!("crates/memory/src/{module}.rs"),
                None => format!("{folder}/{}.rs", name.trim_end_matches(".rs")),
            };
            assert!(root().join(&file).is_file(), "step {}: there is no {file}", row[0]);
        }
    }
}

/// The rows of a section's table: what stands in the first pair of backticks, and the last cell.
fn listed(text: &str, heading: &str) -> Vec<(String, String)> {
    let section = text.split(heading).nth(1).and_then(|t| t.split("\n#").next()).expect("the section");
    let row = |l: &str| {
        let last = l.trim_end_matches([' ', '|']).rsplit(" | ").next()?;
        Some((code(l)?.to_owned(), last.to_owned()))
    };
    section.lines().filter(|l| l.starts_with("| ") && l.contains('`')).filter_map(row).collect()
}

/// `*` stands for a name, a last `**` for everything below.
fn fits(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (Some("**"), Some(_)) | (None, None) => return true,
            (Some(a), Some(b)) if a == "*" || a == b => {}
            _ => return false,
        }
    }
}

/// Files below a folder of the workspace that begin with the attribute.
fn unsafe_files(folder: &Path, found: &mut Vec<String>) {
    for path in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        let relative = path.strip_prefix(root()).expect("below the root").display().to_string();
        let test = ["/tests", "/examples", "tests.rs"].iter().any(|end| relative.ends_with(end));
        let code_of_ours = relative != "crates/doca" && !test;
        if path.is_dir() && code_of_ours {
            unsafe_files(&path, found);
        } else if code_of_ours && relative.ends_with(".rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            // Attributes of the whole file, however they are broken into lines.
            let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let mut attributes = packed.split("#![").skip(1).filter_map(|rest| rest.split(']').next());
            if attributes.any(|attribute| attribute.contains("expect(unsafe_code")) {
                found.push(relative);
            }
        }
    }
}

/// The list of files with unsafe code names every one outside of the C face, and no other.
#[test]
fn the_list_of_unsafe_files_is_complete() {
    let rows = listed(&architecture(), "## Unsafe code");
    let mut found = Vec::new();
    for folder in ["crates", "engines", "porting"] {
        unsafe_files(&root().join(folder), &mut found);
    }
    for file in &found {
        assert!(
            rows.iter().any(|(pattern, _)| fits(pattern, file)),
            "{file} has unsafe code and is not listed"
        );
    }
    for (pattern, _) in rows.iter().filter(|(pattern, _)| !pattern.contains('*')) {
        assert!(found.contains(pattern), "{pattern} is listed and has no unsafe code");
    }
}

/// Every crate of the workspace stands in the table of folders, and its manifest names other crates of the project from
/// the column "may use" alone.
#[test]
fn folders_use_what_they_may() {
    let rows = listed(&architecture(), "## Folders");
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let members = workspace.split("members = [").nth(1).and_then(|t| t.split(']').next()).expect("members");
    let mut checked = 0;
    for folder in members.split('"').skip(1).step_by(2) {
        // A row of its own comes before a pattern.
        let row = rows
            .iter()
            .find(|(row, _)| row == folder)
            .or_else(|| rows.iter().find(|(row, _)| fits(row, folder)));
        let (_, may) = row.unwrap_or_else(|| panic!("{folder} is not in the table"));
        let may: Vec<&str> = may.split([',', ' ']).collect();
        let any_engine = may.ends_with(&["the", "engines"]);
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).expect(folder);
        let dependencies =
            manifest.split("\n[dependencies]").nth(1).and_then(|t| t.split("\n[").next()).unwrap_or("");
        for name in dependencies.lines().filter_map(|l| l.split(['.', ' ', '=']).next()) {
            let used = if name == "softdpu" { Some(name) } else { name.strip_prefix("softdpu-") };
            let Some(used) = used else { continue };
            let engine = any_engine && root().join("engines").join(used.replace('-', "_")).is_dir();
            assert!(engine || may.contains(&used), "{folder} uses {name}, may use {may:?}");
        }
        checked += 1;
    }
    assert!(checked > 10, "{checked} manifests");
}

/// The checks above can fail.
#[test]
fn wrong_walks_are_found_out() {
    let text =
        "fn a() { let s = \"} b(\"; c::<u8>(1); } // b()\nfn b(x: u8) -> u8 { x }\ntrait T { fn c(); }";
    assert_eq!(bodies(text, "a").len(), 1);
    assert!(calls(&bodies(text, "a")[0], "c"));
    assert!(!calls(&bodies(text, "a")[0], "b"), "strings and comments are no calls");
    assert!(bodies(text, "c").is_empty(), "a declaration is no definition");
    assert!(bodies(text, "aa").is_empty());
    assert!(
        fits("engines/*/src/c.rs", "engines/dma/src/c.rs")
            && !fits("engines/*/src/c.rs", "engines/dma/src/ffi.rs")
    );
    assert!(
        fits("crates/kernels/src/**", "crates/kernels/src/a/b.rs") && !fits("engines/*", "engines/dma/src")
    );
    let row = |callers: &str| {
        format!(
            "### X\n| step | file | function | called from | what |\n|---|---|---|---|---|\n\
             | 1 | [`crates/room/src/parts.rs`](crates/room/src/parts.rs) | `claim` | {callers} | x |\n"
        )
    };
    assert_eq!(table(&row("the program"), "### X").len(), 1);
    let short = table(&row("2"), "### X");
    assert!(std::panic::catch_unwind(|| check_steps(&short)).is_err(), "one step is not twelve");
    assert!(std::panic::catch_unwind(|| check_calls(&short)).is_err(), "step 2 is missing");
}
