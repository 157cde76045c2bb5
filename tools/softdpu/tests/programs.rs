//! C and C++ programs, built in every way that people build them, run in both ways.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{command, fails, folder, ok, pkg_config, present, softdpu, watchdog, words_of};
use softdpu_sdk::{Kit, Layout, Side, Sources, assemble, kit_for_tests};

const PROGRAM: &str = r#"
#include <doca_argp.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_version.h>
#include <stdio.h>

int main(void)
{
#ifdef DOCA_ARCH_DPU
	const char *side = "dpu";
#else
	const char *side = "host";
#endif
	/* A call of another module's library: it must be the same implementation. */
	doca_error_t status = doca_dma_cap_task_memcpy_is_supported(NULL);
	printf("%s %s %s\n", doca_error_get_name(status), doca_version_runtime(), side);
	return 0;
}
"#;

const HOST: &str = "DOCA_ERROR_INVALID_VALUE 3.3.0000 host\n";
const DPU: &str = "DOCA_ERROR_INVALID_VALUE 3.3.0000 dpu\n";
const EXPERIMENTAL: &str = "-DDOCA_ALLOW_EXPERIMENTAL_API";

fn kit() -> Kit {
    kit_for_tests().unwrap_or_else(|e| panic!("{e}"))
}

/// Runs `./program` as a program of its own and through `softdpu run`.
fn runs(folder: &Path, expected: &str) {
    assert_eq!(ok(&mut command(folder.join("program"), folder)), expected, "directly");
    runs_with_card(folder, expected);
}

fn runs_with_card(folder: &Path, expected: &str) {
    assert_eq!(ok(softdpu(folder).args(["run", "--", "./program"])), expected, "softdpu run");
}

#[test]
fn with_the_compiler_command() {
    let _watchdog = watchdog("with_the_compiler_command");
    let folder = folder("cc");
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    ok(softdpu(&folder).args([
        "cc",
        "-Wall",
        "-Wextra",
        "-Werror",
        EXPERIMENTAL,
        "program.c",
        "-o",
        "program",
    ]));
    runs(&folder, HOST);
    // In two steps: the first one must not try to link.
    ok(softdpu(&folder).args(["cc", EXPERIMENTAL, "-c", "program.c"]));
    ok(softdpu(&folder).args(["cc", "program.o", "-o", "program"]));
    runs(&folder, HOST);
}

#[test]
fn in_cxx() {
    let _watchdog = watchdog("in_cxx");
    let folder = folder("cxx");
    if !present("c++") {
        return;
    }
    fs::write(folder.join("program.cc"), format!("#include <string>\n{PROGRAM}")).unwrap();
    ok(softdpu(&folder).args(["cc", "--cxx", "-std=c++20", EXPERIMENTAL, "program.cc", "-o", "program"]));
    runs(&folder, HOST);
}

#[test]
fn for_the_card_side() {
    let _watchdog = watchdog("for_the_card_side");
    let folder = folder("card side");
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let build = ["cc", EXPERIMENTAL, "program.c", "-o", "program"];
    ok(softdpu(&folder).args(build).args(["--side", "dpu"]));
    runs(&folder, DPU);
    ok(softdpu(&folder).args(build).env("SOFTDPU_SIDE", "dpu"));
    runs(&folder, DPU);
    ok(softdpu(&folder).args(build).arg("-DDOCA_ARCH_DPU"));
    runs(&folder, DPU);
    ok(softdpu(&folder).args(build).args(["--side=host"]).env("SOFTDPU_SIDE", "dpu"));
    runs(&folder, HOST);
    ok(softdpu(&folder).args(build).env("SOFTDPU_SIDE", "both"));
    runs(&folder, HOST);
}

#[test]
fn with_pkg_config() {
    let _watchdog = watchdog("with_pkg_config");
    let folder = folder("pkg-config");
    if !present("pkg-config") {
        return;
    }
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let printed = ok(softdpu(&folder).args(["cc", "--print-pkg-config-path"]));
    assert_eq!(Path::new(printed.trim_end()), kit().pkg_config_dir(Side::Host));
    for (side, expected) in [(Side::Host, HOST), (Side::Dpu, DPU)] {
        let flags = pkg_config(&kit().pkg_config_dir(side), &["doca-common", "doca-dma", "doca-argp"]);
        let mut gcc = command("gcc", &folder);
        ok(gcc.args([EXPERIMENTAL, "program.c", "-o", "program"]).args(flags));
        runs(&folder, expected);
    }
    let everything: Vec<_> = softdpu_sdk::MODULES.iter().map(|m| m.pc).collect();
    let mut version = Command::new("pkg-config");
    version.env("PKG_CONFIG_PATH", kit().pkg_config_dir(Side::Host));
    ok(version.args(["--exists", "--print-errors", "--atleast-version=3.3.0"]).args(everything));
}

/// No run path, only names: `softdpu run` leads to the library.
#[test]
fn with_library_names() {
    let _watchdog = watchdog("with_library_names");
    let folder = folder("names");
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let include = kit().include_dirs(Side::Host);
    for names in [
        &["-ldoca_common", "-ldoca_dma"][..],
        &["-ldoca_dma", "-ldoca_argp", "-ldoca_common"],
        &["-lsoftdpu"],
    ] {
        let mut gcc = command("gcc", &folder);
        gcc.args([EXPERIMENTAL, "program.c", "-o", "program", "-L"]).arg(kit().lib_dir()).args(names);
        for folder in &include {
            gcc.arg("-I").arg(folder);
        }
        ok(&mut gcc);
        runs_with_card(&folder, HOST);
        let alone = command(folder.join("program"), &folder).output().unwrap();
        assert!(!alone.status.success(), "found a library without being led to it");
    }
}

#[test]
fn statically() {
    let _watchdog = watchdog("statically");
    let folder = folder("static");
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    fs::write(folder.join("none.c"), "int main(void) { return 0; }\n").unwrap();
    if !command("gcc", &folder).args(["-static", "none.c", "-o", "none"]).status().unwrap().success() {
        println!("skipped: there is no static C library");
        return;
    }
    ok(softdpu(&folder).args(["cc", "-static", EXPERIMENTAL, "program.c", "-o", "program"]));
    runs(&folder, HOST);
    if !present("pkg-config") {
        return;
    }
    let mut flags = Command::new("pkg-config");
    flags.args(["--static", "--cflags", "--libs", "doca-dma", "doca-argp"]);
    let flags = words_of(&mut flags, &kit().pkg_config_dir(Side::Host));
    ok(command("gcc", &folder).args(["-static", EXPERIMENTAL, "program.c", "-o", "program"]).args(flags));
    runs(&folder, HOST);
}

#[test]
fn with_meson() {
    let _watchdog = watchdog("with_meson");
    let folder = folder("meson");
    if !present("meson") || !present("ninja") {
        return;
    }
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    fs::write(
        folder.join("meson.build"),
        "project('program', 'c')\n\
         dependencies = [dependency('doca-common'), dependency('doca-dma'), dependency('doca-argp')]\n\
         add_project_arguments('-DDOCA_ALLOW_EXPERIMENTAL_API', language: 'c')\n\
         executable('program', 'program.c', dependencies: dependencies)\n",
    )
    .unwrap();
    let mut setup = command("meson", &folder);
    ok(setup.args(["setup", "build"]).env("PKG_CONFIG_PATH", kit().pkg_config_dir(Side::Host)));
    ok(command("ninja", &folder).args(["-C", "build"]));
    assert_eq!(ok(&mut command(folder.join("build/program"), &folder)), HOST);
    assert_eq!(ok(softdpu(&folder).args(["run", "build/program"])), HOST);
}

/// The command of an installation uses the kit beside it, wherever it was put.
#[test]
fn with_an_installation() {
    let _watchdog = watchdog("with_an_installation");
    let folder = folder("installation");
    let build = kit().root().parent().unwrap().to_owned();
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/doca");
    let sources = Sources { archive: build.join("libsoftdpu_c.a"), headers };
    let prefix = folder.join("prefix");
    assemble(&sources, &prefix, &prefix, &Layout::INSTALLED).unwrap();
    fs::create_dir(prefix.join("bin")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_softdpu"), prefix.join("bin/softdpu")).unwrap();
    let installed = || command(prefix.join("bin/softdpu"), &folder);
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let printed = ok(installed().args(["cc", "--print-pkg-config-path"]));
    assert_eq!(Path::new(printed.trim_end()), prefix.join("lib/pkgconfig"));
    for (side, expected) in [("host", HOST), ("dpu", DPU)] {
        ok(installed().args(["cc", "--side", side, EXPERIMENTAL, "program.c", "-o", "program"]));
        assert_eq!(ok(&mut command(folder.join("program"), &folder)), expected);
        assert_eq!(ok(installed().args(["run", "--", "./program"])), expected);
    }
}

/// Two commands that find no kit do not disturb each other.
#[test]
fn first_use_by_two_commands_at_once() {
    let _watchdog = watchdog("first_use_by_two_commands_at_once");
    let folder = folder("first use");
    let build = kit().root().parent().unwrap().to_owned();
    let profile = folder.join("target/debug");
    // What tells an output folder of Cargo from a place where programs are installed.
    fs::create_dir_all(profile.join("deps")).unwrap();
    // A link, since a copy could not be run while another test's child still holds it open for writing.
    fs::hard_link(env!("CARGO_BIN_EXE_softdpu"), profile.join("softdpu")).unwrap();
    let fresh = || command(profile.join("softdpu"), &folder);
    let error = fails(fresh().args(["cc", "--libs"]), 1);
    assert!(error.contains("has not been built") && error.contains("cargo build"), "{error}");
    fs::copy(build.join("libsoftdpu_c.a"), profile.join("libsoftdpu_c.a")).unwrap();
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let compile = |name: &str| fresh().args(["cc", EXPERIMENTAL, "program.c", "-o", name]).spawn().unwrap();
    for mut child in ["one", "two", "three"].map(compile) {
        assert!(child.wait().unwrap().success());
    }
    for name in ["one", "two", "three"] {
        assert_eq!(ok(&mut command(folder.join(name), &folder)), HOST);
    }
}

#[test]
fn the_compiler_is_the_users() {
    let _watchdog = watchdog("the_compiler_is_the_users");
    let folder = folder("compiler");
    fs::write(folder.join("wrong.c"), "int main(void) { return nothing; }\n").unwrap();
    let error = fails(softdpu(&folder).args(["cc", "wrong.c"]), 1);
    assert!(error.contains("nothing"), "the compiler's message passes through: {error}");
    let arguments = ok(softdpu(&folder).args(["cc", "a.c", "-o", "a"]).env("CC", "echo launcher"));
    let words: Vec<_> = arguments.split_whitespace().collect();
    assert_eq!(words[0], "launcher");
    let (source, library) =
        (words.iter().position(|w| *w == "a.c"), words.iter().position(|w| *w == "-lsoftdpu"));
    assert!(source < library, "libraries come behind what needs them: {arguments}");
    let error = fails(softdpu(&folder).args(["cc", "a.c"]).env("CC", "no-such-compiler"), 1);
    assert!(error.contains("no-such-compiler") && error.contains("CC"), "{error}");
    fails(softdpu(&folder).args(["cc"]), 2);
    let error = fails(softdpu(&folder).args(["cc", "--side", "left", "a.c"]), 2);
    assert!(error.contains("host, dpu"), "{error}");
    // The printed flags are made for the shell, whatever the folder is called.
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let script = r#"eval cc -DDOCA_ALLOW_EXPERIMENTAL_API "$("$0" cc --cflags)" program.c "$("$0" cc --libs)" -o program"#;
    ok(command("sh", &folder).args(["-c", script, env!("CARGO_BIN_EXE_softdpu")]));
    runs(&folder, HOST);
}
