//! What the compiler must refuse, with the error it must give: each file of `promises/` begins with its error, or says
//! that it compiles. The compiler is called on them with the library this test was built with.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries `lib{name}-*.rlib` beside this test, newest first.
fn libraries(deps: &Path, name: &str) -> Vec<PathBuf> {
    let prefix = format!("lib{name}-");
    let mut found: Vec<_> = std::fs::read_dir(deps)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|e| {
            let file = e.file_name().to_string_lossy().into_owned();
            file.starts_with(&prefix) && file.ends_with(".rlib")
        })
        .map(|e| (e.metadata().unwrap().modified().unwrap(), e.path()))
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// What the compiler says; `None` when it accepts.
fn refusal(deps: &Path, library: &Path, room: Option<&Path>, source: &Path) -> Option<String> {
    let out = std::env::temp_dir().join(format!("softdpu-promises-{}", std::process::id()));
    std::fs::create_dir_all(&out).unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "-A", "warnings"]);
    rustc.arg("-L").arg(format!("dependency={}", deps.display()));
    rustc.arg("--extern").arg(format!("softdpu={}", library.display()));
    if let Some(room) = room {
        rustc.arg("--extern").arg(format!("softdpu_room={}", room.display()));
    }
    let output = rustc.arg("--out-dir").arg(&out).arg(source).output().expect("rustc");
    std::fs::remove_dir_all(&out).ok();
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_compiler_keeps_every_promise() {
    if std::env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|f| f.contains("sanitizer"))
        || std::env::var("RUSTFLAGS").is_ok_and(|f| f.contains("sanitizer"))
    {
        return;
    }
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promises");
    // The pair of libraries that belong together is the one with which the control compiles.
    let control = folder.join("compiles.rs");
    let rooms = libraries(&deps, "softdpu_room");
    let mut said = String::new();
    let (library, room) = libraries(&deps, "softdpu")
        .into_iter()
        .flat_map(|l| rooms.iter().map(move |r| (l.clone(), r.clone())))
        .find(|(l, r)| match refusal(&deps, l, Some(r), &control) {
            None => true,
            Some(cause) => {
                said = cause;
                false
            }
        })
        .unwrap_or_else(|| panic!("the control does not compile: {said}"));
    let mut checked = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path == control {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.strip_prefix("// ").and_then(|t| t.split(':').next()).unwrap().to_owned();
        assert!(code.len() == 5 && code.starts_with('E'), "{}: no error is named", path.display());
        let said = refusal(&deps, &library, Some(&room), &path)
            .unwrap_or_else(|| panic!("{} compiles, but must not: {code}", path.display()));
        let codes: Vec<_> = said.match_indices("error[").map(|(i, _)| &said[i + 6..i + 11]).collect();
        assert_eq!(codes, [code.as_str()], "{}:\n{said}", path.display());
        checked += 1;
    }
    assert_eq!(checked, 19);
}
