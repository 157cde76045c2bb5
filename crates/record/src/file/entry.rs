//! One entry of a file, checked once and read often.

use super::{Damage, ENTRY};
use crate::contract::{CALLBACKS, FUNCTIONS};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The program calls a function; first: the place of the call.
    Call,
    /// It returns; first: its result.
    Return,
    /// The library calls a function of the program; first: its address.
    Called,
    /// That returns; first: its result.
    Returned,
    /// Progress that found nothing; first: the progress engine, one word: how often.
    Idle,
    /// The words for a place; first: its address.
    Place,
    /// Memory of a task; first: its address, words: length and hash; index 0: before its submission, 1: after its end.
    Memory,
    /// The program ended; first: its status.
    Ended,
}

impl Kind {
    fn of(number: u8) -> Option<Self> {
        use Kind::*;
        [Call, Return, Called, Returned, Idle, Place, Memory, Ended]
            .get(usize::from(number).checked_sub(1)?)
            .copied()
    }

    /// How many words an entry has; `None`: there is no such function.
    fn words(self, index: u16) -> Option<usize> {
        let index = usize::from(index);
        Some(match self {
            Self::Call => FUNCTIONS.get(index)?.parameters.len(),
            Self::Return => FUNCTIONS.get(index).map(|_| 0)?,
            Self::Called => CALLBACKS.get(index)?.parameters.len(),
            Self::Returned => CALLBACKS.get(index).map(|_| 0)?,
            Self::Idle => 1,
            Self::Memory => 2,
            Self::Place | Self::Ended => 0,
        })
    }
}

/// An entry, and where its parts stand.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) offset: usize,
    pub(crate) kind: Kind,
    pub(crate) index: u16,
    pub(crate) thread: u32,
    pub(crate) first: u64,
    pub(crate) words: Vec<u64>,
    parts: &'a [u8],
}

/// What stood behind a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    pub(crate) parameter: u16,
    pub(crate) element: u16,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The entry at the beginning of some bytes, all of them checked, and its length; `None` at the end of a file.
    pub(super) fn parse(bytes: &'a [u8], offset: usize) -> Result<Option<(Self, usize)>, Damage> {
        let Some(len) = number(bytes, 0, 4).filter(|&len| len != 0) else { return Ok(None) };
        let len = len as usize;
        let Some(whole) = bytes.get(..len).filter(|_| len >= ENTRY && len.is_multiple_of(8)) else {
            return Damage::at(offset, format!("an entry of {len} bytes, where {} are left", bytes.len()));
        };
        let Some(kind) = Kind::of(whole[4]) else {
            return Damage::at(offset + 4, format!("an entry of unknown kind {}", whole[4]));
        };
        let field = |at, n| number(whole, at, n).unwrap_or_default();
        let index = field(6, 2) as u16;
        let Some(count) = kind.words(index) else {
            return Damage::at(offset + 6, format!("number {index} is no function"));
        };
        if usize::from(whole[5]) != count || len < ENTRY + 8 * count {
            return Damage::at(
                offset + 5,
                format!("{} words in {len} bytes, where {count} belong", whole[5]),
            );
        }
        let entry = Self {
            offset,
            kind,
            index,
            thread: field(8, 4) as u32,
            first: field(16, 8),
            words: (0..count).map(|i| field(ENTRY + 8 * i, 8)).collect(),
            parts: &whole[ENTRY + 8 * count..],
        };
        let read: usize = entry.parts().map(|part| 8 + part.bytes.len().next_multiple_of(8)).sum();
        if read != entry.parts.len() {
            return Damage::at(offset + ENTRY + 8 * count + read, "a part that reaches past its entry");
        }
        Ok(Some((entry, len)))
    }

    /// All that stood behind parameters.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part<'a>> + use<'a> {
        let mut rest = self.parts;
        std::iter::from_fn(move || {
            let len = number(rest, 4, 4)? as usize;
            let bytes = rest.get(8..8 + len)?;
            let part =
                Part { parameter: number(rest, 0, 2)? as u16, element: number(rest, 2, 2)? as u16, bytes };
            rest = rest.get(8 + len.next_multiple_of(8)..)?;
            Some(part)
        })
    }

    /// What stood behind a parameter.
    pub(crate) fn part(&self, parameter: usize, element: u16) -> Option<&'a [u8]> {
        let found = self.parts().find(|p| usize::from(p.parameter) == parameter && p.element == element);
        found.map(|part| part.bytes)
    }
}

/// A number of up to 8 bytes.
pub(crate) fn little(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |sum, &b| sum << 8 | u64::from(b))
}

pub(super) fn number(bytes: &[u8], at: usize, n: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(n)?).map(little)
}
