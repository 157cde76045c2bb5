//! The watchdog: says when nothing moves, while the program still runs.

use crate::rules;
use crate::shadow::{Phase, Shadow};
use crate::{place::Place, with};
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
    let engines: Vec<usize> = shadow.pumps.keys().copied().collect();
    let moving = engines.iter().any(|engine| shadow.pumps.get(engine).is_some_and(|p| p.calls != p.seen.0));
    for engine in engines {
        let flying = flying(shadow, engine);
        let Some(pump) = shadow.pumps.get_mut(&engine) else { continue };
        let now = (pump.calls, pump.callbacks);
        pump.same = if now == pump.seen { pump.same + 1 } else { 0 };
        pump.seen = now;
        let (same, busy) = (pump.same, pump.callbacks % 2 == 1);
        let at = pump.place.unwrap_or(Place(0));
        let calls = pump.calls;
        if busy && same == LONG {
            shadow.blame(
                &rules::CALLBACK_BLOCKS,
                at,
                engine,
                format_args!("2 s, in the progress call at {at}"),
            );
        } else if !busy && same == STILL && flying > 0 {
            let rule = if moving { &rules::WRONG_ENGINE } else { &rules::NEVER_PROGRESSED };
            let numbers = format_args!("{flying} tasks in flight, no progress for 1 s, {calls} calls before");
            shadow.blame(rule, Place(0), engine, numbers);
        }
    }
}

/// Tasks in flight that report to an engine.
pub(crate) fn flying(shadow: &Shadow, engine: usize) -> usize {
    let of = |ctx: usize| shadow.engine_of(ctx) == Some(engine);
    shadow.tasks.values().filter(|task| task.phase == Phase::Flying && of(task.ctx)).count()
}
