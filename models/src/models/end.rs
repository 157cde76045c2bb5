//! The end of a context of the Rust face: its last tasks come back, and it is given up only when nobody can reach it.

use super::ring::Rig;
use crate::context::{Core, SMALL, State};
use crate::ending;
use crate::handle::{Kept, core_ref};
use crate::pe::Pe;
use crate::slot::Slot;
use crate::sync::{Ordering, STRICT, USUAL, World, explore};
use loom::thread;

/// A progress call, in the order of `Pe::sweep`: every context of the ring is visited once. Returns the tasks reported.
fn progress(pe: &'static Pe) -> u32 {
    pe.adopt();
    let mut reported = 0;
    for _ in 0..pe.count.load(Ordering::Relaxed) {
        let Some(prev) = core_ref(pe.cursor.load(Ordering::Relaxed)) else { break };
        let core = core_ref(prev.next.load(Ordering::Relaxed)).expect("the ring is closed");
        pe.cursor.store(std::ptr::from_ref(core).cast_mut(), Ordering::Relaxed);
        let lane = core.lane();
        let mut here = 0;
        if core.in_flight() > 0 && lane.has_queued() && lane.lock().enter() {
            while let Some(slot) = lane.next() {
                core.carry_out(slot, lane);
            }
            lane.lock().leave();
        }
        while let Some(slot) = lane.front().filter(|s| s.is_ready()) {
            lane.pop_front();
            slot.flight.set(crate::flight::FREE);
            here += 1;
        }
        reported += here;
        if core.state() == State::Stopping {
            pe.settle(core);
        } else if here == 0 && core.in_flight() == 0 {
            pe.rest(prev, core);
        }
    }
    reported
}

/// A task fails, so the engine's thread stops the context, while another thread submits.
fn submit_while_it_settles(world: World) {
    explore(world, 3, || {
        let rig = Rig::new();
        let (pe, core, slot) = (rig.pe.get(), rig.one.get(), rig.slot.get());
        let submit = thread::spawn(move || {
            let running = core.is_running();
            if running {
                slot.fill(SMALL);
                core.launch(slot, core.lane());
            }
            u32::from(running)
        });
        core.set_state(State::Stopping);
        let mut reported = progress(pe);
        let submitted = submit.join().unwrap();
        for _ in 0..3 {
            reported += progress(pe);
        }
        assert_eq!(reported, submitted, "a task that was accepted never comes back");
        assert_eq!((core.state(), core.in_flight()), (State::Idle, 0));
    });
}

/// The handle is dropped on one thread, and the next context made there, while another thread progresses.
fn drop_while_it_is_progressed(world: World, submit: bool) {
    explore(world, 2, move || {
        let rig = Rig::new();
        let (pe, core, slot): (_, &'static Core, &'static Slot) =
            (rig.pe.get(), rig.one.get(), rig.slot.get());
        let owner = thread::spawn(move || {
            if submit {
                slot.fill(SMALL);
                core.launch(slot, core.lane());
            }
            ending::drop_handle(core);
            ending::sweep_graveyard();
        });
        progress(pe);
        owner.join().unwrap();
        for _ in 0..3 {
            progress(pe);
            ending::sweep_graveyard();
        }
        assert!(core.retired.load(Ordering::Relaxed), "nobody gives the context up");
        assert!(!rig.visited().iter().any(|c| std::ptr::eq(*c, core)), "given up, and still in the ring");
    });
}

#[test]
fn a_submit_while_the_context_settles() {
    submit_while_it_settles(USUAL);
    submit_while_it_settles(STRICT);
}

#[test]
fn a_handle_dropped_while_the_context_is_progressed() {
    drop_while_it_is_progressed(USUAL, false);
}

#[test]
fn a_handle_dropped_after_a_submit() {
    drop_while_it_is_progressed(USUAL, true);
}

#[test]
#[should_panic(expected = "a task that was accepted never comes back")]
fn broken_settle_without_the_heavy_barrier() {
    submit_while_it_settles(World { heavy: false, ..USUAL });
}

#[test]
#[should_panic(expected = "a task that was accepted never comes back")]
fn broken_settle_without_the_light_barrier() {
    submit_while_it_settles(World { light: false, ..USUAL });
}

/// While one thread drops the handle, the other progresses and makes contexts of its own, which gives up those that are
/// over.
fn drop_while_others_give_up(early: bool) {
    explore(USUAL, 3, move || {
        let rig = Rig::new();
        let (pe, core): (_, &'static Core) = (rig.pe.get(), rig.one.get());
        let owner = thread::spawn(move || ending::drop_handle_watched(core, early));
        progress(pe);
        ending::sweep_graveyard();
        owner.join().unwrap();
        for _ in 0..3 {
            progress(pe);
            ending::sweep_graveyard();
        }
        assert!(core.retired.load(Ordering::Relaxed), "nobody gives the context up");
    });
}

#[test]
fn a_handle_dropped_while_others_give_up() {
    drop_while_others_give_up(false);
}

#[test]
#[should_panic(expected = "a context that was given up is looked at")]
fn broken_abandoned_before_the_membership() {
    drop_while_others_give_up(true);
}

/// A context that is given up too early is noticed.
#[test]
#[should_panic(expected = "a context that was given up is looked at")]
fn broken_given_up_at_once() {
    explore(USUAL, 2, || {
        let rig = Rig::new();
        let core: Kept<Core> = rig.one;
        let (pe, first) = (rig.pe.get(), core.get());
        first.set_state(State::Idle);
        first.retired.store(true, Ordering::Relaxed);
        progress(pe);
    });
}

/// The engine goes while another thread submits: the task comes back on that thread, or was never accepted.
#[test]
fn a_submit_while_the_engine_goes() {
    explore(USUAL, 3, || {
        let rig = Rig::new();
        let (pe, core, slot) = (rig.pe.get(), rig.one.get(), rig.slot.get());
        let submit = thread::spawn(move || {
            let running = core.is_running();
            if running {
                slot.fill(SMALL);
                core.launch(slot, core.lane());
            }
            running
        });
        core.leave_running();
        let mut reported = 0;
        // As the room's `Drop for ProgressEngine`.
        loop {
            let guard = ending::membership();
            if core.state() == State::Idle && core.in_flight() == 0 {
                pe.unlink(core);
                core.disconnect();
                break;
            }
            drop(guard);
            reported += progress(pe);
            thread::yield_now();
        }
        let submitted = submit.join().unwrap();
        let alone = slot.flight.state() == crate::flight::DONE;
        assert_eq!(
            reported + u32::from(alone),
            u32::from(submitted),
            "a task that was accepted never comes back"
        );
    });
}
