//! The manual's C programs compile without a warning, run, and print what the manual says they print: `c/NAME.out` beside
//! each. `SOFTDPU_BLESS=1` writes these files anew.

use softdpu_sdk::{Kit, Side, kit_for_tests};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c")
}

fn compile(kit: &Kit, name: &str, program: &Path) {
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-DDOCA_ALLOW_EXPERIMENTAL_API"]);
    for include in kit.include_dirs(Side::Host) {
        cc.arg("-I").arg(include);
    }
    cc.arg(folder().join(name).with_extension("c")).arg("-o").arg(program);
    cc.arg("-L").arg(kit.lib_dir()).arg(format!("-Wl,-rpath,{}", kit.lib_dir().display()));
    let built = cc.args(["-lsoftdpu", "-pthread"]).stdin(Stdio::null()).output().expect("a compiler");
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
}

/// Runs to the end, or kills after two minutes; status, stdout, stderr.
fn run(command: &mut Command, work: &Path) -> (Option<i32>, String, String) {
    for (key, _) in std::env::vars_os().filter(|(k, _)| k.to_string_lossy().starts_with("SOFTDPU_")) {
        command.env_remove(key);
    }
    let (out, err) = (work.join("stdout"), work.join("stderr"));
    command.current_dir(work).env("SOFTDPU_RUNTIME_DIR", work.join("runtime")).stdin(Stdio::null());
    command.stdout(File::create(&out).expect("a file")).stderr(File::create(&err).expect("a file"));
    let mut child = command.spawn().expect("it starts");
    let end = Instant::now() + Duration::from_secs(120);
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if Instant::now() > end {
            child.kill().expect("a child");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).expect("what it said")).into_owned();
    (status.code(), text(&out), text(&err))
}

/// The text, or the file that has it, once more.
fn compare(file: &Path, text: &str) {
    if std::env::var_os("SOFTDPU_BLESS").is_some() {
        fs::write(file, text).expect("a file");
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    assert_eq!(text, expected, "{}", file.display());
}

fn in_folder(name: &str, test: impl FnOnce(&Kit, &Path)) {
    let kit = kit_for_tests().unwrap_or_else(|error| panic!("no kit: {error}"));
    let work = std::env::temp_dir().join(format!("softdpu-book-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work).expect("a folder");
    test(&kit, &work);
    fs::remove_dir_all(&work).expect("the folder goes");
}

/// Prints what its file says.
fn check(name: &str) {
    in_folder(name, |kit, work| {
        let program = work.join(name);
        compile(kit, name, &program);
        let (status, out, err) = run(&mut Command::new(&program), work);
        assert_eq!(status, Some(0), "{name}: {out}{err}");
        compare(&folder().join(name).with_extension("out"), &out);
    });
}

macro_rules! programs {
    ($($name:ident)*) => {
        const LISTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

programs! {
    aes_gcm channel clock compress dma erasure_coding ethernet graph rdma sha sync_event telemetry
}

/// What a call does differs from run to run; that every task comes back in order does not.
#[test]
fn turns() {
    in_folder("turns", |kit, work| {
        let program = work.join("turns");
        compile(kit, "turns", &program);
        let (status, out, err) = run(&mut Command::new(&program), work);
        assert_eq!(status, Some(0), "{out}{err}");
        let back: Vec<&str> = out.lines().filter_map(|l| l.strip_prefix("callback ")).collect();
        assert_eq!(back, ["0", "1", "2", "3", "4", "5"], "{out}");
    });
}

/// What check mode says of the mistake; numbers that differ from run to run are left out of the comparison.
#[test]
fn mistake() {
    in_folder("mistake", |kit, work| {
        let program = work.join("mistake");
        compile(kit, "mistake", &program);
        let library = kit.check_library().expect("the library of check mode");
        let mut command = Command::new("sh");
        command.args(["-c", "SOFTDPU_CHECK_PID=$$; export SOFTDPU_CHECK_PID; LD_PRELOAD=$1 exec $2", "sh"]);
        let (status, out, err) = run(command.arg(library).arg(&program), work);
        assert_eq!((status, out.as_str()), (Some(0), "the map is still there\n"), "{err}");
        let said: String =
            err.lines().filter(|l| l.starts_with("softdpu: check: ")).map(|l| format!("{l}\n")).collect();
        compare(&folder().join("mistake.out"), &said);
    });
}

#[test]
fn every_program_is_listed() {
    let mut found: Vec<String> = fs::read_dir(folder())
        .expect("the folder of programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|name| name != "turns" && name != "mistake")
        .collect();
    found.sort();
    assert_eq!(found, LISTED);
}

/// Chapters with a Rust program are compiled as documentation tests.
#[test]
fn every_rust_program_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = fs::read_to_string(root.join("src/lib.rs")).expect("the library");
    let mut chapters = 0;
    for entry in fs::read_dir(root.join("text")).expect("the chapters") {
        let path = entry.expect("an entry").path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if text.contains("\n```rust") {
            let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
            assert!(listed.contains(&format!("include_str!(\"../text/{name}\")")), "{name} is not compiled");
            assert!(!text.contains("```rust,ignore"), "{name} has a program that is not compiled");
            chapters += 1;
        }
    }
    assert!(chapters > 10, "{chapters} chapters");
}
