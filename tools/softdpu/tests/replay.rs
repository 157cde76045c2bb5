//! `softdpu run --record` and `softdpu replay`: programs of all engines, recorded, printed and repeated.

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use common::{folder, ok, output, softdpu, watchdog};
use serde_json::Value;

/// Programs of one process; together they call every family.
const PROGRAMS: [&str; 24] = [
    "aes_gcm_rules",
    "app_aes_gcm_file",
    "app_caps",
    "app_dma_copy_cli",
    "app_ec_recover",
    "app_graph_pipeline",
    "app_lz4_file",
    "base_classes",
    "buf_chains",
    "buf_pool",
    "buf_windows",
    "clock_readings",
    "comch_msgq",
    "compress_lz4",
    "compress_rules",
    "dev_lists",
    "ec_tasks",
    "eth_rules",
    "graph_nested",
    "log_levels",
    "mmap_advise",
    "mmap_permissions",
    "mmap_states",
    "pe_rules",
];

fn build(folder: &Path, name: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/c").join(name);
    let mut cc = softdpu(folder);
    cc.args(["cc", "-O1", "-g", "-w", "-DDOCA_ALLOW_EXPERIMENTAL_API"]).arg(source.with_extension("c"));
    ok(cc.args(["-o", name, "-lsoftdpu", "-lpthread", "-lm"]));
}

/// Builds a program and records a run of it.
fn record(folder: &Path, name: &str) {
    build(folder, name);
    ok(softdpu(folder).args(["run", "--record", "calls.rec", "--"]).arg(format!("./{name}")));
}

#[test]
fn programs_of_all_engines_are_repeated() {
    let _watchdog = watchdog("programs_of_all_engines_are_repeated");
    let folder = folder("replay engines");
    for name in PROGRAMS {
        record(&folder, name);
        let printed = ok(softdpu(&folder).args(["replay", "--print", "calls.rec"]));
        let found = output(softdpu(&folder).args(["replay", "--json", "calls.rec"]));
        let said = String::from_utf8_lossy(&found.stdout);
        assert!(found.status.success(), "{name}: {}\n{said}", found.status);
        let found: Value = serde_json::from_str(said.lines().last().unwrap_or_default())
            .or_else(|_| serde_json::from_str(&said[said.find('{').unwrap_or_default()..]))
            .unwrap_or_else(|e| panic!("{name}: {e}: {said}"));
        let (calls, made) = (found["calls"].as_u64().unwrap(), found["made"].as_u64().unwrap());
        assert!(found["identical"] == true && found["lost"] == 0, "{name}: {found}");
        assert!(made > 3 && made <= calls, "{name}: {found}");
        let lines = printed.lines().filter(|l| l.contains("doca_")).count();
        assert!(lines as u64 >= made, "{name}: {lines} lines for {made} calls");
    }
}

#[test]
fn another_card_is_told_from_the_recorded_one() {
    let _watchdog = watchdog("another_card_is_told_from_the_recorded_one");
    let folder = folder("replay card");
    record(&folder, "app_caps");
    ok(softdpu(&folder).args(["replay", "calls.rec"]));
    // A BlueField-3 has no SHA.
    let found = output(softdpu(&folder).args(["replay", "--profile", "bf3", "calls.rec"]));
    let said = String::from_utf8_lossy(&found.stdout);
    assert_eq!(found.status.code(), Some(1), "{said}");
    assert!(said.contains(" differs: doca_") && said.contains("recorded: "), "{said}");
}

#[test]
fn rows_are_chosen() {
    let _watchdog = watchdog("rows_are_chosen");
    let folder = folder("replay rows");
    record(&folder, "app_dma_copy_cli");
    let print =
        |options: &[&str]| ok(softdpu(&folder).args(["replay", "--print"]).args(options).arg("calls.rec"));
    let (all, starts) = (print(&[]), print(&["--function", "mmap_start"]));
    assert!(starts.lines().any(|l| l.contains("doca_mmap_start(mmap: mmap#1) = DOCA_SUCCESS")), "{starts}");
    assert!(starts.lines().count() < all.lines().count());
    assert!(!starts.contains("doca_pe_create"), "{starts}");
    let one = print(&["--handle", "mmap#1"]);
    assert!(one.contains("mmap#1") && !one.contains("doca_pe_create"), "{one}");
    let rows: Value = serde_json::from_str(&print(&["--json"])).unwrap();
    assert_eq!(rows["lost"], 0);
    assert!(rows["rows"].as_array().unwrap().len() as u64 >= rows["calls"].as_u64().unwrap());
}

#[test]
fn a_program_that_dies_leaves_what_it_called() {
    let _watchdog = watchdog("a_program_that_dies_leaves_what_it_called");
    let folder = folder("replay death");
    fs::write(
        folder.join("dies.c"),
        "#include <doca_pe.h>\n#include <doca_mmap.h>\n#include <signal.h>\n\
         int main(void)\n{\n\tstruct doca_pe *pe;\n\tstruct doca_mmap *map;\n\
         \tdoca_pe_create(&pe);\n\tdoca_mmap_create(&map);\n\traise(SIGKILL);\n}\n",
    )
    .unwrap();
    ok(softdpu(&folder).args(["cc", "dies.c", "-o", "dies", "-lsoftdpu"]));
    let died = output(softdpu(&folder).args(["run", "--record", "calls.rec", "--", "./dies"]));
    assert_eq!(died.status.signal(), Some(9), "{}", died.status);
    let printed = ok(softdpu(&folder).args(["replay", "--print", "calls.rec"]));
    assert!(printed.contains("doca_pe_create() = DOCA_SUCCESS"), "{printed}");
    assert!(printed.contains("doca_mmap_create() = DOCA_SUCCESS"), "{printed}");
    assert!(ok(softdpu(&folder).args(["replay", "calls.rec"])).starts_with("identical: 2 calls"));
}

/// Files with a byte changed or an end cut off are printed as far as they make sense, or refused by the place of the damage;
/// none of them ends the command by a signal.
#[test]
fn damaged_records_are_refused() {
    let _watchdog = watchdog("damaged_records_are_refused");
    let folder = folder("replay damage");
    record(&folder, "mmap_states");
    let whole = fs::read(folder.join("calls.rec")).unwrap();
    let (mut seed, mut refused) = (0x9e37_79b9_7f4a_7c15u64, 0);
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    for round in 0..120 {
        let mut bytes = whole.clone();
        match round % 3 {
            0 => bytes.truncate(random(whole.len())),
            _ => bytes[random(whole.len())] ^= 1 << random(8),
        }
        fs::write(folder.join("damaged.rec"), &bytes).unwrap();
        let printed = output(softdpu(&folder).args(["replay", "--print", "damaged.rec"]));
        let error = String::from_utf8_lossy(&printed.stderr);
        match printed.status.code() {
            Some(0) => {}
            Some(1) => {
                refused += 1;
                assert!(error.contains("damaged.rec: byte "), "{error}");
            }
            _ => panic!("round {round}: {}: {error}", printed.status),
        }
    }
    assert!(refused > 0);
    for bytes in [
        &b""[..],
        b"SOFTDPU",
        b"text of another kind, long enough to hold a whole head of a file and then some more",
    ] {
        fs::write(folder.join("damaged.rec"), bytes).unwrap();
        let found = output(softdpu(&folder).args(["replay", "damaged.rec"]));
        assert_eq!(found.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&found.stderr).contains("damaged.rec: byte 0: no record of calls"));
    }
}
