//! The C programs of the suite (`conformance/c`): how one is found, compiled against the kit and run.
//!
//! They are written from the contract alone, as users write programs for real cards, and include nothing but
//! the contract's headers and three small ones beside them. A comment at the head of each says which clauses
//! it tests and which functions it covers, and may ask for something:
//!
//! ```text
//! std: c++17                  language standard; default c11, for .cpp files c++17
//! env: SOFTDPU_PROFILE=bf3    environment, any number of NAME=value
//! ```
//!
//! Exit status 0 means all checks held, 77 that the machine lacks something (the reason is on stdout).
//! Programs are compiled with address and undefined-behaviour sanitizer where the compiler has them;
//! `CONFORMANCE_SANITIZE=none` leaves them out.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use softdpu_sdk::{Kit, Side};

/// Warnings are errors: the headers have to be clean for everybody.
const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Werror", "-g", "-DDOCA_ALLOW_EXPERIMENTAL_API"];

const SANITIZERS: [&str; 3] =
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"];

/// Exit status of a program that found something absent.
const SKIPPED: i32 = 77;

/// The programs end themselves after 60 s; this is for those that cannot.
const LAST_RESORT: Duration = Duration::from_secs(180);

/// One program of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    name: String,
    source: PathBuf,
    standard: String,
    environment: Vec<(String, String)>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All checks held.
    Passed,
    /// Something is absent on this machine; the text says what.
    Skipped(String),
    /// Compiler messages, or status and output of the program.
    Failed(String),
}

impl Program {
    /// The program of this name.
    ///
    /// # Errors
    /// There is none, or its head comment cannot be used; the text names the file.
    pub fn find(name: &str) -> Result<Self, String> {
        for (extension, standard) in [("c", "c11"), ("cpp", "c++17")] {
            let source = folder().join(name).with_extension(extension);
            if let Ok(text) = fs::read_to_string(&source) {
                return Self::parse(name, source, standard, &text);
            }
        }
        Err(format!("no program {name}.c or {name}.cpp in {}", folder().display()))
    }

    fn parse(name: &str, source: PathBuf, standard: &str, text: &str) -> Result<Self, String> {
        let head = text.strip_prefix("/*").and_then(|rest| rest.split_once("*/")).map(|(head, _)| head);
        let head = head.ok_or_else(|| format!("{}: no comment at the head", source.display()))?;
        let mut program =
            Self { name: name.to_owned(), standard: standard.to_owned(), environment: Vec::new(), source };
        let (mut clauses, mut covers) = (false, false);
        for line in head.lines().map(|line| line.trim_start_matches([' ', '*'])) {
            match line.split_once(": ") {
                Some(("clauses", _)) => clauses = true,
                Some(("covers", _)) => covers = true,
                Some(("std", value)) => program.standard = value.trim().to_owned(),
                Some(("env", value)) => {
                    for pair in value.split_whitespace() {
                        let (key, value) = pair
                            .split_once('=')
                            .ok_or_else(|| format!("{name}: env wants NAME=value, not {pair}"))?;
                        program.environment.push((key.to_owned(), value.to_owned()));
                    }
                }
                _ => {}
            }
        }
        if !clauses || !covers {
            return Err(format!("{name}: the head comment needs a line `clauses:` and a line `covers:`"));
        }
        Ok(program)
    }

    /// Names of all programs, sorted.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names() -> Result<Vec<String>, String> {
        let entries = fs::read_dir(folder()).map_err(|e| format!("{}: {e}", folder().display()))?;
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cpp"))
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .collect();
        names.sort();
        Ok(names)
    }

    /// The compiler call that makes `output` from this program.
    #[must_use]
    pub fn compiler(&self, kit: &Kit, output: &Path) -> Command {
        let mut command = compiler_for(&self.standard);
        command.args(WARNINGS).args(sanitizers());
        for folder in kit.include_dirs(Side::Host) {
            command.arg("-I").arg(folder);
        }
        command.arg(&self.source).arg("-o").arg(output);
        command.arg("-L").arg(kit.lib_dir());
        command.arg(format!("-Wl,-rpath,{}", kit.lib_dir().display()));
        command.args(["-lsoftdpu", "-pthread"]);
        command
    }

    /// Compiles and runs in a fresh folder, which stays when the run failed.
    #[must_use]
    pub fn check(&self, kit: &Kit) -> Outcome {
        let parent = kit.root().parent().unwrap_or(Path::new("/tmp")).join("conformance-c");
        let work = parent.join(format!("{}-{}", self.name, process::id()));
        let outcome = self.check_in(kit, &work).unwrap_or_else(|error| Outcome::Failed(error.to_string()));
        if !matches!(outcome, Outcome::Failed(_)) {
            // What stays behind is no failure of the library.
            let _ = fs::remove_dir_all(&work);
        }
        outcome
    }

    /// The same with one more variable in its environment.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn check_in(&self, kit: &Kit, work: &Path) -> std::io::Result<Outcome> {
        let runtime = work.join("runtime");
        // The runtime folder is the library's to make: it takes none that others may enter.
        fs::create_dir_all(work)?;
        let executable = work.join("program");
        if let Some(absent) = without_compiler(&self.standard) {
            return Ok(Outcome::Skipped(absent));
        }
        let built = self.compiler(kit, &executable).stdin(Stdio::null()).output()?;
        if !built.status.success() {
            let messages = String::from_utf8_lossy(&built.stderr);
            return Ok(Outcome::Failed(format!("{} does not compile:\n{messages}", self.name)));
        }
        let mut command = Command::new(&executable);
        for (key, _) in std::env::vars_os().filter(|(k, _)| k.to_string_lossy().starts_with("SOFTDPU_")) {
            command.env_remove(key);
        }
        command.current_dir(work).env("SOFTDPU_RUNTIME_DIR", &runtime).envs(extra());
        command.envs(self.environment.iter().cloned());
        let (out, err) = (work.join("stdout"), work.join("stderr"));
        command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
        let status = wait(&mut command)?;
        let text = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(match status.and_then(|s| s.code()) {
            Some(0) => Outcome::Passed,
            Some(SKIPPED) => {
                let text = text(&out)?;
                let reason = text.lines().find_map(|line| line.strip_prefix("skipped: "));
                Outcome::Skipped(reason.unwrap_or("no reason given").to_owned())
            }
            _ => {
                let how = status.map_or_else(|| "it never ended".to_owned(), |s| s.to_string());
                let (out, err) = (text(&out)?, text(&err)?);
                let name = &self.name;
                Outcome::Failed(format!("{name}: {how}\n--- stdout ---\n{out}--- stderr ---\n{err}"))
            }
        })
    }
}

/// `CONFORMANCE_ENV="NAME=value ..."`: what every program finds in its environment besides its own, so that all of them
/// can be run with a seed or a plan of faults.
fn extra() -> Vec<(String, String)> {
    let all = std::env::var("CONFORMANCE_ENV").unwrap_or_default();
    let pairs = all.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Compiles and runs the program of this name against the kit of this build; for tests.
///
/// # Panics
/// When a check of the program fails, with its output.
pub fn check(name: &str) {
    let program = Program::find(name).unwrap_or_else(|error| panic!("{error}"));
    let kit = softdpu_sdk::kit_for_tests().unwrap_or_else(|error| panic!("no kit: {error}"));
    match program.check(&kit) {
        Outcome::Passed => {}
        Outcome::Skipped(reason) => println!("skipped: {reason}"),
        Outcome::Failed(text) => panic!("{text}"),
    }
}

/// Compiles this text against the kit and gives back the lines that have errors, in order.
///
/// # Errors
/// There is no kit or no compiler.
pub fn error_lines(standard: &str, text: &str) -> Result<Vec<usize>, String> {
    let kit = softdpu_sdk::kit_for_tests().map_err(|error| error.to_string())?;
    let language = if standard.starts_with("c++") { "c++" } else { "c" };
    let mut command = compiler_for(standard);
    command.args(WARNINGS).args(["-fsyntax-only", "-x", language, "-"]);
    for folder in kit.include_dirs(Side::Host) {
        command.arg("-I").arg(folder);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let mut input = child.stdin.take().ok_or("no pipe to the compiler")?;
    input.write_all(text.as_bytes()).map_err(|error| error.to_string())?;
    drop(input);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let messages = String::from_utf8_lossy(&output.stderr);
    let lines = messages.lines().filter_map(|line| {
        let (line, message) = line.strip_prefix("<stdin>:")?.split_once(':')?;
        message.contains("error: ").then(|| line.parse().ok())?
    });
    Ok(lines.collect::<BTreeSet<usize>>().into_iter().collect())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c")
}

fn compiler_for(standard: &str) -> Command {
    let (variable, default) = if standard.starts_with("c++") { ("CXX", "c++") } else { ("CC", "cc") };
    let mut command = Command::new(std::env::var_os(variable).unwrap_or_else(|| default.into()));
    command.arg(format!("-std={standard}"));
    command
}

/// Why nothing of this standard can be compiled here, if it cannot.
#[must_use]
pub fn without_compiler(standard: &str) -> Option<String> {
    let compiler = compiler_for(standard);
    let program = compiler.get_program();
    let found = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    found.is_err().then(|| format!("{} is not installed", program.display()))
}

/// The sanitizer flags, if this compiler, and this machine, can use them.
fn sanitizers() -> &'static [&'static str] {
    static USABLE: OnceLock<bool> = OnceLock::new();
    let usable = USABLE.get_or_init(|| {
        let wanted = std::env::var("CONFORMANCE_SANITIZE").map_or(true, |value| value != "none");
        wanted && probe().unwrap_or(false)
    });
    if *usable { &SANITIZERS } else { &[] }
}

/// Whether an empty program can be compiled with the sanitizers and runs, leak check included.
fn probe() -> std::io::Result<bool> {
    let work = std::env::temp_dir().join(format!("softdpu-conformance-{}", process::id()));
    fs::create_dir_all(&work)?;
    let (source, executable) = (work.join("probe.c"), work.join("probe"));
    fs::write(&source, "int main(void) { return 0; }\n")?;
    let mut compile = compiler_for("c11");
    compile.args(SANITIZERS).arg(&source).arg("-o").arg(&executable);
    let quiet = |command: &mut Command| -> std::io::Result<bool> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command.status()?.success())
    };
    let usable = quiet(&mut compile)? && quiet(&mut Command::new(&executable))?;
    fs::remove_dir_all(&work)?;
    if !usable {
        eprintln!("the sanitizers do not work here: the programs run without them");
    }
    Ok(usable)
}

/// Runs to the end; `None` when the program had to be killed.
fn wait(command: &mut Command) -> std::io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let end = Instant::now() + LAST_RESORT;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Program, String> {
        Program::parse("x", PathBuf::from("x.c"), "c11", text)
    }

    #[test]
    fn the_head_comment_says_what_is_wanted() {
        let text = "/*\n * A title: with a colon.\n * clauses: a, b\n * std: c++20\n * env: A=1 B=two\n * covers: @\n */\n";
        let program = parse(text).unwrap();
        assert_eq!(program.standard, "c++20");
        let pairs = [("A", "1"), ("B", "two")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(program.environment, pairs);
    }

    #[test]
    fn a_head_comment_that_says_too_little_is_refused() {
        assert!(parse("int main(void) { return 0; }\n").is_err());
        assert!(parse("/* clauses: a */\n").unwrap_err().contains("covers"));
        assert!(
            parse("/*\n * clauses: a\n * covers: @\n * env: A\n */\n").unwrap_err().contains("NAME=value")
        );
    }
}
