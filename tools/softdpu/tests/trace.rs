//! `softdpu run --trace` and `softdpu trace`: whole programs, traced, and what the trace says of them.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{fails, folder, ok, output, softdpu, watchdog};
use serde_json::Value;

/// Builds a program of the conformance suite.
fn build(folder: &Path, name: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/c").join(name);
    let mut cc = softdpu(folder);
    cc.args(["cc", "-O1", "-g", "-w", "-DDOCA_ALLOW_EXPERIMENTAL_API"]).arg(source.with_extension("c"));
    ok(cc.args(["-o", name, "-lsoftdpu", "-lpthread", "-lm"]));
}

fn traced(folder: &Path, options: &[&str], name: &str) -> Output {
    let mut run = softdpu(folder);
    run.args(["run", "--trace", "t.json"]).args(options).arg("--").arg(format!("./{name}"));
    output(&mut run)
}

fn succeeds(run: &Output, name: &str) {
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{name}: {}\n{error}", run.status);
}

fn json(command: &mut Command) -> Value {
    serde_json::from_str(&ok(command)).unwrap()
}

/// The trace is in order; its counts.
fn check(folder: &Path) -> Value {
    // Any JSON reader takes it whole.
    let whole: Value = serde_json::from_slice(&fs::read(folder.join("t.json")).unwrap()).unwrap();
    let found = json(softdpu(folder).args(["trace", "check", "--json", "t.json"]));
    assert_eq!(whole.as_array().unwrap().len() as u64, found["lines"].as_u64().unwrap());
    found
}

#[test]
fn every_copy_of_a_program_is_in_its_trace() {
    let _watchdog = watchdog("every_copy_of_a_program_is_in_its_trace");
    let folder = folder("trace copies");
    build(&folder, "dma_order");
    succeeds(&traced(&folder, &[], "dma_order"), "dma_order");
    let found = check(&folder);
    assert_eq!((&found["tasks"], &found["flows"]), (&402.into(), &402.into()), "{found}");
    assert_eq!(
        (&found["unfinished"], &found["lost"], &found["processes"]),
        (&0.into(), &0.into(), &1.into())
    );

    let summary = json(softdpu(&folder).args(["trace", "summary", "--json", "t.json"]));
    let kind = &summary["kinds"][0];
    assert_eq!((&kind["context"], &kind["kind"]), (&"dma 1".into(), &"memcpy".into()), "{summary}");
    assert_eq!((&kind["tasks"], &kind["failed"]), (&402.into(), &0.into()), "{summary}");
    let times = ["median", "p99", "longest"].map(|name| kind[name].as_u64().unwrap());
    assert!(0 < times[0] && times[0] <= times[1] && times[1] <= times[2], "{times:?}");
    // What the program copies: twice 25 rounds of eight lengths, a large one and a small one.
    let lengths: u64 = [64, 3 << 20, 1, 700_000, 4096, 1 << 20, 100, 65536].iter().sum();
    assert_eq!(kind["bytes"], 50 * lengths + (4 << 20) + 64);
    assert_eq!(summary["slowest"].as_array().unwrap().len(), 5);

    let text = ok(softdpu(&folder).args(["trace", "summary", "t.json"]));
    assert!(text.starts_with("402 tasks in ") && text.contains("(dma_order)"), "{text}");
    let text = ok(softdpu(&folder).args(["trace", "timeline", "--width", "80", "t.json"]));
    assert!(text.lines().any(|l| l.contains(" dma 1 |") || l.contains(" dma 1  ")), "{text}");
    assert!(text.lines().skip(1).all(|line| line.chars().count() <= 80), "{text}");
    ok(softdpu(&folder).args(["trace", "timeline", "--svg", "t.svg", "t.json"]));
    let svg = fs::read_to_string(folder.join("t.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("class=\"task\"").count(), 403, "a bar for each, and the legend");
}

/// Programs of all engines do under a trace what they do without, and leave traces in order.
#[test]
fn programs_of_all_engines() {
    let _watchdog = watchdog("programs_of_all_engines");
    let folder = folder("trace engines");
    for (name, contexts, least) in [
        ("sha_digests", &["sha"][..], 10),
        ("aes_gcm_messages", &["aes_gcm"], 10),
        ("compress_zlib_file", &["compress"], 2),
        ("ec_tasks", &["erasure_coding"], 4),
        ("sync_event_tasks", &["sync_event"], 4),
        ("rdma_events", &["rdma"], 4),
        ("comch_msgq", &["comch"], 4),
        ("eth_send", &["eth_txq"], 4),
        ("use_resubmit", &["dma"], 10),
        ("ctx_unfreed_tasks", &["dma"], 1),
        ("graph_runs", &["dma"], 10),
        ("pe_nested", &["dma"], 4),
        ("use_many_contexts", &["dma"], 10),
        ("dma_copies", &["dma"], 10),
        ("compress_lz4", &["compress"], 2),
        ("rdma_onesided", &["rdma"], 4),
        ("comch_path_large", &["comch"], 4),
        ("eth_receive", &["eth_rxq"], 1),
        ("mmap_advise", &["mmap_advise"], 1),
    ] {
        build(&folder, name);
        succeeds(&traced(&folder, &[], name), name);
        let found = check(&folder);
        assert!(found["tasks"].as_u64().unwrap() >= least, "{name}: {found}");
        assert_eq!(found["lost"], 0, "{name}: {found}");
        let summary = json(softdpu(&folder).args(["trace", "summary", "--json", "t.json"]));
        let of = |engine: &str| {
            let rows = summary["kinds"].as_array().unwrap().iter();
            rows.filter(|row| row["context"].as_str().unwrap().starts_with(engine)).count()
        };
        assert!(contexts.iter().all(|engine| of(engine) > 0), "{name}: {summary}");
    }
}

#[test]
fn failures_are_in_it() {
    let _watchdog = watchdog("failures_are_in_it");
    let folder = folder("trace failures");
    build(&folder, "use_failing_task");
    succeeds(&traced(&folder, &[], "use_failing_task"), "use_failing_task");
    check(&folder);
    let summary = json(softdpu(&folder).args(["trace", "summary", "--json", "t.json"]));
    let errors: Vec<_> = summary["kinds"].as_array().unwrap().iter().map(|kind| &kind["errors"]).collect();
    assert!(errors.iter().any(|e| e["IO_FAILED"].as_u64() >= Some(1)), "{summary}");
    let text = ok(softdpu(&folder).args(["trace", "summary", "t.json"]));
    assert!(text.contains("IO_FAILED"), "{text}");
}

/// One file for all processes that a program starts.
#[test]
fn several_processes_share_a_file() {
    let _watchdog = watchdog("several_processes_share_a_file");
    let folder = folder("trace processes");
    build(&folder, "rdma_processes");
    succeeds(&traced(&folder, &[], "rdma_processes"), "rdma_processes");
    let found = check(&folder);
    assert!(found["processes"].as_u64().unwrap() >= 2, "{found}");
}

const KILLED: &str = r#"
#include <signal.h>
#include "rig.h"
int main(void)
{
    struct rig rig;
    rig_setup(&rig, 1 << 20, 64);
    for (int i = 0; i < 40; i++)
        (void)rig_copy(&rig, 0, 1 << 19, 64, i);
    for (int i = 0; i < 30; i++)
        (void)rig_progress(&rig);
    usleep(300000);
    raise(SIGKILL);
    return 0;
}
"#;

#[test]
fn a_killed_program_leaves_a_whole_file() {
    let _watchdog = watchdog("a_killed_program_leaves_a_whole_file");
    let folder = folder("trace killed");
    fs::write(folder.join("killed.c"), KILLED).unwrap();
    let rig = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/c");
    let mut cc = softdpu(&folder);
    cc.args(["cc", "-w", "-DDOCA_ALLOW_EXPERIMENTAL_API", "-I"]).arg(rig);
    ok(cc.args(["killed.c", "-o", "killed", "-lsoftdpu"]));
    assert!(!traced(&folder, &[], "killed").status.success());
    let found = check(&folder);
    assert!(found["tasks"].as_u64().unwrap() > 0, "{found}");
    let text = ok(softdpu(&folder).args(["trace", "summary", "t.json"]));
    assert!(text.contains("was killed"), "{text}");
}

#[test]
fn the_file_has_a_limit() {
    let _watchdog = watchdog("the_file_has_a_limit");
    let folder = folder("trace limit");
    build(&folder, "dma_order");
    let script = "for i in 1 2 3 4 5; do ./dma_order || exit 9; done";
    let mut run = softdpu(&folder);
    run.args(["run", "--trace", "t.json", "--trace-limit", "1", "--", "sh", "-c", script]);
    let run = output(&mut run);
    succeeds(&run, "dma_order");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("has reached its limit of 1 MiB"), "{said}");
    let len = fs::metadata(folder.join("t.json")).unwrap().len();
    assert!(len <= 1 << 20, "{len}");
    check(&folder);
}

#[test]
fn what_is_wrong_is_named() {
    let _watchdog = watchdog("what_is_wrong_is_named");
    let folder = folder("trace refusals");
    for (arguments, status, words) in [
        (&["run", "--trace", "none/t.json", "--", "true"][..], 1, "none/t.json"),
        (&["run", "--trace-limit", "5", "--", "true"], 2, "goes with --trace"),
        (&["run", "--trace", "t.json", "--trace-limit", "much", "--", "true"], 2, "number of MiB"),
        (&["trace"], 2, "summary, timeline or check"),
        (&["trace", "paint", "t.json"], 2, "unknown 'paint'"),
        (&["trace", "summary"], 2, "no file"),
        (&["trace", "summary", "--svg", "x", "t.json"], 2, "--svg"),
        (&["trace", "summary", "none.json"], 1, "none.json"),
        (&["trace", "check", "letters"], 1, "line 1"),
        (&["trace", "timeline", "--from", "soon", "empty"], 2, "'soon'"),
        (&["trace", "timeline", "--from", "5s", "--to", "1s", "empty"], 2, "between"),
    ] {
        fs::write(folder.join("letters"), "letters\n").unwrap();
        fs::write(folder.join("empty"), "[\n]\n").unwrap();
        let error = fails(softdpu(&folder).args(arguments), status);
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    // A program without a card leaves an empty trace.
    ok(softdpu(&folder).args(["run", "--trace", "t.json", "--", "true"]));
    assert_eq!(check(&folder)["lines"], 0);
    assert!(ok(softdpu(&folder).args(["trace", "summary", "t.json"])).starts_with("0 tasks"));
    ok(softdpu(&folder).args(["trace", "timeline", "t.json"]));
}

/// The notes that other tools look for, and a program that comes by them.
#[test]
fn probes_are_in_the_library() {
    let _watchdog = watchdog("probes_are_in_the_library");
    let folder = folder("trace probes");
    let library = fs::read(softdpu_sdk::kit_for_tests().unwrap().shared_library()).unwrap();
    for name in ["submitted", "refused", "begun", "ended", "delivered", "returned"] {
        let note = format!("softdpu\0task_{name}\0");
        assert!(library.windows(note.len()).any(|bytes| bytes == note.as_bytes()), "no probe task_{name}");
    }
    build(&folder, "use_resubmit");
    ok(softdpu(&folder).args(["run", "--probes", "--", "./use_resubmit"]));
}
