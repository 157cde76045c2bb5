//! `softdpu explore` and `softdpu run --seed --faults`: planted bugs are found, shrunk and replayed; right programs are
//! left in peace.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{fails, folder, ok, output, softdpu, watchdog};
use serde_json::Value;

/// Compiles one of the programs of `tests/explore`, or of the conformance suite.
fn build(folder: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = here.join("tests/explore").join(format!("{name}.c"));
    let source = if own.exists() { own } else { here.join("../../conformance/c").join(format!("{name}.c")) };
    let program = folder.join(name);
    let mut command = softdpu(folder);
    command.arg("cc").args(["-Wall", "-Wextra", "-Werror", "-O1", "-pthread"]).args(flags);
    command.arg("-DDOCA_ALLOW_EXPERIMENTAL_API");
    command.arg("-I").arg(here.join("../../conformance/c")).arg(source);
    ok(command.arg("-o").arg(&program).arg("-ldoca_common").arg("-ldoca_dma"));
    program
}

fn explore(folder: &Path, arguments: &[&str], program: &Path) -> (Option<i32>, Value) {
    let run = output(softdpu(folder).args(["explore", "--json"]).args(arguments).arg("--").arg(program));
    let error = String::from_utf8_lossy(&run.stderr);
    let document = serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {error}"));
    (run.status.code(), document)
}

/// Finds the bug, and replays it with the command that was printed.
fn found_and_replayed(name: &str) {
    let folder = folder(&format!("explore {name}"));
    let program = build(&folder, name, &[]);
    let (status, document) = explore(&folder, &["--seeds", "1000"], &program);
    assert_eq!(status, Some(1), "{document}");
    let first = &document["first"];
    let seed = first["seed"].as_u64().unwrap();
    assert!((1..1000).contains(&seed), "found by a schedule, not without one: {document}");
    assert_eq!(document["failed"][0].as_u64(), Some(seed));
    assert_eq!(first["ending"], "ends with status 1");
    assert_eq!(first["replayed"], 3, "{document}");
    let needed = first["needed"].as_array().unwrap();
    assert!((1..=3).contains(&needed.len()), "a few waits are enough: {document}");
    let replay = first["replay"].as_str().unwrap();
    let only = first["only"].as_str().unwrap();
    assert!(replay.starts_with(&format!("softdpu run --seed {seed} --only {only} -- ")), "{replay}");
    for _ in 0..5 {
        let words = ["run", "--seed", &seed.to_string(), "--only", only, "--"].map(str::to_owned);
        let error = fails(softdpu(&folder).args(words).arg(&program), 1);
        assert!(error.contains("failed check"), "{error}");
        // What is not done to it does not make it fail.
        ok(softdpu(&folder).args(["run", "--seed", &seed.to_string(), "--only", "none", "--"]).arg(&program));
    }
}

/// The same program without the bug.
fn left_in_peace(name: &str) {
    let folder = folder(&format!("peace {name}"));
    let program = build(&folder, name, &["-DRIGHT"]);
    let (status, document) = explore(&folder, &["--seeds", "60"], &program);
    assert_eq!((status, &document["first"]), (Some(0), &Value::Null), "{document}");
}

#[test]
fn a_chain_of_copies_that_does_not_wait() {
    let _watchdog = watchdog("a_chain_of_copies_that_does_not_wait");
    found_and_replayed("chain");
    left_in_peace("chain");
}

#[test]
fn the_last_completion_taken_for_all() {
    let _watchdog = watchdog("the_last_completion_taken_for_all");
    found_and_replayed("last");
    left_in_peace("last");
}

#[test]
fn completions_counted_across_threads() {
    let _watchdog = watchdog("completions_counted_across_threads");
    found_and_replayed("threads");
    left_in_peace("threads");
}

/// Of a plan with chance in it, what is needed is left, in a file of its own.
#[test]
fn a_plan_is_shrunk() {
    let _watchdog = watchdog("a_plan_is_shrunk");
    let folder = folder("explore plan");
    let program = build(&folder, "last", &["-DRIGHT"]);
    let plan = "[[fault]]\nengine = \"dma\"\nprobability = 0.02\nerror = \"IO_FAILED\"\n\
                [[fault]]\nengine = \"dma\"\nprobability = 0.3\ndelay_us = 50\n\
                [[fault]]\nengine = \"sha\"\nerror = \"IO_FAILED\"\n";
    fs::write(folder.join("plan.toml"), plan).unwrap();
    let (status, document) =
        explore(&folder, &["--seeds", "200", "--faults", "plan.toml", "--timeout", "3"], &program);
    assert_eq!(status, Some(1), "{document}");
    let first = &document["first"];
    assert_eq!(first["replayed"], 3, "{document}");
    assert_eq!(first["needed"].as_array().unwrap().len(), 1, "one failed copy is enough: {document}");
    let left = fs::read_to_string(first["faults"].as_str().unwrap()).unwrap();
    assert_eq!(left.matches("[[fault]]").count(), 1, "{left}");
    assert!(left.contains("IO_FAILED") && left.contains("task = ") && left.contains("count = 1"), "{left}");
}

/// `run` follows a plan, also as to memory that may be locked.
#[test]
fn a_plan_is_followed() {
    let _watchdog = watchdog("a_plan_is_followed");
    let folder = folder("run plan");
    let copies = build(&folder, "fault_effects", &[]);
    fs::write(folder.join("plan.toml"), "[[fault]]\nengine = \"dma\"\ntask = 3\nerror = \"TIME_OUT\"\n")
        .unwrap();
    let mut run = softdpu(&folder);
    run.args(["run", "--faults", "plan.toml", "--"]).arg(&copies).env("FAULT_EFFECT", "error");
    let told = output(&mut run);
    let error = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "{error}");
    let wanted = "fault 1 of the plan (line 1): dma context 1, task 3, number 3 of those it is for: fails with TIME_OUT";
    assert!(error.contains(wanted), "{error}");
    let maps = build(&folder, "fault_memlock", &[]);
    fs::write(folder.join("tight.toml"), "memlock = 65536\n").unwrap();
    let mut run = softdpu(&folder);
    run.args(["run", "--faults", "tight.toml", "--"]).arg(&maps).env("FAULT_EFFECT", "memlock");
    ok(&mut run);
    ok(softdpu(&folder).args(["run", "--"]).arg(&maps));
}

#[test]
fn options_are_looked_at_first() {
    let _watchdog = watchdog("options_are_looked_at_first");
    let folder = folder("explore options");
    fs::write(folder.join("bad.toml"), "[[fault]]\nengine = \"dma\"\nerror = \"OOPS\"\n").unwrap();
    for (arguments, words) in [
        (&["--seeds", "0", "true"][..], &["--seeds", "at least 1"][..]),
        (&["--jobs", "0", "true"], &["--jobs"]),
        (&["--seeds", "x", "true"], &["x"]),
        (&["--faults", "bad.toml", "true"], &["bad.toml:3:9", "OOPS"]),
        (&["--first", "18446744073709551615", "true"], &["--first"]),
        (&[], &["no program"]),
    ] {
        let error = fails(softdpu(&folder).arg("explore").args(arguments), 2);
        assert!(words.iter().all(|w| error.contains(w)), "{arguments:?}: {error}");
    }
    let found = ok(softdpu(&folder).args(["explore", "--seeds", "3", "--", "true"]));
    assert_eq!(found, "No failure in 3 schedules.\n");
    let missing = fails(softdpu(&folder).args(["explore", "--", "./missing"]), 1);
    assert!(missing.contains("./missing"), "{missing}");
    // Fails without a schedule: nothing of it is needed. And one that never ends.
    let found = output(softdpu(&folder).args(["explore", "--", "sh", "-c", "echo oh no; exit 7"]));
    let text = String::from_utf8_lossy(&found.stdout);
    assert!(text.contains("Seed 0: the program ends with status 7.\n  | oh no\n"), "{text}");
    assert!(text.contains("Nothing of the schedule is needed"), "{text}");
    assert!(
        text.ends_with("Replay: softdpu run --seed 0 --only none -- sh -c 'echo oh no; exit 7'\n"),
        "{text}"
    );
    let found =
        output(softdpu(&folder).args(["explore", "--timeout", "1", "--no-shrink", "--", "sleep", "1000"]));
    assert!(String::from_utf8_lossy(&found.stdout).contains("does not end within 1 s"));
}
