//! `softdpu run --metrics`: what is counted, and who gets it.

mod common;

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{fails, folder, ok, softdpu, watchdog};
use serde_json::Value;

/// Copies a thousand times and fails twice, says so, and goes on when standard input ends.
const PROGRAM: &str = r#"
#include "rig.h"
int main(void)
{
    struct rig rig;
    char c;
    rig_setup(&rig, 1 << 20, 64);
    for (int i = 0; i < 1000; i++) {
        (void)rig_copy(&rig, 0, 1 << 19, 100, i);
        rig_drain(&rig);
    }
    puts("ready");
    fflush(stdout);
    while (read(0, &c, 1) > 0)
        ;
    (void)rig_copy(&rig, 0, 1 << 19, 24, 7);
    rig_drain(&rig);
    rig_teardown(&rig);
    return check_result();
}
"#;

fn build(folder: &Path) {
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let rig = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/c");
    let mut cc = softdpu(folder);
    cc.args(["cc", "-w", "-DDOCA_ALLOW_EXPERIMENTAL_API", "-I"]).arg(rig);
    ok(cc.args(["program.c", "-o", "program", "-lsoftdpu"]));
}

/// Starts the program, and waits until it has copied.
fn start(folder: &Path, place: &str) -> Child {
    let mut run = softdpu(folder);
    run.args(["run", "--metrics", place, "--", "./program"]);
    let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    assert_eq!(&said, b"ready\n");
    child
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

/// The samples of a page, by name and labels without the process.
fn samples(page: &str) -> HashMap<String, f64> {
    let lines = page.lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let (head, labels) = name.split_once('{').unwrap();
        let labels: Vec<_> =
            labels.trim_end_matches('}').split(',').filter(|l| !l.starts_with("pid=")).collect();
        (format!("{head}{{{}}}", labels.join(",")), value.parse().unwrap())
    };
    lines.map(sample).collect()
}

const LABELS: &str = "card=\"card0\",device=\"0000:03:00.0\",context=\"1\",engine=\"dma\",kind=\"memcpy\"";

fn expect(page: &str, tasks: f64, bytes: f64) {
    let samples = samples(page);
    let of = |name: &str| samples.get(&format!("softdpu_{name}{{{LABELS}}}")).copied();
    assert_eq!(of("tasks_submitted_total"), Some(tasks), "{page}");
    assert_eq!((of("tasks_succeeded_total"), of("tasks_failed_total")), (Some(tasks), Some(0.0)));
    assert_eq!((of("task_bytes_total"), of("tasks_in_flight")), (Some(bytes), Some(0.0)));
    for histogram in ["task_seconds", "task_work_seconds"] {
        assert_eq!(of(&format!("{histogram}_count")), Some(tasks));
        let prefix = format!("softdpu_{histogram}_bucket{{{LABELS},le=\"");
        let mut buckets: Vec<(f64, f64)> = samples
            .iter()
            .filter_map(|(name, value)| {
                let bound = name.strip_prefix(&prefix)?.trim_end_matches(['}', '"']);
                Some((bound.replace("+Inf", "inf").parse().unwrap(), *value))
            })
            .collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(buckets.len() > 20 && buckets.windows(2).all(|w| w[0].1 <= w[1].1), "{buckets:?}");
        assert_eq!(buckets.last().unwrap(), &(f64::INFINITY, tasks));
        let sum = of(&format!("{histogram}_sum")).unwrap();
        assert!(sum > 0.0, "{sum}");
    }
}

#[test]
fn a_file_has_everything_at_the_end() {
    let _watchdog = watchdog("a_file_has_everything_at_the_end");
    let folder = folder("metrics file");
    build(&folder);
    let child = start(&folder, "./m-%p.prom");
    let file = folder.join(format!("m-{}.prom", child.id()));
    // Once a second.
    while !fs::read_to_string(&file).is_ok_and(|page| page.contains("softdpu_tasks_submitted_total{")) {
        sleep(Duration::from_millis(20));
    }
    expect(&fs::read_to_string(&file).unwrap(), 1000.0, 100_000.0);
    end(child);
    expect(&fs::read_to_string(&file).unwrap(), 1001.0, 100_024.0);
}

#[test]
fn prometheus_asks() {
    let _watchdog = watchdog("prometheus_asks");
    let folder = folder("metrics address");
    build(&folder);
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let child = start(&folder, &address);
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, page) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK") && head.contains("version=0.0.4"), "{head}");
    expect(page, 1000.0, 100_000.0);
    end(child);
}

#[test]
fn top_shows_them() {
    let _watchdog = watchdog("top_shows_them");
    let folder = folder("metrics top");
    build(&folder);
    let child = start(&folder, "top");
    let top = |json: &[&str]| ok(softdpu(&folder).args(["top", "--once", "--interval", "0.1"]).args(json));
    let document: Value = serde_json::from_str(&top(&["--json"])).unwrap();
    let process = document["processes"].as_array().unwrap().iter().find(|p| p["pid"] == child.id()).unwrap();
    let tasks = &process["tasks"][0];
    assert_eq!((&tasks["context"], &tasks["kind"]), (&"dma 1".into(), &"memcpy".into()), "{tasks}");
    assert_eq!((&tasks["succeeded"], &tasks["bytes"]), (&1000.into(), &100_000.into()), "{tasks}");
    assert_eq!(tasks["card"], "card0");
    let times = ["median_ns", "p99_ns", "longest_ns"].map(|name| tasks[name].as_u64().unwrap());
    assert!(0 < times[0] && times[0] <= times[1] && times[1] <= times[2], "{tasks}");
    let text = top(&[]);
    assert!(text.contains("TASKS OF") && text.contains("memcpy"), "{text}");
    end(child);
}

#[test]
fn places_that_are_none_are_refused() {
    let _watchdog = watchdog("places_that_are_none_are_refused");
    let folder = folder("metrics refusals");
    for place in ["", "somewhere", "host:port"] {
        let error = fails(softdpu(&folder).args(["run", "--metrics", place, "--", "true"]), 2);
        assert!(error.contains("HOST:PORT"), "{error}");
    }
}
