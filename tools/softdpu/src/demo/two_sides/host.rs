//! The host: memory that the card reaches by itself, and a value that says whose turn it is.

use std::time::Instant;

use softdpu::card::Machine;
use softdpu::memory::{Export, Memory};
use softdpu::sync_event::SyncEvent;

use super::account::{Account, COMPARE, EXPORT, SHA};
use super::process::Peer;
use super::{Letter, RESULT, RESULT_ACCESS, SOURCE, SOURCE_ACCESS, WINDOW, text, wait};
use crate::demo::hash::{DIGEST, hex};
use crate::session;

/// What is in the result before the card writes there.
const JUNK: u8 = 0xa5;

/// What the host lays out for the card.
#[derive(Debug)]
pub(super) struct Desk {
    // The exports end before what they speak of.
    exports: [Export; 2],
    source: Memory,
    result: Memory,
    event: SyncEvent,
    event_bytes: Vec<u8>,
}

impl Desk {
    /// Registers and exports; notes how long that took.
    pub(super) fn open(machine: Machine, device: &str, account: &mut Account) -> Result<Self, String> {
        let session = session::open(machine);
        let device = session.device(device).and_then(|info| info.open()).map_err(text)?;
        let begun = Instant::now();
        // Behind a descriptor, so that the card can have the very same pages.
        let region = |bytes, access| Memory::memfd(bytes).access(access).register(&[&device]).map_err(text);
        let (source, result) = (region(SOURCE, SOURCE_ACCESS)?, region(RESULT, RESULT_ACCESS)?);
        let exports = [source.export(&device).map_err(text)?, result.export(&device).map_err(text)?];
        let event = SyncEvent::new(&device).map_err(text)?;
        let event_bytes = event.export().map_err(text)?;
        account.exported(begun.elapsed(), exports[0].bytes().len().max(event_bytes.len()));
        Ok(Self { exports, source, result, event, event_bytes })
    }

    /// Everything that `device` of the card has to know.
    pub(super) fn letter(&self, device: &str) -> Letter {
        let [source, result] = self.exports.each_ref().map(|export| export.bytes().to_vec());
        Letter { device: device.to_owned(), source, result, event: self.event_bytes.clone() }
    }
}

/// The host at work.
#[derive(Debug)]
pub(super) struct Host<P> {
    peer: P,
    desk: Desk,
    /// Bytes of the turn that is being filled, as they are.
    original: Vec<u8>,
    turns: u64,
}

impl<P: Peer> Host<P> {
    pub(super) fn new(desk: Desk, peer: P) -> Self {
        Self { peer, desk, original: Vec::with_capacity(WINDOW), turns: 0 }
    }

    /// Takes the next bytes, and a turn whenever there are enough.
    pub(super) fn feed(&mut self, mut bytes: &[u8], account: &mut Account) -> Result<(), String> {
        while !bytes.is_empty() {
            let room = WINDOW - self.original.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.original.extend_from_slice(now);
            bytes = later;
            if self.original.len() == WINDOW {
                self.turn(false, account)?;
            }
        }
        Ok(())
    }

    /// The last turn, with as many bytes as there are; then the card goes.
    pub(super) fn finish(mut self, digest: Option<&[u8]>, account: &mut Account) -> Result<(), String> {
        self.turn(true, account)?;
        if account.has_sha() {
            let mut theirs = [0; DIGEST];
            read(&self.desk.result, WINDOW, &mut theirs)?;
            account.hashed(hex(&theirs), digest == Some(&theirs));
            if let Some(digest) = digest.filter(|digest| *digest != theirs) {
                account.fail(SHA, format!("{} before, {} of the card", hex(digest), hex(&theirs)));
            }
        }
        account.parted(self.peer.part()?);
        Ok(())
    }

    /// Lays bytes out, lets the card work on them, and looks at what it left.
    fn turn(&mut self, last: bool, account: &mut Account) -> Result<(), String> {
        let (desk, len) = (&self.desk, self.original.len());
        write(&desk.source, 0, &self.original)?;
        let header = [len as u64, u64::from(last)].map(u64::to_le_bytes);
        write(&desk.source, WINDOW, header.as_flattened())?;
        let mut back = vec![JUNK; len];
        write(&desk.result, 0, &back)?;

        let begun = Instant::now();
        desk.event.set(2 * self.turns + 1).map_err(text)?;
        let peer = &mut self.peer;
        wait(&desk.event, 2 * self.turns + 2, || peer.still_there())?;
        account.waited(len, begun.elapsed());
        self.turns += 1;

        let begun = Instant::now();
        read(&desk.result, 0, &mut back)?;
        let same = if back == self.original {
            len
        } else {
            back.iter().zip(&self.original).take_while(|(a, b)| a == b).count()
        };
        let at = account.compared(len, same, begun.elapsed());
        if same < len {
            account.fail(COMPARE, format!("what the card stored differs from the original at byte {at}"));
        }
        self.original.clear();
        Ok(())
    }
}

fn write(memory: &Memory, at: usize, bytes: &[u8]) -> Result<(), String> {
    let window = memory.buf(..);
    window.and_then(|mut window| window.write_at(at, bytes)).map_err(|e| format!("{EXPORT}: {e}"))
}

fn read(memory: &Memory, at: usize, bytes: &mut [u8]) -> Result<(), String> {
    memory.buf(..).and_then(|window| window.read_at(at, bytes)).map_err(|e| format!("{EXPORT}: {e}"))
}
