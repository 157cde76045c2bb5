//! `softdpu demo` and `softdpu bench`: real bytes, real figures, documents that programs can read.

mod common;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use common::{command, fails, folder, ok, softdpu, watchdog};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in\n{text}"))
}

const STAGES: [&str; 8] =
    ["create", "open", "register", "construct", "submit", "compare", "reclaim", "release"];
const PIPELINE: [&str; 9] = [
    "sha",
    "deflate",
    "aes_gcm_encrypt",
    "ec_create",
    "ec_recover",
    "aes_gcm_decrypt",
    "inflate",
    "sha",
    "compare",
];

const SIDES: [&str; 7] =
    ["host_export", "card_import", "card_fetch", "card_sha", "card_store", "host_wait", "host_compare"];

fn names(document: &Value) -> Vec<&str> {
    document["stages"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Bytes without pattern.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn files_of_every_length() {
    let _watchdog = watchdog("files_of_every_length");
    let folder = folder("demo");
    let mib = 1 << 20;
    for length in [0, 1, 63, 64, 65, mib - 1, mib, mib + 1, 8 * mib, 8 * mib + 7, 19 * mib + 3] {
        let bytes: Vec<u8> = (0..length).map(|i: usize| (i / 251 + i) as u8).collect();
        fs::write(folder.join("file"), &bytes).unwrap();
        let document = json(&ok(softdpu(&folder).args(["demo", "file", "--json"])));
        assert_eq!(document["file"], "file");
        assert_eq!((document["bytes"].as_u64(), document["ok"].as_bool()), (Some(length as u64), Some(true)));
        let stages = document["stages"].as_array().unwrap();
        assert_eq!(names(&document), [&STAGES[..], &PIPELINE, &SIDES].concat());
        for stage in stages {
            assert_eq!(stage["ok"], true);
            assert!(stage["seconds"].as_f64().unwrap() >= 0.0);
        }
        for stage in &stages[4..6] {
            assert_eq!(stage["bytes_in"].as_u64(), Some(length as u64));
            assert_eq!(stage["bytes_out"].as_u64(), Some(length as u64));
        }
        check_sums(&stages[8..], length as u64);
        for stage in [17 + 2, 17 + 4, 17 + 5, 17 + 6].map(|at| &stages[at]) {
            assert_eq!(
                (number(&stage["bytes_in"]), number(&stage["bytes_out"])),
                (length as u64, length as u64)
            );
        }
        assert_eq!(document["card_process"]["sha256"], sha256(&bytes));
        assert_eq!(fs::read(folder.join("file")).unwrap(), bytes, "the file is only read");
    }
}

/// What goes into a step of the pipeline is what came out of the one before, and in the end as much as in the beginning.
fn check_sums(stages: &[Value], length: u64) {
    let (taken, given): (Vec<_>, Vec<_>) =
        stages.iter().map(|s| (number(&s["bytes_in"]), number(&s["bytes_out"]))).unzip();
    let [hash, deflate, encrypt, create, recover, decrypt, inflate, again, compare] =
        [0, 1, 2, 3, 4, 5, 6, 7, 8];
    let pieces = length.div_ceil(1 << 20);
    assert_eq!((taken[hash], given[hash], taken[again], given[again]), (length, 32, length, 32));
    assert_eq!((taken[deflate], given[inflate]), (length, length));
    assert_eq!(
        (taken[inflate], given[decrypt], taken[encrypt]),
        (given[deflate], given[deflate], given[deflate])
    );
    assert_eq!((given[encrypt], taken[decrypt]), (given[deflate] + 16 * pieces, given[encrypt]));
    // Blocks are multiples of 64 bytes, and there are 8 of them.
    assert!(taken[create] >= given[encrypt] && taken[create] < given[encrypt] + pieces * 512 + 1);
    assert_eq!((taken[create] % 512, given[create]), (0, taken[create] / 2));
    assert_eq!((taken[recover], given[recover]), (taken[create], given[create]));
    assert_eq!((taken[compare], given[compare]), (length, length));
}

#[test]
fn what_deflates_gets_smaller_and_what_does_not_goes_through_as_well() {
    let _watchdog = watchdog("what_deflates_gets_smaller_and_what_does_not_goes_through_as_well");
    let folder = folder("demo deflate");
    let length = 14 * (1 << 20) + 4711;
    for (bytes, most) in [(noise(length), length + length / 1000), (vec![7; length], length / 50)] {
        fs::write(folder.join("file"), &bytes).unwrap();
        let document = json(&ok(softdpu(&folder).args(["demo", "file", "--json"])));
        let stages = document["stages"].as_array().unwrap();
        check_sums(&stages[8..], length as u64);
        assert!(number(&stages[9]["bytes_out"]) <= most as u64, "{}", stages[9]);
    }
}

#[test]
fn the_hash_is_that_of_the_file() {
    let _watchdog = watchdog("the_hash_is_that_of_the_file");
    let folder = folder("demo hash");
    for length in [0, 1, 64, (1 << 20) - 1, 1 << 20, 9 * (1 << 20) + 64] {
        let bytes = noise(length);
        fs::write(folder.join("file"), &bytes).unwrap();
        let text = ok(softdpu(&folder).args(["demo", "file"]));
        assert!(text.contains(&format!("SHA-256 {}\n", sha256(&bytes))), "{length}: {text}");
    }
}

#[test]
fn what_a_card_lacks_is_left_out_and_said_so() {
    let _watchdog = watchdog("what_a_card_lacks_is_left_out_and_said_so");
    let folder = folder("demo lacks");
    fs::write(folder.join("file"), noise(3_000_000)).unwrap();
    for (profile, lacks) in [
        ("bf2", &["aes_gcm_encrypt", "ec_create", "ec_recover", "aes_gcm_decrypt"][..]),
        ("bf3", &["sha", "deflate", "inflate", "card_sha"][..]),
    ] {
        let mut demo = softdpu(&folder);
        let run = demo.args(["demo", "file", "--json", "--profile", profile]).output().unwrap();
        assert!(run.status.success());
        let document = json(&String::from_utf8(run.stdout).unwrap());
        let there: Vec<_> = PIPELINE.into_iter().chain(SIDES).filter(|name| !lacks.contains(name)).collect();
        assert_eq!(names(&document)[8..], there, "{profile}");
        let last = document["stages"].as_array().unwrap().last().unwrap();
        assert_eq!((number(&last["bytes_in"]), number(&last["bytes_out"])), (3_000_000, 3_000_000));
        let messages = String::from_utf8_lossy(&run.stderr);
        let text = ok(softdpu(&folder).args(["demo", "file", "--profile", profile]));
        for name in lacks {
            assert!(messages.contains(&format!("{name} skipped: ")), "{messages}");
            let line = text.lines().find(|line| line.trim_start().starts_with(name));
            let who = if *name == "card_sha" { "0000:03:00.0" } else { "no device" };
            assert!(line.is_some_and(|line| line.contains(&format!("skipped: {who} has "))), "{text}");
        }
    }
}

#[test]
fn pieces_are_cut_to_what_the_engines_take() {
    let _watchdog = watchdog("pieces_are_cut_to_what_the_engines_take");
    let folder = folder("demo limits");
    let bytes = noise(1_000_003);
    fs::write(folder.join("file"), &bytes).unwrap();
    let limits = "[[card]]\nname = \"small\"\n[card.limits.aes_gcm]\nmax_buf_size = 10000\nmax_num_tasks = 3\n\
                  [card.limits.erasure_coding]\nblock_alignment = 192\n[card.limits.dma]\nmax_buf_size = 777\n";
    fs::write(folder.join("small.toml"), limits).unwrap();
    let text = ok(softdpu(&folder).args(["demo", "file", "--config", "small.toml"]));
    assert!(text.contains("up to 3 pieces of 8.5 KiB"), "{text}");
    assert!(text.contains(&sha256(&bytes)) && text.contains("1000003 of 1000003 bytes are equal"), "{text}");
}

#[test]
fn the_file_need_not_be_writable_or_a_plain_one() {
    let _watchdog = watchdog("the_file_need_not_be_writable_or_a_plain_one");
    let folder = folder("read only");
    fs::write(folder.join("file"), "text").unwrap();
    fs::set_permissions(folder.join("file"), fs::Permissions::from_mode(0o400)).unwrap();
    let text = ok(softdpu(&folder).args(["demo", "file"]));
    for (number, name) in
        ["create", "open", "register", "construct", "submit", "reclaim", "release"].iter().enumerate()
    {
        assert!(text.contains(&format!("\n{}. {name}", number + 1)), "{text}");
    }
    let end =
        "The copy is identical, and so is what came back from the engines and from the card's process.\n";
    assert!(text.ends_with(end), "{text}");
    // Through a pipe, whose length nobody knows.
    let script = r#"head -c 3000000 /dev/zero | "$0" demo /dev/stdin --json"#;
    let document = json(&ok(command("sh", &folder).args(["-c", script, env!("CARGO_BIN_EXE_softdpu")])));
    assert_eq!(document["bytes"], 3_000_000);
}

#[test]
fn every_profile_with_an_engine() {
    let _watchdog = watchdog("every_profile_with_an_engine");
    let folder = folder("profiles");
    for profile in ["all", "bf2", "bf3"] {
        for side in ["dpu", "host"] {
            let document =
                json(&ok(softdpu(&folder).args(["demo", "--json", "--profile", profile, "--side", side])));
            assert_eq!((document["bytes"].as_u64(), &document["ok"]), (Some(64 << 20), &Value::Bool(true)));
        }
    }
    // A card without the engine: the phase that fails is named, the document says so.
    let run = softdpu(&folder).args(["demo", "--json", "--profile", "cx7"]).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    let document = json(&String::from_utf8(run.stdout).unwrap());
    assert_eq!(document["ok"], false);
    assert_eq!(document["stages"].as_array().unwrap().last().unwrap()["name"], "open");
    assert!(String::from_utf8_lossy(&run.stderr).contains("open: "));
}

/// A demonstration whose file is a pipe, after the card has taken two turns; and the card's process.
fn half_way(folder: &Path) -> (Child, u32) {
    let mut demo = softdpu(folder);
    demo.args(["demo", "/dev/stdin", "--json"]).stdin(Stdio::piped());
    let mut demo = demo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It asks for the ninth MiB when it has done with eight.
    demo.stdin.as_mut().unwrap().write_all(&noise(9 << 20)).unwrap();
    let card = children(demo.id()).into_iter().find(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == b"demo-card")
    });
    let card = card.expect("a second process");
    (demo, card)
}

/// The fields of a process behind its name: state, parent.
fn state_of(pid: u32) -> Option<(String, u32)> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = line.rsplit(')').next()?.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

fn children(parent: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    all.filter(|pid| state_of(*pid).is_some_and(|(_, of)| of == parent)).collect()
}

#[test]
fn a_card_that_is_killed_fails_the_demonstration_and_nothing_else() {
    let _watchdog = watchdog("a_card_that_is_killed_fails_the_demonstration_and_nothing_else");
    let folder = folder("demo killed card");
    let (mut demo, card) = half_way(&folder);
    ok(command("sh", &folder).args(["-c", &format!("kill -9 {card}")]));
    drop(demo.stdin.take());
    let output = demo.wait_with_output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    let told = format!("host_wait: the card's process {card} has ended: signal: 9");
    assert!(messages.contains(&told), "{messages}");
    let document = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&document["ok"], &document["bytes"]), (&Value::Bool(false), &Value::from(9 << 20)));
    assert_eq!(document["card_process"]["pid"], card);
    assert_eq!(
        names(&document),
        [&STAGES[..], &PIPELINE, &["host_export", "card_import", "host_wait"]].concat()
    );
    let stages = document["stages"].as_array().unwrap();
    let (last, others) = stages.split_last().unwrap();
    assert!(others.iter().all(|stage| stage["ok"] == true), "{document}");
    // Two turns were taken.
    assert_eq!((&last["ok"], number(&last["bytes_in"])), (&Value::Bool(false), 8 << 20));
}

#[test]
fn a_card_ends_with_its_host() {
    let _watchdog = watchdog("a_card_ends_with_its_host");
    let folder = folder("demo killed host");
    let (mut demo, card) = half_way(&folder);
    demo.kill().unwrap();
    demo.wait().unwrap();
    // Whoever inherits the process may be slow to notice that it has ended.
    while state_of(card).is_some_and(|(state, _)| state != "Z") {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_card_reaches_the_host_as_it_is_told_to() {
    let _watchdog = watchdog("the_card_reaches_the_host_as_it_is_told_to");
    let folder = folder("demo reach");
    let bytes = noise(5_000_000);
    fs::write(folder.join("file"), &bytes).unwrap();
    for reach in ["mapped", "worker"] {
        let document =
            json(&ok(softdpu(&folder).args(["demo", "file", "--json"]).env("SOFTDPU_REACH", reach)));
        let card = &document["card_process"];
        assert_eq!((&card["reach"], &card["sha256"]), (&reach.into(), &sha256(&bytes).into()));
        assert_eq!((&card["host"], &card["card"]), (&"0000:b1:00.0".into(), &"0000:03:00.0".into()));
        let text = ok(softdpu(&folder).args(["demo", "file"]).env("SOFTDPU_REACH", reach));
        assert!(
            text.contains(&format!("; reach: {reach}, ")) && text.contains("5000000 of 5000000"),
            "{text}"
        );
    }
    let error = fails(softdpu(&folder).args(["demo", "file"]).env("SOFTDPU_REACH", "far"), 2);
    assert!(error.contains("SOFTDPU_REACH"), "{error}");
    // The second process is started by the first, and by nobody else.
    let error = fails(softdpu(&folder).arg("demo-card").stdin(Stdio::null()), 2);
    assert!(error.contains("softdpu demo"), "{error}");
}

#[test]
fn without_a_folder_to_meet_in_there_are_no_two_sides() {
    let _watchdog = watchdog("without_a_folder_to_meet_in_there_are_no_two_sides");
    let folder = folder("demo nowhere");
    fs::write(folder.join("file"), noise(100_000)).unwrap();
    let mut demo = softdpu(&folder);
    let demo = demo.args(["demo", "file", "--json"]).env("SOFTDPU_RUNTIME_DIR", folder.join("file"));
    let output = demo.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("host_export: ") && messages.contains("runtime folder"), "{messages}");
    let document = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(names(&document)[17..], ["host_export"]);
    assert_eq!((&document["stages"][17]["ok"], &document["ok"]), (&Value::Bool(false), &Value::Bool(false)));
}

#[test]
fn what_is_missing_is_named() {
    let _watchdog = watchdog("what_is_missing_is_named");
    let folder = folder("missing");
    let error = fails(softdpu(&folder).args(["demo", "no-such-file"]), 1);
    assert!(error.contains("no-such-file"), "{error}");
    assert!(fails(softdpu(&folder).args(["demo", "."]), 1).contains("folder"));
    assert!(fails(softdpu(&folder).args(["demo", "--quick"]), 2).contains("--quick"));
}

#[test]
fn measurements_have_all_their_columns() {
    let _watchdog = watchdog("measurements_have_all_their_columns");
    let folder = folder("bench");
    let mut bench = softdpu(&folder);
    bench.args(["bench", "dma", "--json", "--seconds", "0.02", "--sizes", "64,4K,1M", "--depth", "1,8"]);
    let document = json(&ok(bench.args(["--threads", "1,2", "--wait", "both", "--face", "both"])));
    let rows = document["rows"].as_array().unwrap();
    // Handlers by polling and by events, futures in their one way.
    assert_eq!(rows.len(), 3 * 2 * 2 * 3);
    for row in rows {
        let number = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"));
        assert_eq!((row["engine"].as_str(), row["op"].as_str()), (Some("dma"), Some("memcpy")));
        assert_eq!(row["yardstick"], "memcpy");
        assert!(["handler", "future"].contains(&row["face"].as_str().unwrap()));
        assert!(["poll", "event"].contains(&row["wait"].as_str().unwrap()));
        for name in ["ns_per_task", "bytes_per_s", "yardstick_bytes_per_s", "ratio"] {
            assert!(number(name) > 0.0 && number(name).is_finite(), "{name} in {row}");
        }
        assert!(number("p50_ns") > 0.0 && number("p50_ns") <= number("p99_ns"), "{row}");
        assert!(number("p99_ns") <= number("p999_ns"), "{row}");
        // The rate follows from the time, so the columns cannot tell different stories.
        let rate = number("size") * number("threads") / number("ns_per_task") * 1e9;
        assert!((number("bytes_per_s") / rate - 1.0).abs() < 1e-6, "{row}");
    }
    let table =
        ok(softdpu(&folder).args(["bench", "all", "--seconds", "0.01", "--sizes", "4K", "--depth", "4"]));
    assert!(["memcpy", "erasure_coding", "frame"].iter().all(|word| table.contains(word)), "{table}");
}

#[test]
fn engines_are_measured_from_either_side() {
    let _watchdog = watchdog("engines_are_measured_from_either_side");
    let folder = folder("bench sides");
    for (side, comch) in [("host", true), ("dpu", false)] {
        let mut bench = softdpu(&folder);
        bench.args(["bench", "all", "--side", side, "--json", "--seconds", "0.01", "--sizes", "4K"]);
        let document = json(&ok(bench.args(["--depth", "4"])));
        let rows = document["rows"].as_array().unwrap();
        let has = |engine| rows.iter().any(|row| row["engine"] == engine);
        assert!(has("dma") && has("rdma"), "{side}");
        assert_eq!(has("comch"), comch, "{side}");
    }
}

#[test]
fn memory_of_another_process_is_measured_in_every_reach() {
    let _watchdog = watchdog("memory_of_another_process_is_measured_in_every_reach");
    let folder = folder("bench between");
    let mut bench = softdpu(&folder);
    bench.args(["bench", "dma", "--between-processes", "--json", "--seconds", "0.02", "--sizes", "64,1M"]);
    let document = json(&ok(bench.args(["--depth", "2", "--threads", "1,2", "--reach", "mapped,worker"])));
    let rows = document["rows"].as_array().unwrap();
    let columns = |name: &str| rows.iter().map(|row| row[name].to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(columns("size"), "64 64 1048576 1048576 64 64 1048576 1048576");
    let each = |first: &str, last: &str| [[first; 4].join(" "), [last; 4].join(" ")].join(" ");
    assert_eq!(columns("reach"), each("\"mapped\"", "\"worker\""));
    assert_eq!(columns("yardstick"), each("\"memcpy\"", "\"write\""));
    assert!(rows.iter().all(|row| row["ns_per_task"].as_f64().unwrap() > 0.0), "{rows:?}");
    let mut bench = softdpu(&folder);
    bench.args(["bench", "dma", "--between-processes", "--seconds", "0.01", "--sizes", "4K", "--depth", "1"]);
    // Without a choice, all of them.
    let table = ok(&mut bench);
    let reaches: Vec<_> = table.lines().filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(reaches, ["reach", "mapped", "kernel", "worker"], "{table}");
}

#[test]
fn the_channel_is_measured_between_processes() {
    let _watchdog = watchdog("the_channel_is_measured_between_processes");
    let folder = folder("bench channel");
    let mut bench = softdpu(&folder);
    bench.args(["bench", "comch", "--json", "--seconds", "0.05", "--sizes", "64,1K,4K,64K"]);
    let document = json(&ok(bench.args(["--depth", "4"])));
    let rows = document["rows"].as_array().unwrap();
    let columns =
        |name: &str| rows.iter().map(|row| row[name].as_str().unwrap()).collect::<Vec<_>>().join(" ");
    assert_eq!(columns("op"), "round_trip round_trip stream round_trip round_trip stream produce produce");
    assert_eq!(columns("wait"), "poll event poll poll event poll poll poll");
    assert_eq!(
        columns("yardstick"),
        "seqpacket seqpacket seqpacket seqpacket seqpacket seqpacket slots slots"
    );
    // What is aimed at stands beside it; longer messages that nobody sleeps for have no aim.
    let number = |value: &Value| value.as_f64().unwrap();
    let beside = |row: &Value, tool: &str| {
        let all = row["beside"].as_array().into_iter().flatten();
        let mut named = all.filter(|other| other["tool"] == tool);
        named.next().map(|other| number(&other["ns_per_task"]))
    };
    let goals: Vec<_> = rows.iter().map(|row| beside(row, "goal")).collect();
    assert_eq!(
        goals.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, true, true, false, true, false, true, true]
    );
    assert_eq!(goals[2], Some(100.0));
    let yardstick = |row: &Value| number(&row["size"]) / number(&row["yardstick_bytes_per_s"]) * 1e9;
    for (at, part) in [(0, 5.0), (1, 1.0), (4, 1.0), (6, 0.8), (7, 0.8)] {
        let goal = goals[at].unwrap() * part / yardstick(&rows[at]);
        assert!((goal - 1.0).abs() < 1e-6, "{goal} in {}", rows[at]);
    }
    // And what shared memory does alone, where both ends look all the time.
    for (tool, has) in [("line", [0, 3].as_slice()), ("slots", &[2, 5])] {
        let with: Vec<_> = (0..rows.len()).filter(|&at| beside(&rows[at], tool).is_some()).collect();
        assert_eq!(with, has, "{tool}");
    }
    for row in rows {
        for name in ["ns_per_task", "yardstick_bytes_per_s", "ratio", "p50_ns"] {
            assert!(row[name].as_f64().unwrap() > 0.0, "{name} in {row}");
        }
    }
}

#[test]
fn rdma_is_measured_over_the_network() {
    let _watchdog = watchdog("rdma_is_measured_over_the_network");
    let folder = folder("bench network");
    let mut bench = softdpu(&folder);
    bench.args(["bench", "rdma", "--network", "--json", "--seconds", "0.1", "--sizes", "64,300K"]);
    let output = bench.args(["--depth", "4"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("libfabric is not there") {
        eprintln!("skipped: {errors}");
        return;
    }
    assert!(output.status.success(), "{errors}");
    let document = json(&String::from_utf8_lossy(&output.stdout));
    let rows = document["rows"].as_array().unwrap();
    let columns = |name: &str| rows.iter().map(|row| row[name].to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(columns("op"), r#""write" "read" "send" "write" "read""#);
    assert_eq!(columns("depth"), "4 4 4 4 4");
    for row in rows {
        assert_eq!((&row["yardstick"], &row["beside"][0]["tool"]), (&"libfabric".into(), &"tcp".into()));
        for number in [&row["ns_per_task"], &row["ratio"], &row["p50_ns"], &row["beside"][0]["ratio"]] {
            assert!(number.as_f64().unwrap() > 0.0, "{row}");
        }
    }
}

#[test]
fn wrong_measurements_are_refused() {
    let _watchdog = watchdog("wrong_measurements_are_refused");
    let folder = folder("bench wrong");
    for (arguments, word) in [
        (&["bench"][..], "dma"),
        (&["bench", "quantum"], "quantum"),
        (&["bench", "dma", "--sizes", "0"], "--sizes"),
        (&["bench", "dma", "--sizes", "4Q"], "4Q"),
        (&["bench", "dma", "--depth", "-1"], "--depth"),
        (&["bench", "dma", "--threads", "1000000"], "--threads"),
        (&["bench", "dma", "--wait", "sleep"], "poll, event"),
        (&["bench", "dma", "--seconds", "nan"], "--seconds"),
        (&["bench", "dma", "--between-processes", "--reach", "far"], "mapped, kernel, worker"),
        (&["bench", "dma", "--reach", "mapped"], "--between-processes"),
        (&["bench", "sha", "--between-processes"], "dma"),
        (&["bench", "comch", "--network"], "rdma"),
        (&["bench-owner", "mapped"], "bench-owner"),
        (&["bench", "dma", "--sizes", "1G", "--depth", "4096"], "bytes"),
        (&["bench", "dma", "--svg", "x.svg"], "not available yet"),
        (&["bench", "dma", "--compare", "x.json"], "not available yet"),
    ] {
        let error = fails(softdpu(&folder).args(arguments), 2);
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
    // More than the device takes: left out, and said so.
    let mut bench = softdpu(&folder);
    bench.args([
        "bench",
        "dma",
        "--profile",
        "bf3",
        "--sizes",
        "64,4M",
        "--depth",
        "1",
        "--seconds",
        "0.01",
        "--json",
    ]);
    let output = bench.output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("2097152"));
    assert_eq!(json(&String::from_utf8(output.stdout).unwrap())["rows"].as_array().unwrap().len(), 1);
    let error = fails(softdpu(&folder).args(["bench", "dma", "--profile", "cx7"]), 1);
    assert!(error.contains("engine"), "{error}");
}

#[test]
fn one_sided_access_is_measured_between_processes() {
    let _watchdog = watchdog("one_sided_access_is_measured_between_processes");
    let folder = folder("bench rdma");
    let mut bench = softdpu(&folder);
    bench.args(["bench", "rdma", "--json", "--seconds", "0.02", "--sizes", "64,1M", "--depth", "1,4"]);
    let document = json(&ok(&mut bench));
    let rows = document["rows"].as_array().unwrap();
    let columns = |name: &str| rows.iter().map(|row| row[name].to_string()).collect::<Vec<_>>().join(" ");
    let (short, long) = ("\"write\" \"read\" \"send\"", "\"write\" \"read\"");
    let ops = [short, short, long, long, "\"latency\" \"fetch_add\""].join(" ");
    assert_eq!(columns("op"), ops);
    assert_eq!(columns("size"), "64 64 64 64 64 64 1048576 1048576 1048576 1048576 8 8");
    assert_eq!(columns("depth"), "1 1 1 4 4 4 1 1 4 4 1 4");
    assert_eq!(columns("threads"), "1 1 1 1 1 1 1 1 1 1 1 4");
    assert!(rows.iter().all(|row| row["ns_per_task"].as_f64().unwrap() > 0.0), "{rows:?}");
    assert!(rows.iter().all(|row| row["p50_ns"].as_u64().unwrap() > 0), "{rows:?}");
}

#[test]
fn frames_are_measured_from_queue_to_queue() {
    let _watchdog = watchdog("frames_are_measured_from_queue_to_queue");
    let folder = folder("bench eth");
    let mut bench = softdpu(&folder);
    bench.args(["bench", "eth", "--json", "--seconds", "0.02", "--depth", "1,4", "--wait", "both"]);
    // Without tools of others.
    let document = json(&ok(bench.env("PATH", "")));
    let rows = document["rows"].as_array().unwrap();
    let columns = |name: &str| rows.iter().map(|row| row[name].to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(columns("engine"), ["\"eth\""; 12].join(" "));
    // In this process, then to another one, with as many on the way as the wire has room for: in batches, and one by one.
    assert_eq!(columns("op"), [&["\"frame\""; 8][..], &["\"wire\""; 4]].concat().join(" "));
    assert_eq!(columns("size"), "64 64 64 64 1514 1514 1514 1514 64 64 1514 1514");
    let faces = ["\"call\"", "\"future\""];
    assert_eq!(columns("face"), [&["\"call\""; 8][..], &faces, &faces].concat().join(" "));
    assert!(columns("depth").starts_with("1 4 1 4 1 4 1 4 "), "{}", columns("depth"));
    assert_eq!(columns("yardstick"), [&["\"memcpy\""; 8][..], &["\"slots\""; 4]].concat().join(" "));
    assert!(rows.iter().all(|row| row["beside"].is_null()), "{rows:?}");
    for row in rows {
        for name in ["ns_per_task", "yardstick_bytes_per_s", "ratio", "p50_ns"] {
            assert!(row[name].as_f64().unwrap() > 0.0, "{name} in {row}");
        }
    }
    // By the name of either queue; what no frame can be is left out.
    for name in ["eth_rxq", "eth_txq"] {
        let mut bench = softdpu(&folder);
        bench.args(["bench", name, "--json", "--seconds", "0.01", "--sizes", "13,9600,9601", "--depth", "1"]);
        let document = json(&ok(bench.env("PATH", "")));
        let sizes: Vec<_> = document["rows"].as_array().unwrap().iter().map(|row| &row["size"]).collect();
        assert_eq!(sizes, [9600; 3]);
    }
    // Host functions are wired to the card's end, which is not among them.
    let error = fails(softdpu(&folder).args(["bench", "eth", "--side", "host"]), 1);
    assert!(error.contains("wired"), "{error}");
}
