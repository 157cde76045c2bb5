//! Of differences of counted runs, and of limits.

use super::callgrind::Profile;
use super::*;

fn budget(name: &str, limit: f64, relative_to: Option<&str>) -> Budget {
    Budget {
        name: name.into(),
        what: "a test".into(),
        program: Program::C,
        probe: None,
        arguments: "again N 1 32".into(),
        runs: [1, 2],
        limit,
        goal: 1.0,
        whole: false,
        checked: false,
        relative_to: relative_to.map(str::to_owned),
    }
}

fn counts(list: &[(&str, f64)]) -> BTreeMap<String, Count> {
    list.iter().map(|&(n, instructions)| (n.to_owned(), Count { instructions, parts: vec![] })).collect()
}

#[test]
fn limits_are_kept_or_named() {
    let budgets = [budget("one", 100.0, None), budget("many", 1.5, Some("one"))];
    assert!(report(&budgets, &counts(&[("one", 100.0), ("many", 150.0)]), false).1.is_empty());
    let over = report(&budgets, &counts(&[("one", 100.5), ("many", 160.0)]), false).1;
    assert_eq!(over.len(), 2, "{over:?}");
    let disturbed = report(&budgets, &counts(&[("one", 100.0), ("many", -150.0)]), false).1;
    assert_eq!(disturbed.len(), 1, "less than nothing is no cost: {disturbed:?}");
    assert!(over[1].contains("1.59x"), "{over:?}");
    assert_eq!(report(&budgets, &counts(&[("one", 1.0)]), false).1.len(), 1, "a missing count is no success");
}

#[test]
fn only_the_library_counts() {
    let of = |object, function| whose(object, function, Program::C);
    assert_eq!(of("libsoftdpu.so.2", "doca_pe_progress"), Whose::Library);
    assert_eq!(of("libsoftdpu.so.2", "doca_buf_reset_data_len"), Whose::ProgramInside);
    assert_eq!(of("dma_budget", "copied"), Whose::Other);
    assert_eq!(of("libc.so.6", "__memcpy_avx_unaligned_erms"), Whose::Library);
    assert_eq!(of("libc.so.6", "strtoul"), Whose::Other);
    assert_eq!(whose("budget", "softdpu_room::progress::sweep", Program::Rust), Whose::Library);
    assert_eq!(whose("budget", "budget::program_takes", Program::Rust), Whose::ProgramInside);
    assert_eq!(whose("budget", "budget::driver_future", Program::Rust), Whose::Other);
}

#[test]
fn costs_are_differences_without_what_the_program_calls() {
    let key = |function: &str| ("libsoftdpu.so.2".to_owned(), function.to_owned());
    let run = |tasks: u64| {
        let own = [("doca_pe_progress", 70), ("doca_buf_reset_data_len", 5), ("set_data", 24)];
        let first = Profile {
            own: own.map(|(f, c)| (key(f), 1_000 + c * tasks)).into(),
            called: [(key("doca_buf_reset_data_len"), 24 * tasks)].into(),
        };
        let worker = [("Core::assist", 999), ("<Computed<H> as Work>::quick", 40)];
        let worker = Profile { own: worker.map(|(f, c)| (key(f), c * tasks)).into(), ..Profile::default() };
        vec![first, worker]
    };
    let mut of = Budget { runs: [100, 300], ..budget("one", 1.0, None) };
    let count = difference(&run(100), &run(300), &of);
    assert!((count.instructions - 110.0).abs() < 1e-9, "{}", count.instructions);
    // As a whole, that of the first thread alone.
    of.whole = true;
    let count = difference(&run(100), &run(300), &of);
    assert!((count.instructions - 99.0).abs() < 1e-9, "{}", count.instructions);
}

#[test]
fn the_file_is_valid_and_faults_are_found() {
    let budgets = load().expect("valid budgets");
    assert!(budgets.iter().all(|b| b.limit >= b.goal || b.limit > 0.0));
    let text = root::read(SETTINGS).expect("the file");
    let first = text.find("[[budget]]").map(|at| &text[at..]).expect("a budget");
    let end = first[1..].find("[[budget]]").map_or(first.len(), |at| at + 1);
    let twice = format!("{}\n{}", &first[..end], &first[..end]);
    assert!(parse(&twice).is_err_and(|e| e.contains("twice")));
    assert!(parse(&first[..end].replace(" N ", " 5 ")).is_err());
}
