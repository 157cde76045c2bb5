//! The workflow that users copy into their projects does what it says: its shell lines are run, one step after the other,
//! on a project of ours.
//!
//! What a hosted runner does is done here: checking the project out, keeping what a step writes to `GITHUB_PATH` and
//! `GITHUB_ENV` for the next ones, filling in the matrix. Packages are not installed; the step that builds SoftDPU makes
//! way for an installation of this build.

use softdpu_conformance::command::printed;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LAST_RESORT: Duration = Duration::from_secs(900);

fn workspace(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

/// Names and shell lines of the steps, in their order; of steps that run something.
fn steps(workflow: &str) -> Vec<(String, String)> {
    let (mut steps, mut name) = (Vec::new(), String::new());
    let mut lines = workflow.lines().peekable();
    while let Some(line) = lines.next() {
        let (indent, text) = (line.len() - line.trim_start().len(), line.trim_start());
        if let Some(step) = text.strip_prefix("- name: ") {
            name = step.to_owned();
        } else if text == "run: |" {
            let mut script = String::new();
            while let Some(next) = lines.next_if(|l| l.is_empty() || l.len() - l.trim_start().len() > indent)
            {
                script.push_str(next.trim());
                script.push('\n');
            }
            steps.push((name.clone(), script));
        } else if let Some(script) = text.strip_prefix("run: ") {
            steps.push((name.clone(), script.to_owned()));
        }
    }
    steps
}

/// The runner: what the steps have said so far.
struct Runner {
    home: PathBuf,
    project: PathBuf,
    profile: &'static str,
}

impl Runner {
    fn run(&self, script: &str) -> String {
        let script = script.replace("${{ matrix.profile }}", self.profile);
        let (path, variables) = (self.home.join("path"), self.home.join("env"));
        let mut shell = Command::new("bash");
        shell.args(["-e", "-c", &script]).current_dir(&self.project).env_clear();
        let said = |file: &Path| fs::read_to_string(file).unwrap_or_default();
        let mut places = vec![self.home.join("tools").display().to_string()];
        places.extend(said(&path).lines().map(str::to_owned));
        shell.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", places.join(":")));
        shell.env("HOME", &self.home).env("GITHUB_PATH", &path).env("GITHUB_ENV", &variables);
        shell.envs(said(&variables).lines().filter_map(|line| line.split_once('=')));
        shell.env("SOFTDPU_RUNTIME_DIR", self.home.join("runtime"));
        printed(shell, LAST_RESORT)
    }
}

#[test]
fn the_steps_of_the_workflow_work() {
    for tool in ["bash", "meson", "ninja", "pkg-config"] {
        if Command::new(tool).arg("--version").output().is_err() {
            println!("skipped: {tool} is not installed");
            return;
        }
    }
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workflow");
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(home.join("tools")).unwrap();
    // Nobody becomes root here.
    printed(
        {
            let mut sh = Command::new("sh");
            sh.args(["-ec", "printf '#!/bin/sh\\n' > tools/sudo; chmod +x tools/sudo"]).current_dir(&home);
            sh
        },
        LAST_RESORT,
    );
    let mut dist = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    dist.args(["dist", "--profile", profile, "--prefix"]).arg(home.join("softdpu"));
    printed(dist, LAST_RESORT);

    let workflow = fs::read_to_string(workspace("packaging/github-actions.yml")).unwrap();
    let steps = steps(&workflow);
    let names: Vec<&str> = steps.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Build SoftDPU", "Where it is", "Build", "Test", "Test under check mode"]);
    assert!(steps[0].1.contains("xtask dist --prefix ~/softdpu"), "it installs where the others look");
    for profile in ["bf2", "bf3"] {
        assert!(workflow.contains("profile: [bf2, bf3]"));
        let project = home.join(profile);
        fs::create_dir_all(&project).unwrap();
        for file in ["meson.build", "copy.c"] {
            fs::copy(workspace("conformance/projects/meson").join(file), project.join(file)).unwrap();
        }
        let runner = Runner { home: home.clone(), project, profile };
        let _ = fs::remove_file(home.join("env"));
        let mut said = String::new();
        for (_, script) in &steps[1..] {
            said = runner.run(script);
        }
        assert!(said.contains("OK"), "{said}");
        let devices = runner.run("softdpu devices");
        assert!(devices.contains(&format!("profile {profile}")), "{devices}");
    }
    fs::remove_dir_all(&home).unwrap();
}

#[test]
fn shell_lines_are_found() {
    let text =
        "steps:\n  - uses: a\n  - name: One\n    run: |\n      a\n      b\n\n  - name: Two\n    run: c d\n";
    let step = |name: &str, script: &str| (name.to_owned(), script.to_owned());
    assert_eq!(steps(text), [step("One", "a\nb\n\n"), step("Two", "c d")]);
}
