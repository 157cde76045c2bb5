//! Whether the host notices what a card does wrong. Here the card is a thread, which imports like any other process.

use std::process::Command;
use std::thread::{self, JoinHandle};
use std::{env, fs};

use softdpu::Session;
use softdpu::memory::RemoteMemory;

use super::account::{COMPARE, SHA, WAIT};
use super::process::Peer;
use super::*;
use crate::session;

/// What a card of the test leaves in the result, given the bytes and whether they are the last ones.
type Work = fn(&RemoteMemory, &mut [u8], bool);

/// A card that takes so many turns.
struct Fake {
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    fn start(session: &Session, letter: &Letter, turns: u64, work: Work) -> Self {
        let device = session.device(&letter.device).and_then(|info| info.open()).unwrap();
        let [source, result] =
            [&letter.source, &letter.result].map(|bytes| RemoteMemory::import(&device, bytes).unwrap());
        let event = SyncEvent::import(&device, &letter.event).unwrap();
        assert!(source.write(0, b"not allowed").is_err(), "the card may only read the bytes");
        let thread = thread::spawn(move || {
            for turn in 0..turns {
                event.wait(Condition::equal(2 * turn + 1)).unwrap();
                let mut header = [0; HEADER];
                source.read(WINDOW, &mut header).unwrap();
                let len = usize::from_le_bytes(header[..8].try_into().unwrap());
                let mut bytes = vec![0; len];
                source.read(0, &mut bytes).unwrap();
                work(&result, &mut bytes, header[8] == 1);
                event.set(2 * turn + 2).unwrap();
            }
        });
        Self { thread: Some(thread) }
    }
}

impl Peer for Fake {
    fn still_there(&mut self) -> Result<(), String> {
        match &self.thread {
            Some(thread) if !thread.is_finished() => Ok(()),
            _ => Err("it has ended".to_owned()),
        }
    }

    fn part(mut self) -> Result<Farewell, String> {
        self.thread.take().unwrap().join().unwrap();
        Ok(Farewell::default())
    }
}

/// What the cards of the test say the hash is: nobody computes one here.
const SAID: [u8; DIGEST] = [7; DIGEST];

/// A card that does what it should.
fn honest(result: &RemoteMemory, bytes: &mut [u8], last: bool) {
    result.write(0, bytes).unwrap();
    if last {
        result.write(WINDOW, &SAID).unwrap();
    }
}

/// Runs some bytes past such a card: the steps, those that failed, and the error.
fn run(turns: u64, digest: [u8; DIGEST], work: Work) -> (Vec<&'static str>, Vec<&'static str>, String) {
    let machine = Machine::builder().build().unwrap();
    let mut account = Account::default();
    let (host, card) = sides(&machine).unwrap();
    account.of(host, card);
    let desk = host::Desk::open(machine.clone(), &host.pci().to_string(), &mut account).unwrap();
    let letter = desk.letter(&card.pci().to_string());
    let session = session::open(machine.clone());
    let fake = Fake::start(&session, &letter, turns, work);
    account.met(0, Greeting { reach: "local".to_owned(), seconds: 0.0, sha: true });
    let mut host = Host::new(desk, fake);
    let bytes: Vec<u8> = (0..2 * WINDOW + 1000).map(|i| (i >> 10) as u8).collect();
    let outcome = bytes
        .chunks(1_000_000)
        .try_for_each(|bytes| host.feed(bytes, &mut account))
        .and_then(|()| host.finish(Some(&digest), &mut account));
    if let Err(why) = outcome {
        account.fail(WAIT, why);
    }
    let mut stages = Stages::new(false);
    let error = account.report(&mut stages).err().unwrap_or_default();
    let stages = stages.into_list();
    let failed = stages.iter().filter(|stage| !stage.ok).map(|stage| stage.name).collect();
    (stages.iter().map(|stage| stage.name).collect(), failed, error)
}

/// Whether the test runs in a process of its own already, with a runtime folder of its own. If not, it does now.
fn is_apart(test: &str) -> bool {
    if env::var_os("SOFTDPU_TEST_APART").is_some() {
        return true;
    }
    let folder = env::temp_dir().join(format!("softdpu-{test}-{}", std::process::id()));
    let mut again = Command::new(env::current_exe().unwrap());
    again.args(["--exact", &format!("demo::two_sides::tests::{test}")]);
    let output = again.env("SOFTDPU_TEST_APART", "1").env("SOFTDPU_RUNTIME_DIR", &folder).output().unwrap();
    let _ = fs::remove_dir_all(&folder);
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{error}");
    false
}

const ALL: [&str; 7] =
    ["host_export", "card_import", "card_fetch", "card_sha", "card_store", "host_wait", "host_compare"];

#[test]
fn what_a_card_does_wrong_is_found() {
    if !is_apart("what_a_card_does_wrong_is_found") {
        return;
    }
    assert_eq!(run(3, SAID, honest), (ALL.to_vec(), vec![], String::new()));

    let (steps, failed, error) = run(3, [8; DIGEST], honest);
    assert_eq!((steps, failed), (ALL.to_vec(), vec![SHA]));
    assert!(error.contains(&"08".repeat(DIGEST)) && error.contains(&"07".repeat(DIGEST)), "{error}");

    // One bit of the last turn.
    let (_, failed, error) = run(3, SAID, |result, bytes, last| {
        if last {
            bytes[17] ^= 1;
        }
        honest(result, bytes, last);
    });
    let at = 2 * WINDOW + 17;
    assert_eq!(failed, [COMPARE]);
    assert!(error.ends_with(&format!("at byte {at}")), "{error}");

    // It never writes: what lay there before must not do.
    let (_, failed, error) = run(3, SAID, |_, _, _| {});
    assert_eq!(failed, [COMPARE], "{error}");
}

#[test]
fn a_card_that_ends_early_is_missed() {
    if !is_apart("a_card_that_ends_early_is_missed") {
        return;
    }
    for turns in 0..3 {
        let (steps, failed, error) = run(turns, SAID, honest);
        assert_eq!((&steps[..], &failed[..]), (&["host_export", "card_import", WAIT][..], &[WAIT][..]));
        assert_eq!(error, "host_wait: it has ended");
    }
}

#[test]
fn cards_with_one_side_are_left_out() {
    let machine = |text: &str| Machine::builder().config_text(text).build().unwrap();
    assert!(sides(&machine("[[card]]\nprofile = \"bf3\"")).is_ok());
    let why = sides(&machine("[[card]]\nprofile = \"cx7\"")).unwrap_err();
    assert!(why.starts_with("skipped: "), "{why}");
    assert!(sides(&machine("[[card]]\n[card.limits.dma]\nmax_buf_size = 63")).is_err());
}
