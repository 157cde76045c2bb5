//! Reads a file and holds it to its form, so that nobody after it has to.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::entry::number;
use super::{Damage, Entry, HEAD, Kind, LOST, MAGIC, VERSION};
use crate::contract::KEY;

/// A file that was read, and is whole up to its end.
#[derive(Debug)]
pub struct Record {
    bytes: Vec<u8>,
    end: usize,
    calls: usize,
}

impl Record {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be opened, or is none of ours.
    pub fn open(path: &Path) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Self::of(bytes).map_err(|damage| format!("{}: {damage}", path.display()))
    }

    /// Takes the bytes of a file. Every entry is looked at: calls and returns of a thread nest, functions exist, parts lie
    /// within their entries.
    ///
    /// # Errors
    /// See [`Damage`].
    pub fn of(bytes: Vec<u8>) -> Result<Self, Damage> {
        if !bytes.starts_with(MAGIC) {
            return Damage::at(0, "no record of calls: 'softdpu run --record FILE' writes those");
        }
        if bytes.len() < HEAD {
            return Damage::at(bytes.len(), "the file ends within its head");
        }
        let version = number(&bytes, 8, 4).unwrap_or_default();
        if version != u64::from(VERSION) {
            return Damage::at(
                8,
                format!("version {version} of the form; this command reads version {VERSION}"),
            );
        }
        if number(&bytes, 12, 4) != Some(HEAD as u64) {
            return Damage::at(12, format!("a head that is not {HEAD} bytes long"));
        }
        if number(&bytes, 16, 8) != Some(KEY) {
            return Damage::at(16, "recorded by a version with other functions: record it again");
        }
        let (mut at, mut calls, mut open) = (HEAD, 0, HashMap::<u32, Vec<(Kind, u16)>>::new());
        while let Some((entry, len)) = Entry::parse(&bytes[at..], at)? {
            nest(&mut open, &entry)?;
            calls += usize::from(entry.kind == Kind::Call);
            at += len;
        }
        Ok(Self { bytes, end: at, calls })
    }

    /// How many calls it holds.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// How many entries had no room, or were of functions beyond those that can be told apart.
    #[must_use]
    pub fn lost(&self) -> u64 {
        number(&self.bytes, LOST, 8).unwrap_or_default()
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut at = HEAD;
        std::iter::from_fn(move || {
            let (entry, len) = Entry::parse(self.bytes.get(at..self.end)?, at).ok()??;
            at += len;
            Some(entry)
        })
    }
}

/// Keeps what a thread is within; an end must be that of the innermost.
fn nest(open: &mut HashMap<u32, Vec<(Kind, u16)>>, entry: &Entry<'_>) -> Result<(), Damage> {
    let begin = match entry.kind {
        Kind::Call | Kind::Called => {
            open.entry(entry.thread).or_default().push((entry.kind, entry.index));
            return Ok(());
        }
        Kind::Return => Kind::Call,
        Kind::Returned => Kind::Called,
        _ => return Ok(()),
    };
    let stack = open.entry(entry.thread).or_default();
    match stack.pop() {
        Some(innermost) if innermost == (begin, entry.index) => Ok(()),
        _ => Damage::at(entry.offset, format!("thread {} leaves what it did not enter last", entry.thread)),
    }
}
