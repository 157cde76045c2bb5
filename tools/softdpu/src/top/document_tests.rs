//! Two rounds of answers, compared.

use std::time::Duration;

use super::*;

fn context(id: &str, completed: u64) -> Context {
    Context {
        id: id.to_owned().into(),
        engine: "dma".to_owned().into(),
        state: "running".to_owned().into(),
        in_flight: 3,
        completed,
        ..Context::default()
    }
}

fn answer(pid: u32, at: Instant, contexts: Vec<Context>) -> Answer {
    let report = Report { program: "copy".to_owned().into(), contexts, ..Report::default() };
    Answer { owner: Owner { pid, started: 1 }, at, report: Ok(report) }
}

fn rate(row: Option<f64>) -> f64 {
    row.unwrap().round()
}

#[test]
fn rates_are_growth_over_time() {
    let start = Instant::now();
    let mut history = History::default();
    let first = history.next(String::new(), vec![answer(1, start, vec![context("0x1", 100)])]);
    assert_eq!(first.processes[0].tasks_per_s, None);
    assert_eq!(first.engines[0].tasks_per_s, 0.0);

    let then = start + Duration::from_secs(2);
    let answers = vec![
        answer(1, then, vec![context("0x1", 300), context("0x2", 50)]),
        answer(2, then, vec![context("0x1", 7)]),
    ];
    let second = history.next(String::new(), answers);
    let process = &second.processes[0];
    assert_eq!((process.pid, rate(process.tasks_per_s), process.in_flight), (1, 100.0, 6));
    assert_eq!((process.contexts[0].completed, rate(process.contexts[0].tasks_per_s)), (300, 100.0));
    assert_eq!(process.contexts[1].tasks_per_s, None, "seen once");
    assert_eq!(second.processes[1].tasks_per_s, None, "another process");
    let engine = &second.engines[0];
    assert_eq!(
        (engine.processes, engine.contexts, engine.in_flight, engine.tasks_per_s.round()),
        (2, 3, 9, 100.0)
    );
}

#[test]
fn counters_wrap_and_begin_anew() {
    let start = Instant::now();
    let mut history = History::default();
    let mut seconds = 0;
    let mut see = |completed: u64| {
        seconds += 1;
        let at = start + Duration::from_secs(seconds);
        let row = history.next(String::new(), vec![answer(1, at, vec![context("0x1", completed)])]);
        let context = &row.processes[0].contexts[0];
        (context.completed, context.tasks_per_s.map(f64::round))
    };
    assert_eq!(see(u64::from(u32::MAX) - 9), (4_294_967_286, None));
    assert_eq!(see(90), (4_294_967_386, Some(100.0)), "wrapped");
    assert_eq!(see(100), (4_294_967_396, Some(10.0)));
    assert_eq!(see(20), (20, Some(20.0)), "started again");
}

#[test]
fn who_does_not_answer_is_shown_and_remembered_anew() {
    let start = Instant::now();
    let mut history = History::default();
    history.next(String::new(), vec![answer(1, start, vec![context("0x1", 1)])]);
    let silent = Answer {
        owner: Owner { pid: 1, started: 1 },
        at: start + Duration::from_secs(1),
        report: Err("no answer in time".to_owned()),
    };
    let document = history.next(String::new(), vec![silent]);
    let process = &document.processes[0];
    assert!(!process.answers && process.contexts.is_empty());
    assert_eq!(process.problem.as_deref(), Some("no answer in time"));
    let again = answer(1, start + Duration::from_secs(2), vec![context("0x1", 1000)]);
    assert_eq!(history.next(String::new(), vec![again]).processes[0].tasks_per_s, None);
}

#[test]
fn cards_are_counted_once_per_process_and_function() {
    let device = |pci: &str| Device {
        pci: pci.to_owned().into(),
        card: "card0".to_owned().into(),
        profile: "all".to_owned().into(),
        ..Device::default()
    };
    let with = |pid, devices: Vec<Device>| {
        let mut answer = answer(pid, Instant::now(), Vec::new());
        answer.report.as_mut().unwrap().devices = devices;
        answer
    };
    let answers = vec![with(1, vec![device("a"), device("b")]), with(2, vec![device("a")])];
    let document = History::default().next(String::new(), answers);
    let card = &document.cards[0];
    assert_eq!((document.cards.len(), card.processes, card.devices), (1, 2, 2));
}
