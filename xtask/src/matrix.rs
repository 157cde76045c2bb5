//! `MATRIX.md`, its summary in the README and the entry points of what is missing, all made from
//! `contract/functions.toml`.

use crate::covers::{self, Coverage};
use crate::readme::{self, CHINESE, README};
use crate::table::{self, Function, Returns, State};
use crate::{Outcome, conclude, root};
use std::fmt::Write as _;
use std::fs;

const MATRIX: &str = "MATRIX.md";
const MISSING: &str = "crates/doca/src/missing/table.rs";
const CHOICES: &str = "contract/choices.md";

/// Writes the files.
pub(crate) fn write() -> Outcome {
    let files = make().map_err(|e| vec![e])?;
    let mut failed = Vec::new();
    for (path, text) in &files {
        if let Err(e) = fs::write(root::root().join(path), text) {
            failed.push(format!("{path}: {e}"));
        }
    }
    conclude(failed, format!("wrote {MATRIX}, {README}, {CHINESE} and {MISSING}"))
}

/// Tells whether the files are what `write` would make of them.
pub(crate) fn check() -> Outcome {
    let files = make().map_err(|e| vec![e])?;
    let stale = files
        .iter()
        .filter(|(path, text)| root::read(path).as_ref() != Ok(text))
        .map(|(path, _)| format!("{path} is not up to date: run cargo xtask matrix"))
        .collect();
    conclude(stale, format!("{MATRIX}, {README}, {CHINESE} and {MISSING} are up to date"))
}

fn make() -> Result<[(&'static str, String); 4], String> {
    let table = table::load()?;
    let coverage = covers::load(&table)?;
    let choices = root::read(CHOICES)?;
    let readme = readme::renewed(&root::read(README)?, &families(&table))?;
    let chinese = readme::renewed_chinese(&root::read(CHINESE)?, &families(&table))?;
    let matrix = matrix(&table, &coverage, &choices);
    Ok([(MATRIX, matrix), (README, readme), (CHINESE, chinese), (MISSING, missing(&table))])
}

fn matrix(table: &[Function], coverage: &Coverage, choices: &str) -> String {
    let mut text = String::from(
        "# What is there\n\n\
         Every function of the contract: whether it works, and what tests it. Made by `cargo xtask matrix`\n\
         from `contract/functions.toml`, `contract/choices.md` and the programs in `conformance/c`; do not edit.\n\n\
         - **done**: works as the contract says.\n\
         - **inline**: works; a static inline of its header, so the library has no symbol of it.\n\
         - **missing**: declared and exported; answers `DOCA_ERROR_NOT_SUPPORTED` (NULL or 0 where it returns no\n  \
         status) and logs one line that names the call.\n\n\
         | family | functions | done | inline | missing | tested by name |\n|---|---|---|---|---|---|\n",
    );
    let tests = |f: &Function| -> Vec<String> {
        let mut tests = f.tests.clone();
        tests.extend(coverage.get(&f.name).into_iter().flatten().cloned());
        tests
    };
    let families = families(table);
    for (family, rows) in &families {
        count(&mut text, &format!("[{family}](#{family})"), rows, &tests);
    }
    count(&mut text, "**all**", &table.iter().collect::<Vec<_>>(), &tests);
    text.push('\n');
    text.push_str(choices.trim_end());
    text.push('\n');
    for (family, rows) in &families {
        let _ = write!(text, "\n## {family}\n");
        let mut header = "";
        for f in rows {
            if f.header != header {
                header = &f.header;
                let _ = write!(
                    text,
                    "\n`{header}`, module `{}`\n\n| function | state | tested by |\n|---|---|---|\n",
                    f.module
                );
            }
            let name = match &f.call {
                Some(call) => format!("`{call}`: `{}`", f.name),
                None => format!("`{}`", f.name),
            };
            let _ = writeln!(text, "| {name} | {} | {} |", word(f.state), tests(f).join(", "));
        }
    }
    text
}

/// Families in the order of the table, each with its functions.
fn families(table: &[Function]) -> Vec<(&str, Vec<&Function>)> {
    let mut families: Vec<(&str, Vec<&Function>)> = Vec::new();
    for f in table {
        match families.iter_mut().find(|(family, _)| *family == f.family) {
            Some((_, rows)) => rows.push(f),
            None => families.push((&f.family, vec![f])),
        }
    }
    families
}

fn count(text: &mut String, label: &str, rows: &[&Function], tests: &dyn Fn(&Function) -> Vec<String>) {
    let of = |state| rows.iter().filter(|f| f.state == state).count();
    let _ = writeln!(
        text,
        "| {label} | {} | {} | {} | {} | {} |",
        rows.len(),
        of(State::Done),
        of(State::Inline),
        of(State::Missing),
        rows.iter().filter(|f| !tests(f).is_empty()).count()
    );
}

fn word(state: State) -> &'static str {
    match state {
        State::Done => "done",
        State::Missing => "missing",
        State::Inline => "inline",
    }
}

fn missing(table: &[Function]) -> String {
    let mut text = String::from(
        "//! The list of missing functions. Made by `cargo xtask matrix` from `contract/functions.toml`; do not edit.\n\n\
         missing! {\n",
    );
    for f in table.iter().filter(|f| f.state == State::Missing) {
        let kind = match f.returns {
            Returns::Error if f.is_capability() => "capability",
            Returns::Error => "error",
            Returns::Pointer => "pointer",
            Returns::Void => "void",
            Returns::U8 => "u8",
            Returns::U16 => "u16",
            Returns::U32 => "u32",
            Returns::U64 | Returns::Data => "u64",
        };
        let _ = writeln!(text, "    {kind} {} {:?};", f.name, f.family);
    }
    text.push_str("}\n");
    // As rustfmt has it when nothing is missing.
    text.replace("{\n}", "{}")
}
