//! Counts instructions: runs a program under callgrind and adds up what it wrote, per thread, object and function.

use softdpu_sdk::{CHECK_LIBRARY, Kit};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A function: the last part of its object file's path, and its name.
pub(super) type Key = (String, String);

/// Instructions of one thread.
#[derive(Debug, Default)]
pub(super) struct Profile {
    /// What each function did itself.
    pub(super) own: BTreeMap<Key, u64>,
    /// What everything did that it called.
    pub(super) called: BTreeMap<Key, u64>,
}

/// The threads of a program, the first one first.
pub(super) type Threads = Vec<Profile>;

/// Is valgrind there?
pub(super) fn is_available() -> bool {
    let quiet =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|s| s.success())
}

/// Runs a program, in check mode if a kit for that is given, and counts what its threads did.
pub(super) fn count(
    program: &Path,
    arguments: &[String],
    scratch: &Path,
    check: Option<&Kit>,
) -> Result<Threads, String> {
    let out = scratch.join("callgrind.out");
    let mut valgrind = Command::new("valgrind");
    if let Some(kit) = check {
        kit.check_library().ok_or("the library of check mode was not built")?;
        // By its bare name, which the library path leads to.
        valgrind.env("LD_PRELOAD", CHECK_LIBRARY).env("LD_LIBRARY_PATH", kit.lib_dir());
    }
    let output = valgrind
        .args(["--tool=callgrind", "--separate-threads=yes"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("valgrind cannot be run: {e}"))?;
    let command = format!("{} {}", program.display(), arguments.join(" "));
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        let last: Vec<&str> = messages.lines().rev().take(5).collect();
        return Err(format!("{command}: {}\n{}", output.status, last.join("\n")));
    }
    let mut threads = Threads::new();
    loop {
        // The file of a thread is there once: later programs may have fewer of them.
        let path = scratch.join(format!("callgrind.out-{:02}", threads.len() + 1));
        let Ok(text) = fs::read_to_string(&path) else { break };
        fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        threads.push(parse(&text));
    }
    match threads.first() {
        Some(first) if !first.own.is_empty() => Ok(threads),
        _ => Err(format!("{command}: callgrind counted nothing")),
    }
}

/// Adds up the cost lines. Names are compressed: `(7) name` the first time, `(7)` afterwards.
fn parse(text: &str) -> Profile {
    let mut objects: HashMap<String, String> = HashMap::new();
    let mut functions: HashMap<String, String> = HashMap::new();
    let (mut object, mut function) = (String::new(), String::new());
    let mut of_callee = false;
    let mut profile = Profile::default();
    for line in text.lines() {
        match line.split_once('=') {
            Some(("ob", name)) => object = resolve(&mut objects, name),
            Some(("fn", name)) => function = resolve(&mut functions, name),
            Some(("cob", name)) => drop(resolve(&mut objects, name)),
            Some(("cfn", name)) => drop(resolve(&mut functions, name)),
            // The line behind it is the cost of the callee and all that it called.
            Some(("calls", _)) => of_callee = true,
            _ if line.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '*')) => {
                let table =
                    if std::mem::take(&mut of_callee) { &mut profile.called } else { &mut profile.own };
                if let Some(cost) = line.split_whitespace().nth(1).and_then(|c| c.parse::<u64>().ok()) {
                    let object = object.rsplit('/').next().unwrap_or_default().to_owned();
                    *table.entry((object, function.clone())).or_default() += cost;
                }
            }
            _ => {}
        }
    }
    profile
}

fn resolve(names: &mut HashMap<String, String>, text: &str) -> String {
    let Some((key, name)) = text.split_once(')') else { return text.to_owned() };
    if !name.trim().is_empty() {
        names.insert(key.to_owned(), name.trim().to_owned());
    }
    names.get(key).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_cost_and_that_of_callees_are_told_apart() {
        let text = "\
events: Ir\n\nob=(1) /a/libx.so.2\nfl=(1) ???\nfn=(1) one\n0 5\n+3 2\ncob=(2) /b/libc.so.6\ncfn=(2) memcpy\n\
calls=1 0\n0 40\n* 1\n\nob=(2)\nfn=(2)\n0 40\n\nob=(1)\nfn=(1)\n7 1\ntotals: 49\n";
        let profile = parse(text);
        let key = |o: &str, f: &str| (o.to_owned(), f.to_owned());
        assert_eq!(profile.own.get(&key("libx.so.2", "one")), Some(&9));
        assert_eq!(profile.own.get(&key("libc.so.6", "memcpy")), Some(&40));
        assert_eq!(profile.called.get(&key("libx.so.2", "one")), Some(&40));
        assert_eq!((profile.own.len(), profile.called.len()), (2, 1));
    }
}
