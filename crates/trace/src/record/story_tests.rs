use super::*;
use crate::read::{Checked, check};

/// Events in the order of time: (thread, time, what, context, task, status).
type Told = (u32, u64, What, u32, u64, i32);

fn contexts(story: &mut Story) {
    for (number, engine) in [(1, "dma"), (2, "sha"), (3, "compress")] {
        story.context(&Context {
            number,
            engine: engine.to_owned(),
            device: "0000:03:00.0".to_owned(),
            kinds: vec!["memcpy".to_owned()],
            id: 0x7f00,
            bytes: true,
            computes: number == 3,
        });
    }
}

fn story(told: &[Told]) -> (String, Totals) {
    let mut story = Story::new(7, "a \"program\"");
    (1..=9).for_each(|tid| story.thread(tid, "thread"));
    contexts(&mut story);
    for &(tid, at, what, context, task, status) in told {
        let event = Event { at, task, context: context + 1, what, kind: 0, status, value: 64 };
        // What is told in one took as many nanoseconds as there are counts.
        story.tell(tid, at.saturating_sub(event.counts()), at, &event);
    }
    let totals = story.finish();
    let lines = story.lines().take();
    let lines = String::from_utf8(lines).unwrap();
    (format!("[\n{}\n]\n", lines.trim_end().trim_end_matches(',')), totals)
}

fn checked(text: &str) -> Checked {
    serde_json::from_str::<serde_json::Value>(text).unwrap();
    check(text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

use What::{
    AtOnce, Begun, Carried, Ended, Forgotten, Idle, Landed, Over, Part, PartOver, Reported, Returned,
    Submitted, Worked,
};

#[test]
fn a_task_from_submit_to_callback() {
    let (text, totals) = story(&[
        (1, 1000, Submitted, 0, 1, 0),
        (2, 1500, Begun, 0, 1, 0),
        (2, 2700, Worked, 0, 1, 0),
        (2, 2750, Ended, 0, 1, 0),
        (1, 3000, Reported, 0, 1, 0),
        (1, 3600, Returned, 0, 1, 0),
    ]);
    let found = checked(&text);
    assert_eq!((found.tasks, found.spans, found.flows, found.processes), (1, 4, 1, 1));
    assert_eq!(totals, Totals { events: 6, ..Totals::default() });
    for part in [
        "\"cat\":\"task\",\"ts\":1,\"dur\":2,",
        "\"number\":1,\"task\":\"0x40\",\"bytes\":64",
        "\"queued_us\":0.500,\"work_us\":1.200,\"unreported_us\":0.300",
        "\"cat\":\"work\",\"ts\":1.500,\"dur\":1.200",
        "\"cat\":\"callback\",\"ts\":3,\"dur\":0.600",
        "\"name\":\"dma 1 in flight\"",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

/// Freed between its end and its report: its span ends where that is seen, and nothing is left.
#[test]
fn a_task_that_the_program_frees_before_it_hears_of_it() {
    let (text, totals) = story(&[
        (1, 1000, Submitted, 0, 1, 0),
        (2, 1500, Begun, 0, 1, 0),
        (2, 1700, Ended, 0, 1, 0),
        (1, 3000, Forgotten, 0, 1, 0),
    ]);
    let found = checked(&text);
    assert_eq!((found.tasks, found.unfinished, found.flows), (1, 0, 1));
    assert_eq!(totals, Totals { events: 4, ..Totals::default() });
    assert!(text.contains("\"cat\":\"task\",\"ts\":1,\"dur\":2,"), "{text}");
}

/// Several steps in one event.
#[test]
fn tasks_that_are_over_at_once() {
    let (text, totals) = story(&[
        (1, 1000, Submitted, 0, 1, 0),
        (1, 1100, Submitted, 2, 1, 0),
        // Carried out for 300 counts.
        (1, 2000, AtOnce, 0, 1, 300),
        (1, 2100, Submitted, 0, 2, 0),
        (1, 2200, Returned, 0, 1, 0),
        // For 64, and then it waits.
        (2, 2500, Carried, 2, 1, 0),
        (1, 2900, Landed, 2, 1, 0),
        (1, 3000, Returned, 2, 1, 0),
        // For less than can be measured.
        (1, 3100, AtOnce, 0, 2, 0),
        (1, 3150, Returned, 0, 2, 0),
    ]);
    let found = checked(&text);
    assert_eq!((found.tasks, found.flows, found.unfinished), (3, 3, 0));
    assert_eq!(totals, Totals { events: 10, ..Totals::default() });
    for part in [
        "\"cat\":\"work\",\"ts\":1.700,\"dur\":0.300",
        "\"queued_us\":0.700,\"work_us\":0.300,\"unreported_us\":0}",
        "\"cat\":\"callback\",\"ts\":2,\"dur\":0.200",
        "\"cat\":\"work\",\"ts\":2.436,\"dur\":0.064",
        "\"work_us\":0.064,\"unreported_us\":0.400}",
        "\"cat\":\"work\",\"ts\":3.100,\"dur\":0.001",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

/// A worker says that it is through when the task has landed.
#[test]
fn a_worker_that_is_late() {
    let (text, _) = story(&[
        (1, 10, Submitted, 2, 1, 0),
        (2, 20, Begun, 2, 1, 0),
        (1, 45, Landed, 2, 1, 0),
        (2, 47, Worked, 2, 1, 0),
        (1, 60, Returned, 2, 1, 0),
    ]);
    let found = checked(&text);
    assert_eq!((found.tasks, found.flows, found.spans), (1, 1, 4));
    assert!(text.contains("\"cat\":\"work\",\"ts\":0.020,\"dur\":0.025"), "{text}");
}

#[test]
fn a_callback_that_submits_again_and_a_failure() {
    let (text, _) = story(&[
        (1, 10, Submitted, 0, 1, 0),
        (1, 20, Begun, 0, 1, 0),
        (1, 25, Worked, 0, 1, 0),
        (1, 30, Ended, 0, 1, 0),
        (1, 40, Reported, 0, 1, 0),
        (1, 50, Submitted, 0, 2, 0),
        (1, 60, Returned, 0, 1, 0),
        (1, 70, Begun, 0, 2, 0),
        (1, 75, Worked, 0, 2, 0),
        (1, 80, Ended, 0, 2, 18),
        (1, 90, Reported, 0, 2, 0),
        (1, 95, Returned, 0, 2, 0),
    ]);
    let found = checked(&text);
    assert_eq!((found.tasks, found.flows), (2, 2));
    assert!(text.contains("\"error\":\"BAD_STATE\"") && text.contains("terrible"), "{text}");
    assert_eq!(text.matches("dma 1 row").count(), 1, "one after the other in one row");
}

/// Carried out together, by workers, and for a future that nobody calls.
#[test]
fn tasks_that_overlap() {
    let (text, _) = story(&[
        (1, 10, Submitted, 0, 1, 0),
        (1, 11, Submitted, 0, 2, 0),
        (1, 12, Submitted, 1, 1, 0),
        (1, 20, Begun, 0, 1, 0),
        (1, 30, Begun, 0, 2, 0),
        (1, 40, Worked, 0, 2, 0),
        (1, 41, Worked, 0, 1, 0),
        (1, 45, Begun, 1, 1, 0),
        (1, 46, Ended, 0, 1, 0),
        (1, 50, Over, 0, 2, 0),
        (2, 60, Ended, 1, 1, 0),
        (1, 70, Reported, 0, 1, 0),
        (1, 71, Returned, 0, 1, 0),
        (1, 74, Reported, 1, 1, 0),
        (1, 75, Returned, 1, 1, 0),
    ]);
    let found = checked(&text);
    assert_eq!((found.tasks, found.flows, found.unfinished), (3, 3, 0));
    assert_eq!((text.matches("dma 1 row").count(), text.matches("sha 2 row").count()), (2, 1));
    assert_eq!(text.matches("\"cat\":\"work\"").count(), 2, "{text}");
}

/// Begun here, carried out in parts here and elsewhere.
#[test]
fn a_large_task() {
    let (text, _) = story(&[
        (1, 10, Submitted, 0, 1, 0),
        (1, 20, Begun, 0, 1, 0),
        (1, 25, Part, 0, 1, 0),
        (2, 26, Part, 0, 1, 0),
        (2, 40, PartOver, 0, 1, 0),
        (2, 41, Part, 0, 1, 0),
        (1, 50, PartOver, 0, 1, 0),
        (2, 60, PartOver, 0, 1, 0),
        (1, 61, Ended, 0, 1, 0),
        (1, 70, Reported, 0, 1, 0),
        (1, 75, Returned, 0, 1, 0),
    ]);
    let found = checked(&text);
    assert_eq!((found.tasks, found.flows, found.spans), (1, 1, 6));
    assert_eq!((text.matches("\"cat\":\"work\"").count(), text.matches("\"ph\":\"t\"").count()), (3, 1));
}

#[test]
fn what_never_comes_back_is_shown_without_an_end() {
    let told = [(1, 10, Submitted, 0, 1, 0), (1, 20, Submitted, 0, 2, 0), (1, 30, Ended, 0, 2, 0)];
    let (text, totals) = story(&told);
    assert_eq!((checked(&text).unfinished, totals.unfinished), (2, 2));
    assert!(text.contains("\"in flight\"") && text.contains("\"not reported\""), "{text}");
    // Unless the context became idle, and took back what was freed in flight.
    let (text, totals) = story(&[&told[..], &[(1, 40, Idle, 0, 0, 0)]].concat());
    assert_eq!((checked(&text).tasks, totals.unfinished), (2, 0));
}

/// Whatever events are left out, and in whatever order threads wrote them down: what is written is in order.
#[test]
fn gaps_and_disorder_leave_a_valid_trace() {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % n
    };
    for round in 0..300 {
        let mut told: Vec<Told> = Vec::new();
        for flight in 0..200u64 {
            let (context, task) = (random(3) as u32, flight);
            let mut at = flight * 20;
            let home = 1 + random(3) as u32;
            let short = [Submitted, AtOnce, Returned];
            let medium = [Submitted, Carried, Landed, Returned];
            let long = [Submitted, Begun, Part, PartOver, Worked, Ended, Reported, Returned];
            for &what in [&short[..], &medium, &long][random(3) as usize] {
                at += random(40);
                let tid = if random(3) == 0 { 1 + random(3) as u32 } else { home };
                let status = random(8).saturating_sub(6) as i32;
                let what = if what == Ended && random(9) == 0 { Over } else { what };
                if random(100) >= round % 30 {
                    told.push((tid, at, what, context, task, status));
                }
            }
        }
        told.sort_by_key(|told| told.1);
        if round % 2 == 0 {
            let last = told.len() as u64 - 1;
            for _ in 0..50 {
                let at = random(last) as usize;
                told.swap(at, at + 1);
            }
        }
        let (text, totals) = story(&told);
        checked(&text);
        assert_eq!(totals.events, told.len() as u64);
    }
}
