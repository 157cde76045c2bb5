//! Which tasks a fault is for, by what they touch: the peer at the other end, and memory.

use crate::plan::{Fault, Peer, Place};
use softdpu_room::instrument::Task;
use softdpu_room::touch::{self, Span, Touch};
use std::collections::HashMap;

/// Names of the programs that processes run.
#[derive(Debug, Default)]
pub(crate) struct Programs(HashMap<u32, String>);

impl Programs {
    /// What the kernel calls the program of a process; empty when there is none.
    fn name(&mut self, process: u32) -> &str {
        self.0.entry(process).or_insert_with(|| {
            let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
            name.trim_end_matches('\n').to_owned()
        })
    }
}

/// Does the task touch what the fault names?
pub(crate) fn chosen(fault: &Fault, task: &Task<'_>, programs: &mut Programs) -> bool {
    let (mut peer, mut memory) = (fault.peer.is_none(), fault.memory.is_none());
    task.touches(&mut |touch| match touch {
        Touch::Peer(found) => {
            peer |= fault.peer.as_ref().is_some_and(|wanted| is_peer(wanted, found, programs))
        }
        Touch::Memory(span) => memory |= fault.memory.is_some_and(|place| meets(place, span)),
    });
    peer && memory
}

fn is_peer(wanted: &Peer, found: touch::Peer, programs: &mut Programs) -> bool {
    match wanted {
        Peer::Process(number) => found.process == *number,
        Peer::Address(address) => found.address == Some(address.to_canonical()),
        Peer::Program(name) => found.process != 0 && programs.name(found.process) == name,
    }
}

/// Has the place a byte in common with the span?
fn meets(place: Place, span: Span) -> bool {
    let (base, start) = (span.base as u64, span.start as u64);
    if span.len == 0 || place.map.is_some_and(|map| map != span.map) {
        return false;
    }
    let Some((from, to)) = place.range else { return true };
    let first = if place.map.is_some() { start.saturating_sub(base) } else { start };
    first < to && from < first.saturating_add(span.len as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span { map: 2, base: 0x1000, start: 0x1100, len: 0x10 };

    fn place(map: impl Into<Option<u32>>, range: impl Into<Option<(u64, u64)>>) -> Place {
        Place { map: map.into(), range: range.into() }
    }

    #[test]
    fn places_meet_spans_by_one_byte_at_least() {
        for (place, meeting) in [
            (place(2, None), true),
            (place(3, None), false),
            (place(None, (0x110f, 0x2000)), true),
            (place(None, (0x1110, 0x2000)), false),
            (place(None, (0, 0x1101)), true),
            (place(None, (0, 0x1100)), false),
            (place(2, (0x10f, 0x200)), true),
            (place(2, (0x110, 0x200)), false),
            (place(2, (0, 0x101)), true),
            (place(2, (0, 0x100)), false),
            (place(3, (0x100, 0x101)), false),
            (place(None, (0x100, 0x101)), false),
        ] {
            assert_eq!(meets(place, SPAN), meeting, "{place:?}");
        }
        assert!(!meets(place(2, None), Span { len: 0, ..SPAN }));
    }

    #[test]
    fn peers_are_known_by_number_program_and_address() {
        let mut programs = Programs::default();
        let this = std::process::id();
        let here = touch::Peer { process: this, address: None };
        let name = std::fs::read_to_string("/proc/self/comm").unwrap();
        assert!(is_peer(&Peer::Process(this), here, &mut programs));
        assert!(is_peer(&Peer::Program(name.trim_end().into()), here, &mut programs));
        assert!(!is_peer(&Peer::Program("someone else".into()), here, &mut programs));
        assert!(!is_peer(&Peer::Process(this + 1), here, &mut programs));
        let far = touch::Peer { process: 0, address: Some("10.0.0.2".parse().unwrap()) };
        assert!(is_peer(&Peer::Address("10.0.0.2".parse().unwrap()), far, &mut programs));
        assert!(is_peer(&Peer::Address("::ffff:10.0.0.2".parse().unwrap()), far, &mut programs));
        assert!(!is_peer(&Peer::Address("10.0.0.3".parse().unwrap()), far, &mut programs));
        assert!(!is_peer(&Peer::Program(String::new()), far, &mut programs));
    }
}
