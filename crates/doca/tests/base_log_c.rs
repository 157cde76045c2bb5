//! Logging from C: before main, the standard pair, `SOFTDPU_LOG`.

mod base_common;

use base_common::{program, run, scratch, text};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

fn start(environment: &[(&str, &str)]) -> (String, String) {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let path = PROGRAM.get_or_init(|| program("base_log.c", &scratch("log-c")));
    let mut command = Command::new(path);
    command.env_remove("SOFTDPU_LOG").envs(environment.iter().copied());
    let output = run(&mut command);
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// The records without time and thread.
fn short(all: &str) -> Vec<String> {
    all.lines().map(|line| line.split_once("[DOCA]").map_or(line, |(_, rest)| rest).to_owned()).collect()
}

#[test]
fn the_standard_pair_shares_the_levels() {
    let (out, err) = start(&[]);
    assert!(out.starts_with("[a printf["), "order with stdio is kept: {out}");
    let out = short(&out);
    assert_eq!(out.len(), 4, "{out:?}");
    assert!(out[0].starts_with("[INF][base_log.c:") && out[0].ends_with("][main]  comes first"), "{out:?}");
    assert!(out[1].starts_with("[DBG]") && out[1].ends_with("[main] shown with newline"), "{out:?}");
    assert!(out[2].ends_with("[main] into the full device"), "{out:?}");
    assert!(out[3].ends_with(&format!("[main] {}!", "l".repeat(4999))));
    let err = short(&err);
    assert_eq!(err.len(), 3, "{err:?}");
    assert!(err[0].starts_with("[WRN]") && err[0].ends_with("] warning"), "{err:?}");
    assert!(err[1].starts_with("[ERR]") && err[1].ends_with("] error 5"), "{err:?}");
    assert!(
        err[2].starts_with("[CRT]") && err[2].ends_with("] critical: No such file or directory"),
        "{err:?}"
    );
}

#[test]
fn the_environment_shows_the_causes_of_a_silent_program() {
    for level in ["30", "error", "TRACE"] {
        let (_, err) = start(&[("SOFTDPU_LOG", level)]);
        assert!(err.contains("] 11 is not a log level: allowed are 10, 20 ... 70\n"), "{err}");
    }
    let (_, err) = start(&[("SOFTDPU_LOG", "20")]);
    assert!(!err.contains("11 is not"), "{err}");
    let (_, err) = start(&[("SOFTDPU_LOG", "loud")]);
    assert!(err.starts_with("softdpu: SOFTDPU_LOG=loud: not a log level"), "{err}");
}

#[test]
fn a_program_with_its_own_backend_gets_no_line_twice() {
    let (_, err) = start(&[("BASE_OWN", "1")]);
    assert!(!err.contains("11 is not") && err.contains("22 is not") && !err.contains("33 is not"), "{err}");
    assert_eq!(err.matches("DOCA version 3.3.0000").count(), 1, "{err}");
    let (_, err) = start(&[("BASE_OWN", "1"), ("SOFTDPU_LOG", "error")]);
    for number in ["11", "22", "33"] {
        assert_eq!(err.matches(&format!("] {number} is not a log level")).count(), 1, "{number}: {err}");
    }
}
