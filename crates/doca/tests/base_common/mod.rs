//! What the tests of this family share: a watchdog, the C compiler, running programs.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Patience with anything that might hang.
const PATIENCE: Duration = Duration::from_secs(300);

/// Ends the test process when it hangs; runs once per process.
pub(crate) fn watchdog() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        std::thread::spawn(|| {
            std::thread::sleep(PATIENCE);
            eprintln!("the test hangs");
            std::process::abort();
        });
    });
}

/// The folder of the crate.
pub(crate) fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The headers.
pub(crate) fn include() -> PathBuf {
    crate_folder().join("include")
}

/// A new empty folder for one test.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("base-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("scratch folder");
    path
}

/// Runs to the end and gives output and status; a program that hangs is killed and fails the test.
pub(crate) fn run(command: &mut Command) -> Output {
    watchdog();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let began = Instant::now();
    let stdout = drain(child.stdout.take().expect("pipe"));
    let stderr = drain(child.stderr.take().expect("pipe"));
    let status = loop {
        if let Some(status) = child.try_wait().expect("wait") {
            break status;
        }
        if began.elapsed() > PATIENCE / 2 {
            let _ = child.kill();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let stdout = stdout.join().expect("reader").expect("stdout");
    let stderr = stderr.join().expect("reader").expect("stderr");
    Output { status, stdout, stderr }
}

type Reading = std::thread::JoinHandle<std::io::Result<Vec<u8>>>;

fn drain(mut from: impl std::io::Read + Send + 'static) -> Reading {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        from.read_to_end(&mut all).map(|_| all)
    })
}

/// What was written, as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The static library of this crate, built along with the test.
pub(crate) fn static_library() -> PathBuf {
    let own = std::env::current_exe().expect("test binary");
    let folder = own.parent().expect("folder");
    let newest = std::fs::read_dir(folder)
        .expect("folder")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name == "libsoftdpu_c.a" || name.starts_with("libsoftdpu_c-")) && name.ends_with(".a")
        })
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
    newest.expect("the static library is built along with the tests")
}

/// Compiles a C program of this folder against headers and static library.
pub(crate) fn program(name: &str, folder: &Path) -> PathBuf {
    let source = crate_folder().join("tests/base_c").join(name);
    let output = folder.join(name.trim_end_matches(".c"));
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-D_GNU_SOURCE"]);
    compiler.arg("-DDOCA_ALLOW_EXPERIMENTAL_API").arg("-I").arg(include());
    compiler.arg(&source).arg(static_library()).args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]);
    compiler.arg("-o").arg(&output);
    let compiled = run(&mut compiler);
    assert!(compiled.status.success(), "{name}: {}", text(&compiled.stderr));
    output
}
