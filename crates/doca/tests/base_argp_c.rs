//! The argument parser from C: one program, many command lines and parameter files.

mod base_common;

use base_common::{program, run, scratch, text};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

struct Ran {
    status: Option<i32>,
    out: String,
    err: String,
}

fn start(mode: &str, words: &[&str]) -> Ran {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let path = PROGRAM.get_or_init(|| program("base_argp.c", &scratch("argp-c")));
    let output = run(Command::new(path).args(words).env("BASE_MODE", mode).env_remove("SOFTDPU_LOG"));
    Ran { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

#[track_caller]
fn refused(mode: &str, words: &[&str], name: &str, reason: &str) {
    let ran = start(mode, words);
    assert_eq!(ran.status, Some(1), "{words:?}: {}{}", ran.out, ran.err);
    assert!(ran.err.contains(&format!("Failed to parse: {name}\n")), "{words:?}: {}", ran.err);
    assert!(ran.err.contains(reason), "{words:?}: {}", ran.err);
    assert!(ran.err.contains("Usage: base_argp [Command] [DOCA Flags] [Program Flags]"), "{}", ran.err);
}

#[test]
fn flags_reach_their_callbacks() {
    let words = ["-p", "-x", "-nd", "-1", "--number=7", "-b", "--factor", "2.5", "-l", "60"];
    let ran = start("", &words);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let expected =
        "before start\nnumber -1\nnumber 7\npath -x number 7 verbose 1 factor 2.5 count 2 level 60\n";
    let (said, logged) = ran.out.split_at(expected.len());
    assert_eq!(said, expected);
    assert!(
        logged.contains("][DOCA][DBG][base_argp.c:") && logged.ends_with("][main] a detail\n"),
        "{logged}"
    );
    let quiet = start("", &[]);
    assert_eq!(quiet.out, "before start\npath none number 0 verbose 0 factor 1 count 0 level 50\n");
}

#[test]
fn help_and_version_end_the_process() {
    for word in ["-h", "--help"] {
        let ran = start("mandatory", &[word, "--rubbish"]);
        assert_eq!(ran.status, Some(0));
        assert!(ran.out.starts_with("before start\nUsage: base_argp "), "{}", ran.out);
        assert!(ran.out.contains("  -nd, --number <x>") && ran.out.contains("  show"), "{}", ran.out);
        assert!(!ran.out.contains("path none"));
    }
    let ran = start("", &["-v"]);
    assert_eq!((ran.status, ran.out.contains("base_argp: DOCA 3.3.0000")), (Some(0), true));
    let ran = start("version", &["-b", "--version"]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let expected = "before start\nown version 3.3.0000, library 3.3.0000, value (nil), config 1\n";
    assert_eq!(ran.out, expected);
    let ran = start("noname", &["-h"]);
    assert!(ran.out.contains("Usage: base_argp "), "{}", ran.out);
}

#[test]
fn refusals_name_flag_and_reason() {
    refused("", &["--nope"], "DOCA_ERROR_NOT_SUPPORTED", "flag --nope is not known");
    refused(
        "",
        &["-nd", "1x"],
        "DOCA_ERROR_INVALID_VALUE",
        "flag -nd/--number: \"1x\" is not a decimal integer",
    );
    refused("", &["-nd"], "DOCA_ERROR_INVALID_VALUE", "flag -nd needs a value");
    refused("", &["-b", "-b"], "DOCA_ERROR_INVALID_VALUE", "flag -b/--verbose is given more than once");
    refused("", &["stray"], "DOCA_ERROR_INVALID_VALUE", "\"stray\" is neither a flag nor a command");
    refused("mandatory", &["-b"], "DOCA_ERROR_INVALID_VALUE", "flag -p/--path is mandatory");
    refused("", &["-l", "55"], "DOCA_ERROR_INVALID_VALUE", "\"55\" is not one of 10, 20 ... 70");
    refused("", &["-nd", "13"], "DOCA_ERROR_TOO_BIG", "flag -nd/--number was refused: DOCA_ERROR_TOO_BIG");
    refused("", &["--factor", "-1"], "DOCA_ERROR_INVALID_VALUE", "validation of the flags");
    refused("", &["-j", "/nowhere/file"], "DOCA_ERROR_IO_FAILED", "/nowhere/file cannot be read");
    // A typing error later on the line keeps earlier callbacks from running.
    assert!(!start("", &["-nd", "5", "--nope"]).out.contains("number 5"));
}

#[test]
fn commands_run_after_their_flags() {
    let ran = start("", &["show", "-nd", "4"]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.out.contains("number 4\nshow, number 4\nUsage: base_argp show [DOCA Flags]"), "{}", ran.out);
    assert!(ran.out.contains("--number") && !ran.out.contains("--factor"), "{}", ran.out);
    let ran = start("", &["show", "-p", "x"]);
    assert!(
        ran.err.contains("DOCA_ERROR_NOT_SUPPORTED") && ran.err.contains("Usage: base_argp show"),
        "{}",
        ran.err
    );
    let ran = start("", &["show", "-h"]);
    assert!(ran.status == Some(0) && ran.out.contains("shows things"), "{}", ran.out);
}

fn file(folder: &Path, text: &str) -> String {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = folder.join(format!("{number}.json"));
    std::fs::write(&path, text).expect("file");
    path.display().to_string()
}

#[test]
fn parameter_files_are_read_before_the_line() {
    let folder = scratch("argp-json");
    let good = file(
        &folder,
        "/* licence */ { // flags\n \"doca_general_flags\": {\"log-level\": 60},\n \"doca_program_flags\": {\"path\": \"from file\", \"number\": [1, 2,], \"verbose\": false, \"factor\": 3,},\n}",
    );
    let ran = start("mandatory", &["-nd", "9", "-j", &good, "--factor", "4"]);
    let expected =
        "number 1\nnumber 2\nnumber 9\npath from file number 9 verbose 0 factor 4 count 3 level 60\n";
    assert!(ran.out.contains(expected), "{}{}", ran.out, ran.err);
    let unknown = file(&folder, "{\"doca_program_flags\": {\"typo\": 1}, \"extra\": []}");
    refused("", &["-j", &unknown], "DOCA_ERROR_NOT_SUPPORTED", "unknown key: doca_program_flags.typo");
    assert_eq!(start("tolerant", &["-j", &unknown]).status, Some(0));
    let wrong = file(&folder, "{\"doca_program_flags\": {\"number\": \"1\"}}");
    refused("", &["-j", &wrong], "DOCA_ERROR_INVALID_VALUE", "a string where an integer is expected");
    let twice = file(&folder, "{\"doca_program_flags\": {\"factor\": 1, \"factor\": 2}}");
    refused("", &["-j", &twice], "DOCA_ERROR_INVALID_VALUE", "--factor is given more than once");
    let array = file(&folder, "{\"doca_program_flags\": {\"factor\": [1]}}");
    refused("", &["-j", &array], "DOCA_ERROR_INVALID_VALUE", "an array where a number is expected");
    let broken = file(&folder, "{\n\"doca_program_flags\": {\"number\" 1}}");
    refused("", &["-j", &broken], "DOCA_ERROR_IO_FAILED", "line 2");
    let dpdk = file(&folder, "{\"doca_dpdk_flags\": {}}");
    refused("", &["-j", &dpdk], "DOCA_ERROR_NOT_SUPPORTED", "unknown key: doca_dpdk_flags");
}

#[test]
fn dpdk_programs_split_at_the_double_dash() {
    let ran = start("dpdk", &["-a", "03:00.0", "--", "-nd", "3"]);
    assert!(ran.out.contains("number 3\ndpdk ") && ran.out.contains("base_argp -a 03:00.0\n"), "{}", ran.out);
    let ran = start("dpdk", &["-nd", "3"]);
    assert!(ran.out.contains("base_argp\npath none number 3"), "{}", ran.out);
    let folder = scratch("argp-dpdk");
    let flags = file(&folder, "{\"doca_dpdk_flags\": {\"core-mask\": 3, \"flags\": \"-n 4\"}}");
    let ran = start("dpdk", &["-q", "--", "-j", &flags]);
    assert!(ran.out.contains("base_argp -q -c 0x3 -n 4\n"), "{}{}", ran.out, ran.err);
    let ran = start("dpdk", &["--", "-h"]);
    assert!(ran.out.contains("Usage: base_argp [DPDK Flags] -- [Command]"), "{}", ran.out);
}

#[test]
fn a_logger_callback_gets_all_messages() {
    let ran = start("logger", &["--nope%s"]);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.out.contains("<30 base_argp: flag --nope%s is not known>\n<50 Usage: base_argp"),
        "{}",
        ran.out
    );
    assert!(!ran.err.contains("Usage"), "{}", ran.err);
}
