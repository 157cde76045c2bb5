//! The README's C program compiles without a warning and prints what it should; its commands exist. (The Rust program is
//! a documentation test of the package of examples.)

use softdpu_conformance::command::printed;
use softdpu_sdk::{Side, kit_for_tests};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("README.md is there")
}

/// The blocks of a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn the_c_program_compiles_and_copies() {
    let text = readme();
    let [program] = blocks(&text, "c")[..] else { panic!("the README has one C program") };
    let kit = kit_for_tests().expect("a kit");
    let folder = std::env::temp_dir().join(format!("softdpu-readme-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let (source, executable) = (folder.join("copy.c"), folder.join("copy"));
    fs::write(&source, program).expect("a file");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .arg(&source)
        .arg("-o")
        .arg(&executable);
    for include in kit.include_dirs(Side::Host) {
        cc.arg("-I").arg(include);
    }
    let lib = kit.lib_dir();
    cc.arg("-L").arg(&lib).args(["-Xlinker", "-rpath", "-Xlinker"]).arg(&lib).arg("-lsoftdpu");
    assert!(cc.status().expect("a compiler").success(), "the README's program does not compile");
    assert_eq!(
        printed(Command::new(&executable), Duration::from_secs(60)),
        "Hello from the software card.\n"
    );
    fs::remove_dir_all(&folder).expect("the folder goes");
}

/// Every sub-command in the README is one of the command's, and every option stands in its help texts.
#[test]
fn the_commands_exist() {
    let text = readme();
    let mut sources = String::new();
    let mut open = vec![root().join("tools/softdpu/src")];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
            if path.is_dir() {
                open.push(path);
            } else {
                sources += &fs::read_to_string(&path).expect("a source file");
            }
        }
    }
    let mut seen = 0;
    for line in blocks(&text, "sh").iter().flat_map(|b| b.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() == Some(&"softdpu") {
            assert!(sources.contains(&format!("Some(\"{}\") =>", words[1])), "no command {}", words[1]);
            // What stands behind `--` belongs to the program that is run.
            for option in words[2..].iter().take_while(|w| **w != "--").filter(|w| w.starts_with("--")) {
                assert!(sources.contains(&format!("  {option} ")), "no option {option} in the help texts");
            }
            seen += 1;
        }
    }
    assert!(seen >= 5, "{seen} commands seen");
}

/// Links inside the project's documents lead somewhere.
#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for document in
        ["README.md", "ARCHITECTURE.md", "DESIGN.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
    {
        let text = fs::read_to_string(root().join(document)).expect(document);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("https://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = root().join(file);
            assert!(path.exists(), "{document}: {target} leads nowhere");
            let heading = format!("\n## {anchor}\n");
            let found = anchor.is_empty() || fs::read_to_string(&path).is_ok_and(|t| t.contains(&heading));
            assert!(found, "{document}: {file} has no heading {anchor}");
            links += 1;
        }
    }
    assert!(links > 50, "{links} links");
}
