//! The search: seeds in order, several at a time, until one fails.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Asked;
use super::runner::{Ending, Runner};
use crate::faults::FaultOptions;
use crate::message::Failure;

/// Width of the progress bar.
const BAR: u64 = 40;

/// The lowest seed that fails. All below it were tried; a few above it may have been, too.
pub(super) fn first_failure(runner: &Runner, asked: &Asked) -> Result<Option<(u64, Ending)>, Failure> {
    let end = asked.first + asked.seeds;
    let next = AtomicU64::new(asked.first);
    let lowest = AtomicU64::new(u64::MAX);
    let done = AtomicU64::new(0);
    let found: Mutex<Result<Vec<(u64, Ending)>, Failure>> = Mutex::new(Ok(Vec::new()));
    let bar = Bar::new(asked.seeds);
    std::thread::scope(|scope| {
        for _ in 0..asked.jobs.min(usize::try_from(asked.seeds).unwrap_or(usize::MAX)) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || seed > lowest.load(Ordering::Relaxed) {
                        return;
                    }
                    let options = FaultOptions { seed: Some(seed), ..asked.faults.clone() };
                    let ending = runner.run(&options, None);
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    match (ending, found.as_mut()) {
                        (Ok(ending), Ok(all)) if ending.is_failure() => {
                            lowest.fetch_min(seed, Ordering::Relaxed);
                            all.push((seed, ending));
                        }
                        (Ok(_), _) => {}
                        (Err(failure), Ok(_)) => {
                            lowest.store(0, Ordering::Relaxed);
                            *found = Err(failure);
                        }
                        (Err(_), Err(_)) => return,
                    }
                    bar.show(done.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    bar.end();
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    Ok(found.into_iter().min_by_key(|f| f.0))
}

/// A progress bar on a terminal; nothing anywhere else.
#[derive(Debug)]
struct Bar {
    total: u64,
    shown: bool,
}

impl Bar {
    fn new(total: u64) -> Bar {
        Bar { total, shown: std::io::stderr().is_terminal() }
    }

    fn show(&self, done: u64) {
        if !self.shown {
            return;
        }
        let full = (done * BAR / self.total) as usize;
        let line = format!(
            "\r[{}{}] {done}/{} seeds",
            "#".repeat(full),
            ".".repeat(BAR as usize - full),
            self.total
        );
        // Only for the eye.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }

    fn end(&self) {
        if self.shown {
            let _ = std::io::stderr().lock().write_all(b"\r\x1b[K");
        }
    }
}
