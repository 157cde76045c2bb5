//! `cargo xtask guest-tests`: what the kernel of this machine does not have is tested in one that has it.
//!
//! Real dmabufs, RDMA devices and older kernels need drivers that few build machines have. So QEMU and a kernel are
//! fetched by package name into `target/guest`, where they stay, and nothing is installed. A guest is booted whose root
//! is that of this machine, read-only and with a layer in memory above it: what is installed and built here is there.
//! Jobs stand in `conformance/guest/jobs.toml`. Where a guest cannot be had, jobs are skipped, with the reason.
//!
//! | file | what |
//! |---|---|
//! | `jobs.rs` | the list of jobs |
//! | `fetch.rs`, `unpack.rs` | packages, and the folders that are made of them |
//! | `build.rs` | the programs that a job runs |
//! | `script.rs`, `initramfs.rs`, `modules.rs` | what the guest does |
//! | `machine.rs` | the guest itself |
//! | `outcome.rs` | what came of it |

mod build;
mod fetch;
mod initramfs;
mod jobs;
mod machine;
mod modules;
mod outcome;
mod script;
mod unpack;

use crate::{Findings, Outcome, root};
use fetch::Store;
use jobs::Job;
use outcome::Tally;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

const USAGE: &str = "\
Usage: cargo xtask guest-tests [OPTIONS]

  --list        the jobs, and what each is about
  --job NAME    this job alone; may be given several times
  --keep        keep the folder of each job: console, output, initial file system (failed ones are kept anyway)

Fetches QEMU (some 20 MB) and a kernel (some 70 or 110 MB) with apt into target/guest, and installs nothing.
SOFTDPU_GUEST_ACCEL=kvm uses hardware virtualisation instead of emulation.
";

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    list: bool,
    keep: bool,
    jobs: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--list" => options.list = true,
                "--keep" => options.keep = true,
                "--job" => options.jobs.push(rest.next().ok_or("--job wants a name")?.clone()),
                other => return Err(format!("{other}: no such option\n\n{USAGE}")),
            }
        }
        Ok(options)
    }
}

/// Where everything is kept.
pub(super) fn folder() -> PathBuf {
    root::root().join("target/guest")
}

/// Carries out the task.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        return Ok(USAGE.into());
    }
    let options = Options::parse(arguments).map_err(|e| vec![e])?;
    let all = jobs::load().map_err(|e| vec![e])?;
    if options.list {
        return Ok(jobs::list(&all));
    }
    if let Some(unknown) = options.jobs.iter().find(|name| all.iter().all(|job| job.name != **name)) {
        return Err(vec![format!("no job named {unknown}\n\n{}", jobs::list(&all))]);
    }
    let wanted = |job: &&Job| options.jobs.is_empty() || options.jobs.contains(&job.name);
    let mut tally = Tally::default();
    let mut findings = Findings::new();
    for job in all.iter().filter(wanted) {
        println!("== {}: {}", job.name, job.about);
        let start = Instant::now();
        let outcome = one(job, options.keep);
        let seconds = start.elapsed().as_secs();
        match outcome {
            Ok(done) => {
                println!("-- {}: {}, {seconds} s", job.name, done.verdict());
                findings.extend(done.findings.iter().map(|finding| format!("{}: {finding}", job.name)));
                tally.add(&done.tally);
            }
            Err(Trouble::Skipped(why)) => {
                println!("skipped: {}: {why}", job.name);
                tally.skipped += 1;
            }
            Err(Trouble::Failed(why)) => {
                println!("-- {}: FAILED, {seconds} s", job.name);
                tally.failed += 1;
                findings.push(format!("{}: {why}", job.name));
            }
        }
    }
    println!("{tally}");
    crate::conclude(findings, String::new())
}

/// Why there is no outcome.
#[derive(Debug)]
enum Trouble {
    /// This machine cannot have such a guest.
    Skipped(String),
    /// Something of the project is wrong.
    Failed(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Trouble {
        Trouble::Failed(why)
    }
}

/// One job, from nothing to its outcome.
fn one(job: &Job, keep: bool) -> Result<outcome::Done, Trouble> {
    let store = Store::new(folder()).map_err(Trouble::Skipped)?;
    let tools = store.tools().map_err(Trouble::Skipped)?;
    let kernel = store.kernel(job.kernel).map_err(Trouble::Skipped)?;
    println!("{}, Linux {}", machine::version(&tools), kernel.version);
    let work = folder().join("jobs").join(&job.name);
    renew(&work)?;
    let programs = build::all(job, &work)?;
    let text = script::text(job, &programs);
    write(&work.join(script::NAME), text.as_bytes())?;
    let image = initramfs::image(&tools, &kernel)?;
    write(&work.join("initramfs"), &image)?;
    let ended = machine::run(job, &tools, &kernel, &work)?;
    let done = outcome::read(job, &programs, &work, &ended);
    if done.findings.is_empty() && !keep {
        fs::remove_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    } else {
        println!("kept: {}", work.display());
    }
    Ok(done)
}

/// An empty folder.
fn renew(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Options, String> {
        Options::parse(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_understood() {
        assert_eq!(parse("").unwrap(), Options::default());
        let some = parse("--keep --job rxe --job dmabuf").unwrap();
        assert_eq!(some, Options { list: false, keep: true, jobs: vec!["rxe".into(), "dmabuf".into()] });
        assert!(parse("--list").unwrap().list);
        assert!(parse("--job").unwrap_err().contains("--job"));
        assert!(parse("--jobs rxe").unwrap_err().contains("--jobs"));
    }

    #[test]
    fn a_job_that_is_not_there_is_refused_with_those_that_are() {
        let findings = run(&["--job".into(), "nonsense".into()]).unwrap_err();
        assert!(findings[0].contains("nonsense") && findings[0].contains("dmabuf"), "{findings:?}");
    }
}
