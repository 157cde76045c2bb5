//! What this process is doing, for `softdpu top`: devices, boards, progress engines, contexts and their counters.
//!
//! Nothing is counted for it. The rings of a lane have numbers that only grow; they are read when somebody asks, on the
//! thread that answers other processes, while the context is attached to its board: so long neither it nor its lanes nor
//! its progress engine can go. (Whoever detaches it waits for that look.)

use crate::board::Board;
use crate::context::{Core, State};
use crate::lane::Lane;
use crate::sync::{AtomicU32, Ordering};
use softdpu_link::Folder;
use softdpu_link::report::{Rows, provide};
use std::sync::{Mutex, MutexGuard, PoisonError};

static BOARDS: Mutex<Vec<&'static dyn Board>> = Mutex::new(Vec::new());
static ANNOUNCED: AtomicU32 = AtomicU32::new(0);

fn boards() -> MutexGuard<'static, Vec<&'static dyn Board>> {
    BOARDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A context of this board has started. The first one of a process makes it visible to others of the user; where that
/// cannot be, one warning says so, and everything else goes on.
pub(crate) fn started(board: &'static dyn Board) {
    {
        let mut boards = boards();
        if !boards.iter().any(|known| core::ptr::addr_eq(*known, board)) {
            boards.push(board);
        }
    }
    // Nobody waits for whoever is first: a child that was forked meanwhile could wait for ever.
    if ANNOUNCED.load(Ordering::Relaxed) != 0 || ANNOUNCED.swap(1, Ordering::Relaxed) != 0 {
        return;
    }
    provide("boards", write_boards);
    provide("contexts", write_contexts);
    provide("devices", write_devices);
    provide("progress_engines", write_engines);
    if cfg!(miri) {
        return; // has neither directories opened by descriptor nor sockets
    }
    match Folder::prepare() {
        // What goes wrong here has its own line.
        Ok(_) => drop(softdpu_link::ensure()),
        Err(reason) => log::warn!(target: "softdpu::ctx",
            "{reason}; other processes cannot see this one, nor share memory with it"),
    }
}

/// Shows every context that is attached to a board.
fn each(mut look: impl FnMut(&'static Core)) {
    let boards = boards().clone();
    boards.iter().for_each(|board| board.visit(&mut look));
}

fn write_boards(rows: &mut Rows<'_>) {
    for board in boards().clone() {
        rows.row(|row| {
            row.text("name", board.name()).number("workers", board.workers());
        });
    }
}

fn write_devices(rows: &mut Rows<'_>) {
    for device in softdpu_memory::device::opened() {
        let function = device.function();
        let card = function.card();
        rows.row(|row| {
            row.text("pci", function.pci()).text("card", card.name());
            row.text("topology", format_args!("{:016x}", card.topology_hash()));
            row.text("profile", card.profile()).text("side", function.side().name());
        });
    }
}

fn write_engines(rows: &mut Rows<'_>) {
    // Looked at while a context holds it; afterwards it may be gone.
    let mut engines: Vec<(usize, bool, u32, u32)> = Vec::new();
    each(|core| {
        let Some(pe) = core.engine() else { return };
        let id = core::ptr::from_ref(pe).addr();
        match engines.iter_mut().find(|(known, ..)| *known == id) {
            Some((_, _, _, contexts)) => *contexts += 1,
            None => engines.push((id, pe.signal().is_armed(), pe.call_count(), 1)),
        }
    });
    for (id, sleeps, calls, contexts) in engines {
        rows.row(|row| {
            row.text("id", format_args!("{id:#x}")).number("contexts", contexts);
            row.number("calls", calls).flag("sleeps", sleeps);
        });
    }
}

fn write_contexts(rows: &mut Rows<'_>) {
    each(|core| {
        let count = |(flying, landed): (u32, u32), lane: &Lane| {
            let (in_flight, reported) = lane.counts();
            (flying + in_flight, landed.wrapping_add(reported))
        };
        let (in_flight, completed) = core.lanes().fold((0, 0), count);
        rows.row(|row| {
            row.text("id", format_args!("{core:p}")).text("engine", core.info().name);
            row.text("device", core.device().function().pci()).text("state", state(core.state()));
            row.number("in_flight", in_flight).number("completed", completed);
            if core.is_local() {
                row.number("held", core.tasks_held());
            }
            if let Some(pe) = core.engine() {
                row.text("progress_engine", format_args!("{pe:p}"));
            }
        });
    });
}

fn state(state: State) -> &'static str {
    match state {
        State::Idle => "idle",
        State::Starting => "starting",
        State::Running => "running",
        State::Stopping => "stopping",
    }
}
