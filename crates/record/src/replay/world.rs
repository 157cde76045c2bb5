//! What recorded values are here: handles, addresses, descriptors, exports.

use std::collections::{HashMap, HashSet};

use super::memory::Memory;
use crate::contract::{Parameter, Shape};
use crate::file::{Entry, little};

/// The counterparts of what was recorded.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) memory: Memory,
    handles: HashMap<u64, u64>,
    /// Handles that calls gave which were not repeated.
    absent: HashSet<u64>,
    descriptors: HashMap<u64, u64>,
    exports: Vec<(Vec<u8>, Vec<u8>)>,
    /// What is passed for a handle that never was one: memory in which no object is.
    nothing: Vec<u64>,
}

/// The name of the type of descriptors that the library gives.
const NOTIFICATION: &str = "notification_handle_t";

impl World {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, nothing: vec![0; 512], ..Self::default() }
    }

    /// A recorded handle is this one here.
    pub(super) fn bind(&mut self, recorded: u64, live: u64) {
        if recorded != 0 && live != 0 {
            self.absent.remove(&recorded);
            self.handles.insert(recorded, live);
        }
    }

    /// A recorded handle has no counterpart.
    pub(super) fn lack(&mut self, recorded: u64) {
        if recorded != 0 {
            self.handles.remove(&recorded);
            self.absent.insert(recorded);
        }
    }

    /// The handle here, if it is known.
    pub(super) fn handle(&self, recorded: u64) -> Option<u64> {
        if recorded == 0 { Some(0) } else { self.handles.get(&recorded).copied() }
    }

    /// Whether a call cannot be made, since one of its objects is absent.
    pub(super) fn is_absent(&self, entry: &Entry<'_>, parameters: &[Parameter]) -> bool {
        let handles = parameters.iter().zip(&entry.words).filter(|(p, _)| p.shape == Shape::Handle);
        handles.map(|(_, word)| word).any(|word| self.absent.contains(word))
    }

    /// A word that may be an address of anything.
    pub(super) fn word(&self, recorded: u64) -> u64 {
        self.handles.get(&recorded).copied().or_else(|| self.memory.here(recorded)).unwrap_or(recorded)
    }

    /// An address of the program's memory.
    pub(super) fn address(&self, recorded: u64) -> u64 {
        self.memory.here(recorded).unwrap_or(recorded)
    }

    /// The word of a parameter that needs no memory here.
    pub(super) fn plain(&self, parameter: &Parameter, word: u64) -> u64 {
        match parameter.shape {
            Shape::Handle => self.handle(word).unwrap_or(self.nothing.as_ptr() as u64),
            Shape::Memory => self.address(word),
            Shape::Int if parameter.of == NOTIFICATION => *self.descriptors.get(&word).unwrap_or(&word),
            _ => word,
        }
    }

    /// A descriptor that the library gave.
    pub(super) fn described(&mut self, parameter: &Parameter, recorded: &[u8], live: u64) {
        if parameter.of == NOTIFICATION {
            self.descriptors.insert(little(recorded), live);
        }
    }

    /// An export: whoever imports the recorded one means this one.
    pub(super) fn exported(&mut self, recorded: &[u8], live: Vec<u8>) {
        self.exports.retain(|(known, _)| known != recorded);
        self.exports.push((recorded.to_vec(), live));
    }

    /// Bytes that a call reads, as they have to be here.
    pub(super) fn bytes(&self, recorded: &[u8]) -> Vec<u8> {
        let export = self.exports.iter().find(|(known, _)| known == recorded);
        export.map_or_else(|| recorded.to_vec(), |(_, live)| live.clone())
    }

    /// A structure, whose fields may be addresses.
    pub(super) fn structure(&self, recorded: &[u8]) -> Vec<u8> {
        let mut bytes = recorded.to_vec();
        for field in bytes.chunks_exact_mut(8) {
            let word = self.word(little(field));
            field.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}
