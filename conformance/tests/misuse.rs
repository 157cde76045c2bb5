//! The gallery of misuse: every program of `conformance/misuse` breaks the one rule that its head names, and check mode
//! finds exactly that; compiled with `RIGHT` it is the correct program next to it, in which check mode finds nothing.

use serde_json::Value;
use softdpu_sdk::{Kit, Side, kit_for_tests};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("misuse")
}

/// Compiles one of the two programs of a file.
fn compile(kit: &Kit, name: &str, right: bool, output: &Path) {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-DDOCA_ALLOW_EXPERIMENTAL_API"]);
    if right {
        command.arg("-DRIGHT");
    }
    for include in kit.include_dirs(Side::Host) {
        command.arg("-I").arg(include);
    }
    command.arg(folder().join(name).with_extension("c")).arg("-o").arg(output);
    command.arg("-L").arg(kit.lib_dir()).arg(format!("-Wl,-rpath,{}", kit.lib_dir().display()));
    command.args(["-lsoftdpu", "-pthread"]);
    let built = command.stdin(Stdio::null()).output().expect("a compiler");
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
}

/// What a run gave: its status, what it said on stderr, and the report.
struct Run {
    status: Option<i32>,
    stderr: String,
    report: Value,
}

/// Runs a program as `softdpu run --check` does: the process that the command was becomes the program.
fn run(kit: &Kit, program: &Path, work: &Path, fail: bool) -> Run {
    let library = kit.check_library().expect("the library of check mode");
    let (report, stderr) = (work.join("report.json"), work.join("stderr"));
    let mut command = Command::new("sh");
    command.args(["-c", "SOFTDPU_CHECK_PID=$$; export SOFTDPU_CHECK_PID; LD_PRELOAD=$1 exec $2", "sh"]);
    command.arg(library).arg(program).current_dir(work);
    for (key, _) in std::env::vars_os().filter(|(k, _)| k.to_string_lossy().starts_with("SOFTDPU_")) {
        command.env_remove(key);
    }
    command.env("SOFTDPU_RUNTIME_DIR", work.join("runtime")).env("SOFTDPU_CHECK_REPORT", &report);
    if fail {
        command.env("SOFTDPU_CHECK_FAIL", "1");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&stderr).expect("a file"));
    let mut child = command.spawn().expect("a shell");
    let end = Instant::now() + Duration::from_secs(120);
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if Instant::now() > end {
            child.kill().expect("a child");
            panic!("{} does not end: {}", program.display(), fs::read_to_string(&stderr).unwrap_or_default());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let stderr = fs::read_to_string(&stderr).expect("what it said");
    let report = report_of(work, &stderr);
    Run { status: status.code(), stderr, report }
}

/// The report of a program, and the findings of processes that it started, which write their own beside it.
fn report_of(work: &Path, stderr: &str) -> Value {
    let read = |path: &Path| -> Value {
        let text = fs::read(path).unwrap_or_else(|e| panic!("{}: no report: {e}\n{stderr}", path.display()));
        serde_json::from_slice(&text).expect("JSON")
    };
    let mut report = read(&work.join("report.json"));
    for entry in fs::read_dir(work).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("report.json.")) {
            let more = read(&path)["findings"].as_array().expect("findings").clone();
            report["findings"].as_array_mut().expect("findings").extend(more);
            fs::remove_file(path).expect("a file");
        }
    }
    report
}

fn rules(report: &Value) -> BTreeSet<String> {
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().map(|f| f["rule"].as_str().expect("a rule").to_owned()).collect()
}

/// The rule that the head of a program names.
fn rule_of(name: &str) -> String {
    let text = fs::read_to_string(folder().join(name).with_extension("c")).expect(name);
    let rule = text.lines().find_map(|line| line.strip_prefix(" * rule: "));
    rule.unwrap_or_else(|| panic!("{name}: no line `rule:`")).to_owned()
}

fn check(name: &str) {
    let kit = kit_for_tests().unwrap_or_else(|error| panic!("no kit: {error}"));
    let work = std::env::temp_dir().join(format!("softdpu-misuse-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work).expect("a folder");
    for right in [false, true] {
        let program = work.join(if right { "right" } else { "wrong" });
        compile(&kit, name, right, &program);
        let run = run(&kit, &program, &work, false);
        let said: Vec<&str> = run.stderr.lines().filter(|l| l.starts_with("softdpu: check: ")).collect();
        let last = said.last().copied().unwrap_or_default();
        if right {
            assert!(rules(&run.report).is_empty(), "{name}, the right program:\n{}", run.stderr);
            // Processes that it started have a line of their own.
            let all = !said.is_empty() && said.iter().all(|line| line.contains("no findings"));
            assert!(all, "{name}, the right program:\n{}", run.stderr);
            assert_eq!(run.status, Some(0), "{name}, the right program:\n{}", run.stderr);
        } else {
            let rule = rule_of(name);
            assert_eq!(rules(&run.report), BTreeSet::from([rule.clone()]), "{name}:\n{}", run.stderr);
            let lines = said.iter().filter(|l| l.starts_with(&format!("softdpu: check: {rule}: "))).count();
            assert!(
                lines >= 1 && said.len() == lines + 1 && last.contains("finding"),
                "{name}:\n{}",
                run.stderr
            );
            // Object with name and place; the place is a line of the program.
            assert!(said[0].contains(", made at ") || rule == "retry-parameter", "{name}: {}", said[0]);
            let ours = ["rig.h:", "misuse.h:", ".c:"].iter().any(|place| said[0].contains(place));
            assert!(ours, "{name}: {}", said[0]);
            assert!(!said[0].contains("(doca_buf_inventory.h:"), "{name}, a place in a header: {}", said[0]);
        }
    }
    fs::remove_dir_all(&work).expect("the folder");
}

macro_rules! gallery {
    ($($name:ident),* $(,)?) => {
        /// The programs that have a test below.
        const LISTED: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*
    };
}

gallery! {
    again_without_progress,
    arming_refused,
    batch_freed_in_flight,
    buffer_in_flight,
    callback_blocks,
    callback_waits,
    channel_children,
    channel_ended,
    context_not_idle,
    context_not_idle_stopping,
    destination_full,
    destination_too_small,
    destination_touched,
    destroy_in_callback,
    destroy_in_state_callback,
    device_in_use,
    double_destroy,
    double_destroy_buffer,
    double_destroy_chain,
    double_destroy_context,
    double_destroy_device,
    double_free,
    engine_in_use,
    entries_not_processed,
    event_not_started,
    export_not_started,
    export_permission,
    flow_not_started,
    flow_pipe_after_port,
    flow_port_holds_device,
    fork_after_open,
    free_in_flight,
    graph_stopped,
    graph_submitted_twice,
    import_wrong_side,
    inventory_empty,
    inventory_in_use,
    inventory_not_started,
    map_in_use,
    map_not_started,
    map_under_task,
    memory_freed,
    memory_protected,
    memory_reallocated,
    memory_remapped,
    memory_thrown_away,
    memory_unmapped,
    missing_permission,
    never_freed_all,
    never_freed_engine,
    never_freed_flow,
    never_freed_map,
    never_progressed,
    no_data,
    no_data_hash,
    not_armed,
    not_cleared,
    not_cleared_mode,
    overlap_in_flight,
    overlap_read_after_write,
    packet_freed_twice,
    packets_held,
    pool_in_use,
    pool_too_small,
    progress_nested,
    progress_two_threads,
    queue_children,
    queue_not_started,
    range_set_twice,
    rdma_before_connect,
    rdma_ended,
    rdma_event_destroyed,
    rdma_event_in_flight,
    rdma_not_idle,
    rdma_receive_buffer,
    rdma_send_waits,
    refusal_ignored,
    representor_in_use,
    retry_parameter,
    source_changed,
    start_without_engine,
    start_without_tasks,
    submit_in_flight,
    submit_not_running,
    sync_event_freed_in_flight,
    task_not_running,
    task_too_large,
    tasks_not_freed,
    use_after_destroy,
    use_after_destroy_buffer,
    use_after_destroy_engine,
    use_after_free,
    window_before_map,
    window_past_map,
    wrong_engine,
    wrong_representor_client,
    wrong_representor_server,
}

#[test]
fn every_program_has_its_test_and_every_rule_its_program() {
    let entries = fs::read_dir(folder()).expect("the gallery");
    let names: BTreeSet<String> = entries
        .map(|e| e.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, LISTED.iter().map(|name| (*name).to_owned()).collect());
    let shown: BTreeSet<String> = names.iter().map(|name| rule_of(name)).collect();
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/rules.md");
    let manual = fs::read_to_string(manual).expect("the manual");
    let rules: BTreeSet<String> =
        manual.lines().filter_map(|l| l.strip_prefix("## ")).map(str::to_owned).collect();
    assert_eq!(shown, rules);
}

/// `--fail-on-misuse` turns status 0 into 1, and leaves other statuses and right programs alone.
#[test]
fn a_finding_can_be_a_failure() {
    let kit = kit_for_tests().unwrap_or_else(|error| panic!("no kit: {error}"));
    let work = std::env::temp_dir().join(format!("softdpu-misuse-fail-{}", std::process::id()));
    fs::create_dir_all(&work).expect("a folder");
    let program = work.join("program");
    for (right, status) in [(false, 1), (true, 0)] {
        compile(&kit, "never_freed_engine", right, &program);
        assert_eq!(run(&kit, &program, &work, true).status, Some(status));
    }
    fs::remove_dir_all(&work).expect("the folder");
}
