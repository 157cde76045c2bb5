//! `cargo install` of the command alone: it finds its library, which it builds once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const LAST_RESORT: Duration = Duration::from_secs(1800);

/// Runs to the end, or kills what does not come to one.
fn output_of(mut command: Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let pid = child.id().to_string();
    let waiter = thread::spawn(move || child.wait_with_output().expect("a child of ours"));
    let end = Instant::now() + LAST_RESORT;
    while !waiter.is_finished() && Instant::now() < end {
        thread::sleep(Duration::from_millis(5));
    }
    if !waiter.is_finished() {
        Command::new("kill").args(["-9", &pid]).status().expect("kill");
    }
    waiter.join().expect("the thread that waits")
}

fn printed(command: Command) -> (String, String) {
    let shown = format!("{command:?}");
    let done = output_of(command);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success(), "{shown}: {}\n{out}\n{error}", done.status);
    (out, error)
}

/// The folder of this build, so that what was built for the tests need not be built again.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

fn clean(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    for variable in
        ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_MAKEFLAGS", "MAKEFLAGS", "LD_LIBRARY_PATH"]
    {
        command.env_remove(variable);
    }
    command
}

#[test]
fn an_installed_command_finds_its_library() {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cargo-install");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work).unwrap();
    let mut cargo = clean(env!("CARGO"));
    cargo.args(["install", "--quiet", "--offline", "--path", env!("CARGO_MANIFEST_DIR"), "--root"]);
    cargo.arg(&work).arg("--target-dir").arg(target());
    if cfg!(debug_assertions) {
        cargo.arg("--debug");
    }
    printed(cargo);

    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/projects/meson/copy.c");
    fs::copy(source, work.join("copy.c")).unwrap();
    let softdpu = |arguments: &[&str]| {
        let mut command = clean(work.join("bin/softdpu"));
        command.args(arguments).current_dir(&work);
        command.env("XDG_DATA_HOME", work.join("data")).env("SOFTDPU_RUNTIME_DIR", work.join("runtime"));
        command.env("CARGO_TARGET_DIR", target());
        command
    };
    let (_, said) = printed(softdpu(&["cc", "copy.c", "-o", "copy"]));
    assert!(said.contains("building the C library"), "it says why it takes long: {said}");
    let (out, _) = printed(softdpu(&["run", "--check", "--fail-on-misuse", "--", "./copy", "installed"]));
    assert_eq!(out, "installed\n");
    let (libs, said) = printed(softdpu(&["cc", "--libs"]));
    assert!(libs.contains("data/softdpu/") && said.is_empty(), "built once: {libs}{said}");

    // Without a place to keep a kit, it says so.
    let mut lost = softdpu(&["cc", "--libs"]);
    lost.env_remove("XDG_DATA_HOME").env_remove("HOME");
    let done = output_of(lost);
    assert!(!done.status.success() && String::from_utf8_lossy(&done.stderr).contains("XDG_DATA_HOME"));
    fs::remove_dir_all(&work).unwrap();
}
