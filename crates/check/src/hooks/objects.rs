//! Objects: made, changed, refused, destroyed.
#![expect(unsafe_code, reason = "entry points for C, and the texts and structures that C hands over")]

use super::{
    BAD_STATE, IN_PROGRESS, INVALID_VALUE, NO_MEMORY, SUCCESS, checked, checked_as, fork, literal, memory,
    peers, state, stubborn,
};
use crate::place::Place;
use crate::shadow::Kind;
use crate::task::Phase;
use crate::{rules, sys, watch};
use std::ffi::{c_char, c_int};
use std::sync::Once;

unsafe extern "C" {
    /// Whether a place is in the library; of `shim.c`.
    fn softdpu_check_is_library(place: usize) -> c_int;
}

/// Which object is meant is known by its handle alone, or no object is.
const ANYBODY: u32 = 0;
const NOBODY: u32 = u32::MAX;

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_created(
    kind: u32,
    what: *const c_char,
    object: usize,
    a: usize,
    b: usize,
    place: usize,
) {
    let Some(kind) = Kind::from(kind) else { return };
    // What the library makes for itself is its own affair.
    // SAFETY: takes a number.
    if unsafe { softdpu_check_is_library(place) } != 0 {
        return;
    }
    // SAFETY: a literal.
    let what = unsafe { literal(what) };
    if kind == Kind::Device {
        fork::opened(Place(place));
    }
    // Buffers are taken by way of inline functions of the headers.
    let place = if kind == Kind::Buffer { Place(place).of_program() } else { Place(place) };
    checked(|shadow| shadow.create(kind, what, object, [a, b], place));
}

/// What a new buffer is.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_window(buffer: usize, head: usize, len: usize, data: usize) {
    checked(|shadow| shadow.window(buffer, head, len, data));
}

/// The data of a buffer begins elsewhere.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_data(buffer: usize, data: usize, me: c_int) {
    checked_as(me, |shadow| shadow.change(buffer, |buffer| buffer.data = data));
}

/// Buffers become a list, or cease to be one.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_listed(first: usize, second: usize) {
    checked(|shadow| {
        for buffer in [first, second] {
            shadow.change(buffer, |buffer| buffer.listed = true);
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_destroy(object: usize, _call: *const c_char, place: usize) -> u32 {
    let mut born = NOBODY;
    checked(|shadow| {
        born = shadow.alive(object).map_or(NOBODY, |object| object.born);
        shadow.before_destroy(object, Place(place), sys::thread());
    });
    born
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_destroyed(
    object: usize,
    born: u32,
    result: c_int,
    call: *const c_char,
    place: usize,
) {
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        if result == SUCCESS {
            // Another thread may have made an object meanwhile that has the handle now.
            if born != ANYBODY && shadow.objects.get(object).is_none_or(|known| known.born != born) {
                return;
            }
            shadow.bury(object, place);
            if shadow.objects.get(object).is_some_and(|object| object.kind == Kind::Map) {
                memory::look_around(shadow);
            }
        } else if let Some(died) = shadow.objects.get(object).and_then(|o| o.died)
            && result == INVALID_VALUE
        {
            shadow.blame(
                &rules::DOUBLE_DESTROY,
                place,
                object,
                format_args!("{call} at {place}, before at {died}"),
            );
        } else {
            stubborn(shadow, result, call, place);
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_failed(
    result: c_int,
    call: *const c_char,
    place: usize,
    a: usize,
    b: usize,
    c: usize,
) {
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    if result == BAD_STATE && fork::is_child() {
        return fork::in_child(call, Place(place));
    }
    let place = Place(place).of_program();
    checked(|shadow| {
        for object in [a, b, c] {
            // Only what the library refused too: an address may be in use again without the checker's knowing.
            // Handles of connections are given out again by the library, which tells nobody.
            let dead = shadow.objects.get(object).filter(|o| o.kind != Kind::Link);
            let died = dead.and_then(|o| o.died);
            if let Some(died) = died.filter(|_| result == INVALID_VALUE) {
                let numbers = format_args!("{call} at {place}, destroyed at {died}");
                shadow.blame(&rules::USE_AFTER_DESTROY, place, object, numbers);
                return;
            }
        }
        stubborn(shadow, result, call, place);
    });
}

/// The most data that tasks of a context may have.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_most(ctx: usize, most: u64) {
    checked(|shadow| shadow.change(ctx, |ctx| ctx.most = most));
}

/// A call found that one of its objects is none any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_dead(object: usize, call: *const c_char, place: usize) {
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        if let Some(died) = shadow.objects.get(object).and_then(|o| o.died) {
            let numbers = format_args!("{call} at {place}, destroyed at {died}");
            shadow.blame(&rules::USE_AFTER_DESTROY, place, object, numbers);
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_started(object: usize, started: c_int) {
    checked(|shadow| {
        let Some(object) = shadow.objects.get_mut(object) else { return };
        object.started = started != 0;
        if object.kind == Kind::Map {
            memory::look_around(shadow);
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_attached(object: usize, to: usize, attached: c_int) {
    checked(|shadow| {
        let object = shadow.contexts.get(&object).copied().unwrap_or(object);
        if let Some(object) = shadow.objects.get_mut(object) {
            object.parents.retain(|parent| *parent != to);
            if attached != 0 {
                object.parents.push(to);
            }
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_permissions(map: usize, mask: u32) {
    checked(|shadow| {
        if let Some(map) = shadow.objects.get_mut(map) {
            map.rights = mask;
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_export(
    map: usize,
    pci: c_int,
    result: c_int,
    call: *const c_char,
    place: usize,
) {
    if result == SUCCESS {
        return;
    }
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        let needed = if pci != 0 { 0x30 } else { 0xE };
        match shadow.alive(map).map(|m| (m.started, m.rights)) {
            Some((false, _)) => {
                shadow.blame(&rules::EXPORT_NOT_STARTED, place, map, format_args!("{call} at {place}"));
            }
            Some((_, rights)) if rights & needed == 0 => {
                let numbers =
                    format_args!("{call} at {place}: rights {rights:#x}, one of {needed:#x} is needed");
                shadow.blame(&rules::EXPORT_PERMISSION, place, map, numbers);
            }
            _ => stubborn(shadow, result, call, place),
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_no_buffer(
    inventory: usize,
    map: usize,
    addr: usize,
    len: u64,
    map_addr: usize,
    map_len: u64,
    result: c_int,
    _call: *const c_char,
    place: usize,
) {
    let place = Place(place).of_program();
    checked(|shadow| {
        let (Some(store), Some(from)) = (shadow.alive(inventory), shadow.alive(map)) else { return };
        let (store_runs, map_runs) = (store.started, from.started);
        let end = (addr as u128) + u128::from(len);
        let (map_begin, map_end) = (map_addr as u128, map_addr as u128 + u128::from(map_len));
        if !store_runs {
            shadow.blame(&rules::INVENTORY_NOT_STARTED, place, inventory, format_args!("asked at {place}"));
        } else if !map_runs {
            shadow.blame(&rules::MAP_NOT_STARTED, place, map, format_args!("asked at {place}"));
        } else if result == NO_MEMORY {
            let out = shadow
                .objects
                .all()
                .iter()
                .filter(|o| o.kind == Kind::Buffer && o.died.is_none() && o.parents.contains(&inventory))
                .count();
            shadow.blame(
                &rules::INVENTORY_EMPTY,
                place,
                inventory,
                format_args!("{out} buffers are out, at {place}"),
            );
        } else if result == INVALID_VALUE && ((addr as u128) < map_begin || end > map_end) {
            let numbers = format_args!(
                "{addr:#x} to {end:#x} asked for at {place}, the range is {map_begin:#x} to {map_end:#x} ({map_len} bytes)"
            );
            shadow.blame(&rules::WINDOW_PAST_MAP, place, map, numbers);
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_ctx_start(ctx: usize, result: c_int, call: *const c_char, place: usize) {
    static WATCH: Once = Once::new();
    if result == SUCCESS || result == IN_PROGRESS {
        WATCH.call_once(watch::start);
        return checked(|shadow| {
            let object = shadow.contexts.get(&ctx).copied().unwrap_or(ctx);
            shadow.change(object, |object| (object.started, object.stopping) = (true, None));
        });
    }
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        let context = shadow.alive(ctx).filter(|object| object.kind == Kind::Context);
        let Some(object) = context else { return };
        // Hashes have a kind of tasks of which nothing is known; others have their tasks in other ways, too.
        let own = ["dma", "compress", "aes_gcm", "erasure_coding"];
        let known = own.iter().any(|engine| object.what.starts_with(engine));
        let pools = shadow.pools.keys().filter(|(of, _)| *of == ctx).count();
        if shadow.engine_of(ctx).is_none() {
            shadow.blame(
                &rules::START_WITHOUT_ENGINE,
                place,
                ctx,
                format_args!("{call} at {place}: error {result}"),
            );
        } else if known && pools == 0 {
            shadow.blame(
                &rules::START_WITHOUT_TASKS,
                place,
                ctx,
                format_args!("{call} at {place}: error {result}"),
            );
        } else {
            stubborn(shadow, result, call, place);
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_ctx_destroy(
    ctx: usize,
    now: c_int,
    inflight: u64,
    _call: *const c_char,
    place: usize,
) {
    checked(|shadow| {
        if now == 0 && shadow.alive(ctx).is_some_and(|client| client.started) {
            peers::lonely(shadow, ctx, Place(place));
        }
        if now != 0 && shadow.alive(ctx).is_some() {
            let held = shadow.tasks.all().iter().filter(|t| t.ctx == ctx && t.phase == Phase::Held).count();
            let numbers = format_args!("state {}, {inflight} tasks in flight, {held} not freed", state(now));
            shadow.blame(&rules::CONTEXT_NOT_IDLE, Place(place), ctx, numbers);
        }
    });
}
