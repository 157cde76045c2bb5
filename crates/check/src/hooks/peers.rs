//! Connections, representors, notifications, sync events, message queues and graphs.
#![expect(unsafe_code, reason = "entry points for C, and the texts that C hands over")]

use super::{
    BAD_STATE, IN_PROGRESS, IN_USE, INVALID_VALUE, NOT_SUPPORTED, STALE, SUCCESS, checked, literal, stubborn,
};
use crate::place::Place;
use crate::shadow::{End, Kind, Object, Shadow};
use crate::{rules, with};
use std::ffi::{CStr, c_char, c_int};

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
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        let object = shadow.contexts.get(&object).copied().unwrap_or(object);
        if result == SUCCESS || result == IN_PROGRESS {
            let stopping = (result == IN_PROGRESS).then_some(0);
            shadow.change(object, |object| (object.started, object.stopping) = (false, stopping));
        }
        if result != IN_USE && result != IN_PROGRESS {
            return;
        }
        let rule = match shadow.alive(object).map(|o| o.kind) {
            Some(Kind::Context | Kind::Queue) => &rules::CONTEXT_IN_USE,
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

/// A task goes to the peer of this connection.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_task_link(task: usize, link: usize) {
    checked(|shadow| {
        if let Some(task) = shadow.tasks.get_mut(task) {
            task.link = link;
        }
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

/// The program has the notification handle of an engine (0), clears it (1), or has armed it (2).
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_armed(pe: usize, how: c_int, place: usize) {
    checked(|shadow| {
        let Some((pump, seen)) = shadow.pumps.get_mut(pe) else { return };
        seen.handle = true;
        match how {
            0 => return,
            1 => (seen.armed, seen.stale, seen.cleared) = (false, 0, true),
            _ => {
                // Who arms, finds work at once and does not sleep has nothing to clear.
                let (calls, heard) = pump.counts();
                let vain = calls.wrapping_sub(heard / 2);
                let again = seen.armed && !seen.clears && !seen.cleared;
                seen.stale += u32::from(again && heard != seen.heard && vain != seen.vain);
                (seen.armed, seen.heard, seen.vain) = (true, heard, vain);
            }
        }
        if seen.stale == STALE {
            seen.stale += 1;
            let place = Place(place);
            let numbers = format_args!("{STALE} times, at {place}, each time after callbacks");
            shadow.blame(&rules::NOT_CLEARED, place, pe, numbers);
        }
    });
}

/// How an engine is woken: whether arming clears what was before.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_event_mode(pe: usize, all: c_int) {
    checked(|shadow| {
        if let Some((_, seen)) = shadow.pumps.get_mut(pe) {
            seen.clears = all != 0;
        }
    });
}

/// An RDMA connection was given the description of its peer.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_joined(link: usize) {
    checked(|shadow| shadow.change(link, |link| link.started = true));
}

/// The representor of a record belongs to this device.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_rep_listed(record: usize, dev: usize) {
    checked(|shadow| {
        shadow.listed.insert(record, dev);
    });
}

/// The device that a record of a representor belongs to.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_rep_dev(record: usize) -> usize {
    if super::fork::is_child() {
        return 0;
    }
    with(|shadow| shadow.listed.get(&record).copied()).flatten().unwrap_or(0)
}

/// A server or client of the channel was made, for clients of this host function, or on it.
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_end_made(
    end: usize,
    server: c_int,
    name: *const c_char,
    function: *const c_char,
) {
    // SAFETY: texts that the library took, or wrote, a moment ago.
    let (name, function) = unsafe { (CStr::from_ptr(name), CStr::from_ptr(function)) };
    let text = |text: &CStr| text.to_string_lossy().into_owned();
    let made = End { server: server != 0, name: text(name), function: text(function) };
    checked(|shadow| {
        shadow.ends.insert(end, made);
    });
}

/// A server was refused: is its representor one of another device?
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_no_server(dev: usize, rep: usize, call: *const c_char, place: usize) {
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        let (Some(device), Some(of)) = (shadow.alive(dev), shadow.alive(rep)) else { return };
        let other = of.parents.first().copied().filter(|other| *other != dev);
        let Some(other) = other.and_then(|other| shadow.alive(other)).map(Object::words) else { return };
        let device = device.words();
        let numbers = format_args!("{call} at {place} on {device}, it was listed by {other}");
        shadow.blame(&rules::WRONG_REPRESENTOR, place, rep, numbers);
    });
}

/// A client that found nobody is about to be destroyed: is there a server of its name, for another function?
pub(super) fn lonely(shadow: &mut Shadow, client: usize, place: Place) {
    let Some(end) = shadow.ends.get(&client).filter(|end| !end.server) else { return };
    // One that was in use has found its server.
    let was_used = shadow.tasks.all().iter().any(|task| task.ctx == client)
        || shadow.objects.all().iter().any(|object| object.parents.contains(&client));
    if was_used {
        return;
    }
    let servers = || {
        shadow.ends.iter().filter(|(at, other)| {
            other.server && other.name == end.name && shadow.alive(**at).is_some_and(|server| server.started)
        })
    };
    if servers().any(|(_, server)| server.function == end.function) {
        return;
    }
    let Some((at, server)) = servers().next() else { return };
    let words = shadow.alive(*at).map(Object::words).unwrap_or_default();
    let text = format!("on {}, {words} of its name serves {}", end.function, server.function);
    shadow.blame(&rules::WRONG_REPRESENTOR, place, client, format_args!("{text}, at {place}"));
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

/// An event was asked or changed, or a message queue for a producer or consumer.
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
        } else if let Some(event_or_queue) = shadow.alive(event).filter(|o| result == BAD_STATE && !o.started)
        {
            let rule = match event_or_queue.kind {
                Kind::Queue => &rules::QUEUE_NOT_STARTED,
                _ => &rules::EVENT_NOT_STARTED,
            };
            shadow.blame(rule, place, event, format_args!("{call} at {place}"));
        } else {
            stubborn(shadow, result, call, place);
        }
    });
}
