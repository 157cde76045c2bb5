//! What came of a job: read from what its programs said and how they ended.

use super::build::Program;
use super::jobs::{Job, Run};
use super::machine::{CONSOLE, Ended};
use super::script;
use std::fmt;
use std::fs;
use std::path::Path;

/// Counts of tests; a program that is none counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u32,
    pub(super) failed: u32,
    pub(super) skipped: u32,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// What came of a job.
pub(super) struct Done {
    pub(super) tally: Tally,
    pub(super) findings: Vec<String>,
    /// Seconds that the guest counted.
    uptime: String,
}

impl Done {
    pub(super) fn verdict(&self) -> String {
        let word = if self.findings.is_empty() { "ok" } else { "FAILED" };
        format!("{word}, {}, {} s in the guest", self.tally, self.uptime)
    }
}

/// Looks at the folder of a job, and shows what its programs said.
pub(super) fn read(job: &Job, programs: &[Program], work: &Path, ended: &Ended) -> Done {
    let text = |name: &str| {
        let bytes = fs::read(work.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let mut done =
        Done { tally: Tally::default(), findings: Vec::new(), uptime: text("uptime").trim().to_owned() };
    if !work.join(script::PREPARED).is_file() {
        done.tally.failed += 1;
        let console = text(CONSOLE);
        print!("{}{console}{}", text("qemu"), text("preparing"));
        done.findings.push(format!("the guest was not prepared ({}): see above", ended.status));
    } else {
        for (number, run) in job.run.iter().enumerate() {
            let (said, status) = (text(&script::output(number)), text(&script::status(number)));
            println!("-- {} {}", run.title(), programs[number].words().join(" "));
            print!("{said}");
            let (tally, finding) = judge(run, &said, status.trim().parse().ok());
            done.tally.add(&tally);
            done.findings.extend(finding.map(|finding| format!("{}: {finding}", run.title())));
        }
    }
    if ended.stopped {
        done.findings.push(format!("the guest was stopped after {} s", job.seconds));
    }
    done
}

/// What a program said, and its status, if it came to an end.
fn judge(run: &Run, said: &str, status: Option<i32>) -> (Tally, Option<String>) {
    let mut tally = if run.is_tests() { counts(said) } else { Tally::default() };
    // The last line of tests counts those that were ignored, which is no matter here: other tests run them.
    let skips: Vec<&str> = said.lines().filter(|line| line.contains("skipped: ")).collect();
    tally.skipped = skips.len() as u32;
    let missing = run.says.iter().find(|text| !said.contains(text.as_str()));
    let finding = match (status, missing) {
        (None, _) => Some("did not come to an end".to_owned()),
        // What is missing was said above.
        (Some(77), _) if run.c.is_some() && run.may_skip => None,
        (Some(status), _) if status != 0 => Some(format!("status {status}")),
        (_, Some(text)) => Some(format!("did not say `{text}`")),
        _ if run.is_tests() && tally.passed < run.passes => {
            Some(format!("{} tests passed, at least {} have to", tally.passed, run.passes))
        }
        _ if !run.may_skip && !skips.is_empty() => {
            Some(format!("`{}`, though the guest is there for that", skips[0].trim()))
        }
        _ => None,
    };
    if finding.is_some() {
        tally.failed = tally.failed.max(1);
    } else if !run.is_tests() {
        tally.passed = 1;
    }
    (tally, finding)
}

/// Of the last line in which a program of tests counts them; those before it are of programs that it has run itself.
fn counts(said: &str) -> Tally {
    let last = said.lines().rev().find_map(|line| line.trim().strip_prefix("test result: "));
    let number = |word: &str| {
        let part = last?.split([';', '.']).map(str::trim).find_map(|part| part.strip_suffix(word))?;
        part.trim().parse().ok()
    };
    Tally { passed: number("passed").unwrap_or(0), failed: number("failed").unwrap_or(0), skipped: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "running 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out\n\
                        test a ... ok\n\ntest result: ok. 3 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 1.2s\n";

    fn run(text: &str) -> Run {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn tests_are_counted_and_have_to_be_there() {
        let tests = run("package = 'p'\npasses = 3");
        assert_eq!(judge(&tests, GOOD, Some(0)), (Tally { passed: 3, failed: 0, skipped: 0 }, None));
        let more = run("package = 'p'\npasses = 4");
        assert!(judge(&more, GOOD, Some(0)).1.unwrap().contains("at least 4"));
        let bad = GOOD.replace("ok. 3 passed; 0", "FAILED. 2 passed; 1");
        let (tally, finding) = judge(&tests, &bad, Some(101));
        assert_eq!((tally.passed, tally.failed, finding.unwrap().as_str()), (2, 1, "status 101"));
        assert!(judge(&tests, GOOD, None).1.is_some());
        assert!(judge(&tests, "", Some(0)).1.is_some(), "no tests at all");
    }

    #[test]
    fn a_guest_that_lacks_what_it_is_there_for_is_a_failure() {
        let said = format!("skipped: no /dev/udmabuf\n{GOOD}");
        let (tally, finding) = judge(&run("package = 'p'"), &said, Some(0));
        assert!(tally.failed == 1 && finding.unwrap().contains("udmabuf"));
        let (tally, finding) = judge(&run("package = 'p'\nmay_skip = true"), &said, Some(0));
        assert_eq!((tally, finding), (Tally { passed: 3, failed: 0, skipped: 1 }, None));
    }

    #[test]
    fn programs_are_judged_by_their_status_and_what_they_say() {
        let program = run("package = 'p'\nbinary = 'b'\nsays = ['verbs']");
        assert_eq!(
            judge(&program, "a verbs port\n", Some(0)),
            (Tally { passed: 1, failed: 0, skipped: 0 }, None)
        );
        assert!(judge(&program, "nothing\n", Some(0)).1.unwrap().contains("verbs"));
        let c = run("c = 'x'");
        assert!(judge(&c, "skipped: nothing there\n", Some(77)).1.is_some());
        assert_eq!(judge(&run("c = 'x'\nmay_skip = true"), "skipped: x\n", Some(77)).1, None);
    }
}
