//! `softdpu top` looks at real processes, at some that are stopped or killed, and at some that answer nonsense.

#[path = "../common/mod.rs"]
mod common;
mod fakes;
mod ports;
mod roles;
mod screen;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{command, fails, folder, ok, watchdog};
use roles::Process;
use rustix::process::Signal;
use serde_json::Value;

fn top(folder: &Path) -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_softdpu"), folder);
    command.arg("top");
    command
}

/// One snapshot.
fn look(folder: &Path) -> Value {
    let text = ok(top(folder).args(["--once", "--json", "--interval", "0.2"]));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e} in\n{text}"))
}

fn processes(document: &Value) -> &Vec<Value> {
    document["processes"].as_array().unwrap()
}

fn process(document: &Value, pid: u32) -> &Value {
    let found = processes(document).iter().find(|process| process["pid"] == pid);
    found.unwrap_or_else(|| panic!("no process {pid} in\n{document:#}"))
}

/// The socket of a process.
fn socket(folder: &Path, pid: u32) -> Option<String> {
    let files = fs::read_dir(folder.join("runtime")).unwrap();
    let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.find(|name| name.starts_with(&format!("{pid}-")))
}

#[test]
fn a_process_is_seen_while_it_lives() {
    let _watchdog = watchdog("a_process_is_seen_while_it_lives");
    let folder = folder("top lives");
    assert_eq!(processes(&look(&folder)).len(), 0);
    let mut process_of_copies = Process::start("copy", &folder);
    let pid = process_of_copies.pid();
    let (first, second) = (look(&folder), look(&folder));
    let context = |document: &Value| process(document, pid)["contexts"][0].clone();
    let (before, after) = (context(&first), context(&second));
    assert_eq!((&before["engine"], &before["state"]), (&"dma".into(), &"running".into()));
    assert_eq!(before["id"], after["id"]);
    assert!(after["completed"].as_u64().unwrap() > before["completed"].as_u64().unwrap(), "{before} {after}");
    assert!(after["tasks_per_s"].as_f64().unwrap() > 0.0, "{after}");
    let shown = process(&second, pid);
    assert_eq!(shown["devices"][0]["pci"], "0000:03:00.0");
    assert_eq!(shown["boards"][0]["name"], "threads");
    assert_eq!(shown["progress_engines"][0]["id"], after["progress_engine"]);
    assert!(shown["progress_engines"][0]["calls_per_s"].as_f64().unwrap() > 0.0);
    assert_eq!(
        (&shown["maps"][0]["len"], &shown["maps"][0]["access"]),
        (&8192.into(), &"LOCAL_READ_WRITE".into())
    );
    assert_eq!(
        (&second["engines"][0]["engine"], &second["engines"][0]["contexts"]),
        (&"dma".into(), &1.into())
    );
    assert_eq!((&second["cards"][0]["devices"], &second["cards"][0]["processes"]), (&1.into(), &1.into()));
    let table = ok(top(&folder).args(["--once", "--interval", "0.1"]));
    for word in [&pid.to_string(), "dma", "running", "card0", "LOCAL_READ_WRITE", "8 KiB"] {
        assert!(table.contains(word), "{word} in\n{table}");
    }
    assert!(!table.contains('\x1b'));

    // One that ends takes its socket along; one that is killed leaves it to whoever comes next.
    assert!(socket(&folder, pid).is_some());
    process_of_copies.end();
    assert_eq!(socket(&folder, pid), None);
    let mut killed = Process::start("copy", &folder);
    assert_eq!(processes(&look(&folder)).len(), 1);
    killed.kill();
    assert!(socket(&folder, killed.pid()).is_some());
    assert_eq!(processes(&look(&folder)).len(), 0);
    assert_eq!(socket(&folder, killed.pid()), None);
}

#[test]
fn contexts_come_and_go() {
    let _watchdog = watchdog("contexts_come_and_go");
    let folder = folder("top contexts");
    let mut process_of_three = Process::start("three", &folder);
    let document = look(&folder);
    let shown = process(&document, process_of_three.pid());
    let mut ids: Vec<_> = shown["contexts"].as_array().unwrap().iter().map(|c| c["id"].as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert_eq!((&shown["progress_engines"][0]["contexts"], &shown["tasks_per_s"]), (&3.into(), &0.0.into()));
    process_of_three.tell("stop one");
    assert_eq!(process_of_three.hear(), "stopped");
    let document = look(&folder);
    assert_eq!(process(&document, process_of_three.pid())["contexts"].as_array().unwrap().len(), 2);
}

#[test]
fn exports_and_imports_are_listed() {
    let _watchdog = watchdog("exports_and_imports_are_listed");
    let folder = folder("top share");
    let owner = Process::start("export", &folder);
    let importer = Process::start("import", &folder);
    let document = look(&folder);
    let export = &process(&document, owner.pid())["exports"][0];
    assert_eq!(
        (&export["len"], &export["importers"], &export["kind"]),
        (&65536.into(), &1.into(), &"PCI".into())
    );
    assert_eq!(export["mappable"], true);
    let import = &process(&document, importer.pid())["imports"][0];
    assert_eq!((&import["owner"], &import["len"]), (&owner.pid().into(), &65536.into()));
    assert_eq!((&import["base"], &import["reach"]), (&export["base"], &"mapped".into()));
    let table = ok(top(&folder).args(["--once", "--interval", "0.1"]));
    assert!(
        table.contains("1 importer") && table.contains(&format!("from {}, mapped", owner.pid())),
        "{table}"
    );
}

#[test]
fn twenty_processes() {
    let _watchdog = watchdog("twenty_processes");
    let folder = folder("top twenty");
    let all: Vec<Process> = (0..20).map(|_| Process::start("copy", &folder)).collect();
    let document = look(&folder);
    assert_eq!(processes(&document).len(), 20);
    for one in &all {
        let shown = process(&document, one.pid());
        assert_eq!((&shown["answers"], shown["contexts"].as_array().unwrap().len()), (&true.into(), 1));
    }
    assert_eq!(
        (&document["engines"][0]["processes"], &document["engines"][0]["contexts"]),
        (&20.into(), &20.into())
    );
    let rates: Vec<f64> =
        processes(&document).iter().map(|p| p["tasks_per_s"].as_f64().unwrap_or(-1.0)).collect();
    assert!(rates.is_sorted_by(|a, b| a >= b), "{rates:?}");
}

#[test]
fn folders_are_apart() {
    let _watchdog = watchdog("folders_are_apart");
    let (one, other) = (folder("top one"), folder("top other"));
    let processes_of_copies = [Process::start("copy", &one), Process::start("copy", &other)];
    for (folder, copies) in [&one, &other].into_iter().zip(&processes_of_copies) {
        let document = look(folder);
        assert_eq!(processes(&document).len(), 1);
        assert_eq!(process(&document, copies.pid())["answers"], true);
    }
}

#[test]
fn a_long_report_is_handed_over_in_shared_memory() {
    let _watchdog = watchdog("a_long_report_is_handed_over_in_shared_memory");
    let folder = folder("top long");
    let maps = Process::start("maps", &folder);
    let document = look(&folder);
    let shown = process(&document, maps.pid());
    let lens: Vec<_> =
        shown["maps"].as_array().unwrap().iter().map(|map| map["len"].as_u64().unwrap()).collect();
    assert_eq!(lens, (1..=500).map(|n| n * 8).collect::<Vec<_>>());
    assert_eq!(shown["left_out"], 0);
}

#[test]
fn names_cannot_command_the_terminal() {
    let _watchdog = watchdog("names_cannot_command_the_terminal");
    let folder = folder("top names");
    let evil = Process::start_as("\x1b]0;owned\x07\x1b[2J\u{9b}31m evil\n", "copy", &folder);
    let document = look(&folder);
    assert_eq!(
        process(&document, evil.pid())["program"],
        "\u{fffd}]0;owned\u{fffd}\u{fffd}[2J\u{fffd}31m evil\u{fffd}"
    );
    for arguments in [&["--once", "--interval", "0.1"][..], &["--once", "--interval", "0.1", "--json"]] {
        let text = ok(top(&folder).args(arguments));
        let bad = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(bad, None, "{text:?}");
        assert!(text.contains("evil"), "{text}");
    }
}

#[test]
fn who_is_stopped_does_not_answer_and_holds_nobody_up() {
    let _watchdog = watchdog("who_is_stopped_does_not_answer_and_holds_nobody_up");
    let folder = folder("top stopped");
    let (stopped, other) = (Process::start("copy", &folder), Process::start("copy", &folder));
    stopped.signal(Signal::STOP);
    for _ in 0..3 {
        let document = look(&folder);
        let shown = process(&document, stopped.pid());
        assert_eq!((&shown["answers"], &shown["problem"]), (&false.into(), &"no answer in time".into()));
        assert!(shown["program"].as_str().unwrap().starts_with("top"), "named by the kernel: {shown}");
        assert_eq!(process(&document, other.pid())["answers"], true);
    }
    let table = ok(top(&folder).args(["--once", "--interval", "0.1"]));
    assert!(table.contains("no answer: no answer in time"), "{table}");
    stopped.signal(Signal::CONT);
    let deadline = Instant::now() + Duration::from_secs(60);
    while process(&look(&folder), stopped.pid())["answers"] != true {
        assert!(Instant::now() < deadline, "it never answers again");
    }
}

#[test]
fn nonsense_is_told_apart() {
    let _watchdog = watchdog("nonsense_is_told_apart");
    let folder = folder("top nonsense");
    let honest = Process::start("copy", &folder);
    let fakes = fakes::all(&folder);
    let document = look(&folder);
    assert_eq!(processes(&document).len(), 1 + fakes.len());
    assert_eq!(process(&document, honest.pid())["answers"], true);
    for fake in &fakes {
        let shown = process(&document, fake.pid());
        assert_eq!(shown["answers"], fake.is_plausible, "{}: {shown}", fake.what);
        assert!(shown["contexts"].as_array().unwrap().len() <= 1, "{}: {shown}", fake.what);
    }
    let table = ok(top(&folder).args(["--once", "--interval", "0.1"]));
    assert!(!table.chars().any(|c| c.is_control() && c != '\n'), "{table:?}");
}

#[test]
fn without_a_folder_all_else_works() {
    let _watchdog = watchdog("without_a_folder_all_else_works");
    let folder = folder("top nowhere");
    fs::write(folder.join("file"), "").unwrap();
    let output = roles::run("nowhere", &folder, |command| {
        command.env("SOFTDPU_RUNTIME_DIR", folder.join("file").join("below"));
    });
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let lines: Vec<_> = error.lines().filter(|line| line.starts_with("log: ")).collect();
    assert!(lines.len() == 1 && lines[0].starts_with("log: WARN runtime folder"), "{error}");
    let error = fails(top(&folder).arg("--once").env("SOFTDPU_RUNTIME_DIR", folder.join("file")), 1);
    assert!(error.contains("runtime folder"), "{error}");
}

#[test]
fn elsewhere_than_on_a_terminal_snapshots_follow_each_other() {
    let _watchdog = watchdog("elsewhere_than_on_a_terminal_snapshots_follow_each_other");
    let folder = folder("top stream");
    let copies = Process::start("copy", &folder);
    let mut child =
        top(&folder).args(["--json", "--interval", "0.1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut completed = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines().take(3) {
        let document: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let now = process(&document, copies.pid())["contexts"][0]["completed"].as_u64().unwrap();
        assert!(now > completed);
        completed = now;
    }
    // The reader has gone.
    assert!(child.wait().unwrap().success());
    let mut child = top(&folder).args(["--interval", "0.1"]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.filter(|line| line.starts_with("softdpu top: 1 process,")).take(3).count(), 3);
    assert!(child.wait().unwrap().success());
}

#[test]
fn wrong_use_is_refused() {
    let _watchdog = watchdog("wrong_use_is_refused");
    let folder = folder("top wrong");
    for wrong in [&["--interval", "0"][..], &["--interval", "fast"], &["--interval"], &["--twice"], &["12"]] {
        fails(top(&folder).args(wrong), 2);
    }
    assert!(ok(top(&folder).arg("--help")).contains("Usage: softdpu top"));
}

#[test]
fn on_a_terminal_it_draws_in_place_and_leaves_no_trace() {
    let _watchdog = watchdog("on_a_terminal_it_draws_in_place_and_leaves_no_trace");
    let folder = folder("top terminal");
    let all: Vec<Process> = (0..4).map(|_| Process::start("copy", &folder)).collect();
    for end in [screen::End::Key(b"q"), screen::End::Signal(Signal::INT), screen::End::Signal(Signal::TERM)] {
        let mut command = top(&folder);
        command.args(["--interval", "0.1"]).env("TERM", "xterm");
        let frames = screen::run(command, (60, 20), end, 3);
        for frame in &frames {
            assert!(frame.len() <= 20, "{frame:#?}");
            assert!(frame.iter().all(|line| line.chars().count() <= 60), "{frame:#?}");
            assert!(frame[0].starts_with("softdpu top: 4 processes,"), "{frame:#?}");
            assert!(frame.iter().any(|line| line.starts_with("ENGINE")), "{frame:#?}");
            assert!(frame.iter().any(|line| line.starts_with("... ")), "more than fits: {frame:#?}");
        }
    }
    drop(all);
    // Where nothing can be drawn, snapshots follow each other on terminals too.
    let mut command = top(&folder);
    command.args(["--interval", "0.1"]).env("TERM", "dumb");
    let text = screen::read_plainly(command, "No process");
    assert!(!text.contains('\x1b'), "{text:?}");
}
