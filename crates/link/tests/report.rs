//! What a process says it is doing, and who may ask.

mod common;

use common::{Process, WATCHDOG, alone, listen, role, say};
use softdpu_link::report::{MAX_REPORT, Rows, provide, read, write};
use softdpu_link::{Owner, ensure, processes};
use softdpu_status::Code;

fn two(rows: &mut Rows<'_>) {
    rows.row(|row| {
        row.text("name", "a \"b\"\n").number("n", 1u32);
    });
    rows.row(|row| {
        row.flag("yes", true);
    });
}

fn three(rows: &mut Rows<'_>) {
    rows.row(|row| {
        row.number("n", u64::MAX);
    });
}

fn endless(rows: &mut Rows<'_>) {
    (0..100_000u32).for_each(|n| {
        rows.row(|row| {
            row.number("n", n);
        })
    });
}

fn panics(_: &mut Rows<'_>) {
    panic!("as told");
}

#[test]
fn roles() {
    let Some((role, _)) = role() else { return };
    match role.as_str() {
        "two" => provide("things", two),
        "endless" => provide("things", endless),
        "panics" => provide("things", panics),
        other => panic!("no role {other}"),
    }
    ensure().unwrap();
    say("ready");
    loop {
        listen();
    }
}

fn owner(process: &Process) -> Owner {
    *processes().iter().find(|owner| owner.pid == process.pid()).unwrap()
}

#[test]
fn sections_are_provided_by_several_and_once() {
    alone("sections_are_provided_by_several_and_once", || {
        provide("things", two);
        provide("things", three);
        provide("things", two);
        provide("others", three);
        let all = write();
        let rows = r#""others":[{"n":18446744073709551615}],"things":[{"name":"a \"b\"\u000a","n":1},{"yes":true},{"n":18446744073709551615}],"left_out":0}"#;
        assert!(all.ends_with(rows), "{all}");
        assert!(
            all.starts_with(&format!(r#"{{"version":1,"pid":{},"program":"report-"#, std::process::id()))
        );
    });
}

#[test]
fn another_process_is_read() {
    alone("another_process_is_read", || {
        let mut process = Process::start("two", "");
        assert_eq!(process.hear(), "ready");
        let report = String::from_utf8(read(owner(&process), WATCHDOG).unwrap()).unwrap();
        assert!(report.contains(&format!(r#""pid":{}"#, process.pid())), "{report}");
        assert!(
            report.ends_with(r#""things":[{"name":"a \"b\"\u000a","n":1},{"yes":true}],"left_out":0}"#),
            "{report}"
        );
        let gone = owner(&process);
        process.kill();
        assert_eq!(read(gone, WATCHDOG).unwrap_err().code(), Code::NotFound);
    });
}

#[test]
fn a_long_report_is_cut_where_rows_end() {
    alone("a_long_report_is_cut_where_rows_end", || {
        let mut process = Process::start("endless", "");
        assert_eq!(process.hear(), "ready");
        let report = String::from_utf8(read(owner(&process), WATCHDOG).unwrap()).unwrap();
        assert!(report.len() <= MAX_REPORT && report.len() > MAX_REPORT / 2);
        let left_out: u64 = report.rsplit_once(':').unwrap().1.trim_end_matches('}').parse().unwrap();
        assert!(left_out > 0);
        assert_eq!(report.matches(r#"{"n":"#).count() as u64 + left_out, 100_000);
    });
}

#[test]
fn one_that_panics_answers_others_still() {
    alone("one_that_panics_answers_others_still", || {
        let mut process = Process::start("panics", "");
        assert_eq!(process.hear(), "ready");
        for _ in 0..3 {
            assert_eq!(read(owner(&process), WATCHDOG).unwrap_err().code(), Code::Unexpected);
        }
    });
}
