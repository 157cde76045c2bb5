//! A word that four processes add to, all at the same time.

use std::time::{Duration, Instant};

use softdpu::rdma::FetchAdd;

use super::end::{Half, Plan};
use super::peer::{Peer, Role};
use super::{Lane, Measured, Row, TimedLane, Transfer, Transfers, WORD, With, row, text};

/// Processes that add.
const ADDERS: u16 = 4;
/// Parts of the time, the middle one of which counts.
const ROUNDS: u32 = 11;
/// Additions between two looks at the clock.
const AT_ONCE: u64 = 256;
/// Additions whose latency is noted.
const SAMPLES: u64 = 20_000;
/// Nanoseconds per addition of all processes together that are aimed at: three million per second.
const GOAL_NS: f64 = 1e3 / 3.0;
/// Peers that have not begun by then never will.
const PATIENCE: Duration = Duration::from_secs(20);

/// The rate of all processes together, beside that of one alone; fails when an addition is lost.
pub(super) fn contended(with: With<'_>) -> Result<Row, String> {
    let depth = with.options.depths.iter().copied().max().unwrap_or(1);
    let plan = |links| Plan { bytes: WORD, depth, links };
    let mut lender = Peer::start(&with.options.card, Role::Lend, plan(ADDERS))?;
    let half = Half::new(with.session, with.device, plan(1))?;
    half.cards().iter().try_for_each(|card| lender.tell(card))?;
    let card = lender.line()?;
    let mut others = Vec::new();
    for _ in 1..ADDERS {
        let mut adder = Peer::start(&with.options.card, Role::Add, plan(1))?;
        let its = adder.line()?;
        lender.tell(its.trim())?;
        others.push((adder, lender.line()?));
    }
    let end = half.join(with.device, &[card])?;
    lender.ready()?;
    let mut word = Word { tasks: Transfers::over((end, lender), WORD, depth)?, added: 0 };
    let before = word.read()?;
    let alone = word.rate(with.options.time / 4)?;
    for (adder, card) in &mut others {
        adder.tell(card.trim())?;
        adder.ready()?;
    }
    word.wait_for_others(before)?;
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        rates.push(word.rate(with.options.time / 2 / ROUNDS)?);
    }
    rates.sort_by(f64::total_cmp);
    let rate = rates[rates.len() / 2];
    let mut latencies = Vec::new();
    word.added += SAMPLES;
    word.tasks.timed(SAMPLES, &mut latencies)?;
    latencies.sort_unstable();
    let mut added = word.added;
    for (adder, _) in &mut others {
        added += adder.end()?.trim().parse::<u64>().map_err(|_| "a process does not say what it added")?;
    }
    let grown = word.read()?.wrapping_sub(before);
    if grown != added {
        return Err(format!("{ADDERS} processes added {added} times, the word has grown by {grown}"));
    }
    let quantile = |part: f64| latencies[((latencies.len() - 1) as f64 * part) as usize];
    let each = f64::from(ADDERS);
    let measured = Measured {
        engine_ns: each * 1e9 / rate,
        yardstick_ns: each * 1e9 / alone,
        ratio: rate / alone,
        p50_ns: quantile(0.5),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
    };
    let goal = Some(("goal", each * GOAL_NS, rate * GOAL_NS / 1e9));
    Ok(row((FetchAdd::OP, "alone"), (WORD as u64, depth, ADDERS.into()), measured, goal))
}

/// The word, and this process's part.
struct Word {
    tasks: Transfers<FetchAdd>,
    added: u64,
}

impl Word {
    fn read(&self) -> Result<u64, String> {
        let mut bytes = [0; WORD];
        self.tasks.end.remote.read(0, &mut bytes).map_err(text)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    fn add(&mut self) -> Result<(), String> {
        self.added += AT_ONCE;
        self.tasks.run(AT_ONCE)
    }

    /// Additions per second of everybody, for about `time`.
    fn rate(&mut self, time: Duration) -> Result<f64, String> {
        let (start, before) = (Instant::now(), self.read()?);
        loop {
            self.add()?;
            let spent = start.elapsed();
            if spent >= time {
                return Ok(self.read()?.wrapping_sub(before) as f64 / spent.as_secs_f64());
            }
        }
    }

    /// Until the word has grown by more than this process added.
    fn wait_for_others(&mut self, before: u64) -> Result<(), String> {
        let start = Instant::now();
        while self.read()?.wrapping_sub(before) == self.added {
            if start.elapsed() > PATIENCE {
                return Err("the other processes add nothing".to_owned());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}
