//! What was done to the program in a run: the lines that the library wrote, see [`softdpu_faults::start::RECORD`].

use std::collections::BTreeMap;

use softdpu_faults::schedule::{Spot, What};

/// One thing that was done to the program, and may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Thing {
    /// A task, or news, had to wait.
    Wait(Spot),
    /// A fault of the plan (from 1) came to the so manieth task it is for.
    Fault(usize, u64),
}

/// All of them, with a text for people.
pub(super) fn read(text: &str) -> BTreeMap<Thing, String> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<(Thing, String)> {
    let mut words = line.splitn(6, ' ');
    match words.next()? {
        "w" => {
            let spot: Spot = words.next()?.parse().ok()?;
            let (begin, end): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let rest = words.next()?;
            let engine = words.next().unwrap_or("engine");
            Some((Thing::Wait(spot), describe(spot, begin, end, rest, engine)))
        }
        "f" => {
            let (index, n): (usize, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let (context, task) = (words.next()?, words.next()?);
            let engine = words.next()?;
            let text = format!("fault {index} of the plan, at {engine} context {context}, task {task}");
            Some((Thing::Fault(index, n), text))
        }
        _ => None,
    }
}

fn describe(spot: Spot, begin: u64, end: u64, kind: &str, engine: &str) -> String {
    let turns = |n: u64| format!("{n} turn{}", if n == 1 { "" } else { "s" });
    match spot.what {
        What::News(_) => format!("{spot}: news for {engine} context {} wait {}", spot.context, turns(begin)),
        What::Task(task) => {
            let mut waits = Vec::new();
            if begin > 0 {
                waits.push(format!("begins {} late", turns(begin)));
            }
            if end > 0 {
                waits.push(format!("is reported {} late", turns(end)));
            }
            format!("{spot}: {engine} context {}, task {task} ({kind}) {}", spot.context, waits.join(" and "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_library() {
        let text = "w 1.3 2 0 memcpy dma\nw 2.e0 1 0 news comch client\nf 1 4 2 9 dma\nhalf a li\nw 1.4 0 7 task sha\n";
        let all = read(text);
        let words: Vec<_> = all.values().map(String::as_str).collect();
        assert_eq!(
            words,
            [
                "1.3: dma context 1, task 3 (memcpy) begins 2 turns late",
                "1.4: sha context 1, task 4 (task) is reported 7 turns late",
                "2.e0: news for comch client context 2 wait 1 turn",
                "fault 1 of the plan, at dma context 2, task 9",
            ]
        );
        assert!(all.contains_key(&Thing::Fault(1, 4)));
    }
}
