//! `softdpu run`: what the program sees, and what its caller sees of it.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use common::{command, fails, folder, ok, output, softdpu, watchdog};

#[test]
fn the_card_is_described_in_the_environment() {
    let _watchdog = watchdog("the_card_is_described_in_the_environment");
    let folder = folder("environment");
    fs::write(folder.join("card.toml"), "").unwrap();
    let mut run = softdpu(&folder);
    run.env("LD_LIBRARY_PATH", "/somewhere").env("SOFTDPU_PROFILE", "bf2");
    run.args(["run", "--side", "dpu", "--profile=bf3", "--config", "card.toml", "--strict", "--", "env"]);
    let printed = ok(&mut run);
    let has = |line: &str| assert!(printed.lines().any(|l| l == line), "no line {line} in\n{printed}");
    has("SOFTDPU_SIDE=dpu");
    has("SOFTDPU_PROFILE=bf3");
    has("SOFTDPU_STRICT=1");
    has(&format!("SOFTDPU_CONFIG={}", folder.join("card.toml").display()));
    let kit = softdpu_sdk::kit_for_tests().unwrap();
    has(&format!("LD_LIBRARY_PATH={}:/somewhere", kit.lib_dir().display()));
    // What is not asked for is not touched.
    let printed = ok(softdpu(&folder).args(["run", "env"]).env("SOFTDPU_SIDE", "host"));
    assert!(printed.contains("SOFTDPU_SIDE=host\n") && !printed.contains("SOFTDPU_STRICT"), "{printed}");
}

#[test]
fn arguments_of_the_program_are_its_own() {
    let _watchdog = watchdog("arguments_of_the_program_are_its_own");
    let folder = folder("arguments");
    for run in [&["run", "--", "echo", "--json", "--", "-x"][..], &["run", "echo", "--json", "--", "-x"]] {
        assert_eq!(ok(softdpu(&folder).args(run)), "--json -- -x\n");
    }
}

#[test]
fn statuses_pass_through() {
    let _watchdog = watchdog("statuses_pass_through");
    let folder = folder("status");
    for status in [0, 1, 2, 77, 255] {
        let run = output(softdpu(&folder).args(["run", "--", "sh", "-c", &format!("exit {status}")]));
        assert_eq!(run.status.code(), Some(status));
    }
    // As a shell sees it: 128 + 11.
    let script = r#""$0" run -- sh -c 'kill -SEGV $$'; exit $?"#;
    let error = fails(command("sh", &folder).args(["-c", script, env!("CARGO_BIN_EXE_softdpu")]), 139);
    assert!(!error.contains("softdpu:"), "{error}");
}

#[test]
fn signals_reach_the_program() {
    let _watchdog = watchdog("signals_reach_the_program");
    let folder = folder("signals");
    let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let mut run = softdpu(&folder);
    let mut child = run.args(["run", "--", "sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    // Of the shell: not every system has it as a program.
    ok(command("sh", &folder).args(["-c", &format!("kill -TERM {}", child.id())]));
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[test]
fn what_cannot_be_run_is_named() {
    let _watchdog = watchdog("what_cannot_be_run_is_named");
    let folder = folder("cannot run");
    let error = fails(softdpu(&folder).args(["run", "--", "./missing"]), 127);
    assert!(error.contains("./missing"), "{error}");
    fs::write(folder.join("text"), "not a program\n").unwrap();
    let error = fails(softdpu(&folder).args(["run", "--", "./text"]), 126);
    assert!(error.contains("./text"), "{error}");
    let error = fails(softdpu(&folder).args(["run", "text"]), 127);
    assert!(error.contains("did you mean ./text?"), "{error}");
}

/// Nothing is started when an option, a variable or the topology file is refused.
#[test]
fn refusals_come_before_the_start() {
    let _watchdog = watchdog("refusals_come_before_the_start");
    let folder = folder("refusals");
    fs::write(folder.join("bad.toml"), "strict = true\nspeed = 3\n").unwrap();
    fs::write(folder.join("plan.toml"), "[[fault]]\nengine = \"dma\"\ntask = 0\ndrop = true\n").unwrap();
    for (arguments, words) in [
        (&["--profile", "bf9"][..], &["bf9", "bf3"][..]),
        (&["--side", "left"], &["left", "dpu"]),
        (&["--config", "none.toml"], &["none.toml"]),
        (&["--config", "bad.toml"], &["bad.toml:2:1", "speed"]),
        (&["--fail-on-misuse"], &["go with --check"]),
        (&["--faults", "none.toml"], &["none.toml"]),
        (&["--faults", "plan.toml"], &["plan.toml:3:8", "task"]),
        (&["--seed=-3"], &["--seed", "-3"]),
        (&["--only=1.2"], &["--only", "--seed"]),
        (&["--seed=3", "--only=1"], &["--only", "2.17"]),
        (&["--json-report", "r"], &["go with --check"]),
        (&["--chek"], &["--chek"]),
    ] {
        let error = fails(softdpu(&folder).arg("run").args(arguments).args(["--", "touch", "started"]), 2);
        assert!(words.iter().all(|w| error.contains(w)), "{arguments:?}: {error}");
    }
    fails(softdpu(&folder).args(["run", "--"]), 2);
    let error = fails(softdpu(&folder).args(["run", "touch", "started"]).env("SOFTDPU_SIDE", "up"), 2);
    assert!(error.contains("SOFTDPU_SIDE"), "{error}");
    assert!(!folder.join("started").exists());
}

/// A program that leaves a progress engine behind, and one that does not.
fn checked_program(folder: &std::path::Path, name: &str, right: bool) {
    let end = if right { "return doca_pe_destroy(pe) != DOCA_SUCCESS;" } else { "return 0;" };
    let text = format!(
        "#include <doca_pe.h>\nint main(void)\n{{\n\tstruct doca_pe *pe;\n\tif (doca_pe_create(&pe) != DOCA_SUCCESS)\n\t\treturn 9;\n\t{end}\n}}\n"
    );
    fs::write(folder.join(name).with_extension("c"), text).unwrap();
    ok(softdpu(folder).args(["cc", "-g", &format!("{name}.c"), "-o", name, "-lsoftdpu"]));
}

#[test]
fn check_mode_says_what_is_wrong() {
    let _watchdog = watchdog("check_mode_says_what_is_wrong");
    let folder = folder("check mode");
    checked_program(&folder, "wrong", false);
    checked_program(&folder, "right", true);

    let run =
        output(softdpu(&folder).args(["run", "--check", "--json-report", "report.json", "--", "./wrong"]));
    let said = String::from_utf8(run.stderr).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((run.status.code(), lines.len()), (Some(0), 2), "{said}");
    assert!(
        lines[0].starts_with("softdpu: check: never-freed: progress engine (progress engine 1, "),
        "{said}"
    );
    assert!(lines[0].contains("made at main (wrong.c:5)"), "{said}");
    assert!(lines[1].starts_with("softdpu: check: 1 finding: never-freed ("), "{said}");
    let report = fs::read_to_string(folder.join("report.json")).unwrap();
    assert!(report.contains("\"rule\": \"never-freed\""), "{report}");

    let check = |options: &[&str], program: &str| {
        let run = output(softdpu(&folder).arg("run").args(options).args(["--", program]));
        (run.status.code(), String::from_utf8(run.stderr).unwrap())
    };
    assert_eq!(check(&["--check", "--fail-on-misuse"], "./wrong").0, Some(1));
    let (status, said) = check(&["--check", "--fail-on-misuse"], "./right");
    assert!(status == Some(0) && said.lines().count() == 1 && said.contains("no findings"), "{said}");
    // Not a program of ours at all, and one that only starts one: each says its own.
    let (status, said) = check(&["--check"], "true");
    assert!(status == Some(0) && said.contains("not one call was seen"), "{said}");
    assert_eq!(check(&["--fail-on-misuse"], "./right").0, Some(2), "without --check");
}

#[test]
fn check_mode_refuses_static_programs() {
    let _watchdog = watchdog("check_mode_refuses_static_programs");
    let folder = folder("check static");
    fs::write(folder.join("a.c"), "int main(void) { return 0; }\n").unwrap();
    ok(command("cc", &folder).args(["-static", "a.c", "-o", "a"]));
    let error = fails(softdpu(&folder).args(["run", "--check", "--", "./a"]), 1);
    assert!(error.contains("statically linked"), "{error}");
    assert_eq!(output(softdpu(&folder).args(["run", "--", "./a"])).status.code(), Some(0));
}
