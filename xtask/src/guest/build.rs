//! The programs of a job, built here: the guest has neither the time nor the network for it.

use super::jobs::{Job, Run, What};
use crate::root;
use softdpu_sdk::{Kit, Side, build_archive};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program and how it is run.
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// Where.
    pub(super) folder: PathBuf,
    arguments: Vec<String>,
    environment: Vec<String>,
}

impl Program {
    pub(super) fn of(run: &Run, path: PathBuf) -> Program {
        let mut arguments = run.arguments.clone();
        if run.is_tests() {
            // Tests of a guest of two slow processors share them badly.
            arguments.push("--test-threads=1".into());
            arguments.extend(run.without.iter().map(|name| format!("--skip={name}")));
            arguments.push("--show-output".into());
        }
        let environment = run.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Program { path, folder: root::root(), arguments, environment }
    }

    /// Everything, as `env` takes it.
    pub(super) fn words(&self) -> Vec<String> {
        let path = self.path.display().to_string();
        self.environment.iter().cloned().chain([path]).chain(self.arguments.iter().cloned()).collect()
    }
}

/// All programs of a job, in its order.
///
/// # Errors
/// One does not build.
pub(super) fn all(job: &Job, work: &Path) -> Result<Vec<Program>, String> {
    job.run.iter().map(|run| Ok(Program::of(run, one(run, work)?))).collect()
}

fn one(run: &Run, work: &Path) -> Result<PathBuf, String> {
    match run.what() {
        Some(What::Library(package)) => cargo(&["test", "--no-run", "--package", package, "--lib"]),
        Some(What::Test(package, test)) => cargo(&["test", "--no-run", "--package", package, "--test", test]),
        Some(What::Binary(package, binary)) => cargo(&["build", "--package", package, "--bin", binary]),
        Some(What::C(program)) => c(program, work),
        None => Err("a run of nothing".into()),
    }
}

/// Builds one program and gives its place.
fn cargo(arguments: &[&str]) -> Result<PathBuf, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = cargo
        .args(arguments)
        .args(["--quiet", "--message-format=json-render-diagnostics"])
        .current_dir(root::root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cargo cannot be run: {e}"))?;
    let words = arguments.join(" ");
    if !output.status.success() {
        return Err(format!("cargo {words}: {}", output.status));
    }
    executable(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| format!("cargo {words}: made no program"))
}

/// The last program that cargo says it made.
fn executable(messages: &str) -> Option<PathBuf> {
    let of = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message.get("executable")?.as_str().map(PathBuf::from)
    };
    messages.lines().filter_map(of).next_back()
}

/// A C program of the suite, against the kit of this build.
fn c(program: &str, work: &Path) -> Result<PathBuf, String> {
    let profile = std::env::current_exe().ok().and_then(|own| own.parent().map(Path::to_path_buf));
    let profile = profile.ok_or("this program has no place")?;
    build_archive(&profile).map_err(|e| e.to_string())?;
    let kit = Kit::of_build(&profile).map_err(|e| e.to_string())?;
    let source = root::root().join("conformance/c").join(program).with_extension("c");
    let made = work.join(program);
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-std=c11", "-g", "-DDOCA_ALLOW_EXPERIMENTAL_API"]).arg(&source);
    for folder in kit.include_dirs(Side::Host) {
        cc.arg("-I").arg(folder);
    }
    let lib = kit.lib_dir();
    cc.arg("-L").arg(&lib).arg(format!("-Wl,-rpath,{}", lib.display())).args(["-lsoftdpu", "-pthread"]);
    cc.arg("-o").arg(&made);
    let status = cc.status().map_err(|e| format!("the C compiler cannot be run: {e}"))?;
    if status.success() { Ok(made) } else { Err(format!("{} does not compile", source.display())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_in_what_cargo_says() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                        {\"reason\":\"compiler-artifact\",\"executable\":\"/t/x-1\"}\n\
                        {\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(executable(messages), Some("/t/x-1".into()));
        assert_eq!(executable("nonsense"), None);
    }
}
