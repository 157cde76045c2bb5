//! Tasks: their pools, and tasks that are allocated, changed and freed.
#![expect(unsafe_code, reason = "entry points for C, and the texts and structures that C hands over")]

use super::{BAD_STATE, NO_MEMORY, checked, impatient, literal};
use crate::place::Place;
use crate::rules;
use crate::task::{Phase, Plan, Range, Style, Task, TaskPool, Use};
use std::ffi::{c_char, c_int};

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
    let made = Place(place);
    checked(|shadow| {
        let new = Task {
            phase: Phase::Held,
            ran: false,
            style: Style::of(what),
            src: shadow.used(src),
            dst: shadow.used(dst),
            reads: Range::default(),
            writes: Range::default(),
            plan: Plan::default(),
            looks: 0,
            refused: false,
            most: shadow.objects.get(ctx).map_or(u64::MAX, |ctx| ctx.most),
            link: 0,
            planned: false,
            digest: None,
            good: 0,
            bad: 0,
            at: made,
            handle: task,
            ctx,
            what,
            number: 0,
            made,
        };
        shadow.allocate(task, new);
        if let Some(died) = shadow.objects.get(dead).and_then(|o| o.died) {
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
        } else if result == NO_MEMORY {
            impatient(shadow, ctx, result, call, place);
        } else if result == BAD_STATE {
            shadow.blame(&rules::TASK_NOT_RUNNING, place, ctx, format_args!("{call} at {place}"));
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_task_set(task: usize, src: usize, dst: usize) {
    checked(|shadow| {
        let uses = [shadow.used(src), shadow.used(dst)];
        let task = shadow.tasks.get_mut(task).filter(|task| task.phase == Phase::Held);
        let Some(task) = task else { return };
        for (place, new) in [&mut task.src, &mut task.dst].into_iter().zip(uses) {
            if new.at != Use::NOTHING.at {
                *place = new;
            }
        }
        task.plan.holds = false;
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_free(task: usize, _call: *const c_char, place: usize) {
    let place = Place(place);
    checked(|shadow| {
        let Some((number, known)) = shadow.task(task) else { return };
        let at = known.at;
        match known.phase {
            Phase::Gone => {}
            Phase::Held => shadow.mark(number, Phase::Freed, place),
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
                shadow.mark(number, Phase::Freed, place);
            }
        }
    });
}
