//! The measurement itself: two contestants in turn, round by round, on some threads.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// One thread's part of a contestant.
pub(crate) trait Lane {
    /// Carries out this many tasks, and has seen every one complete when it returns.
    fn run(&mut self, tasks: u64) -> Result<(), String>;
}

/// A lane whose tasks can be timed one by one.
pub(crate) trait TimedLane: Lane {
    /// As [`Lane::run`], noting for each task the time from its submission to its completion.
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String>;
}

/// The result over all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured {
    /// Nanoseconds of wall time per task and thread, median.
    pub(crate) engine_ns: f64,
    pub(crate) yardstick_ns: f64,
    /// Yardstick time over engine time, median of the rounds' ratios.
    pub(crate) ratio: f64,
    pub(crate) p50_ns: u64,
    pub(crate) p99_ns: u64,
    pub(crate) p999_ns: u64,
}

/// What one thread notes: per round the nanoseconds per task of engine and yardstick; then the latencies.
type Noted = (Vec<(f64, f64)>, Vec<u64>);

const ROUNDS: usize = 11;
/// Latencies noted per row, over all threads.
const SAMPLES: u64 = 20_000;

/// Makes the lanes on their threads and measures for about `time`.
///
/// # Errors
/// The first text that a lane gave.
pub(crate) fn measure<E: TimedLane, Y: Lane>(
    threads: u32,
    time: Duration,
    engine: impl Fn() -> Result<E, String> + Sync,
    yardstick: impl Fn() -> Result<Y, String> + Sync,
) -> Result<Measured, String> {
    let tasks = calibrate(&mut engine()?, &mut yardstick()?, time)?;
    let barrier = Barrier::new(threads as usize);
    let lane = || -> Result<Noted, String> {
        let lanes = engine().and_then(|e| Ok((e, yardstick()?)));
        rounds(lanes, &barrier, tasks, SAMPLES / u64::from(threads))
    };
    let results: Vec<_> = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(lane)).collect();
        let joined =
            handles.into_iter().map(|h| h.join().unwrap_or_else(|_| Err("a lane panicked".to_owned())));
        joined.collect::<Result<_, _>>()
    })?;
    let mut latencies: Vec<u64> = results.iter().flat_map(|(_, l)| l.iter().copied()).collect();
    latencies.sort_unstable();
    // Every thread waits for the slowest at the end of a round, so one thread's clock tells the wall time.
    let rounds = results.first().map(|(r, _)| r.as_slice()).unwrap_or_default();
    Ok(Measured {
        engine_ns: median(rounds.iter().map(|r| r.0)),
        yardstick_ns: median(rounds.iter().map(|r| r.1)),
        ratio: median(rounds.iter().map(|r| r.1 / r.0)),
        p50_ns: quantile(&latencies, 0.5),
        p99_ns: quantile(&latencies, 0.99),
        p999_ns: quantile(&latencies, 0.999),
    })
}

/// Tasks per round such that all rounds of both contestants take about `time`.
fn calibrate(engine: &mut impl Lane, yardstick: &mut impl Lane, time: Duration) -> Result<u64, String> {
    let budget = time / ROUNDS as u32;
    let mut tasks = 1;
    loop {
        let start = Instant::now();
        engine.run(tasks)?;
        yardstick.run(tasks)?;
        let spent = start.elapsed();
        if spent * 4 >= budget || tasks > 1 << 40 {
            let scaled = tasks as f64 * budget.as_secs_f64() / spent.as_secs_f64().max(1e-9);
            return Ok((scaled as u64).max(1));
        }
        tasks *= 2;
    }
}

/// One thread's rounds: nanoseconds per task of both contestants, then the latencies of the engine.
///
/// A thread that failed still comes to every meeting point, so that the others do not wait for ever.
fn rounds<E: TimedLane, Y: Lane>(
    lanes: Result<(E, Y), String>,
    barrier: &Barrier,
    tasks: u64,
    samples: u64,
) -> Result<Noted, String> {
    let (mut lanes, mut failure) = match lanes {
        Ok(lanes) => (Some(lanes), None),
        Err(text) => (None, Some(text)),
    };
    let mut phase = |work: &mut dyn FnMut(&mut E, &mut Y) -> Result<(), String>| {
        barrier.wait();
        let start = Instant::now();
        if let (Some((engine, yardstick)), None) = (&mut lanes, &failure) {
            failure = work(engine, yardstick).err();
        }
        barrier.wait();
        start.elapsed().as_nanos() as f64
    };
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let engine = phase(&mut |e, _| e.run(tasks)) / tasks as f64;
        let yardstick = phase(&mut |_, y| y.run(tasks)) / tasks as f64;
        times.push((engine, yardstick));
    }
    let samples = samples.min(tasks).max(1);
    let mut latencies = Vec::with_capacity(samples as usize);
    phase(&mut |e, _| e.timed(samples, &mut latencies));
    failure.map_or(Ok((times, latencies)), Err)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// The smallest value that is at least as large as `part` of all; 0 for none.
fn quantile(sorted: &[u64], part: f64) -> u64 {
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts, and fails when told.
    struct Counting {
        done: u64,
        fail_after: u64,
    }

    impl Lane for Counting {
        fn run(&mut self, tasks: u64) -> Result<(), String> {
            self.done += tasks;
            thread::sleep(Duration::from_micros(20));
            if self.done > self.fail_after {
                Err(format!("failed after {}", self.fail_after))
            } else {
                Ok(())
            }
        }
    }

    impl TimedLane for Counting {
        fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
            latencies.extend(1..=tasks);
            self.run(tasks)
        }
    }

    fn counting(fail_after: u64) -> Result<Counting, String> {
        Ok(Counting { done: 0, fail_after })
    }

    #[test]
    fn both_contestants_are_measured() {
        let time = Duration::from_millis(20);
        let measured = measure(3, time, || counting(u64::MAX), || counting(u64::MAX)).unwrap();
        assert!(measured.engine_ns > 0.0 && measured.yardstick_ns > 0.0 && measured.ratio > 0.0);
        assert!(measured.p50_ns <= measured.p99_ns && measured.p99_ns <= measured.p999_ns);
    }

    #[test]
    fn a_failing_lane_ends_the_measurement_on_all_threads() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let time = Duration::from_millis(5);
        // The first lane serves the calibration; of the two threads' lanes one fails at its first task.
        let made = AtomicU32::new(0);
        let one_fails = || counting(if made.fetch_add(1, Ordering::Relaxed) == 2 { 0 } else { u64::MAX });
        let measured = measure(2, time, one_fails, || counting(u64::MAX));
        assert_eq!(measured, Err("failed after 0".to_owned()));
        // And one that cannot even be made.
        let made = AtomicU32::new(0);
        let none = || {
            if made.fetch_add(1, Ordering::Relaxed) == 1 {
                Err("no device".to_owned())
            } else {
                counting(u64::MAX)
            }
        };
        assert_eq!(measure(2, time, || counting(u64::MAX), none), Err("no device".to_owned()));
        assert_eq!(measure(1, time, || counting(0), || counting(0)), Err("failed after 0".to_owned()));
    }

    #[test]
    fn order_statistics() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0].into_iter()), 2.5);
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(
            (quantile(&hundred, 0.5), quantile(&hundred, 0.99), quantile(&hundred, 0.999)),
            (50, 99, 100)
        );
        assert_eq!(quantile(&[], 0.5), 0);
    }
}
