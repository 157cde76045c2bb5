//! `softdpu run --probes`: the probes are in the library, and bpftrace sees tasks come by where the kernel lets it.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{command, folder, ok, output, present, softdpu, watchdog};

const PROBES: [&str; 6] =
    ["task_submitted", "task_refused", "task_begun", "task_ended", "task_delivered", "task_returned"];

/// Builds a program that copies; gives the path of the library that it uses.
fn build(folder: &Path) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/c/dma_order.c");
    let mut cc = softdpu(folder);
    cc.args(["cc", "-w", "-DDOCA_ALLOW_EXPERIMENTAL_API"]).arg(source).args(["-o", "copies", "-lsoftdpu"]);
    ok(&mut cc);
    let kit = softdpu_sdk::kit_for_tests().unwrap_or_else(|e| panic!("{e}"));
    kit.lib_dir().join(softdpu_sdk::SHARED_LIBRARY).display().to_string()
}

#[test]
fn the_library_has_them_in_its_notes() {
    let _watchdog = watchdog("the_library_has_them_in_its_notes");
    let folder = folder("probes notes");
    let library = build(&folder);
    if !present("readelf") {
        return;
    }
    let notes = ok(command("readelf", &folder).args(["--notes", "--wide", &library]));
    for probe in PROBES {
        assert!(notes.contains(&format!("Name: {probe}")), "no {probe} in\n{notes}");
    }
    assert!(notes.contains("Provider: softdpu"), "{notes}");
}

#[test]
fn bpftrace_sees_tasks_end() {
    let _watchdog = watchdog("bpftrace_sees_tasks_end");
    let folder = folder("probes bpftrace");
    let library = build(&folder);
    if !present("bpftrace") {
        return;
    }
    // A path with a blank or a colon would end early.
    let link = std::env::temp_dir().join(format!("softdpu-probes-{}.so.2", std::process::id()));
    let link = link.display().to_string();
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(&library, &link).unwrap();
    let script = format!(
        "usdt:{link}:softdpu:task_ended {{ printf(\"context %d task %d kind %d error %d bytes %d\\n\", \
         arg0, arg1, arg2, arg3, arg4); exit(); }}"
    );
    let mut watch = Command::new("bpftrace");
    let mut watch =
        watch.args(["-e", &script]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It takes a while until it looks.
    while watch.try_wait().unwrap().is_none() {
        let run = output(softdpu(&folder).args(["run", "--probes", "--", "./copies"]));
        assert!(run.status.success(), "{run:?}");
    }
    let seen = watch.wait_with_output().unwrap();
    let _ = std::fs::remove_file(&link);
    let (text, error) = (String::from_utf8_lossy(&seen.stdout), String::from_utf8_lossy(&seen.stderr));
    if !text.contains("context ") {
        println!("skipped: bpftrace cannot look here: {}", error.trim());
        return;
    }
    let line = text.lines().find(|line| line.starts_with("context ")).unwrap();
    let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [context, task, kind, failed, bytes] = numbers[..] else { panic!("{line}") };
    assert_eq!((context, kind, failed), (1, 0, 0), "{line}");
    assert!((1..=402).contains(&task) && bytes > 0, "{line}");
}
