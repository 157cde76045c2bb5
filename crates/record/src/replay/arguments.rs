//! The arguments of a repeated call: numbers, and the memory that pointers among them lead to.

use super::ffi;
use super::world::World;
use crate::contract::{Function, Parameter, Shape};
use crate::file::Entry;

/// Room for what a call writes, in words: more than any of its structures and fixed texts.
const ROOM: usize = 1024;

/// The words of a call, and what they point at.
#[derive(Debug)]
pub(super) struct Arguments {
    pub(super) words: Vec<u64>,
    /// Memory of parameters, which stays where it is.
    behind: Vec<(usize, Vec<u64>)>,
}

impl Arguments {
    /// The arguments of a recorded call here.
    pub(super) fn of(entry: &Entry<'_>, function: &Function, world: &World) -> Self {
        let mut all = Self { words: Vec::new(), behind: Vec::new() };
        for (i, parameter) in function.parameters.iter().enumerate() {
            let word = all.argument(entry, i, parameter, world);
            all.words.push(word);
        }
        all
    }

    /// What a call wrote behind a parameter.
    pub(super) fn written(&self, parameter: usize, len: usize) -> Vec<u8> {
        let found = self.behind.iter().find(|(i, _)| *i == parameter);
        let mut bytes: Vec<u8> =
            found.map_or_else(Vec::new, |(_, words)| words.iter().flat_map(|w| w.to_le_bytes()).collect());
        bytes.truncate(len);
        bytes
    }

    fn argument(&mut self, entry: &Entry<'_>, i: usize, parameter: &Parameter, world: &World) -> u64 {
        let word = entry.words[i];
        let part = entry.part(i, 0);
        match (parameter.shape, part) {
            (Shape::File, _) if word != 0 => ffi::stream(),
            (Shape::Descriptor, _) => 2,
            (Shape::Text, Some(text)) => self.keep(i, &[text, &[0]].concat()),
            (Shape::Given, Some(bytes)) => self.keep(i, &world.structure(bytes)),
            (Shape::GivenBytes, Some(bytes)) => self.keep(i, &world.bytes(bytes)),
            (Shape::Handles, Some(bytes)) => self.keep(i, &world.structure(bytes)),
            (Shape::Structures | Shape::Texts, _) if word != 0 => self.list(entry, i, parameter.shape, world),
            (Shape::Taken | Shape::NewHandle | Shape::NewList | Shape::TakenBytes | Shape::Address(_), _)
                if word != 0 =>
            {
                self.room(i, entry)
            }
            _ => world.plain(parameter, word),
        }
    }

    /// Room for what a call writes: at least as much as it says there is.
    fn room(&mut self, i: usize, entry: &Entry<'_>) -> u64 {
        let said = entry.words.get(i + 1).copied().filter(|&n| n <= 1 << 20).unwrap_or(0) as usize;
        self.put(i, vec![0; ROOM + said])
    }

    fn keep(&mut self, i: usize, bytes: &[u8]) -> u64 {
        let words = bytes.chunks(8).map(crate::file::little);
        // One word more: an empty one has an address, too.
        self.put(i, words.chain([0]).collect())
    }

    fn put(&mut self, i: usize, words: Vec<u64>) -> u64 {
        let address = words.as_ptr() as u64;
        self.behind.push((i, words));
        address
    }

    /// A list of pointers, with an end.
    fn list(&mut self, entry: &Entry<'_>, i: usize, shape: Shape, world: &World) -> u64 {
        let parts: Vec<_> = entry.parts().filter(|p| usize::from(p.parameter) == i).collect();
        let count = parts.iter().map(|p| usize::from(p.element) + 1).max().unwrap_or(0);
        let mut pointers = vec![0; count + 1];
        for part in parts {
            let bytes = match shape {
                Shape::Texts => [part.bytes, &[0]].concat(),
                _ => world.structure(part.bytes),
            };
            pointers[usize::from(part.element)] = self.keep(usize::MAX, &bytes);
        }
        self.put(i, pointers)
    }
}
