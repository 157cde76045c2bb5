//! The house tasks: what keeps code, headers, contract table and documents in step.
//!
//! Each task is a function that returns its findings as text; the command prints them, and the tests of this
//! package run the same functions, so that `cargo test --workspace` covers them.

mod api;
mod book;
mod budget;
mod completions;
mod covers;
mod declare;
mod dist;
mod guest;
mod headers;
mod licences;
mod lints;
mod man;
mod matrix;
mod metadata;
mod picture;
mod publish;
mod readme;
mod root;
mod sbom;
mod source;
mod symbols;
mod table;

use std::process::ExitCode;

const HELP: &str = "\
House tasks of SoftDPU.

Usage: cargo xtask TASK

Tasks:
  matrix [--check]   write MATRIX.md, its summary in README.md and the missing entry points from
                     contract/functions.toml (--check: only tell whether they are up to date)
  headers            compile every C header in every language and order, and compare what they
                     declare with contract/functions.toml
  symbols LIBRARY    compare what a shared or static library exports with contract/functions.toml
  api [--check]      write the promised Rust interfaces into contract/rust (--check: only compare)
  book [OUTDIR]      build the manual (--check: only tell whether it is up to date and its links lead
                     somewhere)
  man OUTDIR         write the manual pages of the command and of every C header
  lints              unsafe code, SAFETY comments, lengths, atomics, words
  budget [--profile] count instructions per task against xtask/budgets.toml (needs valgrind)
  dist [OPTIONS]     install command, libraries and headers, or make packages (see dist --help)
  licences           licences and sources of all packages against xtask/licences.toml
  package [--verify] can the packages be published?
  sbom [FILE]        the bill of materials of what is shipped (CycloneDX)
  guest-tests [OPTIONS]
                     tests in a guest whose kernel has what this one lacks (see guest-tests --help)
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let outcome = match task.as_deref() {
        Some("matrix") => match rest.as_slice() {
            [] => matrix::write(),
            [flag] if flag == "--check" => matrix::check(),
            _ => Err(vec!["usage: cargo xtask matrix [--check]".into()]),
        },
        Some("headers") => headers::run(),
        Some("symbols") => match rest.as_slice() {
            [library] => symbols::run(library.as_ref()),
            _ => Err(vec!["usage: cargo xtask symbols LIBRARY".into()]),
        },
        Some("lints") => lints::run(),
        Some("api") => api::run(&rest),
        Some("book") => book::run(&rest),
        Some("man") => man::run(&rest),
        Some("budget") => budget::run(&rest),
        Some("dist") => dist::run(rest).map(|()| String::new()).map_err(|e| vec![e]),
        Some("licences") => licences::run(),
        Some("package") => publish::run(&rest),
        Some("sbom") => sbom::run(&rest),
        Some("guest-tests") => guest::run(&rest),
        None | Some("help" | "--help" | "-h") => Ok(HELP.into()),
        Some(other) => Err(vec![format!("no task named {other}\n\n{HELP}")]),
    };
    match outcome {
        Ok(text) if text.is_empty() => ExitCode::SUCCESS,
        Ok(text) => {
            println!("{}", text.trim_end());
            ExitCode::SUCCESS
        }
        Err(findings) => {
            for finding in &findings {
                eprintln!("{finding}");
            }
            ExitCode::FAILURE
        }
    }
}

/// What a task found wrong, one line each; never empty.
type Findings = Vec<String>;

/// The text of a task that found nothing wrong, or its findings.
type Outcome = Result<String, Findings>;

/// Turns findings into an outcome.
fn conclude(findings: Findings, success: String) -> Outcome {
    if findings.is_empty() { Ok(success) } else { Err(findings) }
}

#[cfg(test)]
mod tests {
    fn clean(outcome: super::Outcome) {
        if let Err(findings) = outcome {
            panic!("{} findings:\n{}", findings.len(), findings.join("\n"));
        }
    }

    #[test]
    fn matrix_is_current() {
        clean(super::matrix::check());
    }

    #[test]
    fn headers_compile_and_declare_the_contract() {
        clean(super::headers::run());
    }

    #[test]
    fn the_manual_is_current_and_its_links_lead_somewhere() {
        clean(super::book::check());
    }

    #[test]
    fn lints_hold() {
        clean(super::lints::run());
    }
}
