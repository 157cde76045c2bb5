//! Connections, notifications, events and graphs.
#![expect(unsafe_code, reason = "entry points for C, and the texts that C hands over")]

use super::{
    BAD_STATE, IN_PROGRESS, IN_USE, INVALID_VALUE, NOT_SUPPORTED, SUCCESS, checked, literal, stubborn,
};
use crate::place::Place;
use crate::rules;
use crate::shadow::{Kind, Object};
use std::ffi::{c_char, c_int};

/// The number of no connection; `NO_ID` of `peers.c`.
const NO_ID: u32 = u32::MAX;

/// The context of an object that is another thing besides.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_ctx_of(object: usize, ctx: usize) {
    checked(|shadow| {
        shadow.contexts.insert(ctx, object);
    });
}

/// Something was to be stopped: does anything hang on it that is waited for, or that it was refused for?
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_children(object: usize, result: c_int, call: *const c_char, place: usize) {
    if result != IN_USE && result != IN_PROGRESS {
        return;
    }
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        let rule = match shadow.alive(object).map(|o| o.kind) {
            Some(Kind::Context) => &rules::CONTEXT_IN_USE,
            Some(Kind::Graph) => &rules::GRAPH_IN_USE,
            _ => return,
        };
        let hangs = |o: &&Object| matches!(o.kind, Kind::Context | Kind::Run) && o.died.is_none();
        let children = shadow.objects.all().iter().filter(|o| hangs(o) && o.parents.contains(&object));
        let (count, first) = (children.clone().count(), children.min_by_key(|o| o.made).map(Object::words));
        if let Some(first) = first {
            let numbers = format_args!("{call} at {place}: {count} alive, among them {first}");
            shadow.blame(rule, place, object, numbers);
        }
    });
}

/// A connection begins or ends; its number tells it from another one with the same handle.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_link(link: usize, id: u32, alive: c_int, _call: *const c_char, place: usize) {
    checked(|shadow| {
        if alive != 0 {
            if shadow.alive(link).is_none() {
                shadow.create(Kind::Link, "connection", link, [0; 2], Place(place));
                shadow.change(link, |object| object.data = id as usize);
            }
            return;
        }
        if shadow.alive(link).is_none() {
            shadow.create(Kind::Link, "connection", link, [0; 2], Place(place));
        }
        shadow.change(link, |object| object.data = id as usize);
        shadow.bury(link, Place(place));
    });
}

/// A task was made for a connection, or refused because that is over.
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_peer(
    link: usize,
    id: u32,
    over: c_int,
    call: *const c_char,
    place: usize,
) {
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        let Some(object) = shadow.objects.get(link).filter(|object| object.kind == Kind::Link) else {
            return;
        };
        // Ended by the program itself, and still the same connection.
        let same = object.died.is_some() && object.data == id as usize && id != NO_ID;
        if over != 0 || same {
            let ended = object.died.map_or_else(|| "the peer".to_owned(), |died| died.to_string());
            shadow.blame(
                &rules::NOT_CONNECTED,
                place,
                link,
                format_args!("{call} at {place}, ended by {ended}"),
            );
        }
    });
}

/// The program has the notification handle of an engine or clears it (1), or has armed it (2).
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_armed(pe: usize, how: c_int) {
    checked(|shadow| {
        if let Some((_, seen)) = shadow.pumps.get_mut(pe) {
            (seen.handle, seen.armed) = (true, how == 2);
        }
    });
}

/// An import was refused.
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_import(dev: usize, result: c_int, call: *const c_char, place: usize) {
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        if result == NOT_SUPPORTED {
            shadow.blame(&rules::IMPORT_WRONG_SIDE, place, dev, format_args!("{call} at {place}"));
        }
    });
}

/// An instance of a graph is submitted or destroyed.
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_run(
    run: usize,
    flies: c_int,
    result: c_int,
    call: *const c_char,
    place: usize,
) {
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| match result {
        SUCCESS if flies != 0 => shadow.change(run, |object| object.made_last = place),
        IN_USE => {
            let Some(since) = shadow.alive(run).map(|object| object.made_last) else { return };
            let numbers = format_args!("in flight since {since}, {call} at {place}");
            shadow.blame(&rules::INSTANCE_IN_FLIGHT, place, run, numbers);
        }
        _ => stubborn(shadow, result, call, place),
    });
}

/// An event was asked or changed.
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_event(event: usize, result: c_int, call: *const c_char, place: usize) {
    if result == SUCCESS {
        return;
    }
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        let died = shadow.objects.get(event).and_then(|object| object.died);
        if let Some(died) = died.filter(|_| result == INVALID_VALUE) {
            let numbers = format_args!("{call} at {place}, destroyed at {died}");
            shadow.blame(&rules::USE_AFTER_DESTROY, place, event, numbers);
        } else if result == BAD_STATE && shadow.alive(event).is_some_and(|object| !object.started) {
            shadow.blame(&rules::EVENT_NOT_STARTED, place, event, format_args!("{call} at {place}"));
        } else {
            stubborn(shadow, result, call, place);
        }
    });
}
