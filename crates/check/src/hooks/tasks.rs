//! Tasks: allocated, submitted, completed, freed; and the progress that reports them.
#![expect(unsafe_code, reason = "entry points for C, and the texts and structures that C hands over")]

use super::{AGAIN, BAD_STATE, NO_MEMORY, RUNNING, SUCCESS, checked, literal, state, stubborn};
use crate::place::Place;
use crate::shadow::{Kind, LOCAL_WRITE, Phase, Range, Shadow, Task, TaskPool};
use crate::{rules, sys, watch, with};
use std::ffi::{c_char, c_int};
use std::sync::Once;

/// Tasks in flight up to which their memory is compared.
const COMPARED: usize = 256;

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_pool(ctx: usize, what: *const c_char, size: u32, good: usize, bad: usize) {
    // SAFETY: a literal.
    let what = unsafe { literal(what) };
    checked(|shadow| {
        shadow.pools.insert((ctx, what), TaskPool { size, good, bad });
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_task(
    ctx: usize,
    what: *const c_char,
    task: usize,
    src: usize,
    dst: usize,
    dead: usize,
    call: *const c_char,
    place: usize,
) {
    // SAFETY: literals.
    let (what, call) = unsafe { (literal(what), literal(call)) };
    let (made, range) = (Place(place), Range::default());
    let phase = Phase::Held;
    let new = Task {
        ctx,
        what,
        number: 0,
        made,
        phase,
        ran: false,
        at: made,
        src,
        dst,
        reads: range,
        writes: range,
        good: 0,
        bad: 0,
    };
    checked(|shadow| {
        shadow.allocate(task, new);
        if let Some(died) = shadow.objects.get(&dead).and_then(|o| o.died) {
            let numbers = format_args!("{call} at {made}, destroyed at {died}");
            shadow.blame(&rules::USE_AFTER_DESTROY, made, dead, numbers);
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_no_task(
    ctx: usize,
    what: *const c_char,
    result: c_int,
    call: *const c_char,
    place: usize,
) {
    let place = Place(place);
    // SAFETY: literals.
    let (what, call) = unsafe { (literal(what), literal(call)) };
    checked(|shadow| {
        let size = shadow.pools.get(&(ctx, what)).map_or(0, |pool| pool.size);
        // Tasks that were not submitted yet are no waste: a program may fill its pool first.
        let kept = shadow.kept(ctx, what);
        if result == NO_MEMORY && kept > 0 && kept >= size as usize {
            let numbers =
                format_args!("{kept} of {size} tasks have completed and were not freed, at {place}");
            shadow.blame(&rules::TASKS_NOT_FREED, place, ctx, numbers);
        } else if result == BAD_STATE {
            shadow.blame(&rules::TASK_NOT_RUNNING, place, ctx, format_args!("{call} at {place}"));
        }
    });
}

/// What a buffer is at the moment of a look; `struct look` of `shim.c`.
#[derive(Debug)]
#[repr(C)]
struct Look {
    buf: usize,
    head: usize,
    len: u64,
    data: u64,
    room: u64,
    tail: usize,
    begin: usize,
    first: u64,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_task_buffers(
    task: usize,
    src: *mut usize,
    dst: *mut usize,
    ctx: *mut usize,
    known: *mut c_int,
) {
    checked(|shadow| {
        if let Some(task) = shadow.tasks.get(&task) {
            // SAFETY: variables of `shim.c`.
            unsafe {
                src.write(task.src);
                dst.write(task.dst);
                ctx.write(task.ctx);
                // A freed or flying task is not looked into: its buffers are not the program's.
                known.write(c_int::from(task.phase == Phase::Held));
            }
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_task_set(task: usize, src: usize, dst: usize) {
    checked(|shadow| {
        if let Some(task) = shadow.tasks.get_mut(&task).filter(|task| task.phase == Phase::Held) {
            if src != 0 {
                task.src = src;
            }
            if dst != 0 {
                task.dst = dst;
            }
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_submit(
    task: usize,
    now: c_int,
    src: *const Look,
    dst: *const Look,
    _call: *const c_char,
    place: usize,
) {
    static WATCH: Once = Once::new();
    WATCH.call_once(watch::start);
    let place = Place(place);
    // SAFETY: structures of `shim.c`.
    let (src, dst) = unsafe { (&*src, &*dst) };
    checked(|shadow| {
        let Some(known) = shadow.tasks.get(&task) else { return };
        let (phase, at) = (known.phase, known.at);
        match phase {
            Phase::Freed => {
                shadow.blame_task(
                    &rules::USE_AFTER_FREE,
                    place,
                    task,
                    format_args!("freed at {at}, submitted at {place}"),
                );
            }
            Phase::Flying => {
                shadow.blame_task(
                    &rules::SUBMIT_IN_FLIGHT,
                    place,
                    task,
                    format_args!("in flight since {at}, again at {place}"),
                );
            }
            Phase::Held if now != RUNNING => {
                let numbers = format_args!("the state is {}, at {place}", state(now));
                shadow.blame_task(&rules::SUBMIT_NOT_RUNNING, place, task, numbers);
            }
            Phase::Held => {
                if let Some(known) = shadow.tasks.get_mut(&task) {
                    (known.reads, known.writes) = (Range::default(), Range::default());
                }
                look_at_buffers(shadow, task, src, dst, place);
                shadow.submitted += 1;
                shadow.mark(task, Phase::Flying, place);
            }
        }
    });
}

/// What can be seen of a task before it flies.
fn look_at_buffers(shadow: &mut Shadow, task: usize, src: &Look, dst: &Look, place: Place) {
    if src.buf == 0 || dst.buf == 0 {
        return;
    }
    let Some(known) = shadow.tasks.get(&task) else { return };
    let copies = known.what == "memcpy";
    let crypts = matches!(known.what, "encrypt" | "decrypt");
    let hashes = known.what == "hash";
    // An empty message can be encrypted.
    if src.data == 0 && !crypts {
        let numbers = format_args!("length {} bytes, data 0 bytes, at {place}", src.len);
        return shadow.blame_task(&rules::NO_DATA, place, task, numbers);
    }
    if copies && dst.room < src.data {
        let numbers = format_args!("{} bytes to write, room for {}, at {place}", src.data, dst.room);
        return shadow.blame_task(&rules::DESTINATION_TOO_SMALL, place, task, numbers);
    }
    let map = shadow.objects.get(&dst.buf).and_then(|buffer| {
        let own =
            |at: &&usize| shadow.alive(**at).is_some_and(|o| o.kind == Kind::Map && o.what == "memory map");
        shadow.objects.get(buffer.parents.iter().find(own)?)
    });
    if let Some(map) = map.filter(|map| map.rights & LOCAL_WRITE == 0) {
        let (rights, map) = (map.rights, map.words());
        let numbers = format_args!("{map} has rights {rights:#x}, {LOCAL_WRITE:#x} is needed, at {place}");
        return shadow.blame_task(&rules::MISSING_PERMISSION, place, task, numbers);
    }
    // Of lists only the first elements are compared: what they have is certain.
    let range = |begin: usize, len: u64| Range {
        begin,
        end: begin.saturating_add(usize::try_from(len).unwrap_or(usize::MAX)),
    };
    let reads = range(src.begin, src.first);
    // What a task will write is known of some kinds only; a hash has at least 20 bytes.
    let room = (dst.head as u64).saturating_add(dst.len).saturating_sub(dst.tail as u64);
    let writes = match (copies || crypts, hashes) {
        (true, _) => range(dst.tail, src.first.min(room)),
        (_, true) => range(dst.tail, 20.min(room)),
        _ => Range::default(),
    };
    if let Some(known) = shadow.tasks.get_mut(&task) {
        (known.reads, known.writes) = (reads, writes);
    }
    if !shadow.filter.suspects(reads, writes) {
        return;
    }
    let flying = shadow.tasks.iter().filter(|(_, t)| t.phase == Phase::Flying).take(COMPARED);
    let other = flying
        .map(|(_, t)| t)
        .find(|t| writes.meets(t.writes) || writes.meets(t.reads) || reads.meets(t.writes));
    if let Some(other) = other.map(Task::words) {
        let numbers = format_args!(
            "reads {:#x} to {:#x}, writes {:#x} to {:#x}, and so does {other}, at {place}",
            reads.begin, reads.end, writes.begin, writes.end
        );
        shadow.blame_task(&rules::OVERLAP_IN_FLIGHT, place, task, numbers);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_submitted(task: usize, result: c_int, call: *const c_char, place: usize) {
    if result == SUCCESS {
        return;
    }
    let place = Place(place);
    // SAFETY: a literal.
    let call = unsafe { literal(call) };
    checked(|shadow| {
        // A task that was in flight before stays so: this call was refused because of it.
        if shadow.tasks.get(&task).is_some_and(|t| t.phase == Phase::Flying && t.at == place)
            && result != BAD_STATE
        {
            shadow.submitted = shadow.submitted.saturating_sub(1);
            shadow.mark(task, Phase::Held, place);
        }
        if result != AGAIN {
            stubborn(shadow, result, call, place);
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_done(task: usize, good: c_int) -> usize {
    let mut callback = 0;
    let me = sys::thread();
    with(|shadow| {
        if good != 0 {
            shadow.succeeded += 1;
        } else {
            shadow.failed += 1;
        }
        let Some(known) = shadow.tasks.get(&task) else { return };
        let (at, phase) = (known.at, known.phase);
        callback = if good != 0 { known.good } else { known.bad };
        if phase == Phase::Flying {
            shadow.mark(task, Phase::Held, at);
        }
        if let Some(task) = shadow.tasks.get_mut(&task) {
            task.ran = true;
        }
        if let Some(pump) = shadow.pumps.values_mut().find(|pump| pump.owner == me) {
            pump.callbacks += 1;
        }
    });
    callback
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_done_end() {
    let me = sys::thread();
    with(|shadow| {
        if let Some(pump) = shadow.pumps.values_mut().find(|pump| pump.owner == me && pump.callbacks % 2 == 1)
        {
            pump.callbacks += 1;
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_free(task: usize, _call: *const c_char, place: usize) {
    let place = Place(place);
    checked(|shadow| {
        let Some(known) = shadow.tasks.get(&task) else { return };
        let at = known.at;
        match known.phase {
            Phase::Held => shadow.mark(task, Phase::Freed, place),
            Phase::Freed => {
                shadow.blame_task(
                    &rules::DOUBLE_FREE,
                    place,
                    task,
                    format_args!("freed at {at}, again at {place}"),
                );
            }
            Phase::Flying => {
                let numbers = format_args!("in flight since {at}, freed at {place}");
                shadow.blame_task(&rules::FREE_IN_FLIGHT, place, task, numbers);
                // The library frees it when it has ended; no callback will tell.
                shadow.mark(task, Phase::Freed, place);
            }
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_progress(pe: usize, _call: *const c_char, place: usize) {
    let (me, place) = (sys::thread(), Place(place));
    checked(|shadow| {
        let Some(pump) = shadow.pumps.get_mut(&pe) else { return };
        let (owner, other) = (pump.owner, pump.place);
        if owner == 0 {
            pump.owner = me;
            pump.calls += 1;
            pump.place = Some(place);
            return;
        }
        if owner == me {
            shadow.blame(&rules::PROGRESS_NESTED, place, pe, format_args!("called at {place}"));
        } else {
            let other = other.unwrap_or(place);
            let numbers = format_args!("thread {owner} at {other}, thread {me} at {place}");
            shadow.blame(&rules::PROGRESS_TWO_THREADS, place, pe, numbers);
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_progressed(pe: usize, _moved: c_int) {
    let me = sys::thread();
    checked(|shadow| {
        // Of two threads, and of nested calls, the outer one.
        if let Some(pump) =
            shadow.pumps.get_mut(&pe).filter(|pump| pump.owner == me && pump.callbacks % 2 == 0)
        {
            pump.owner = 0;
        }
    });
}
