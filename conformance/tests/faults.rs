//! Plans of faults and schedules, over every engine: what they do to C programs, and that they do nothing else.

use softdpu_conformance::program::{Outcome, Program};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Programs that drive an engine through much of what it can do, and its name in plans.
const DRIVEN: &[(&str, &str)] = &[
    ("dma_copies", "dma"),
    ("sha_digests", "sha"),
    ("sha_partial", "sha"),
    ("compress_zlib_file", "compress"),
    ("compress_lz4", "compress"),
    ("aes_gcm_messages", "aes_gcm"),
    ("ec_tasks", "ec"),
    ("rdma_messages", "rdma"),
    ("rdma_onesided", "rdma"),
    ("comch_path_large", "comch"),
    ("eth_send", "eth_txq"),
    ("eth_receive", "eth_rxq"),
    ("sync_event_tasks", "sync_event"),
    ("mmap_advise", "mmap_advise"),
];

/// Writes a plan for one program.
fn plan(name: &str, text: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("fault-{name}-{}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

fn run(program: &str, environment: &[(&str, &str)]) -> Outcome {
    let kit = softdpu_sdk::kit_for_tests().unwrap_or_else(|error| panic!("no kit: {error}"));
    // A program has one folder per process: two runs of it must not meet.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let program = Program::find(program).unwrap_or_else(|error| panic!("{error}"));
    environment.iter().fold(program, |program, (name, value)| program.with(name, value)).check(&kit)
}

fn run_with_plan(program: &str, text: &str, environment: &[(&str, &str)]) -> Outcome {
    let mark = text.bytes().fold(0u32, |sum, b| sum.wrapping_mul(31).wrapping_add(b.into()));
    let path = plan(&format!("{program}-{mark:x}"), text);
    let mut all = vec![("SOFTDPU_FAULTS", path.to_str().unwrap()), ("SOFTDPU_LOG", "warning")];
    all.extend_from_slice(environment);
    let outcome = run(program, &all);
    let _ = std::fs::remove_file(path);
    outcome
}

fn passes(program: &str, outcome: Outcome) {
    match outcome {
        Outcome::Passed => {}
        Outcome::Skipped(reason) => println!("{program}: skipped: {reason}"),
        Outcome::Failed(text) => panic!("{text}"),
    }
}

/// An instrument that does nothing changes nothing.
#[test]
fn an_empty_plan_changes_nothing() {
    for (program, _) in DRIVEN {
        passes(program, run_with_plan(program, "", &[]));
    }
}

#[test]
fn completions_that_come_later_change_nothing() {
    for (program, engine) in DRIVEN {
        let text = format!("[[fault]]\nengine = \"{engine}\"\nevery = 5\ndelay_us = 200\ncount = 40\n");
        passes(program, run_with_plan(program, &text, &[]));
    }
}

/// Programs that are over soon when a task fails, and the engine whose first one does.
const BREAKABLE: &[(&str, &str)] = &[
    ("fault_effects", "dma"),
    ("sha_digests", "sha"),
    ("compress_zlib_file", "compress"),
    ("aes_gcm_messages", "aes_gcm"),
    ("ec_tasks", "ec"),
    ("fault_rdma", "rdma"),
    // Leaves processes behind when it fails, so that it is in no other list.
    ("app_comch_negotiation", "comch"),
    ("mmap_advise", "mmap_advise"),
];

/// A task fails, or there is none to be had, and the program is told so: its own checks notice, it neither crashes nor
/// corrupts anything.
#[test]
fn a_failed_task_is_noticed() {
    let effects = ["error = \"IO_FAILED\"", "alloc = \"NO_MEMORY\""];
    for (program, engine, effect) in
        BREAKABLE.iter().flat_map(|(program, engine)| effects.map(|effect| (program, engine, effect)))
    {
        let text = format!("[[fault]]\nengine = \"{engine}\"\n{effect}\n");
        match run_with_plan(program, &text, &[]) {
            Outcome::Skipped(reason) => println!("{program}: skipped: {reason}"),
            Outcome::Passed => panic!("{program}, {effect}: nothing failed"),
            Outcome::Failed(text) => {
                assert!(text.contains("fault 1 of the plan (line 1)"), "{text}");
                assert!(!text.contains("signal: ") && !text.contains("AddressSanitizer"), "{text}");
            }
        }
    }
}

#[test]
fn every_effect_does_what_it_says() {
    let dma = "[[fault]]\nengine = \"dma\"\n";
    for (effect, keys) in [
        ("none", "context = 9\ndrop = true\n"),
        ("error", "task = 3\nerror = \"TIME_OUT\"\n"),
        ("delay", "task = 2\ndelay_us = 20000\n"),
        ("drop", "task = 2\ndrop = true\n"),
        ("full", "task = 2\nqueue_full = 2\n"),
        ("alloc", "task = 2\nalloc = \"NO_MEMORY\"\n"),
        // 4096 and 128, and one byte of it.
        ("place", "map = 1\naddress = [4287, 4288]\nqueue_full = 1\ncount = 1\n"),
        ("none", "map = 2\nerror = \"IO_FAILED\"\n"),
        ("none", "map = 1\naddress = [8192, 16384]\nerror = \"IO_FAILED\"\n"),
        ("none", "address = [0, 4096]\nerror = \"IO_FAILED\"\n"),
        // Memory of this process has no peer.
        ("none", "peer = \"program\"\nerror = \"IO_FAILED\"\n"),
    ] {
        let outcome = run_with_plan("fault_effects", &format!("{dma}{keys}"), &[("FAULT_EFFECT", effect)]);
        passes(effect, outcome);
    }
}

#[test]
fn effects_on_connections() {
    let rdma = "[[fault]]\nengine = \"rdma\"\nop = \"send\"\ntask = 2\n";
    for (effect, keys) in [
        ("not_ready", "receive_not_ready = 3\n"),
        ("not_ready_for_long", "receive_not_ready = 8\n"),
        ("disconnect", "disconnect = true\n"),
    ] {
        let outcome = run_with_plan("fault_rdma", &format!("{rdma}{keys}"), &[("FAULT_EFFECT", effect)]);
        passes(effect, outcome);
    }
    // The peer is another context of this very program.
    for (effect, peer) in [("disconnect", "program"), ("none", "program2"), ("none", "10.11.12.13")] {
        let plan = format!("{rdma}peer = \"{peer}\"\ndisconnect = true\n");
        passes(peer, run_with_plan("fault_rdma", &plan, &[("FAULT_EFFECT", effect)]));
    }
    for end in ["client", "server", "producer", "consumer"] {
        for (peer, effect) in [("program", end), ("nobody", "none")] {
            let plan = format!(
                "[[fault]]\nengine = \"comch_{end}\"\npeer = \"{peer}\"\ntask = 2\ndisconnect = true\n"
            );
            passes(end, run_with_plan("fault_comch", &plan, &[("FAULT_EFFECT", effect)]));
        }
    }
}

#[test]
fn links_go_down_for_senders_and_receivers() {
    for (effect, engine) in [("sender", "eth_txq"), ("receiver", "eth_rxq")] {
        let plan = format!("[[fault]]\nengine = \"{engine}\"\ntask = 1\nlink_down_us = 500000\n");
        passes(effect, run_with_plan("fault_link", &plan, &[("FAULT_EFFECT", effect)]));
    }
    passes("no plan", run("fault_link", &[]));
}

/// Seed zero is the order without a seed, on a board without workers.
#[test]
fn every_engine_works_with_a_seed() {
    // That one sleeps until a worker wakes it.
    for (program, _) in DRIVEN.iter().filter(|driven| driven.0 != "sync_event_tasks") {
        passes(program, run(program, &[("SOFTDPU_SEED", "0")]));
    }
}
