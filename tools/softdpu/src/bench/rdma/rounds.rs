//! A word to the other process and its answer back.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use softdpu::Buf;
use softdpu::rdma::Write;

use super::end::{End, Plan};
use super::peer::{Peer, Role};
use super::{PLACES, WORD, With, connect};
use crate::bench::lane::text;
use crate::bench::measure::{Lane, TimedLane};
use crate::bench::patience::Patience;

/// A word there, and its answer back.
pub(super) struct Rounds {
    // Before the peer.
    end: End,
    task: Option<Write>,
    answer: Buf,
    plain_answer: Buf,
    number: u64,
    _peer: Peer,
}

impl Rounds {
    pub(super) fn new(with: With<'_>) -> Result<Self, String> {
        let plan = Plan { bytes: PLACES + WORD, depth: 1, links: 1 };
        let (end, peer) = connect(with, Role::Answer, (plan, plan))?;
        let place = |at| end.memory.alias(at..at + WORD).map_err(|e| e.to_string());
        let (answer, plain_answer, mut src) = (place(0)?, place(WORD)?, place(PLACES)?);
        src.set_data(..).map_err(|e| e.to_string())?;
        let dst = end.remote.buf(..WORD).map_err(|e| e.to_string())?;
        let task = Some(Write { to: end.connections[0].target(), src, dst, immediate: None });
        Ok(Self { end, task, answer, plain_answer, number: 0, _peer: peer })
    }

    /// By tasks, or by `plain` writes into the other process's memory.
    fn once(&mut self, plain: bool) -> Result<(), String> {
        let Self { end, task, answer, plain_answer, number, .. } = self;
        *number += 1;
        let word = number.to_ne_bytes();
        if plain {
            end.remote.write(WORD, &word).map_err(text)?;
        } else if let Some(mut write) = task.take() {
            write.src.write_at(0, &word).map_err(|e| e.to_string())?;
            let flight = end.context.submit(write).map_err(|refused| text(refused.error))?;
            while !flight.is_done() {
                end.pe.progress();
            }
            let done = flight.try_take().map_err(|_| "a task that is back is not there")?;
            done.result.map_err(text)?;
            *task = Some(done.task);
        }
        let place = if plain { plain_answer } else { answer };
        let mut now = [0; WORD];
        let mut patience = Patience::default();
        loop {
            place.read_at(0, &mut now).map_err(|e| e.to_string())?;
            if now == word {
                return Ok(());
            }
            if patience.pass().is_multiple_of(1 << 12) && !end.connections[0].is_connected() {
                return Err("the second process has ended".to_owned());
            }
        }
    }
}

/// Both ways of a word, by turns between the same two ends: one more that waits would take a processor from them.
pub(super) struct Way<'a> {
    pub(super) rounds: &'a Mutex<Rounds>,
    pub(super) plain: bool,
}

impl Way<'_> {
    fn rounds(&self) -> MutexGuard<'_, Rounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane for Way<'_> {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        // There and back are two.
        let mut rounds = self.rounds();
        (0..tasks.div_ceil(2)).try_for_each(|_| rounds.once(self.plain))
    }
}

impl TimedLane for Way<'_> {
    fn timed(&mut self, tasks: u64, latencies: &mut Vec<u64>) -> Result<(), String> {
        let mut rounds = self.rounds();
        (0..tasks.div_ceil(2)).try_for_each(|_| {
            let began = Instant::now();
            rounds.once(self.plain)?;
            latencies.push(began.elapsed().as_nanos() as u64 / 2);
            Ok(())
        })
    }
}
