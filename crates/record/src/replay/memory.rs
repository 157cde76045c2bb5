//! Memory of the recorded program: found in the whole record before the first call, so that each of its addresses has one
//! counterpart here, however maps overlap.

use std::collections::HashMap;

use super::ffi;
use crate::contract::{FUNCTIONS, Shape};
use crate::file::{Entry, Kind};

const PAGE: u64 = 4096;
/// A task's word.
const WORD: u64 = 8;

/// A stretch of memory: where it was, how long, where it is.
#[derive(Clone, Copy, Debug)]
struct Region {
    begin: u64,
    end: u64,
    here: u64,
}

/// All of it, in the order of addresses.
#[derive(Debug, Default)]
pub(super) struct Memory {
    regions: Vec<Region>,
}

impl Memory {
    /// Makes the counterparts of all memory that calls which went well handed over.
    pub(super) fn of(steps: &[Entry<'_>]) -> Self {
        let mut spans: Vec<(u64, u64)> = Vec::new();
        let mut open: HashMap<u32, Vec<&Entry<'_>>> = HashMap::new();
        for step in steps {
            match step.kind {
                Kind::Call => open.entry(step.thread).or_default().push(step),
                Kind::Return => {
                    if let Some(call) = open.get_mut(&step.thread).and_then(Vec::pop)
                        && step.first == 0
                    {
                        spans.extend(handed(call));
                    }
                }
                Kind::Memory => spans.push((step.first, step.words[0])),
                _ => {}
            }
        }
        let pages = |(at, len): &(u64, u64)| {
            Some((at & !(PAGE - 1), at.checked_add(*len)?.checked_next_multiple_of(PAGE)?))
        };
        let mut spans: Vec<(u64, u64)> = spans.iter().filter_map(pages).collect();
        spans.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (begin, end) in spans {
            match joined.last_mut().filter(|(_, last)| begin <= *last) {
                Some((_, last)) => *last = end.max(*last),
                None => joined.push((begin, end)),
            }
        }
        let regions = joined.into_iter().filter_map(|(begin, end)| {
            Some(Region { begin, end, here: ffi::memory(usize::try_from(end - begin).ok()?)? })
        });
        Self { regions: regions.collect() }
    }

    /// Where an address is here. The end of a stretch counts as of it.
    pub(super) fn here(&self, address: u64) -> Option<u64> {
        let at = self.regions.partition_point(|r| r.begin <= address).checked_sub(1)?;
        let region = self.regions[at];
        (address <= region.end).then(|| region.here + (address - region.begin))
    }
}

/// The memory that a call handed over.
fn handed<'a>(call: &'a Entry<'_>) -> impl Iterator<Item = (u64, u64)> + 'a {
    let parameters = FUNCTIONS[usize::from(call.index)].parameters;
    let memory =
        parameters.iter().enumerate().filter(|(i, p)| p.shape == Shape::Memory && call.words[*i] != 0);
    memory.map(|(i, _)| {
        let sized = parameters.get(i + 1).is_some_and(|next| next.shape == Shape::Int);
        let len = if sized { call.words[i + 1] } else { WORD };
        // A map of another kind of memory: the length is the one after.
        let name = parameters.get(i + 1).map_or("", |next| next.name);
        (call.words[i], if name == "dmabuf_offset" { call.words[i + 2] } else { len })
    })
}
