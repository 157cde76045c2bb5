//! `cargo install` of the command alone: it finds its library, which it builds once.

mod common;

use common::{command, output, watchdog_after};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn printed(command: &mut Command) -> (String, String) {
    let done = output(command);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success(), "{command:?}: {}\n{out}\n{error}", done.status);
    (out, error)
}

/// The folder of this build, so that what was built for the tests need not be built again.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

/// Without what this build says to its tests.
fn clean(program: impl AsRef<Path>, folder: &Path) -> Command {
    let mut command = command(program.as_ref(), folder);
    for variable in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_MAKEFLAGS", "MAKEFLAGS"] {
        command.env_remove(variable);
    }
    command
}

#[test]
fn an_installed_command_finds_its_library() {
    let _watchdog = watchdog_after(Duration::from_secs(1800), "an_installed_command_finds_its_library");
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cargo-install");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work).unwrap();
    let mut cargo = clean(env!("CARGO"), &work);
    cargo.args(["install", "--quiet", "--offline", "--path", env!("CARGO_MANIFEST_DIR"), "--root"]);
    cargo.arg(&work).arg("--target-dir").arg(target());
    if cfg!(debug_assertions) {
        cargo.arg("--debug");
    }
    printed(&mut cargo);

    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/projects/meson/copy.c");
    fs::copy(source, work.join("copy.c")).unwrap();
    let softdpu = |arguments: &[&str]| {
        let mut command = clean(work.join("bin/softdpu"), &work);
        command.args(arguments).env("XDG_DATA_HOME", work.join("data"));
        command.env("CARGO_TARGET_DIR", target());
        command
    };
    let (_, said) = printed(&mut softdpu(&["cc", "copy.c", "-o", "copy"]));
    assert!(said.contains("building the C library"), "it says why it takes long: {said}");
    let (out, _) =
        printed(&mut softdpu(&["run", "--check", "--fail-on-misuse", "--", "./copy", "installed"]));
    assert_eq!(out, "installed\n");
    let (libs, said) = printed(&mut softdpu(&["cc", "--libs"]));
    assert!(libs.contains("data/softdpu/") && said.is_empty(), "built once: {libs}{said}");

    // Without a place to keep a kit, it says so.
    let mut lost = softdpu(&["cc", "--libs"]);
    lost.env_remove("XDG_DATA_HOME").env_remove("HOME");
    let done = output(&mut lost);
    assert!(!done.status.success() && String::from_utf8_lossy(&done.stderr).contains("XDG_DATA_HOME"));
    fs::remove_dir_all(&work).unwrap();
}
