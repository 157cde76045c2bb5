//! The projects below `conformance/projects` are built by their build systems and do what they say.
//!
//! Each is copied to a folder of its own first, as a user would have it. A build system that is not installed is skipped.

use softdpu_conformance::command::printed;
use softdpu_sdk::{Kit, Side, kit_for_tests};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A build on a busy machine may take long; this is for one that hangs.
const LAST_RESORT: Duration = Duration::from_secs(900);

struct Project {
    folder: PathBuf,
    kit: Kit,
    side: Side,
}

impl Project {
    /// A copy of the project; `None`, and said so, when a tool is absent.
    fn copied(name: &str, tools: &[&str]) -> Option<Project> {
        for tool in tools {
            let mut probe = Command::new(tool);
            let found = probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            if !found.is_ok_and(|status| status.success()) {
                println!("skipped: {name}: no {tool} here");
                return None;
            }
        }
        let kit = kit_for_tests().expect("a kit");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("project-{name}"));
        let _ = fs::remove_dir_all(&folder);
        copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("projects").join(name), &folder);
        Some(Project { folder, kit, side: Side::Host })
    }

    /// Runs a program in the project's folder and gives back what it printed.
    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let runtime = self.folder.join("runtime");
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        command.env("PKG_CONFIG_PATH", self.kit.pkg_config_dir(self.side));
        command.env("SOFTDPU_RUNTIME_DIR", &runtime);
        // What finds the library is what the project says, nothing else.
        command.env_remove("LD_LIBRARY_PATH");
        for variable in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_MAKEFLAGS", "MAKEFLAGS"] {
            command.env_remove(variable);
        }
        printed(command, LAST_RESORT)
    }
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the project").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file");
        }
    }
}

#[test]
fn meson_builds_and_tests() {
    let Some(project) = Project::copied("meson", &["meson", "ninja", "pkg-config"]) else { return };
    project.run("meson", &["setup", "build"]);
    project.run("meson", &["test", "-C", "build"]);
    assert_eq!(project.run("build/copy", &["so it is"]), "so it is\n");
}

#[test]
fn cmake_builds_cxx20() {
    let Some(project) = Project::copied("cmake", &["cmake", "make", "c++", "pkg-config"]) else { return };
    project.run("cmake", &["-B", "build", "-G", "Unix Makefiles"]);
    project.run("cmake", &["--build", "build"]);
    fs::write(project.folder.join("message"), "abc").unwrap();
    let wanted = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  message\n";
    assert_eq!(project.run("build/digest", &["message"]), wanted);
}

#[test]
fn make_builds_for_both_sides() {
    let Some(mut project) = Project::copied("make", &["make", "cc", "pkg-config"]) else { return };
    for (side, line) in [(Side::Host, "a program of the host\n"), (Side::Dpu, "a program of the card\n")] {
        project.side = side;
        project.run("make", &["clean"]);
        project.run("make", &["CFLAGS=-Wall -Wextra -Werror"]);
        let printed = project.run("./devices", &[]);
        assert!(printed.starts_with(line) && printed.contains("\n0000:03:00.0: dma sha\n"), "{printed}");
    }
}

/// In the build tree of this test, where most of what it needs was built already.
#[test]
fn cargo_builds() {
    let Some(project) = Project::copied("cargo", &["cargo"]) else { return };
    let manifest = project.folder.join("Cargo.toml");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let library = workspace.join("crates/softdpu");
    let text = fs::read_to_string(&manifest).unwrap();
    let moved = text.replace("../../../crates/softdpu", library.to_str().unwrap());
    assert_ne!(moved, text, "the dependency is where it was");
    // The versions and settings that everything else here is built with, so that most of it is there already.
    fs::write(&manifest, moved + "\n[profile.dev]\nopt-level = 1\n").unwrap();
    fs::copy(workspace.join("Cargo.lock"), project.folder.join("Cargo.lock")).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let built = ["run", "--quiet", "--offline", "--target-dir", target.to_str().unwrap(), "--", "so it is"];
    assert_eq!(project.run("cargo", &built), "so it is\n");
}
