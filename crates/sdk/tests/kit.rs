//! The kit from a small library of our own, so that what is tested is the recipe: names, versions, filters,
//! sides, first use by several commands at once, and renewal when a part changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use softdpu_sdk::{Kit, KitError, Layout, MODULES, Side, Sources, assemble};

/// Stands in for the Rust static library: two modules, a constructor, a call that can be interposed.
const LIBRARY: &str = r"
int doca_dma_one(void) { return 1; }
int doca_dma_two(void) { return doca_dma_one() + doca_dma_one(); }
static int started;
__attribute__((constructor)) static void start(void) { started = 1; }
int doca_error_started(void) { return started; }
int softdpu_internal(void) { return 3; }
int doca_unreached_helper_is_public_by_name(void) { return softdpu_internal(); }
";

const PROGRAM: &str = r#"
#include <stdio.h>
int doca_dma_two(void);
int doca_error_started(void);
int main(void) { printf("%d %d\n", doca_dma_two(), doca_error_started()); return 0; }
"#;

fn fresh_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn tool(program: &str, arguments: &[&str], folder: &Path) -> Output {
    let done = Command::new(program).args(arguments).current_dir(folder).output();
    let done = done.unwrap_or_else(|e| panic!("{program}: {e}"));
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program} {arguments:?}: {error}");
    done
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A folder that looks like Cargo's output folder.
fn profile(name: &str, library: &str) -> PathBuf {
    let folder = fresh_folder(name);
    build_library(&folder, library);
    folder
}

fn build_library(folder: &Path, library: &str) {
    fs::write(folder.join("library.c"), library).unwrap();
    tool("gcc", &["-fPIC", "-ffunction-sections", "-c", "library.c", "-o", "library.o"], folder);
    let _ = fs::remove_file(folder.join("libsoftdpu_c.a"));
    tool("ar", &["rcs", "libsoftdpu_c.a", "library.o"], folder);
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn one_implementation_versioned_and_nothing_else_exported() {
    let folder = profile("exports", LIBRARY);
    let kit = Kit::of_build(&folder).unwrap();
    let library = kit.shared_library();
    let names =
        stdout(&tool("nm", &["-D", "--defined-only", "--with-symbol-versions", path(&library)], &folder));
    let mut names: Vec<_> = names.lines().filter_map(|l| l.split(' ').nth(2)).collect();
    names.retain(|n| *n != "SOFTDPU_3.3");
    assert_eq!(
        names,
        [
            "doca_dma_one@@SOFTDPU_3.3",
            "doca_dma_two@@SOFTDPU_3.3",
            "doca_error_started@@SOFTDPU_3.3",
            "doca_unreached_helper_is_public_by_name@@SOFTDPU_3.3",
        ]
    );
    let dynamic = stdout(&tool("readelf", &["-dW", path(&library)], &folder));
    assert!(dynamic.contains("soname: [libsoftdpu.so.2]"), "{dynamic}");
    assert!(dynamic.contains("NODELETE") && !dynamic.contains("SYMBOLIC"), "{dynamic}");
}

#[test]
fn every_module_has_its_stub_and_two_pkg_config_files() {
    let folder = profile("modules", LIBRARY);
    let kit = Kit::of_build(&folder).unwrap();
    for module in MODULES {
        let stub = kit.lib_dir().join(format!("lib{}.so.2", module.lib));
        let dynamic = stdout(&tool("readelf", &["-dW", path(&stub)], &folder));
        assert!(dynamic.contains(&format!("soname: [lib{}.so.2]", module.lib)), "{dynamic}");
        assert!(dynamic.contains("Filter library: [libsoftdpu.so.2]"), "{dynamic}");
        assert!(kit.lib_dir().join(format!("lib{}.so", module.lib)).exists());
        for side in Side::ALL {
            assert!(kit.pkg_config_dir(side).join(format!("{}.pc", module.pc)).is_file());
        }
    }
}

/// Built against stubs, against the whole, and statically, the program does the same.
#[test]
fn programs_link_in_every_way() {
    let folder = profile("link ways, with blank and comma", LIBRARY);
    let kit = Kit::of_build(&folder).unwrap();
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let lib = kit.lib_dir();
    let search = format!("-L{}", lib.display());
    let archive = lib.join("libsoftdpu.a");
    let ways: [&[&str]; 4] = [
        &["-ldoca_common", "-ldoca_dma"],
        &["-ldoca_dma", "-ldoca_argp", "-ldoca_common"],
        &["-lsoftdpu"],
        &[path(&archive)],
    ];
    for way in ways {
        tool("gcc", &[&["program.c", "-o", "program", &search], way].concat(), &folder);
        let run = Command::new(folder.join("program")).env("LD_LIBRARY_PATH", &lib).output().unwrap();
        assert_eq!(stdout(&run), "2 1\n", "{way:?}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

#[test]
fn calls_inside_the_library_can_be_interposed() {
    let folder = profile("interpose", LIBRARY);
    let kit = Kit::of_build(&folder).unwrap();
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    fs::write(folder.join("tool.c"), "int doca_dma_one(void) { return 20; }\n").unwrap();
    let search = format!("-L{}", kit.lib_dir().display());
    tool("gcc", &["program.c", "-o", "program", &search, "-ldoca_dma", "-ldoca_common"], &folder);
    tool("gcc", &["-shared", "-fPIC", "tool.c", "-o", "tool.so"], &folder);
    let mut run = Command::new(folder.join("program"));
    run.env("LD_LIBRARY_PATH", kit.lib_dir()).env("LD_PRELOAD", folder.join("tool.so"));
    assert_eq!(stdout(&run.output().unwrap()), "40 1\n");
}

#[test]
fn a_changed_library_gives_a_new_kit_and_an_unchanged_one_does_not() {
    let folder = profile("renewal", LIBRARY);
    let first = Kit::of_build(&folder).unwrap();
    let home = |kit: &Kit| fs::canonicalize(kit.root()).unwrap();
    let before = home(&first);
    // Rebuilt with the same result: new time stamp, same content, same kit.
    let archive = folder.join("libsoftdpu_c.a");
    let content = fs::read(&archive).unwrap();
    fs::remove_file(&archive).unwrap();
    fs::write(&archive, &content).unwrap();
    assert_eq!(home(&Kit::of_build(&folder).unwrap()), before);
    build_library(&folder, "int doca_new(void) { return 7; }\n");
    let second = Kit::of_build(&folder).unwrap();
    assert_eq!(second.root(), first.root(), "programs keep their run path");
    assert_ne!(home(&second), before);
    assert!(before.is_dir(), "the kit before the current one stays for programs that are starting");
    let names = stdout(&tool("nm", &["-D", "--defined-only", path(&second.shared_library())], &folder));
    assert!(names.contains("doca_new") && !names.contains("doca_dma_one"), "{names}");
    build_library(&folder, "int doca_newer(void) { return 8; }\n");
    Kit::of_build(&folder).unwrap();
    assert!(!before.exists(), "older kits are removed");
}

#[test]
fn several_commands_at_once_make_one_kit() {
    let folder = profile("at once", LIBRARY);
    // What a killed command leaves behind is in nobody's way.
    fs::create_dir_all(folder.join("softdpu-sdk.new/lib")).unwrap();
    let kits: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| Kit::of_build(&folder).unwrap())).collect();
        all.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(kits.iter().all(|k| k.shared_library().is_file()));
    let homes = fs::read_dir(&folder).unwrap().filter_map(Result::ok);
    let homes = homes.filter(|e| e.file_name().to_string_lossy().starts_with("softdpu-sdk."));
    assert_eq!(homes.count(), 1);
}

#[test]
fn an_installation_can_be_moved() {
    let folder = profile("install", LIBRARY);
    let headers = folder.join("source");
    fs::create_dir_all(headers.join("include-side/dpu")).unwrap();
    fs::create_dir_all(headers.join("include")).unwrap();
    fs::write(headers.join("include/doca_x.h"), "#include <doca_build_config.h>\n").unwrap();
    fs::write(headers.join("include/doca_build_config.h"), "#define SIDE 1\n").unwrap();
    fs::write(headers.join("include-side/dpu/doca_build_config.h"), "#define SIDE 2\n").unwrap();
    let sources = Sources { archive: folder.join("libsoftdpu_c.a"), headers };
    let (staged, moved) = (folder.join("staged"), folder.join("moved"));
    assemble(&sources, &staged, Path::new("/opt/softdpu"), &Layout::INSTALLED).unwrap();
    fs::rename(&staged, &moved).unwrap();
    fs::write(
        folder.join("side.c"),
        "#include <doca_x.h>\nint doca_dma_two(void);\nint main(void) { return SIDE * 10 + doca_dma_two(); }\n",
    )
    .unwrap();
    if Command::new("pkg-config").arg("--version").output().is_err() {
        println!("skipped: pkg-config is not installed");
        return;
    }
    for (side, status) in [("lib/pkgconfig", 12), ("lib/pkgconfig-dpu", 22)] {
        let flags = Command::new("pkg-config")
            .args(["--cflags", "--libs", "doca-common", "doca-dma"])
            .env("PKG_CONFIG_PATH", moved.join(side))
            .output()
            .unwrap();
        let flags = stdout(&flags);
        let flags: Vec<_> = flags.split_whitespace().collect();
        tool("gcc", &[&["side.c", "-o", "side"], &flags[..]].concat(), &folder);
        // Without LD_LIBRARY_PATH: the run path leads to the library.
        let run = Command::new(folder.join("side")).env_remove("LD_LIBRARY_PATH").status().unwrap();
        assert_eq!(run.code(), Some(status), "{side}: {flags:?}");
    }
}

#[test]
fn missing_and_foreign_libraries_are_explained() {
    let folder = fresh_folder("release");
    let error = Kit::of_build(&folder).unwrap_err();
    assert!(matches!(error, KitError::NoArchive { .. }));
    let text = error.to_string();
    assert!(text.contains("libsoftdpu_c.a") && text.ends_with("cargo build --release"), "{text}");
    fs::write(folder.join("libsoftdpu_c.a"), "!<thin>\n".repeat(20)).unwrap();
    let text = Kit::of_build(&folder).unwrap_err().to_string();
    assert!(text.contains("not a static library"), "{text}");
    fs::write(folder.join("libsoftdpu_c.a"), "!").unwrap();
    let text = Kit::of_build(&folder).unwrap_err().to_string();
    assert!(text.contains("too short"), "{text}");
    assert!(!folder.join("softdpu-sdk").exists());
}
