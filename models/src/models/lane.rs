//! Every task is carried out once, while it flies, and reported with what was written.

use crate::context::{Core, PARTS, SMALL, STEPS, WHOLE};
use crate::handle::Kept;
use crate::slot::Slot;
use crate::sync::{STRICT, USUAL, World, explore};
use loom::thread;

/// One visit of the landing side, in the order of `Pe::sweep_lane`: one task, if it gets ready.
fn visit(core: &'static Core) -> Option<&'static Slot> {
    let lane = core.lane();
    let slot = lane.front()?;
    if !slot.is_ready() {
        core.prepare(lane, slot);
        if !slot.is_ready() {
            return None;
        }
    }
    lane.pop_front();
    lane.sweep_large();
    Some(slot)
}

fn submit(core: &'static Core, slot: &'static Slot, bytes: u64) {
    slot.fill(bytes);
    slot.launch();
    core.lane().push(slot);
}

/// The tasks are submitted; progress visits, a worker assists; one slot flies a second time when it is back early.
fn worker_and_progress(world: World, switches: usize, tasks: &'static [u64], again: Option<u64>) {
    explore(world, switches, move || {
        let pe = Kept::pe();
        let core = Core::running(pe.get());
        let slots: Vec<_> = tasks.iter().map(|_| Kept::new(Slot::new())).collect();
        let core_ref = core.get();
        for (slot, bytes) in slots.iter().zip(tasks) {
            submit(core_ref, slot.get(), *bytes);
        }
        let worker = thread::spawn(move || {
            core_ref.assist(true, true);
        });
        let mut landed = 0;
        let mut expected = tasks.len();
        let mut again = again;
        for _ in 0..tasks.len() {
            if let Some(slot) = visit(core_ref) {
                slot.empty();
                landed += 1;
                if let Some(bytes) = again.take() {
                    submit(core_ref, slot, bytes);
                    expected += 1;
                }
            }
        }
        worker.join().unwrap();
        for _ in 0..5 * expected {
            // A task for workers alone.
            core_ref.assist(false, true);
            if let Some(slot) = visit(core_ref) {
                slot.empty();
                landed += 1;
            }
        }
        assert_eq!(landed, expected, "a task was never reported");
        assert_eq!(core_ref.in_flight(), 0);
        assert!(!core_ref.lane().has_work(), "something is left that nobody submitted");
    });
}

#[test]
fn small_tasks() {
    worker_and_progress(USUAL, 2, &[SMALL, SMALL], Some(SMALL));
    worker_and_progress(STRICT, 2, &[SMALL], Some(SMALL));
}

#[test]
fn a_large_task_in_parts() {
    worker_and_progress(USUAL, 2, &[PARTS], Some(SMALL));
    worker_and_progress(STRICT, 2, &[PARTS], Some(SMALL));
}

#[test]
fn a_large_task_in_steps() {
    worker_and_progress(USUAL, 2, &[STEPS], Some(STEPS));
}

#[test]
fn a_large_task_for_a_worker() {
    worker_and_progress(USUAL, 2, &[WHOLE], Some(SMALL));
}

#[test]
fn a_slot_changes_its_shape() {
    worker_and_progress(USUAL, 2, &[PARTS], Some(STEPS));
    worker_and_progress(USUAL, 2, &[STEPS], Some(PARTS));
}

#[test]
fn a_large_task_after_a_small_one_in_the_same_slot() {
    worker_and_progress(USUAL, 2, &[SMALL], Some(PARTS));
}

#[test]
#[should_panic]
fn broken_without_the_light_barrier() {
    worker_and_progress(World { light: false, ..USUAL }, 2, &[SMALL, SMALL], Some(SMALL));
}

#[test]
#[should_panic]
fn broken_without_the_heavy_barrier() {
    worker_and_progress(World { heavy: false, ..USUAL }, 2, &[SMALL, SMALL], Some(SMALL));
}

macro_rules! scenarios {
    ($name:ident, $subject:path) => {
        #[allow(dead_code, reason = "each variant is run on what it breaks")]
        mod $name {
            use crate::context::SMALL;
            use crate::engine::Shape;
            use crate::handle::Kept;
            use crate::slot::Slot;
            use crate::sync::{USUAL, explore};
            use loom::sync::Arc;
            use loom::thread;
            use subject::Claims;
            use subject::Lane;
            use $subject as subject;

            /// One thread submits, another one turns the lane and reports.
            pub(super) fn submit_from_another_thread() {
                explore(USUAL, 3, || {
                    let slots = [Kept::new(Slot::new()), Kept::new(Slot::new())];
                    let all = [slots[0].get(), slots[1].get()];
                    let lane = Arc::new(Lane::new(2, false).unwrap());
                    let submit = thread::spawn({
                        let lane = lane.clone();
                        move || {
                            for slot in all {
                                slot.fill(SMALL);
                                slot.launch();
                                lane.push(slot);
                            }
                        }
                    });
                    let mut landed = 0;
                    let mut land = |lane: &Lane| {
                        while let Some(slot) = lane.next() {
                            slot.finish(Ok(crate::context::Work.quick(slot).unwrap()));
                        }
                        while let Some(slot) = lane.front().filter(|s| s.is_ready()) {
                            assert!(std::ptr::eq(slot, all[landed]), "out of order");
                            lane.pop_front();
                            slot.empty();
                            landed += 1;
                        }
                    };
                    land(&lane);
                    submit.join().unwrap();
                    land(&lane);
                    assert_eq!((landed, lane.in_flight()), (2, 0));
                });
            }

            /// Two large tasks, of one part and of three; two claimers find the first one exhausted.
            pub(super) fn claims_move_on() {
                explore(USUAL, 3, || {
                    let slots = [Kept::new(Slot::new()), Kept::new(Slot::new())];
                    let all = [slots[0].get(), slots[1].get()];
                    let lane = Arc::new(Lane::new(2, false).unwrap());
                    for (slot, count) in all.into_iter().zip([1, 3]) {
                        slot.enlarge(Shape::Parts, count * SMALL, SMALL);
                        lane.offer_parts(slot);
                    }
                    let claim =
                        |lane: &Lane| match lane.claim(Claims { shared: true, whole: false, first: true }) {
                            Some((slot, _, part)) => {
                                slot.done[usize::from(part)].update(|n| n + 1);
                                slot.parts.finished();
                                1
                            }
                            None => 0,
                        };
                    assert_eq!(claim(&lane), 1);
                    let other = thread::spawn({
                        let lane = lane.clone();
                        move || claim(&lane)
                    });
                    let mine = claim(&lane);
                    assert_eq!(mine + other.join().unwrap() + claim(&lane), 3, "a part is lost");
                    assert_eq!(all[1].done.each_ref().map(|d| d.get()), [1; 3]);
                    lane.sweep_large();
                    assert!(!lane.has_large(), "an exhausted task stays listed");
                });
            }
        }
    };
}

scenarios!(source, crate::lane);
scenarios!(push_unpublished, crate::mutants::lane_push_unpublished);
scenarios!(retire_torn, crate::mutants::lane_retire_torn);
scenarios!(no_sweep, crate::mutants::lane_no_sweep);

#[test]
fn submit_from_another_thread() {
    source::submit_from_another_thread();
}

#[test]
fn claims_move_on() {
    source::claims_move_on();
}

#[test]
#[should_panic]
fn broken_push_not_published() {
    push_unpublished::submit_from_another_thread();
}

#[test]
#[should_panic]
fn broken_retire_in_two_steps() {
    retire_torn::claims_move_on();
}

#[test]
#[should_panic(expected = "an exhausted task stays listed")]
fn broken_nobody_sweeps() {
    no_sweep::claims_move_on();
}
