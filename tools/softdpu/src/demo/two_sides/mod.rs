//! Host and card as two processes: this one is the host, and starts itself again as the card.
//!
//! The host registers two regions, one with the bytes of the copy and an empty one for the result, exports them and a
//! sync event, and tells the card about them in a letter on its standard input. From then on nothing but the event says
//! whose turn it is: at odd values the card's, at even ones the host's. The card fetches the bytes by DMA, hashes them
//! and stores them into the result; the host waits meanwhile and makes no progress call.
//!
//! | file | what |
//! |---|---|
//! | `host.rs` | the host: fills the one region, waits, compares the other |
//! | `card.rs` | the card: `softdpu demo-card`, which no help text lists |
//! | `process.rs` | the card's process as the host sees it |
//! | `account.rs` | what is told about it |

mod account;
pub(crate) mod card;
mod host;
mod process;

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use softdpu::card::{Feature, Function, Machine, Side, View};
use softdpu::sync_event::{self, Condition, SyncEvent};
use softdpu::{Access, Code};

use super::hash::DIGEST;
use super::stages::Stages;
use crate::card::CardOptions;
use crate::message::Failure;
pub(crate) use account::CardProcess;
use account::{Account, EXPORT, IMPORT, WAIT};
use host::Host;
pub(crate) use process::COMMAND as CARD;
use process::Process;

/// Bytes of a turn; the first ones of both regions.
const WINDOW: usize = 4 << 20;
/// Behind the bytes of the host: how many of them count this time, and whether they are the last.
const HEADER: usize = 16;
const SOURCE: usize = WINDOW + HEADER;
/// Behind the bytes of the result: the digest, when all is over.
const RESULT: usize = WINDOW + DIGEST;
/// What the card may do with each.
const SOURCE_ACCESS: Access = Access::PCI_READ_ONLY;
const RESULT_ACCESS: Access = Access::PCI_READ_WRITE;

/// What the host tells the card, in one line.
#[derive(Debug, Serialize, Deserialize)]
struct Letter {
    /// The function that the card is to be.
    device: String,
    source: Vec<u8>,
    result: Vec<u8>,
    event: Vec<u8>,
}

/// What the card answers at once.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Greeting {
    /// How it reaches the memory of the host.
    reach: String,
    /// Importing took this long.
    seconds: f64,
    /// Whether it has an engine for SHA-256.
    sha: bool,
}

/// What the card says in the end: bytes and seconds of its three steps.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Farewell {
    fetched: (u64, f64),
    hashed: (u64, f64),
    stored: (u64, f64),
}

/// The host's end of it, and what came of it so far.
#[derive(Debug)]
pub(crate) struct TwoSides {
    host: Option<Host<Process>>,
    account: Account,
}

impl TwoSides {
    /// Starts the card's process, if the cards of `machine` have two sides that share memory. A failure is kept for the
    /// report.
    pub(crate) fn open(options: &CardOptions, machine: &Machine) -> Self {
        let mut account = Account::default();
        let host = match sides(machine) {
            Ok((host, card)) => {
                account.of(host, card);
                start(options, host, card, &mut account)
            }
            Err(why) => {
                account.skip(why);
                None
            }
        };
        Self { host, account }
    }

    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let Some(host) = &mut self.host else { return };
        if let Err(why) = host.feed(bytes, &mut self.account) {
            self.fail(WAIT, why);
        }
    }

    /// After the last bytes. `digest` is what they hash to, if somebody knows.
    pub(crate) fn finish(&mut self, digest: Option<&[u8]>) {
        let Some(host) = self.host.take() else { return };
        if let Err(why) = host.finish(digest, &mut self.account) {
            self.fail(WAIT, why);
        }
    }

    fn fail(&mut self, step: &'static str, why: String) {
        self.account.fail(step, why);
        self.host = None;
    }

    /// Enters the steps and tells the reader about them.
    pub(crate) fn report(self, stages: &mut Stages) -> Result<(), String> {
        self.account.report(stages)
    }
}

fn start(
    options: &CardOptions,
    host: &Function,
    card: &Function,
    account: &mut Account,
) -> Option<Host<Process>> {
    // Each process sees the functions of its side alone, whatever the rest of the demonstration sees.
    let machine = options.seen_from(View::Host).map_err(Failure::into_text);
    let desk = machine.and_then(|machine| host::Desk::open(machine, &host.pci().to_string(), account));
    let desk = desk.map_err(|why| account.fail(EXPORT, why)).ok()?;
    let letter = desk.letter(&card.pci().to_string());
    let started = Process::start(options, &letter).map_err(|why| account.fail(IMPORT, why)).ok()?;
    let (process, greeting) = started;
    account.met(process.id(), greeting);
    Some(Host::new(desk, process))
}

/// A function of a host and one of its card that can share memory and events, and copy; or why there are none.
fn sides(machine: &Machine) -> Result<(&Function, &Function), String> {
    let all = || machine.functions().iter().chain(machine.hidden_functions()).map(|function| &**function);
    let events = |function: &Function| sync_event::Caps::of(function).ok();
    let is_host = |f: &Function| f.side() == Side::Host && events(f).is_some_and(|caps| caps.export_pci);
    let is_card = |f: &Function| {
        let takes = f.has(Feature::DmaMemcpy) && card::piece(f) > 0;
        f.side() == Side::Dpu && takes && events(f).is_some_and(|caps| caps.import_pci)
    };
    all()
        .filter(|f| is_card(f))
        .find_map(|card| {
            let host = all().find(|host| is_host(host) && host.card().name() == card.card().name())?;
            Some((host, card))
        })
        .ok_or_else(|| "skipped: no card has two sides that share memory".to_owned())
}

/// Waits until the event has come to a value. The other side may have better use for the processor, so this one naps
/// between looks. `still` says when waiting has become pointless.
fn wait(event: &SyncEvent, value: u64, mut still: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    const LOOK: Duration = Duration::from_micros(50);
    let mut nap = LOOK;
    loop {
        match event.wait_for(Condition::equal(value), LOOK) {
            Ok(_) => return Ok(()),
            Err(e) if e.code() == Code::TimeOut => {}
            Err(e) => return Err(e.to_string()),
        }
        if let Err(why) = still() {
            // It may have come to that just before the end.
            return if event.get() == Ok(value) { Ok(()) } else { Err(why) };
        }
        thread::sleep(nap);
        nap = (2 * nap).min(Duration::from_millis(1));
    }
}

fn text(error: softdpu::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests;
