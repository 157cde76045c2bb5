//! The account of the two sides: what each step added up to, and what is said about it.

use std::time::Duration;

use serde::Serialize;
use softdpu::card::Function;

use super::{Farewell, Greeting, WINDOW};
use crate::demo::hash::DIGEST;
use crate::demo::stages::{Stage, Stages};
use crate::demo::tally::figures;
use crate::output::bytes_text;

pub(super) const EXPORT: &str = "host_export";
pub(super) const IMPORT: &str = "card_import";
const FETCH: &str = "card_fetch";
pub(super) const SHA: &str = "card_sha";
const STORE: &str = "card_store";
pub(super) const WAIT: &str = "host_wait";
pub(super) const COMPARE: &str = "host_compare";

/// Who the two sides were; a part of the document.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct CardProcess {
    /// The process that was the card; 0 if none was.
    pub(crate) pid: u32,
    /// The function that this process, the host, exported on.
    host: String,
    /// The function that the other one was.
    card: String,
    /// How it reached the memory of the host.
    reach: String,
    /// What it hashed the bytes to.
    sha256: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Account {
    skipped: Option<String>,
    /// The first step that failed, and why.
    failed: Option<(&'static str, String)>,
    who: CardProcess,
    export: Duration,
    /// Bytes of the longest descriptor.
    descriptor: usize,
    greeting: Option<Greeting>,
    farewell: Option<Farewell>,
    same: bool,
    turns: u64,
    /// Bytes that went out and that were compared, and how many of them were equal.
    sent: u64,
    equal: u64,
    waiting: Duration,
    comparing: Duration,
}

impl Account {
    pub(super) fn skip(&mut self, why: String) {
        self.skipped = Some(why);
    }

    /// Notes that a step failed, unless one did before.
    pub(super) fn fail(&mut self, step: &'static str, why: String) {
        self.failed.get_or_insert((step, why));
    }

    pub(super) fn of(&mut self, host: &Function, card: &Function) {
        (self.who.host, self.who.card) = (host.pci().to_string(), card.pci().to_string());
    }

    pub(super) fn exported(&mut self, took: Duration, descriptor: usize) {
        (self.export, self.descriptor) = (took, descriptor);
    }

    pub(super) fn met(&mut self, pid: u32, greeting: Greeting) {
        (self.who.pid, self.who.reach) = (pid, greeting.reach.clone());
        self.greeting = Some(greeting);
    }

    pub(super) fn has_sha(&self) -> bool {
        self.greeting.as_ref().is_some_and(|greeting| greeting.sha)
    }

    /// Notes the card's digest, and whether somebody else came to the same.
    pub(super) fn hashed(&mut self, digest: String, same: bool) {
        (self.who.sha256, self.same) = (Some(digest), same);
    }

    pub(super) fn waited(&mut self, bytes: usize, time: Duration) {
        self.turns += 1;
        self.sent += bytes as u64;
        self.waiting += time;
    }

    /// Notes a turn whose first `same` bytes are equal; gives where in the whole the next byte is.
    pub(super) fn compared(&mut self, bytes: usize, same: usize, time: Duration) -> u64 {
        self.equal += same as u64;
        self.comparing += time;
        self.sent - bytes as u64 + same as u64
    }

    pub(super) fn parted(&mut self, farewell: Farewell) {
        self.farewell = Some(farewell);
    }

    /// Enters every step that came to its end and the one that failed, and tells the reader about them.
    pub(super) fn report(self, stages: &mut Stages) -> Result<(), String> {
        if let Some(why) = &self.skipped {
            stages.heading("The other side of the PCIe link:")?;
            return stages.left_out("card_process", why);
        }
        stages.heading(&format!(
            "The copy went to the other side of the PCIe link, too. This process was the host, {}; another one was\n\
             the card, {}, and reached the memory of the host by itself, both ways:",
            self.who.host, self.who.card
        ))?;
        stages.two_sides(self.who.clone());
        for (stage, said) in self.steps() {
            let ok = self.failed.as_ref().is_none_or(|(step, _)| *step != stage.name);
            let moved = stage.bytes_in > 0;
            let line = if moved { format!("{}  {said}", figures(&stage)) } else { said };
            stages.moved(Stage { ok, ..stage }, &line)?;
        }
        if self.greeting.is_some() && !self.has_sha() {
            stages.left_out(SHA, &format!("skipped: {} has no sha256_partial", self.who.card))?;
        }
        match self.failed {
            None => Ok(()),
            Some((step, why)) => Err(format!("{step}: {why}")),
        }
    }

    fn steps(&self) -> Vec<(Stage, String)> {
        let stage = |name, (bytes_in, seconds): (u64, f64), bytes_out| Stage {
            name,
            bytes_in,
            bytes_out,
            seconds,
            ok: true,
        };
        let mut steps = Vec::new();
        let window = bytes_text(WINDOW as u64);
        let said = format!(
            "{window} of bytes that the card may read, {window} for its result, a sync event:\n\
             descriptors of up to {} bytes, which the card gets on its standard input",
            self.descriptor
        );
        steps.push((stage(EXPORT, (0, self.export.as_secs_f64()), 0), said));
        if let Some(greeting) = &self.greeting {
            let how = match greeting.reach.as_str() {
                "mapped" => "the pages of the host are mapped into it",
                "kernel" => "the kernel copies between the two",
                "worker" => "a thread of the host copies for it",
                _ => "as memory of its own",
            };
            let said = format!(
                "process {} imported it in {:.1} ms; reach: {}, {how}",
                self.who.pid,
                greeting.seconds * 1e3,
                greeting.reach
            );
            steps.push((stage(IMPORT, (0, greeting.seconds), 0), said));
        }
        if let Some(farewell) = &self.farewell {
            let said = "by DMA, from the memory of the host into its own";
            steps.push((stage(FETCH, farewell.fetched, farewell.fetched.0), said.to_owned()));
            if self.has_sha() {
                let said = match &self.who.sha256 {
                    Some(digest) if !self.same => format!("SHA-256 {digest}"),
                    _ => "the same SHA-256 as before".to_owned(),
                };
                steps.push((stage(SHA, farewell.hashed, DIGEST as u64), said));
            }
            let said = "by DMA, back into the memory of the host";
            steps.push((stage(STORE, farewell.stored, farewell.stored.0), said.to_owned()));
        }
        let waited = (self.sent, self.waiting.as_secs_f64());
        let said = format!("{} turns of the sync event, and not one progress call", self.turns);
        steps.push((stage(WAIT, waited, self.sent), said));
        let said = format!("{} of {} bytes are equal to the original", self.equal, self.sent);
        let compared = (self.sent, self.comparing.as_secs_f64());
        steps.push((stage(COMPARE, compared, self.equal), said));
        self.cut(steps)
    }

    /// Without what comes after the failure that ended it; the step that failed is there in any case.
    fn cut(&self, mut steps: Vec<(Stage, String)>) -> Vec<(Stage, String)> {
        let Some((failed, _)) = &self.failed else { return steps };
        if steps.iter().all(|(stage, _)| stage.name != *failed) {
            steps.truncate(steps.iter().take_while(|(stage, _)| stage.name != WAIT).count());
            let stage = Stage { name: failed, bytes_in: 0, bytes_out: 0, seconds: 0.0, ok: false };
            steps.push((stage, String::new()));
        } else if let Some(at) = steps.iter().position(|(stage, _)| stage.name == *failed)
            && self.farewell.is_none()
        {
            steps.truncate(at + 1);
        }
        steps
    }
}
