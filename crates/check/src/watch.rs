//! The watchdog: says when nothing moves, while the program still runs.

use crate::rules;
use crate::shadow::{Kind, Object, Shadow};
use crate::task::{Phase, Style};
use crate::{place::Place, with};
use std::collections::HashMap;
use std::time::Duration;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);
/// Looks after which tasks that nobody progresses are worth a line.
const STILL: u32 = 4;
/// Looks after which a callback has been running for too long.
const LONG: u32 = 8;

/// Starts the thread, which takes no signals and ends with the process.
pub(crate) fn start() {
    let before = crate::sys::block_signals();
    let _ = std::thread::Builder::new().name("softdpu-check".into()).spawn(|| {
        loop {
            std::thread::sleep(LOOK);
            with(look);
        }
    });
    crate::sys::restore_signals(&before);
}

fn look(shadow: &mut Shadow) {
    let engines: Vec<usize> = shadow.pumps.all().iter().map(|(pump, _)| pump.at).collect();
    let engines: Vec<usize> = engines.into_iter().filter(|pe| shadow.alive(*pe).is_some()).collect();
    let moves =
        |pe: &usize| shadow.pumps.get(*pe).is_some_and(|(pump, seen)| pump.counts().0 != seen.counts.0);
    let moving = engines.iter().any(moves);
    let flying = flying(shadow);
    for engine in engines {
        let (near, far) = flying.get(&engine).copied().unwrap_or_default();
        let Some((pump, seen)) = shadow.pumps.get_mut(engine) else { continue };
        let now = pump.counts();
        seen.same = if now == seen.counts { seen.same + 1 } else { 0 };
        seen.counts = now;
        // Who has armed an engine may sleep for as long as a peer takes.
        let flying = if seen.armed { near } else { near + far };
        let (same, busy, at, calls) = (seen.same, pump.is_in_callback(), pump.place(), now.0);
        if busy && same == LONG {
            shadow.blame(
                &rules::CALLBACK_BLOCKS,
                at,
                engine,
                format_args!("2 s, in the progress call at {at}"),
            );
        } else if !busy && same == STILL && flying > 0 {
            let asleep = seen.handle && !seen.armed;
            let rule = match (asleep, moving) {
                (true, _) => &rules::NOT_ARMED,
                (false, true) => &rules::WRONG_ENGINE,
                (false, false) => &rules::NEVER_PROGRESSED,
            };
            let numbers = format_args!("{flying} tasks in flight, no progress for 1 s, {calls} calls before");
            shadow.blame(rule, Place(0), engine, numbers);
        }
    }
    sends(shadow);
    refusals(shadow, &flying_contexts(shadow));
    stops(shadow);
}

/// Sends that nobody takes.
fn sends(shadow: &mut Shadow) {
    let mut waiting = Vec::new();
    for number in 0..shadow.tasks.all().len() as u32 {
        let Some(task) = shadow.tasks.at_mut(number) else { continue };
        if task.phase == Phase::Flying && task.style == Style::Send {
            task.looks += 1;
            if task.looks == LONG {
                waiting.push((task.handle, task.ctx, task.at));
            }
        }
    }
    for (task, ctx, at) in waiting {
        // An engine that stands still is another matter.
        if progresses(shadow, ctx) {
            shadow.blame_task(&rules::SEND_WAITS, at, task, format_args!("in flight for 2 s, since {at}"));
        }
    }
}

/// Tasks that were refused and left where they were, on contexts that have nothing in flight.
fn refusals(shadow: &mut Shadow, flying: &HashMap<usize, (u64, u64)>) {
    let mut left = Vec::new();
    for number in 0..shadow.tasks.all().len() as u32 {
        let Some(task) = shadow.tasks.at_mut(number) else { continue };
        // What a producer waits for comes from its peer.
        if task.phase != Phase::Held || !task.refused || task.what == "produce" {
            continue;
        }
        task.looks = if flying.contains_key(&task.ctx) { 0 } else { task.looks + 1 };
        if task.looks == LONG {
            left.push((task.handle, task.ctx, task.at));
        }
    }
    for (task, ctx, at) in left {
        if progresses(shadow, ctx) {
            let numbers = format_args!("2 s ago, at {at}, and nothing is in flight");
            shadow.blame_task(&rules::REFUSAL_IGNORED, at, task, numbers);
        }
    }
}

/// Contexts that were stopped and do not become idle, for packets that the program has.
fn stops(shadow: &mut Shadow) {
    let stopping = shadow.objects.all().iter().filter(|o| o.died.is_none() && o.stopping.is_some());
    for ctx in stopping.map(|o| o.at).collect::<Vec<_>>() {
        let mine = |o: &&Object| o.kind == Kind::Buffer && o.died.is_none() && o.parents.contains(&ctx);
        let packets = shadow.objects.all().iter().filter(mine);
        let (count, first) = (packets.clone().count(), packets.min_by_key(|o| o.number).map(Object::words));
        let Some(looks) = shadow.objects.get_mut(ctx).and_then(|ctx| ctx.stopping.as_mut()) else { continue };
        *looks = if count == 0 { 0 } else { *looks + 1 };
        if let (STILL, Some(first)) = (*looks, first) {
            let numbers = format_args!("{count} for 1 s, among them {first}");
            shadow.blame(&rules::PACKETS_HELD, Place(0), ctx, numbers);
        }
    }
}

/// Whether somebody progresses the engine of a context.
fn progresses(shadow: &Shadow, ctx: usize) -> bool {
    let seen = shadow.engine_of(ctx).and_then(|pe| shadow.pumps.get(pe)).map(|(_, seen)| *seen);
    seen.is_some_and(|seen| seen.same < STILL)
}

/// Tasks in flight, by context: those of this machine's engines, and those with peers. What waits for something to
/// happen does not count.
fn flying_contexts(shadow: &Shadow) -> HashMap<usize, (u64, u64)> {
    let mut contexts: HashMap<usize, (u64, u64)> = HashMap::new();
    for task in shadow.tasks.all().iter().filter(|task| task.phase == Phase::Flying) {
        let (near, far) = contexts.entry(task.ctx).or_default();
        match task.style {
            Style::Wait | Style::Send => {}
            Style::Peer => *far += 1,
            _ => *near += 1,
        }
    }
    contexts
}

/// The same by the engine that they report to.
fn flying(shadow: &Shadow) -> HashMap<usize, (u64, u64)> {
    let mut engines: HashMap<usize, (u64, u64)> = HashMap::new();
    for (ctx, (near, far)) in flying_contexts(shadow) {
        if let Some(engine) = shadow.engine_of(ctx) {
            let sum = engines.entry(engine).or_default();
            *sum = (sum.0 + near, sum.1 + far);
        }
    }
    engines
}
