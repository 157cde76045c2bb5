//! Checks the C headers: each compiles alone and all together in both orders, as C and C++, for both sides of
//! the card, without a warning; and together they declare exactly the contract.

use crate::declare::{self, Mark};
use crate::table::{self, Function, Stability, State};
use crate::{Findings, Outcome, conclude, root};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const FOLDER: &str = "crates/doca/include";
const SIDES: &str = "crates/doca/include-side";
const FLAGS: [&str; 6] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wundef", "-fsyntax-only"];
/// A program that uses what no header can show by itself: macros that choose by the number of arguments.
const PROBE: &str = "xtask/probes/primer.c";
const LANGUAGES: [(&str, &str, &str); 4] = [
    ("gcc", "c", "-std=c11"),
    ("gcc", "c", "-std=c17"),
    ("g++", "c++", "-std=c++17"),
    ("g++", "c++", "-std=c++20"),
];

/// Runs all checks.
pub(crate) fn run() -> Outcome {
    let table = table::load().map_err(|e| vec![e])?;
    let names: Vec<String> = root::files(FOLDER, |p| root::has_extension(p, "h"))
        .iter()
        .map(|p| p[FOLDER.len() + 1..].to_owned())
        .collect();
    let mut findings = declarations(&table, &names);
    let (mut tried, mut skipped) = (0, String::new());
    for (compiler, language, standard) in LANGUAGES {
        if Command::new(compiler).arg("--version").output().is_err() {
            skipped.push_str(&format!("skipped: {standard}: {compiler} is not installed\n"));
            continue;
        }
        tried += 1;
        for side in ["host", "dpu"] {
            findings.extend(compile_all(&names, compiler, language, standard, side));
        }
    }
    let success = format!(
        "{skipped}{} headers compile in {tried} languages for 2 sides and declare the contract",
        names.len()
    );
    conclude(findings, success)
}

/// Every header alone and all in both orders. Alone means one compiler run per header; on the second side and in
/// the languages between the oldest and the newest only the joint runs are made.
fn compile_all(names: &[String], compiler: &str, language: &str, standard: &str, side: &str) -> Findings {
    let mut units: Vec<(String, String)> = Vec::new();
    if side == "host" && matches!(standard, "-std=c11" | "-std=c++20") {
        units.extend(names.iter().map(|n| (n.clone(), include(n))));
    }
    units.push(("all headers".into(), names.iter().map(|n| include(n)).collect()));
    units.push(("all headers, backwards".into(), names.iter().rev().map(|n| include(n)).collect()));
    let mut findings = Findings::new();
    match root::read(PROBE) {
        Ok(text) => units.push((PROBE.into(), format!("#define DOCA_ALLOW_EXPERIMENTAL_API\n{text}"))),
        Err(e) => findings.push(e),
    }
    for (label, text) in units {
        let text = format!("{text}{}typedef int softdpu_not_empty;\n", probe(side));
        if let Err(e) = compile(&text, compiler, language, standard, side) {
            findings.push(format!("{label} ({compiler} {standard}, {side} side): {e}"));
        }
    }
    findings
}

fn include(name: &str) -> String {
    format!("#include <{name}>\n")
}

/// Fails to compile unless exactly the wanted side is defined.
fn probe(side: &str) -> String {
    let (wanted, other) = if side == "host" { ("HOST", "DPU") } else { ("DPU", "HOST") };
    format!(
        "#include <doca_build_config.h>\n#if !defined(DOCA_ARCH_{wanted}) || defined(DOCA_ARCH_{other})\n\
         #error wrong side\n#endif\n"
    )
}

fn compile(text: &str, compiler: &str, language: &str, standard: &str, side: &str) -> Result<(), String> {
    let top = root::root();
    let mut child = Command::new(compiler)
        .args(FLAGS)
        .args([standard, "-x", language, "-"])
        .arg(format!("-I{}", top.join(SIDES).join(side).display()))
        .arg(format!("-I{}", top.join(FOLDER).display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{compiler} cannot be run: {e}"))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(errors.lines().take(12).collect::<Vec<_>>().join("\n    "))
}

fn declarations(table: &[Function], names: &[String]) -> Findings {
    let mut findings = Findings::new();
    let mut wanted: BTreeMap<(String, String), &Function> =
        table.iter().map(|f| ((f.header.clone(), f.name.clone()), f)).collect();
    for name in names {
        let text = match root::read(&format!("{FOLDER}/{name}")) {
            Ok(text) => text,
            Err(e) => {
                findings.push(e);
                continue;
            }
        };
        for found in declare::functions(&text) {
            match wanted.remove(&(name.clone(), found.name.clone())) {
                None => findings
                    .push(format!("{name} declares {}, which the table does not have there", found.name)),
                Some(f) if expected(f) != found.mark => findings.push(format!(
                    "{name} marks {} as {:?}, the table wants {:?}",
                    found.name,
                    found.mark,
                    expected(f)
                )),
                Some(_) => {}
            }
        }
    }
    for (header, name) in wanted.keys() {
        let known = Path::new(FOLDER).join(header);
        findings.push(format!("{} does not declare {name}", known.display()));
    }
    findings
}

fn expected(f: &Function) -> Mark {
    match (f.state, f.stability) {
        (State::Inline, _) => Mark::Inline,
        (_, Stability::Stable) => Mark::Stable,
        (_, Stability::Experimental) => Mark::Experimental,
    }
}
