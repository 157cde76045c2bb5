//! Ports, pipes and entries of the flow library.
#![expect(unsafe_code, reason = "entry points for C, and the texts that C hands over")]

use super::{BAD_STATE, checked, literal, stubborn};
use crate::place::Place;
use crate::rules;
use crate::shadow::{Kind, Shadow};
use std::ffi::{c_char, c_int};

/// A port or pipe was made from a configuration, and hangs on what that hung on.
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_flow_made(what: *const c_char, object: usize, cfg: usize, place: usize) {
    // SAFETY: a literal.
    let what = unsafe { literal(what) };
    checked(|shadow| {
        let parent = shadow.alive(cfg).and_then(|cfg| cfg.parents.first().copied()).unwrap_or(0);
        shadow.create(Kind::Flow, what, object, [parent, 0], Place(place));
    });
}

/// A call was refused: because the library is not initialised?
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_flow_refused(
    object: usize,
    result: c_int,
    call: *const c_char,
    place: usize,
) {
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        if result == BAD_STATE {
            shadow.blame(&rules::FLOW_NOT_STARTED, place, object, format_args!("{call} at {place}"));
        } else {
            stubborn(shadow, result, call, place);
        }
    });
}

/// An entry was added.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_flow_entry(pipe: usize, queue: u16, place: usize) {
    checked(|shadow| shadow.entries.entry((pipe, queue)).or_insert((0, Place(place))).0 += 1);
}

/// What was added on a queue of a port is processed.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_flow_processed(port: usize, queue: u16) {
    checked(|shadow| {
        let objects = &shadow.objects;
        let of_port = |pipe: usize| objects.get(pipe).is_some_and(|pipe| pipe.parents.contains(&port));
        shadow.entries.retain(|(pipe, of), _| *of != queue || !of_port(*pipe));
    });
}

/// A pipe is destroyed.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_flow_pipe_gone(pipe: usize, place: usize) {
    let place = Place(place);
    checked(|shadow| match shadow.objects.get(pipe).map(|pipe| pipe.died) {
        Some(Some(died)) => {
            let numbers = format_args!("doca_flow_pipe_destroy at {place}, before at {died}");
            shadow.blame(&rules::DOUBLE_DESTROY, place, pipe, numbers);
        }
        Some(None) => end(shadow, pipe, place),
        None => {}
    });
}

/// A port is stopped (0: all of them, with the library itself), and its pipes end with it.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_flow_stopped(port: usize, place: usize) {
    let place = Place(place);
    checked(|shadow| {
        let objects = shadow.objects.all().iter().filter(|o| o.kind == Kind::Flow && o.died.is_none());
        let which = objects.filter(|o| match port {
            0 => !o.what.ends_with("configuration"),
            port => o.at == port || (o.what == "flow pipe" && o.parents.contains(&port)),
        });
        for object in which.map(|o| o.at).collect::<Vec<_>>() {
            end(shadow, object, place);
        }
    });
}

fn end(shadow: &mut Shadow, object: usize, place: Place) {
    unprocessed(shadow, |pipe| pipe == object);
    shadow.bury(object, place);
}

/// Says which entries of these pipes nobody processed.
pub(super) fn unprocessed(shadow: &mut Shadow, which: impl Fn(usize) -> bool) {
    let left = shadow.entries.extract_if(.., |(pipe, _), _| which(*pipe)).collect::<Vec<_>>();
    for ((pipe, queue), (count, since)) in left {
        let numbers = format_args!("{count} on queue {queue}, the first at {since}");
        shadow.blame(&rules::ENTRIES_NOT_PROCESSED, since, pipe, numbers);
    }
}
