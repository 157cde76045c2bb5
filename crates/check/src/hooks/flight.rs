//! The way of a task through the air: submit, progress, completion. Called for every task, so each call looks once for
//! its task and no text is made unless there is something to say.
#![expect(unsafe_code, reason = "entry points for C, and functions and memory of the program")]

use super::{
    AGAIN, BAD_STATE, FULL, RUNNING, SUCCESS, checked, checked_as, impatient, literal, state, stubborn,
};
use crate::overlap::one_line_each;
use crate::place::Place;
use crate::pump::Pump;
use crate::shadow::{LOCAL_WRITE, Shadow};
use crate::table::Store;
use crate::task::{Phase, Plan, Range, Style, Use};
use crate::{digest, rules, with, with_as};
use std::ffi::{c_char, c_int};

/// Tasks in flight up to which their memory is compared.
const COMPARED: usize = 256;

/// What a buffer list is at the moment of a look; `struct look` of `shim.h`.
#[derive(Debug, Default)]
#[repr(C)]
struct Look {
    /// Bytes of the first element.
    len: u64,
    /// Bytes of data, and bytes behind the data, of the whole list.
    data: u64,
    room: u64,
    /// Where the first element begins and ends; the bytes of its data, and where that begins.
    head: usize,
    begin: usize,
    first: u64,
    /// Nothing is known.
    unknown: c_int,
}

impl Look {
    /// Where the data of the first element ends.
    fn tail(&self) -> usize {
        self.begin.wrapping_add(self.first as usize)
    }

    /// Bytes behind it.
    fn end(&self) -> u64 {
        (self.head as u64).saturating_add(self.len).saturating_sub(self.tail() as u64)
    }
}

/// Functions of the library that look at a buffer.
#[derive(Debug)]
#[repr(C)]
struct Library {
    data_len: extern "C" fn(usize, *mut usize) -> c_int,
    list: extern "C" fn(usize, *mut Look),
}

/// Looks at one buffer of a task. What was destroyed is not looked at.
#[inline(always)]
fn look(shadow: &Shadow, buffer: Use, library: &Library) -> Look {
    let unknown = Look { unknown: 1, ..Look::default() };
    let Some(object) = shadow.objects.at(buffer.number) else { return unknown };
    if object.died.is_some() {
        return unknown;
    }
    if object.listed {
        let mut look = unknown;
        (library.list)(buffer.at, &mut look);
        return look;
    }
    let mut data_len = 0;
    if (library.data_len)(buffer.at, &mut data_len) != SUCCESS {
        return unknown;
    }
    let (len, data) = (object.len as u64, data_len as u64);
    let mut look =
        Look { len, data, room: 0, head: object.head, begin: object.data, first: data, unknown: 0 };
    look.room = look.end();
    look
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_submit(task: usize, library: *const Library, place: usize, me: c_int) {
    // SAFETY: a constant of `shim.h`.
    let library = unsafe { &*library };
    checked_as(me, |shadow| {
        let Some(number) = shadow.tasks.find(task) else { return };
        if !by_plan(shadow, number, library, Place(place)) {
            in_full(shadow, task, number, library, Place(place));
        }
    });
}

/// Lets a task take off by what was found last time; whether it did.
#[inline(always)]
fn by_plan(shadow: &mut Shadow, number: u32, library: &Library, place: Place) -> bool {
    let Some(known) = shadow.tasks.at_mut(number) else { return false };
    let objects = (shadow.objects.at(known.src.number), shadow.objects.at(known.dst.number));
    let (Some(src), Some(dst)) = objects else { return false };
    let plan = &known.plan;
    if !plan.holds || known.phase != Phase::Held || [src.version, dst.version] != plan.versions {
        return false;
    }
    let mut data = [0; 2];
    let [from, to] = &mut data;
    if (library.data_len)(known.src.at, from) | (library.data_len)(known.dst.at, to) != SUCCESS
        || data != plan.data
        || !shadow.filter.add_lines(plan.lines)
    {
        return false;
    }
    (known.phase, known.at, known.planned) = (Phase::Flying, place, true);
    shadow.submitted += 1;
    if plan.local && digest::is_due(shadow.submitted) {
        // SAFETY: data of a live buffer of a started map of this process.
        known.digest = Some(unsafe { digest::of(known.reads) });
    }
    true
}

/// Looks at all there is to see of a task.
#[inline(never)]
fn in_full(shadow: &mut Shadow, task: usize, number: u32, library: &Library, place: Place) {
    let Some(known) = shadow.tasks.at(number) else { return };
    if known.phase != Phase::Held {
        return not_held(shadow, task, number, place);
    }
    let (src_use, dst_use, style, most) = (known.src, known.dst, known.style, known.most);
    let (src, dst) = (look(shadow, src_use, library), look(shadow, dst_use, library));
    let fine = style.is_far() || judge(shadow, task, (style, most), &src, &dst, dst_use, place);
    let (mut reads, mut writes) = (Range::default(), Range::default());
    let is_local = |buffer: Use| shadow.objects.at(buffer.number).is_some_and(|object| object.local);
    if src.unknown == 0 && is_local(src_use) {
        reads = Range::new(src.begin, src.first);
    }
    // What a task will write is known of some kinds only. Of lists the first elements are compared: those are certain.
    if dst.unknown == 0 && is_local(dst_use) {
        let most = match style {
            Style::Copy | Style::Crypt => src.first,
            Style::Hash => 20,
            Style::Other | Style::Peer | Style::Send | Style::Wait => 0,
        };
        writes = Range::new(dst.tail(), most.min(dst.end()));
    }
    let met = shadow.filter.add(reads, writes);
    shadow.note_user(src_use, number);
    shadow.note_user(dst_use, number);
    shadow.submitted += 1;
    let due = digest::is_due(shadow.submitted);
    let buffers = (shadow.objects.at(src_use.number), shadow.objects.at(dst_use.number));
    let Some(known) = shadow.tasks.at_mut(number) else { return };
    (known.reads, known.writes) = (reads, writes);
    (known.phase, known.at, known.planned) = (Phase::Flying, place, false);
    (known.digest, known.plan.holds, known.looks, known.refused) = (None, false, 0, false);
    let local = buffers.0.is_some_and(|buffer| buffer.local && !buffer.listed) && !style.is_far();
    if let (Some(src_is), Some(dst_is), true) = (buffers.0, buffers.1, fine && !met)
        && !(src_is.listed || dst_is.listed)
        && let Some(lines) = one_line_each(reads, writes)
    {
        let (versions, data) = ([src_is.version, dst_is.version], [src.data as usize, dst.data as usize]);
        known.plan = Plan { holds: true, local, versions, data, lines };
    }
    if met {
        overlap(shadow, task, number, place);
    } else if due && fine && local && !reads.meets(writes) {
        // SAFETY: data of a live buffer of a started map of this process.
        known.digest = Some(unsafe { digest::of(reads) });
    }
}

/// A task that cannot be submitted now.
#[cold]
fn not_held(shadow: &mut Shadow, task: usize, number: u32, place: Place) {
    let Some(known) = shadow.tasks.at(number) else { return };
    let at = known.at;
    match known.phase {
        Phase::Freed => {
            let numbers = format_args!("freed at {at}, submitted at {place}");
            shadow.blame_task(&rules::USE_AFTER_FREE, place, task, numbers);
        }
        Phase::Flying => {
            let numbers = format_args!("in flight since {at}, again at {place}");
            shadow.blame_task(&rules::SUBMIT_IN_FLIGHT, place, task, numbers);
        }
        Phase::Held | Phase::Gone => {}
    }
}

/// Whether what can be seen of a task before it flies is as it should be.
#[inline(always)]
fn judge(
    shadow: &mut Shadow,
    task: usize,
    (style, most): (Style, u64),
    src: &Look,
    dst: &Look,
    to: Use,
    place: Place,
) -> bool {
    if src.unknown | dst.unknown != 0 {
        return false;
    }
    // An empty message can be encrypted.
    let no_data = src.data == 0 && style != Style::Crypt;
    let too_small = style == Style::Copy && dst.room < src.data;
    let read_only = shadow.objects.at(to.number).is_some_and(|buffer| buffer.rights & LOCAL_WRITE == 0);
    let too_large = src.data > most;
    if no_data || too_small || read_only || too_large {
        misjudged(shadow, task, (no_data, too_small, too_large.then_some(most)), src, dst, to, place);
        return false;
    }
    true
}

#[cold]
fn misjudged(
    shadow: &mut Shadow,
    task: usize,
    (no_data, too_small, most): (bool, bool, Option<u64>),
    src: &Look,
    dst: &Look,
    to: Use,
    place: Place,
) {
    if no_data {
        let numbers = format_args!("length {} bytes, data 0 bytes, at {place}", src.len);
        return shadow.blame_task(&rules::NO_DATA, place, task, numbers);
    }
    if too_small {
        let numbers = format_args!("{} bytes to write, room for {}, at {place}", src.data, dst.room);
        return shadow.blame_task(&rules::DESTINATION_TOO_SMALL, place, task, numbers);
    }
    if let Some(most) = most {
        let numbers = format_args!("{} bytes of data, at most {most}, at {place}", src.data);
        return shadow.blame_task(&rules::TASK_TOO_LARGE, place, task, numbers);
    }
    let Some((rights, map)) = shadow.map_of(to.at).map(|map| (map.rights, map.words())) else { return };
    let numbers = format_args!("{map} has rights {rights:#x}, {LOCAL_WRITE:#x} is needed, at {place}");
    shadow.blame_task(&rules::MISSING_PERMISSION, place, task, numbers);
}

/// A task that may use memory of another one in flight: does it?
#[cold]
fn overlap(shadow: &mut Shadow, task: usize, number: u32, place: Place) {
    let Some(known) = shadow.tasks.at(number) else { return };
    let (reads, writes) = (known.reads, known.writes);
    let mine = known.number;
    let flying = (0..shadow.tasks.all().len() as u32)
        .filter(|t| shadow.tasks.at(*t).is_some_and(|t| t.phase == Phase::Flying && t.number != mine));
    let other = flying.take(COMPARED).find(|t| shadow.tasks.at(*t).is_some_and(|t| known.disturbs(t)));
    let Some(other) = other.and_then(|other| shadow.tasks.at_mut(other)) else { return };
    // That its memory changes is no news then.
    other.digest = None;
    let other = other.words();
    let numbers = format_args!(
        "reads {:#x} to {:#x}, writes {:#x} to {:#x}, and so does {other}, at {place}",
        reads.begin, reads.end, writes.begin, writes.end
    );
    shadow.blame_task(&rules::OVERLAP_IN_FLIGHT, place, task, numbers);
}

/// Compares what the source was with what it is, and what a copy wrote with that.
#[cold]
fn compare_digest(shadow: &mut Shadow, task: usize, number: u32, good: bool) {
    let Some(known) = shadow.tasks.at_mut(number) else { return };
    let Some(before) = known.digest.take() else { return };
    let (at, reads, writes, style) = (known.at, known.reads, known.writes, known.style);
    let alive = |objects: &Store<_>, buffer: Use| {
        objects
            .at(buffer.number)
            .is_some_and(|o: &crate::shadow::Object| o.died.is_none() && o.local && !o.listed)
    };
    let (src, dst) = (alive(&shadow.objects, known.src), alive(&shadow.objects, known.dst));
    // SAFETY: as when it was taken: the buffer is still alive, and so is its map.
    if src && unsafe { digest::of(reads) } != before {
        let numbers = format_args!("{} bytes at {:#x}, in flight since {at}", reads.len(), reads.begin);
        return shadow.blame_task(&rules::SOURCE_CHANGED, at, task, numbers);
    }
    let whole = good && dst && style == Style::Copy && writes.len() == reads.len();
    // SAFETY: the same of the destination.
    if whole && unsafe { digest::of(writes) } != before {
        let numbers = format_args!("{} bytes at {:#x}, in flight since {at}", writes.len(), writes.begin);
        shadow.blame_task(&rules::DESTINATION_TOUCHED, at, task, numbers);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_submitted(
    task: usize,
    result: c_int,
    now: c_int,
    call: *const c_char,
    place: usize,
) {
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        // A task that was in flight before stays so: this call was refused because of it.
        let flies = shadow.task(task).filter(|(_, t)| t.phase == Phase::Flying && t.at == place);
        if let Some((number, _)) = flies
            && (result != BAD_STATE || now != RUNNING)
        {
            shadow.submitted = shadow.submitted.saturating_sub(1);
            shadow.mark(number, Phase::Held, place);
            if let Some(task) = shadow.tasks.at_mut(number) {
                // The next attempt is looked at in full.
                let passes = result == AGAIN || result == FULL;
                (task.refused, task.looks, task.plan.holds) = (passes, 0, false);
            }
            if result == BAD_STATE {
                let numbers = format_args!("the state is {}, at {place}", state(now));
                shadow.blame_task(&rules::SUBMIT_NOT_RUNNING, place, task, numbers);
            }
        }
        if result != AGAIN && result != FULL {
            stubborn(shadow, result, call, place);
        } else if let Some(ctx) =
            // What a producer waits for comes from its peer, without progress.
            shadow
                .task(task)
                .filter(|(_, task)| task.what != "produce")
                .map(|(_, task)| task.ctx)
        {
            impatient(shadow, ctx, result, call, place);
        }
    });
}

/// A task has ended: the program's callback for it.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_done(task: usize, good: c_int, me: c_int) -> usize {
    let callback =
        with_as(me, |shadow| if good != 0 { land(shadow, task, true) } else { failed(shadow, task) });
    callback.flatten().unwrap_or(0)
}

/// A task is the program's again. Gives its callback.
#[inline(always)]
fn land(shadow: &mut Shadow, task: usize, good: bool) -> Option<usize> {
    let count = if good { &mut shadow.succeeded } else { &mut shadow.failed };
    *count += 1;
    let number = shadow.tasks.find(task)?;
    let known = shadow.tasks.at_mut(number)?;
    let callback = if good { known.good } else { known.bad };
    known.ran = true;
    if known.phase == Phase::Flying {
        known.phase = Phase::Held;
        shadow.filter.land(known);
        if known.digest.is_some() {
            compare_digest(shadow, task, number, good);
        }
    }
    Some(callback)
}

#[cold]
fn failed(shadow: &mut Shadow, task: usize) -> Option<usize> {
    let callback = land(shadow, task, false);
    if let Some(link) = shadow.tasks.get(task).map(|task| task.link).filter(|link| *link != 0) {
        not_connected(shadow, task, link);
    }
    callback
}

/// A task for a connection has failed: was that one connected yet?
fn not_connected(shadow: &mut Shadow, task: usize, link: usize) {
    let since = shadow.tasks.get(task).map(|task| task.at);
    if let Some(since) = since.filter(|_| shadow.alive(link).is_some_and(|link| !link.started)) {
        shadow.blame(
            &rules::NOT_CONNECTED,
            since,
            link,
            format_args!("a task submitted at {since} has failed"),
        );
    }
}

/// What is known of a progress engine; NULL when there is none of this handle.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_pump(pe: usize) -> *const Pump {
    let look = || with(|shadow| shadow.pumps.get(pe).map(|(pump, _)| *pump)).flatten();
    (!super::fork::is_child()).then(look).flatten().map_or(core::ptr::null(), core::ptr::from_ref)
}

/// Progress begins while a thread is inside.
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_intruder(pump: *const Pump, place: usize, me: c_int) {
    // SAFETY: one of those that stay for good.
    let (pump, place) = (unsafe { &*pump }, Place(place));
    let (owner, other, pe) = (pump.owner(), pump.place(), pump.at);
    checked(|shadow| {
        if owner == me {
            shadow.blame(&rules::PROGRESS_NESTED, place, pe, format_args!("called at {place}"));
        } else {
            let numbers = format_args!("thread {owner} at {other}, thread {me} at {place}");
            shadow.blame(&rules::PROGRESS_TWO_THREADS, place, pe, numbers);
        }
    });
}
