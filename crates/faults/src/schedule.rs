//! A schedule: how long each task waits before it begins and before it is reported, and with that which tasks pass which
//! where the contract promises no order.
//!
//! Nothing is drawn from a stream: each wait is a hash of seed, context and task. So tasks of one context behave alike
//! whatever other threads do, and any of the waits can be left out ([`Only`]) without changing the others.

use crate::mix;
use crate::record::Record;
use softdpu_room::instrument::{Begin, Context, Decider, End, Task};
use softdpu_status::Code;
use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// One thing that a schedule does to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    /// The context.
    pub context: u32,
    /// What of it.
    pub what: What,
}

/// What of a context a schedule holds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// The task with this number.
    Task(u64),
    /// The so manieth group of eight looks for news from peers.
    News(u64),
}

/// `CONTEXT.TASK` or `CONTEXT.eNEWS`, as `2.17`.
impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.what {
            What::Task(task) => write!(f, "{}.{task}", self.context),
            What::News(news) => write!(f, "{}.e{news}", self.context),
        }
    }
}

impl FromStr for Spot {
    type Err = String;

    fn from_str(text: &str) -> Result<Spot, String> {
        let bad = || format!("'{text}' is not CONTEXT.TASK or CONTEXT.eNEWS, as 2.17 or 2.e4");
        let (context, what) = text.split_once('.').ok_or_else(bad)?;
        let what = match what.strip_prefix('e') {
            Some(news) => What::News(news.parse().map_err(|_| bad())?),
            None => What::Task(what.parse().map_err(|_| bad())?),
        };
        Ok(Spot { context: context.parse().map_err(|_| bad())?, what })
    }
}

/// The only spots that are held up; the rest goes as without a seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only(pub BTreeSet<Spot>);

/// Spots with commas between them; `none` for no spot.
impl FromStr for Only {
    type Err = String;

    fn from_str(text: &str) -> Result<Only, String> {
        if text == "none" {
            return Ok(Only::default());
        }
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Only)
    }
}

impl std::fmt::Display for Only {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let spots: Vec<_> = self.0.iter().map(Spot::to_string).collect();
        f.write_str(if spots.is_empty() { "none".to_owned() } else { spots.join(",") }.as_str())
    }
}

/// How a seed deals with tasks. Different bugs need different disorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// In order, at once.
    Plain,
    /// Half of the tasks begin a little later.
    Ragged,
    /// Half of the tasks are reported a little later.
    Tardy,
    /// A few wait very long, both ways.
    Stragglers,
    /// Groups of a few, last one first.
    Reversed,
    /// Reported in groups.
    Bunched,
}

/// The instrument.
#[derive(Debug)]
pub struct Schedule {
    seed: u64,
    only: Option<Only>,
    record: Record,
    /// Looks for news, by context.
    looks: Mutex<Vec<u64>>,
}

/// Turns that a task waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Before it begins.
    pub begin: u64,
    /// Before it is reported.
    pub end: u64,
}

impl Schedule {
    /// The schedule of a seed, or a part of it.
    pub fn new(seed: u64, only: Option<Only>) -> Schedule {
        Schedule { seed, only, record: Record::of_process(), looks: Mutex::new(Vec::new()) }
    }

    /// Each context has a style of its own.
    fn style(&self, context: u32) -> Style {
        match mix(&[self.seed, 0x57, context.into()]) % 8 {
            // A seed of zero is the order without a seed: what a program does there, it does on a card without trouble.
            _ if self.seed == 0 => Style::Plain,
            0 => Style::Plain,
            1 => Style::Ragged,
            2 => Style::Tardy,
            3 | 4 => Style::Stragglers,
            5 | 6 => Style::Reversed,
            _ => Style::Bunched,
        }
    }

    fn is_wanted(&self, spot: Spot) -> bool {
        self.only.as_ref().is_none_or(|only| only.0.contains(&spot))
    }

    /// How long a task waits.
    pub fn waits(&self, context: u32, task: u64) -> Waits {
        if !self.is_wanted(Spot { context, what: What::Task(task) }) {
            return Waits::default();
        }
        let draw = mix(&[self.seed, 0x7a, context.into(), task]);
        let (coin, a, b) = (draw % 4, draw >> 8 & 0xff, draw >> 16 & 0xff);
        let group = 2 + mix(&[self.seed, 0x6f, context.into()]) % 7;
        match self.style(context) {
            Style::Plain => Waits::default(),
            Style::Ragged if coin < 2 => Waits { begin: 1 + a % 4, end: 0 },
            Style::Tardy if coin < 2 => Waits { begin: 0, end: 1 + a % 4 },
            Style::Stragglers if coin == 0 => {
                Waits { begin: a % 2 * (b % 24), end: (1 - a % 2) * (1 + b % 32) }
            }
            Style::Reversed => Waits { begin: 2 * (group - 1 - task % group), end: 0 },
            Style::Bunched => Waits { begin: 0, end: 3 * (group - 1 - task % group) },
            _ => Waits::default(),
        }
    }
}

impl Decider for Schedule {
    fn submitted(&self, task: &Task<'_>) {
        let context = task.context();
        let waits = self.waits(context.number(), task.number());
        if waits != Waits::default() {
            let kind = task.kind().map_or("task", |k| k.1);
            let (spot, engine) =
                (Spot { context: context.number(), what: What::Task(task.number()) }, context.engine().name);
            self.record.write(format_args!("w {spot} {} {} {kind} {engine}", waits.begin, waits.end));
        }
        // Threads of the program get out of step, too.
        if self.seed != 0 && mix(&[self.seed, 0x1e, context.number().into(), task.number()]).is_multiple_of(8)
        {
            std::thread::yield_now();
        }
    }

    fn may_begin(&self, task: &Task<'_>, waited: u64) -> Begin {
        let waits = self.waits(task.context().number(), task.number());
        if waited < waits.begin { Begin::Later } else { Begin::Now }
    }

    fn may_end(&self, task: &Task<'_>, waited: u64, result: Result<u64, Code>) -> End {
        let waits = self.waits(task.context().number(), task.number());
        if waited < waits.end { End::Later } else { End::Now(result) }
    }

    fn may_tell(&self, context: &Context<'_>) -> bool {
        if self.seed == 0 {
            return true;
        }
        let number = context.number();
        let look = {
            let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
            let at = number as usize;
            if looks.len() <= at {
                looks.resize(at + 1, 0);
            }
            looks[at] += 1;
            looks[at] - 1
        };
        let (group, place) = (look / 8, look % 8);
        let draw = mix(&[self.seed, 0xe7, number.into(), group]);
        let spot = Spot { context: number, what: What::News(group) };
        let held = draw.is_multiple_of(4) && place < 1 + (draw >> 8) % 7 && self.is_wanted(spot);
        if held && place == 0 {
            let (turns, engine) = (1 + (draw >> 8) % 7, context.engine().name);
            self.record.write(format_args!("w {spot} {turns} 0 news {engine}"));
        }
        !held
    }

    fn reorders(&self) -> bool {
        self.seed != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spots_read_as_they_are_written() {
        let text = "1.3,1.e2,12.700";
        let only: Only = text.parse().unwrap();
        assert_eq!(only.to_string(), "1.3,1.e2,12.700");
        assert_eq!(only.0.len(), 3);
        assert_eq!("none".parse::<Only>().unwrap().to_string(), "none");
        for bad in ["", "1", "1.", ".1", "1.x", "1.2,", "-1.2", "1.e"] {
            assert!(bad.parse::<Only>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_same_seed_waits_alike_and_others_do_not() {
        let all = |seed| {
            let schedule = Schedule::new(seed, None);
            (1..4)
                .flat_map(|c| (1..50).map(move |t| (c, t)))
                .map(|(c, t)| schedule.waits(c, t))
                .collect::<Vec<_>>()
        };
        let different: std::collections::HashSet<_> =
            (0..64).map(|seed| format!("{:?}", all(seed))).collect();
        assert_eq!(all(17), all(17));
        assert!(different.len() > 55, "{} of 64 schedules", different.len());
        assert!(all(0).iter().all(|w| *w == Waits::default()), "seed zero is the plain order");
    }

    #[test]
    fn a_part_is_what_it_was_in_the_whole() {
        let seed = (1..).find(|&seed| Schedule::new(seed, None).style(1) == Style::Reversed).unwrap();
        let whole = Schedule::new(seed, None);
        let held = (1..9).filter(|&t| whole.waits(1, t) != Waits::default()).collect::<Vec<_>>();
        let part = Schedule::new(seed, Some(format!("1.{}", held[0]).parse().unwrap()));
        assert_eq!(part.waits(1, held[0]), whole.waits(1, held[0]));
        assert_eq!(part.waits(1, held[1]), Waits::default());
    }

    /// Every style has its turn, and no task waits for ever.
    #[test]
    fn waits_are_short_and_of_all_kinds() {
        let mut styles = Vec::new();
        for seed in 1..200 {
            let schedule = Schedule::new(seed, None);
            let style = schedule.style(1);
            if !styles.contains(&style) {
                styles.push(style);
            }
            assert!((1..500).all(|t| schedule.waits(1, t).begin + schedule.waits(1, t).end < 40));
        }
        assert_eq!(styles.len(), 6, "{styles:?}");
    }
}
