//! `cargo xtask budget`: counts the instructions of a task, and of a progress call that finds nothing, and compares
//! them with `xtask/budgets.toml`.
//!
//! Instructions, not time: the count is the same on a busy machine. Every program runs twice, with different numbers of
//! tasks; the difference divided by the difference of the numbers is the cost of one, free of start and end.
//!
//! Counted is what the library does on the program's thread, and the C library's copies. The measuring program's own
//! work is not: in C it is an object of its own plus the buffer calls in its callback, which a real program makes, or
//! others, as it likes; in Rust it stands in functions named `program_*`, and in `driver_*`, which only call others.
//! Workers of the library look around as long as the program runs, which is no cost of a task; but where one carried a
//! task out, the engine's part of it counts as if the program's thread had done it.
//!
//! A budget of the whole counts everything on the program's thread, as does that of check mode, which is in both.

mod callgrind;

use crate::{Findings, Outcome, dist, root};
use callgrind::Threads;
use serde::Deserialize;
use softdpu_sdk::{Kit, SHARED_LIBRARY, Side, build_archive};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const SETTINGS: &str = "xtask/budgets.toml";
const PROBES: &str = "xtask/probes";
const EXAMPLE: &str = "budget";
/// Entry points that the C program calls for itself.
const PROGRAMS_OWN: [&str; 3] =
    ["doca_buf_reset_data_len", "doca_dma_task_memcpy_get_dst", "doca_dma_task_memcpy_get_src"];
/// The C program of a budget that names none.
const USUAL_PROBE: &str = "dma_budget";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    budget: Vec<Budget>,
}

/// The engine's part of a task, whoever carries it out.
const ENGINES_PART: [&str; 3] = ["Work>::quick", "Work>::run", "Work>::part"];

/// One thing that is counted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    name: String,
    what: String,
    program: Program,
    /// C: which program of `xtask/probes`.
    #[serde(default)]
    probe: Option<String>,
    /// Arguments of the program; `N` stands for the number of tasks or calls.
    arguments: String,
    /// The two numbers.
    runs: [u64; 2],
    /// What CI refuses to exceed: instructions, or a multiple of the cost of `relative_to`.
    limit: f64,
    /// What is aimed at.
    goal: f64,
    /// Everything that the program's thread does counts.
    #[serde(default)]
    whole: bool,
    /// C: with the library of check mode before the program's own.
    #[serde(default)]
    checked: bool,
    /// The budget this one is a multiple of.
    relative_to: Option<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Program {
    C,
    Rust,
}

/// How often a budget is counted until it is kept.
const TRIES: usize = 3;

/// What was counted for one budget.
struct Count {
    instructions: f64,
    /// The functions it consists of, dearest first.
    parts: Vec<(String, f64)>,
}

/// Carries out the task. `--profile` also lists the functions.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let profile = match arguments {
        [] => false,
        [flag] if flag == "--profile" => true,
        _ => return Err(vec!["usage: cargo xtask budget [--profile]".into()]),
    };
    if !callgrind::is_available() {
        return Ok("skipped: valgrind is not installed".into());
    }
    let budgets = load().map_err(|e| vec![e])?;
    let scratch = std::env::temp_dir().join(format!("softdpu-budget-{}", std::process::id()));
    let counts = std::fs::create_dir_all(&scratch)
        .map_err(|e| format!("{}: {e}", scratch.display()))
        .and_then(|()| count_all(&budgets, &scratch));
    // Nothing depends on it being gone.
    let _ = std::fs::remove_dir_all(&scratch);
    let counts = counts.map_err(|e| vec![e])?;
    let (text, findings) = report(&budgets, &counts, profile);
    if findings.is_empty() {
        return Ok(text);
    }
    println!("{text}");
    Err(findings)
}

/// The limits, for the README.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn table() -> Result<String, String> {
    let mut text = String::from("| | at most |\n|---|---|\n");
    for b in load()? {
        let unit = if b.relative_to.is_some() { "times as much" } else { "instructions" };
        text += &format!("| {} | {} {unit} |\n", b.what, b.limit);
    }
    Ok(text)
}

fn load() -> Result<Vec<Budget>, String> {
    parse(&root::read(SETTINGS)?)
}

fn parse(text: &str) -> Result<Vec<Budget>, String> {
    let file: File = toml::from_str(text).map_err(|e| format!("{SETTINGS}: {e}"))?;
    for (at, b) in file.budget.iter().enumerate() {
        let earlier = &file.budget[..at];
        let known = |name: &str| earlier.iter().any(|e| e.name == name && e.relative_to.is_none());
        if earlier.iter().any(|e| e.name == b.name) {
            return Err(format!("{SETTINGS}: {} stands there twice", b.name));
        }
        if b.relative_to.as_deref().is_some_and(|r| !known(r)) {
            return Err(format!("{SETTINGS}: {}: relative_to must name an absolute budget above it", b.name));
        }
        if b.runs[0] >= b.runs[1] || !b.arguments.split(' ').any(|a| a == "N") {
            return Err(format!("{SETTINGS}: {}: needs two growing runs and an argument N", b.name));
        }
    }
    Ok(file.budget)
}

fn count_all(budgets: &[Budget], scratch: &Path) -> Result<BTreeMap<String, Count>, String> {
    let release = dist::release_folder()?;
    build_archive(&release).map_err(|e| e.to_string())?;
    let mut c = BTreeMap::new();
    let rust = build_rust(&release)?;
    let mut counts = BTreeMap::<String, Count>::new();
    for budget in budgets {
        let probe = budget.probe.as_deref().unwrap_or(USUAL_PROBE);
        if budget.program == Program::C && !c.contains_key(probe) {
            c.insert(probe, build_c(probe, &release, scratch)?);
        }
        let program = if budget.program == Program::C { &c[probe] } else { &rust };
        let run = |n: u64| {
            let arguments: Vec<String> = budget
                .arguments
                .split(' ')
                .map(|a| if a == "N" { n.to_string() } else { a.to_owned() })
                .collect();
            let check =
                if budget.checked { Some(Kit::of_build(&release).map_err(|e| e.to_string())?) } else { None };
            callgrind::count(program, &arguments, scratch, check.as_ref())
        };
        let base =
            budget.relative_to.as_ref().and_then(|base| counts.get(base)).map_or(1.0, |c| c.instructions);
        let mut count = difference(&run(budget.runs[0])?, &run(budget.runs[1])?, budget);
        // Which of the threads carried how much out differs from run to run, and much of a difference of two can be that.
        for _ in 1..TRIES {
            if is_kept(count.instructions / base, budget) {
                break;
            }
            count = difference(&run(budget.runs[0])?, &run(budget.runs[1])?, budget);
        }
        counts.insert(budget.name.clone(), count);
    }
    Ok(counts)
}

fn build_c(probe: &str, release: &Path, scratch: &Path) -> Result<PathBuf, String> {
    let source = format!("{PROBES}/{probe}.c");
    let kit = Kit::of_build(release).map_err(|e| e.to_string())?;
    let program = scratch.join(probe);
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]).arg(root::root().join(&source));
    for folder in kit.include_dirs(Side::Host) {
        cc.arg("-I").arg(folder);
    }
    let lib = kit.lib_dir();
    cc.arg("-L").arg(&lib).args(["-Xlinker", "-rpath", "-Xlinker"]).arg(&lib).arg("-lsoftdpu");
    cc.arg("-o").arg(&program);
    let status = cc.status().map_err(|e| format!("the C compiler cannot be run: {e}"))?;
    if status.success() { Ok(program) } else { Err(format!("{source} does not compile")) }
}

fn build_rust(release: &Path) -> Result<PathBuf, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--package", "softdpu-examples", "--example", EXAMPLE]);
    cargo.current_dir(root::root());
    if let Some(target) = release.parent() {
        cargo.arg("--target-dir").arg(target);
    }
    let status = cargo.status().map_err(|e| format!("cargo cannot be run: {e}"))?;
    if !status.success() {
        return Err(format!("example {EXAMPLE} does not build"));
    }
    Ok(release.join("examples").join(EXAMPLE))
}

/// Is a cost what it may be? A missing count gives NaN, one that was disturbed less than nothing.
fn is_kept(cost: f64, budget: &Budget) -> bool {
    cost > 0.0 && cost <= budget.limit
}

/// The cost of one task: what `many` has more than `few`, per task.
fn difference(few: &Threads, many: &Threads, budget: &Budget) -> Count {
    let tasks = budget.runs[1] - budget.runs[0];
    let (few, many) = (sum(few, budget), sum(many, budget));
    let per_task = |name: &String, cost: f64| (cost - few.get(name).copied().unwrap_or(0.0)) / tasks as f64;
    let mut parts: Vec<(String, f64)> =
        many.iter().map(|(name, cost)| (name.clone(), per_task(name, *cost))).collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    Count { instructions: parts.iter().map(|p| p.1).sum(), parts }
}

/// What counts of a run, by function.
fn sum(threads: &Threads, budget: &Budget) -> BTreeMap<String, f64> {
    let mut sum = BTreeMap::new();
    let program = budget.program;
    if budget.whole {
        let all = threads.first().into_iter().flat_map(|thread| &thread.own);
        all.for_each(|((_, function), &cost)| *sum.entry(function.clone()).or_insert(0.0) += cost as f64);
        return sum;
    }
    for (at, thread) in threads.iter().enumerate() {
        for ((object, function), &cost) in &thread.own {
            let counts = match at {
                0 => whose(object, function, program) == Whose::Library,
                _ => ENGINES_PART.iter().any(|part| function.contains(part)),
            };
            if counts {
                *sum.entry(function.clone()).or_insert(0.0) += cost as f64;
            }
        }
        if at == 0 {
            for ((object, function), &cost) in &thread.called {
                if whose(object, function, program) == Whose::ProgramInside {
                    *sum.entry(format!("called by {function}")).or_insert(0.0) -= cost as f64;
                }
            }
        }
    }
    sum
}

#[derive(Debug, PartialEq, Eq)]
enum Whose {
    Library,
    /// The program, or what does not matter.
    Other,
    /// The program, in an object of the library: what it calls is taken off again.
    ProgramInside,
}

fn whose(object: &str, function: &str, program: Program) -> Whose {
    if object.starts_with("libc.so") || object.starts_with("libc-") {
        let copies = ["memcpy", "memmove", "memset"].iter().any(|c| function.contains(c));
        return if copies { Whose::Library } else { Whose::Other };
    }
    let (library, programs) = match program {
        Program::C => (object == SHARED_LIBRARY, PROGRAMS_OWN.contains(&function)),
        Program::Rust if function.contains("::driver_") => (false, false),
        Program::Rust => (object == EXAMPLE, function.contains("::program_")),
    };
    match (library, programs) {
        (true, true) => Whose::ProgramInside,
        (true, false) => Whose::Library,
        (false, _) => Whose::Other,
    }
}

fn report(budgets: &[Budget], counts: &BTreeMap<String, Count>, profile: bool) -> (String, Findings) {
    let mut findings = Findings::new();
    let mut text = format!("{:<24} {:>9} {:>9} {:>9}  what\n", "budget", "counted", "limit", "goal");
    for b in budgets {
        let of = |name: &str| counts.get(name).map_or(f64::NAN, |c| c.instructions);
        let (value, unit) = match &b.relative_to {
            None => (of(&b.name), ""),
            Some(base) => (of(&b.name) / of(base), "x"),
        };
        let number =
            |v: f64| format!("{}{unit}", if unit.is_empty() { format!("{v:.1}") } else { format!("{v:.2}") });
        let (limit, goal) = (number(b.limit), number(b.goal));
        text += &format!("{:<24} {:>9} {limit:>9} {goal:>9}  {}\n", b.name, number(value), b.what);
        if profile {
            let parts = counts.get(&b.name).map(|c| c.parts.as_slice()).unwrap_or_default();
            for (function, cost) in parts.iter().filter(|p| p.1.abs() >= 0.05) {
                text += &format!("{:>34.2}  {function}\n", cost);
            }
        }
        if !is_kept(value, b) {
            findings.push(format!(
                "{}: {} per task or call, limit {limit} ({})",
                b.name,
                number(value),
                b.what
            ));
        }
    }
    (text, findings)
}

#[cfg(test)]
mod tests;
