//! Memory under maps: which, and what becomes of it.
#![expect(unsafe_code, reason = "entry points for C, and variables of C")]

use super::{SUCCESS, checked, literal, stubborn};
use crate::place::Place;
use crate::rules;
use crate::shadow::{Kind, LOCAL_WRITE, Shadow};
use crate::task::Range;
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" {
    /// The lowest and the highest byte under any started map, of `memory.c`.
    static softdpu_check_lowest: AtomicUsize;
    static softdpu_check_highest: AtomicUsize;
}

/// The range of a map was to be set.
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_ranged(map: usize, result: c_int, call: *const c_char, place: usize) {
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| match shadow.alive(map) {
        _ if result == SUCCESS => shadow.change(map, |map| map.ranged = true),
        Some(known) if known.ranged && !known.started => {
            let numbers = format_args!("{call} at {place}, it has {} bytes at {:#x}", known.len, known.head);
            let (words, numbers) = (map, numbers.to_string());
            shadow.blame(&rules::RANGE_SET_TWICE, place, words, format_args!("{numbers}"));
        }
        Some(_) => stubborn(shadow, result, call, place),
        None => {
            if let Some(died) = shadow.objects.get(map).and_then(|map| map.died) {
                let numbers = format_args!("{call} at {place}, destroyed at {died}");
                shadow.blame(&rules::USE_AFTER_DESTROY, place, map, numbers);
            }
        }
    });
}

/// The range of a map is set.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_range(map: usize, begin: usize, len: usize) {
    checked(|shadow| shadow.change(map, |object| (object.head, object.len) = (begin, len)));
}

/// A map is about to be destroyed, and its memory given back from within (1); or it was, or not (0).
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_lifted(map: usize, lifted: c_int) {
    checked(|shadow| {
        if let Some(map) = shadow.objects.get_mut(map) {
            map.lifted = lifted != 0;
        }
        look_around(shadow);
    });
}

/// Own maps that stand over memory.
fn started(shadow: &Shadow) -> impl Iterator<Item = (usize, Range, u32)> {
    let maps = shadow
        .objects
        .all()
        .iter()
        .filter(|o| o.kind == Kind::Map && o.died.is_none() && o.started && !o.lifted);
    maps.filter(|o| o.len > 0).map(|o| (o.at, Range::new(o.head, o.len as u64), o.rights))
}

/// A map is started, stopped or gone.
pub(super) fn look_around(shadow: &Shadow) {
    let (lowest, highest) = started(shadow).fold((usize::MAX, 0), |(lowest, highest), (_, range, _)| {
        (lowest.min(range.begin), highest.max(range.end - 1))
    });
    // SAFETY: both are there as long as this library is.
    unsafe {
        softdpu_check_lowest.store(lowest, Ordering::Relaxed);
        softdpu_check_highest.store(highest, Ordering::Relaxed);
    }
}

/// Does anything private lie between these addresses?
fn has_private(begin: usize, end: usize) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return true };
    maps.lines().any(|line| is_private(line, begin, end).unwrap_or(false))
}

/// Is a line of that file about private memory between these addresses? None: it is no such line.
fn is_private(line: &str, begin: usize, end: usize) -> Option<bool> {
    let mut words = line.split_ascii_whitespace();
    let (first, over) = words.next()?.split_once('-')?;
    let (first, over) = (usize::from_str_radix(first, 16).ok()?, usize::from_str_radix(over, 16).ok()?);
    Some(words.next()?.ends_with('p') && first < end && begin < over)
}

/// Memory is freed (0), unmapped (1), made read-only (2) or out of bounds (3), reallocated (4), remapped (5) or its bytes
/// are thrown away, in any case (6) or where they are private (7): shared ones are the file's, and come back as they were.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_memory(begin: usize, len: usize, what: c_int, place: usize) {
    let (range, place) = (Range::new(begin, len as u64), Place(place));
    checked(|shadow| {
        let met = |(_, map, rights): &(usize, Range, u32)| {
            map.meets(range) && (what != 2 || rights & LOCAL_WRITE != 0)
        };
        let Some((map, over, _)) = started(shadow).find(met) else { return };
        if what == 7 && !has_private(range.begin.max(over.begin), range.end.min(over.end)) {
            return;
        }
        let done = [
            "freed",
            "unmapped",
            "made read-only",
            "protected",
            "reallocated",
            "remapped",
            "thrown away",
            "thrown away",
        ];
        let done = usize::try_from(what).ok().and_then(|w| done.get(w)).copied().unwrap_or("changed");
        let numbers = format_args!(
            "{:#x} to {:#x} {done} at {place}, the range is {:#x} to {:#x}",
            range.begin, range.end, over.begin, over.end
        );
        shadow.blame(&rules::MEMORY_GONE, place, map, numbers);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_memory_is_told_from_shared() {
        let (private, shared) = ("7f00-7f10 rw-p 00000000 00:00 0", "7f00-7f10 rw-s 00000000 00:05 9 /x y");
        for (line, begin, end, is) in [
            (private, 0x7f00, 0x7f01, Some(true)),
            (private, 0x7000, 0x7f00, Some(false)),
            (private, 0x7f10, 0x8000, Some(false)),
            (shared, 0x7f00, 0x7f01, Some(false)),
            ("", 0, 1, None),
            ("no line", 0, 1, None),
        ] {
            assert_eq!(is_private(line, begin, end), is, "{line}");
        }
        let here = 0u8;
        let at = core::ptr::from_ref(&here).addr();
        assert!(has_private(at, at + 1));
    }
}
