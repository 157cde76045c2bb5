//! The jobs: `conformance/guest/jobs.toml`.

use crate::root;
use serde::Deserialize;
use std::collections::BTreeMap;

const FILE: &str = "conformance/guest/jobs.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    job: Vec<Job>,
}

/// Something that is done in a guest of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    pub(super) name: String,
    /// One line for people.
    pub(super) about: String,
    pub(super) kernel: Kernel,
    /// Modules that are loaded before.
    #[serde(default)]
    pub(super) modules: Vec<String>,
    /// Pages of 2 MiB that are set aside before.
    #[serde(default)]
    pub(super) hugepages: u32,
    /// MiB of memory.
    #[serde(default = "memory")]
    pub(super) memory: u32,
    /// How long the guest may take.
    pub(super) seconds: u64,
    /// Shell commands that come first; each has to succeed.
    #[serde(default)]
    pub(super) prepare: Vec<String>,
    pub(super) run: Vec<Run>,
}

fn memory() -> u32 {
    2048
}

/// Which kernel of the distribution.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kernel {
    /// The newest one that there are packages of.
    Backports,
    /// That of the release.
    Release,
}

impl Kernel {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kernel::Backports => "backports",
            Kernel::Release => "release",
        }
    }
}

/// A program that is run in the guest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    /// Package of the workspace; without `test` and `binary` the tests inside of its library.
    pub(super) package: Option<String>,
    /// An integration test of the package.
    pub(super) test: Option<String>,
    /// A program of the package.
    pub(super) binary: Option<String>,
    /// A C program of `conformance/c`, alone.
    pub(super) c: Option<String>,
    /// Tests: those whose names hold one of these. Programs: the arguments.
    #[serde(default)]
    pub(super) arguments: Vec<String>,
    /// Tests that are left out.
    #[serde(default)]
    pub(super) without: Vec<String>,
    /// So many tests pass at least.
    #[serde(default = "one")]
    pub(super) passes: u32,
    /// Programs: texts that the output has.
    #[serde(default)]
    pub(super) says: Vec<String>,
    /// Tests may find something missing. Otherwise that is a failure: a guest is there for having it.
    #[serde(default)]
    pub(super) may_skip: bool,
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
}

fn one() -> u32 {
    1
}

/// What a run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What<'a> {
    Library(&'a str),
    Test(&'a str, &'a str),
    Binary(&'a str, &'a str),
    C(&'a str),
}

impl Run {
    pub(super) fn what(&self) -> Option<What<'_>> {
        match (self.package.as_deref(), self.test.as_deref(), self.binary.as_deref(), self.c.as_deref()) {
            (Some(package), None, None, None) => Some(What::Library(package)),
            (Some(package), Some(test), None, None) => Some(What::Test(package, test)),
            (Some(package), None, Some(binary), None) => Some(What::Binary(package, binary)),
            (None, None, None, Some(program)) => Some(What::C(program)),
            _ => None,
        }
    }

    /// Is it a program of tests, as the compiler makes them?
    pub(super) fn is_tests(&self) -> bool {
        matches!(self.what(), Some(What::Library(_) | What::Test(..)))
    }

    /// How it is called in what is said of it.
    pub(super) fn title(&self) -> String {
        match self.what() {
            Some(What::Library(package)) => package.to_owned(),
            Some(What::Test(package, name) | What::Binary(package, name)) => format!("{package}/{name}"),
            Some(What::C(program)) => format!("{program}.c"),
            None => "nothing".into(),
        }
    }
}

/// All jobs, in the order of the file.
pub(super) fn load() -> Result<Vec<Job>, String> {
    parse(&root::read(FILE)?)
}

fn parse(text: &str) -> Result<Vec<Job>, String> {
    let file: File = toml::from_str(text).map_err(|e| format!("{FILE}: {e}"))?;
    for (at, job) in file.job.iter().enumerate() {
        let wrong = |what: &str| Err(format!("{FILE}: job {}: {what}", job.name));
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if job.name.is_empty() || !job.name.bytes().all(plain) {
            return wrong(
                "a name has small letters, digits and hyphens alone, since a folder is named after it",
            );
        }
        if file.job[..at].iter().any(|earlier| earlier.name == job.name) {
            return wrong("stands there twice");
        }
        if job.run.is_empty() {
            return wrong("runs nothing");
        }
        if job.run.iter().any(|run| run.what().is_none()) {
            return wrong("a run is a package, with `test` or `binary` or neither, or a C program");
        }
        if job.run.iter().any(|run| !run.is_tests() && !run.without.is_empty()) {
            return wrong("`without` is for tests");
        }
    }
    Ok(file.job)
}

/// The jobs for people.
pub(super) fn list(jobs: &[Job]) -> String {
    let widest = jobs.iter().map(|job| job.name.len()).max().unwrap_or(0);
    let line = |job: &Job| format!("{:widest$}  {:9}  {}\n", job.name, job.kernel.name(), job.about);
    jobs.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_project_can_be_used() {
        let jobs = load().unwrap();
        assert!(jobs.iter().any(|job| job.name == "dmabuf"));
        for job in &jobs {
            assert!(list(&jobs).contains(&job.about));
            for run in &job.run {
                match run.what().unwrap() {
                    What::C(program) => drop(root::read(&format!("conformance/c/{program}.c")).unwrap()),
                    What::Test(..) | What::Library(_) | What::Binary(..) => {}
                }
            }
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_name_of_the_job() {
        let job = |name: &str, run: &str| {
            format!(
                "[[job]]\nname = '{name}'\nabout = ''\nkernel = 'release'\nseconds = 1\n[[job.run]]\n{run}\n"
            )
        };
        let good = job("a", "package = 'p'\ntest = 't'");
        assert_eq!(parse(&good).unwrap()[0].run[0].what(), Some(What::Test("p", "t")));
        for (text, word) in [
            (good.clone() + &good, "twice"),
            (job("A/b", "package = 'p'"), "letters"),
            (job("a", "test = 't'"), "package"),
            (job("a", "package = 'p'\nc = 'x'"), "package"),
            (job("a", "c = 'x'\nwithout = ['y']"), "without"),
            (job("a", "packages = 'p'"), "packages"),
            (job("a", "package = 'p'").replace("release", "newest"), "newest"),
        ] {
            let why = parse(&text).unwrap_err();
            assert!(why.contains(word) && why.contains(FILE), "{why}");
        }
    }
}
