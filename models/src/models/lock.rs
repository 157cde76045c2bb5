//! One party at a time turns a lane: the progressing thread, which pays nothing, and workers, which pay for both.

macro_rules! scenarios {
    ($name:ident, $subject:path) => {
        #[allow(dead_code, reason = "each variant is run on what it breaks")]
        mod $name {
            use crate::sync::{ProtocolCell, World, explore};
            use loom::sync::Arc;
            use loom::thread;
            use subject::LaneLock;
            use $subject as subject;

            /// What the lock guards: a queue of `tasks`, and how many were carried out.
            struct Lane {
                lock: LaneLock,
                tasks: ProtocolCell<(u32, u32)>,
            }

            impl Lane {
                fn with(tasks: u32) -> Arc<Lane> {
                    Arc::new(Lane { lock: LaneLock::new(), tasks: ProtocolCell::new((tasks, 0)) })
                }

                fn turn(&self) {
                    self.tasks
                        .update(|(left, done)| if left > 0 { (left - 1, done + 1) } else { (left, done) });
                }

                fn progress(&self) -> bool {
                    let entered = self.lock.enter();
                    if entered {
                        self.turn();
                        self.lock.leave();
                    }
                    entered
                }

                fn assist(&self) {
                    if self.lock.take() {
                        self.turn();
                        self.lock.give();
                    }
                }
            }

            /// Progress twice, one worker meanwhile. Whatever a party refuses, a later progress carries out.
            pub(super) fn one_worker(world: World) {
                explore(world, 3, || {
                    let lane = Lane::with(2);
                    let worker = thread::spawn({
                        let lane = lane.clone();
                        move || lane.assist()
                    });
                    let entered = u32::from(lane.progress()) + u32::from(lane.progress());
                    worker.join().unwrap();
                    assert!(lane.tasks.get().1 >= entered, "what progress carried out is lost");
                    while lane.tasks.get().0 > 0 {
                        assert!(lane.progress(), "the lane is free, and nobody gets it");
                    }
                    assert_eq!(lane.tasks.get(), (0, 2), "each task once");
                });
            }

            /// Two workers and progress.
            pub(super) fn two_workers(world: World) {
                explore(world, 2, || {
                    let lane = Lane::with(3);
                    let workers = [0, 1].map(|_| {
                        let lane = lane.clone();
                        thread::spawn(move || lane.assist())
                    });
                    lane.progress();
                    for worker in workers {
                        worker.join().unwrap();
                    }
                    while lane.tasks.get().0 > 0 {
                        assert!(lane.progress(), "the lane is free, and nobody gets it");
                    }
                    assert_eq!(lane.tasks.get(), (0, 3), "each task once");
                });
            }
        }
    };
}

scenarios!(source, crate::lock);
scenarios!(leave_unpublished, crate::mutants::lock_leave_unpublished);
scenarios!(give_unpublished, crate::mutants::lock_give_unpublished);

use crate::sync::{STRICT, USUAL, World};

#[test]
fn progress_and_a_worker() {
    source::one_worker(USUAL);
    source::one_worker(STRICT);
}

#[test]
fn progress_and_two_workers() {
    source::two_workers(USUAL);
    source::two_workers(STRICT);
}

#[test]
#[should_panic]
fn broken_without_the_light_barrier() {
    source::one_worker(World { light: false, ..USUAL });
}

#[test]
#[should_panic]
fn broken_without_the_heavy_barrier() {
    source::one_worker(World { heavy: false, ..USUAL });
}

#[test]
#[should_panic]
fn broken_without_the_fence_of_the_slow_path() {
    source::one_worker(World { fences: false, ..STRICT });
}

#[test]
#[should_panic]
fn broken_leave_not_published() {
    leave_unpublished::one_worker(USUAL);
}

#[test]
#[should_panic]
fn broken_give_not_published() {
    give_unpublished::one_worker(USUAL);
}
