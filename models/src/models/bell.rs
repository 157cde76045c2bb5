//! A worker that found nothing lies down, looks once more, and parks; whoever submits looks at the bell.

use crate::context::{ACTIVE, Core, SMALL};
use crate::handle::Kept;
use crate::slot::Slot;
use crate::sync::{Ordering, STRICT, USUAL, World, explore};
use loom::thread;

/// One submit; a worker that does not stand up for it sleeps for ever, which loom reports.
/// A fresh bell makes every submit look behind a barrier; its first ring finds out whether that is needed.
fn submit_while_it_lies_down(world: World, workers: usize, fresh: bool) {
    explore(world, if workers == 1 { 3 } else { 2 }, move || {
        let pe = Kept::pe();
        let (core, slot) = (Core::running(pe.get()), Kept::new(Slot::new()));
        let (core_ref, slot_ref) = (core.get(), slot.get());
        core_ref.active.store(ACTIVE, Ordering::Relaxed);
        if !fresh {
            core_ref.bell().ring();
        }
        let workers: Vec<_> = (0..workers)
            .map(|_| {
                thread::spawn(move || {
                    // As the threads of the board do it.
                    while !core_ref.lane().has_work() {
                        core_ref.bell().lie_down(thread::current());
                        if core_ref.lane().has_work() {
                            core_ref.bell().ring();
                        } else {
                            thread::park();
                        }
                    }
                })
            })
            .collect();
        slot_ref.fill(SMALL);
        core_ref.launch(slot_ref, core_ref.lane());
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn one_worker() {
    for fresh in [true, false] {
        submit_while_it_lies_down(USUAL, 1, fresh);
        submit_while_it_lies_down(STRICT, 1, fresh);
    }
}

#[test]
fn two_workers() {
    submit_while_it_lies_down(USUAL, 2, false);
}

#[test]
#[should_panic(expected = "deadlock")]
fn broken_without_the_light_barrier() {
    submit_while_it_lies_down(World { light: false, ..USUAL }, 1, false);
}

#[test]
#[should_panic(expected = "deadlock")]
fn broken_without_the_heavy_barrier() {
    submit_while_it_lies_down(World { heavy: false, ..USUAL }, 1, false);
}

#[test]
#[should_panic(expected = "deadlock")]
fn broken_without_the_fence_of_the_slow_path() {
    submit_while_it_lies_down(World { fences: false, ..STRICT }, 1, false);
}
