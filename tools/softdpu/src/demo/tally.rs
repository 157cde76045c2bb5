//! What every step of the pipeline added up to, and what is said about it.

use std::time::{Duration, Instant};

use super::stages::{COMPARE, Stage, Stages};
use crate::output::bytes_text;

/// The steps, in the order in which a piece takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Hash,
    Deflate,
    Encrypt,
    Create,
    Recover,
    Decrypt,
    Inflate,
    HashAgain,
    Compare,
}

impl Step {
    const COUNT: usize = 9;
    const NAMES: [&str; Step::COUNT] = [
        "sha",
        "deflate",
        "aes_gcm_encrypt",
        "ec_create",
        "ec_recover",
        "aes_gcm_decrypt",
        "inflate",
        "sha",
        COMPARE,
    ];

    pub(crate) fn name(self) -> &'static str {
        Step::NAMES[self as usize]
    }
}

/// What became of a step.
#[derive(Clone, Debug)]
enum Fate {
    /// It is carried out; in the end this is said about it.
    Taken(String),
    /// It is left out, for this reason.
    Skipped(String),
    /// A task of it failed, or what it found is wrong.
    Failed,
}

#[derive(Clone, Debug)]
struct Sum {
    bytes_in: u64,
    bytes_out: u64,
    time: Duration,
    fate: Fate,
}

/// The sums of all steps.
#[derive(Debug)]
pub(crate) struct Tally {
    sums: Vec<Sum>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        let sum = Sum { bytes_in: 0, bytes_out: 0, time: Duration::ZERO, fate: Fate::Taken(String::new()) };
        Self { sums: vec![sum; Step::COUNT] }
    }

    pub(crate) fn add(&mut self, step: Step, bytes_in: usize, bytes_out: usize) {
        let sum = &mut self.sums[step as usize];
        sum.bytes_in += bytes_in as u64;
        sum.bytes_out += bytes_out as u64;
    }

    pub(crate) fn took(&mut self, step: Step, since: Instant) {
        self.sums[step as usize].time += since.elapsed();
    }

    /// Notes what `work` took and, if it failed, that this step did.
    pub(crate) fn timed<T>(
        &mut self,
        step: Step,
        work: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        let start = Instant::now();
        let result = work(self);
        self.took(step, start);
        result.map_err(|e| {
            self.fail(step);
            format!("{}: {e}", step.name())
        })
    }

    pub(crate) fn explain(&mut self, step: Step, text: String) {
        if let Fate::Taken(said) = &mut self.sums[step as usize].fate {
            *said = text;
        }
    }

    pub(crate) fn skip(&mut self, step: Step, why: &str) {
        self.sums[step as usize].fate = Fate::Skipped(why.to_owned());
    }

    pub(crate) fn fail(&mut self, step: Step) {
        self.sums[step as usize].fate = Fate::Failed;
    }

    /// Bytes that went into a step and came out of it.
    pub(crate) fn bytes(&self, step: Step) -> (u64, u64) {
        let sum = &self.sums[step as usize];
        (sum.bytes_in, sum.bytes_out)
    }

    /// Enters every step that was not left out, and tells the reader about those that were.
    pub(crate) fn report(&self, stages: &mut Stages) -> Result<(), String> {
        for (&name, sum) in Step::NAMES.iter().zip(&self.sums) {
            let (bytes_in, bytes_out) = (sum.bytes_in, sum.bytes_out);
            let seconds = sum.time.as_secs_f64();
            let stage = |ok| Stage { name, bytes_in, bytes_out, seconds, ok };
            match &sum.fate {
                Fate::Taken(said) => {
                    let text = format!("{}  {said}", figures(&stage(true)));
                    stages.moved(stage(true), text.trim_end())?;
                }
                Fate::Failed => stages.moved(stage(false), "")?,
                Fate::Skipped(why) => stages.left_out(name, why)?,
            }
        }
        Ok(())
    }
}

/// What went in and came out, and how fast.
pub(crate) fn figures(stage: &Stage) -> String {
    let volume = format!("{} -> {}", bytes_text(stage.bytes_in), bytes_text(stage.bytes_out));
    format!("{volume:<22} {:>11}", rate(stage.bytes_in.max(stage.bytes_out), stage.seconds))
}

/// Of the larger side of a step.
fn rate(bytes: u64, seconds: f64) -> String {
    if bytes == 0 || seconds <= 0.0 {
        return String::new();
    }
    format!("{:.2} GB/s", bytes as f64 / seconds / 1e9)
}
