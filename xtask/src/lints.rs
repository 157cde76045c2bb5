//! Rules of the house that no compiler lint covers. What is allowed where, and why, stands in `xtask/lints.toml`.

use crate::{Findings, Outcome, conclude, root, source};
use serde::Deserialize;
use std::path::Path;

const SETTINGS: &str = "xtask/lints.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    lengths: Lengths,
    words: Words,
    unsafe_code: Vec<Allowed>,
    atomics: Vec<Allowed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lengths {
    file: usize,
    function: usize,
    /// The same for tests, which read from top to bottom and are not called by anything.
    test_file: usize,
    test_function: usize,
    #[serde(default)]
    files: Vec<Longer>,
    #[serde(default)]
    functions: Vec<Longer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    extensions: Vec<String>,
    forbidden: Vec<String>,
}

/// Files in which something is allowed; `*` stands for a name, a last `**` for everything below.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    path: String,
    reason: String,
    /// Must each unsafe block there carry its SAFETY comment?
    #[serde(default = "yes")]
    proof: bool,
}

fn yes() -> bool {
    true
}

/// A file or function (`path::name`) that may be longer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Longer {
    path: String,
    lines: usize,
    reason: String,
}

/// Looks at every file of the workspace.
pub(crate) fn run() -> Outcome {
    let settings = load().map_err(|e| vec![e])?;
    let mut findings = reasons(&settings);
    let rust = root::files("", |p| root::has_extension(p, "rs"));
    for path in &rust {
        match root::read(path) {
            Ok(text) => findings.extend(rust_file(path, &text, &settings)),
            Err(e) => findings.push(e),
        }
    }
    for path in root::files("", |_| true) {
        let known = settings.words.extensions.iter().any(|e| root::has_extension(Path::new(&path), e));
        if known && path != SETTINGS {
            match root::read(&path) {
                Ok(text) => findings.extend(words(&path, &text, &settings.words.forbidden)),
                Err(e) => findings.push(e),
            }
        }
    }
    conclude(findings, format!("{} Rust files keep the rules", rust.len()))
}

fn load() -> Result<Settings, String> {
    toml::from_str(&root::read(SETTINGS)?).map_err(|e| format!("{SETTINGS}: {e}"))
}

/// Every exception needs a reason, and one of a length must still be needed.
fn reasons(settings: &Settings) -> Findings {
    let allowed = settings.unsafe_code.iter().chain(&settings.atomics).map(|a| (&a.path, &a.reason));
    let longer =
        settings.lengths.files.iter().chain(&settings.lengths.functions).map(|l| (&l.path, &l.reason));
    allowed
        .chain(longer)
        .filter(|(_, reason)| reason.trim().is_empty())
        .map(|(path, _)| format!("{SETTINGS}: the exception for {path} has no reason"))
        .collect()
}

fn rust_file(path: &str, text: &str, settings: &Settings) -> Findings {
    let code = source::code(text);
    let mut findings = unsafe_code(path, text, &code, &settings.unsafe_code);
    findings.extend(lengths(path, text, &code, &settings.lengths));
    if !allows(&settings.atomics, path)
        && let Some((line, _)) = source::words(&code, "atomic").find(|(_, after)| after.starts_with("::"))
    {
        findings.push(format!(
            "{path}:{line}: atomics come through a sync module, not from the standard library"
        ));
    }
    findings
}

fn unsafe_code(path: &str, text: &str, code: &str, allowed: &[Allowed]) -> Findings {
    let mut findings = Findings::new();
    let lines: Vec<&str> = text.lines().collect();
    let code_lines: Vec<&str> = code.lines().collect();
    for (line, after) in source::words(code, "unsafe") {
        let Some(allowed) = allowed.iter().find(|a| matches(&a.path, path)) else {
            findings.push(format!("{path}:{line}: unsafe code outside of the files listed in {SETTINGS}"));
            break;
        };
        let after = after.trim_start();
        let needs_proof = allowed.proof && (after.starts_with('{') || after.starts_with("impl"));
        if needs_proof && !proven(&lines, &code_lines, line) {
            findings.push(format!("{path}:{line}: unsafe without a SAFETY comment"));
        }
    }
    findings
}

/// Is there a SAFETY comment on the line, or above it before the statement in front ends?
fn proven(lines: &[&str], code: &[&str], line: usize) -> bool {
    let mut at = line - 1;
    loop {
        if lines.get(at).is_some_and(|l| l.contains("SAFETY:")) {
            return true;
        }
        let Some(above) = at.checked_sub(1) else { return false };
        let before = code.get(above).map_or("", |l| l.trim());
        // A comment above a match arm speaks for the arm.
        let ended = before.ends_with([';', '{', '}', ',']) && !before.ends_with("=> {");
        if ended {
            return false;
        }
        at = above;
    }
}

fn lengths(path: &str, text: &str, code: &str, rules: &Lengths) -> Findings {
    let mut findings = Findings::new();
    let limit = |exceptions: &[Longer], key: &str, normal: usize| {
        exceptions.iter().find(|e| e.path == key).map_or(normal, |e| e.lines)
    };
    let count = text.lines().count();
    let test = path.contains("/tests/") || path.ends_with("tests.rs");
    let (file, function) =
        if test { (rules.test_file, rules.test_function) } else { (rules.file, rules.function) };
    let allowed = limit(&rules.files, path, file);
    if count > allowed {
        findings.push(format!("{path}: {count} lines, at most {allowed}"));
    }
    for (name, line, count) in source::functions(code) {
        let allowed = limit(&rules.functions, &format!("{path}::{name}"), function);
        if count > allowed {
            findings.push(format!("{path}:{line}: {name} has {count} lines, at most {allowed}"));
        }
    }
    findings
}

fn words(path: &str, text: &str, forbidden: &[String]) -> Findings {
    let mut findings = Findings::new();
    for (n, line) in text.lines().enumerate() {
        for word in forbidden.iter().filter(|w| line.contains(w.as_str())) {
            findings.push(format!("{path}:{}: {word:?} does not belong into the project", n + 1));
        }
    }
    findings
}

fn allows(list: &[Allowed], path: &str) -> bool {
    list.iter().any(|a| matches(&a.path, path))
}

fn matches(pattern: &str, path: &str) -> bool {
    let mut pattern = pattern.split('/');
    let mut path = path.split('/');
    loop {
        match (pattern.next(), path.next()) {
            (Some("**"), Some(_)) | (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(a), Some(b)) if a == b => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Vec<Allowed> {
        vec![Allowed { path: "engines/*/src/c.rs".into(), reason: "test".into(), proof: true }]
    }

    #[test]
    fn patterns_match_whole_paths() {
        assert!(matches("engines/*/src/c.rs", "engines/dma/src/c.rs"));
        assert!(!matches("engines/*/src/c.rs", "engines/dma/src/lib.rs"));
        assert!(matches("crates/doca/**", "crates/doca/src/log/c.rs"));
        assert!(!matches("crates/doca", "crates/doca/src"));
    }

    #[test]
    fn unsafe_code_is_found() {
        let check = |path: &str, text: &str| unsafe_code(path, text, &source::code(text), &allowed()).len();
        let c = "engines/dma/src/c.rs";
        assert_eq!(check("engines/dma/src/lib.rs", "unsafe { x() }"), 1);
        assert_eq!(check("engines/dma/src/lib.rs", "// unsafe\nlet a = \"unsafe\";"), 0);
        assert_eq!(check(c, "let a = unsafe { x() };"), 1);
        assert_eq!(check(c, "// SAFETY: fine.\nlet a = unsafe { x() };"), 0);
        assert_eq!(check(c, "// SAFETY: fine.\nlet a =\n    unsafe { x() };"), 0);
        assert_eq!(check(c, "// SAFETY: fine.\nx();\nlet a = unsafe { x() };"), 1);
        assert_eq!(check(c, "x();\n// SAFETY: fine.\nSome(a) => {\n    unsafe { a() }"), 0);
        assert_eq!(check(c, "unsafe impl Send for A {}"), 1);
        assert_eq!(check(c, "#[unsafe(no_mangle)]\nunsafe extern \"C\" fn a() {}"), 0);
    }

    #[test]
    fn long_functions_and_words_are_found() {
        let rules = Lengths {
            file: 3,
            function: 2,
            test_file: 9,
            test_function: 9,
            files: vec![],
            functions: vec![],
        };
        let text = "fn a() {\n\n}\n\n";
        assert_eq!(lengths("a.rs", text, &source::code(text), &rules).len(), 2);
        assert_eq!(lengths("b/tests/a.rs", text, &source::code(text), &rules).len(), 0);
        assert_eq!(words("a.md", "fine\n/bad/path\n", &["/bad/".into()]).len(), 1);
    }
}
