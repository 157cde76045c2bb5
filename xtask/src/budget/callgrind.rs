//! Counts instructions: runs a program under callgrind and adds up what it wrote, per object and function.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Instructions of the program's first thread, by object file (last part of its path) and function.
pub(super) type Profile = BTreeMap<(String, String), u64>;

/// Is valgrind there?
pub(super) fn is_available() -> bool {
    let quiet =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|s| s.success())
}

/// Runs `command` and counts what its first thread did. Workers of the library are left out: they look around as long
/// as the program runs, which is no cost of a task.
pub(super) fn count(program: &Path, arguments: &[String], scratch: &Path) -> Result<Profile, String> {
    let out = scratch.join("callgrind.out");
    let output = Command::new("valgrind")
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
    let first = scratch.join("callgrind.out-01");
    let text = fs::read_to_string(&first).map_err(|e| format!("{}: {e}", first.display()))?;
    let profile = parse(&text);
    if profile.is_empty() { Err(format!("{command}: callgrind counted nothing")) } else { Ok(profile) }
}

/// Adds up the self cost lines. Names are compressed: `(7) name` the first time, `(7)` afterwards.
fn parse(text: &str) -> Profile {
    let mut objects: HashMap<String, String> = HashMap::new();
    let mut functions: HashMap<String, String> = HashMap::new();
    let (mut object, mut function) = (String::new(), String::new());
    let mut inclusive = false;
    let mut profile = Profile::new();
    for line in text.lines() {
        match line.split_once('=') {
            Some(("ob", name)) => object = resolve(&mut objects, name),
            Some(("fn", name)) => function = resolve(&mut functions, name),
            Some(("cob", name)) => drop(resolve(&mut objects, name)),
            Some(("cfn", name)) => drop(resolve(&mut functions, name)),
            // The line behind it is the cost of the callee.
            Some(("calls", _)) => inclusive = true,
            _ if line.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '*')) => {
                let cost = line.split_whitespace().nth(1).and_then(|c| c.parse::<u64>().ok());
                if !std::mem::take(&mut inclusive)
                    && let Some(cost) = cost
                {
                    let object = object.rsplit('/').next().unwrap_or_default().to_owned();
                    *profile.entry((object, function.clone())).or_default() += cost;
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
    fn own_cost_counts_and_that_of_callees_does_not() {
        let text = "\
events: Ir\n\nob=(1) /a/libx.so.2\nfl=(1) ???\nfn=(1) one\n0 5\n+3 2\ncob=(2) /b/libc.so.6\ncfn=(2) memcpy\n\
calls=1 0\n0 40\n* 1\n\nob=(2)\nfn=(2)\n0 40\n\nob=(1)\nfn=(1)\n7 1\ntotals: 49\n";
        let profile = parse(text);
        let get = |o: &str, f: &str| profile.get(&(o.to_owned(), f.to_owned())).copied();
        assert_eq!(get("libx.so.2", "one"), Some(9));
        assert_eq!(get("libc.so.6", "memcpy"), Some(40));
        assert_eq!(profile.len(), 2);
    }
}
