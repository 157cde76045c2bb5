//! Who owns a task: the holder of a future on one thread, the landing side on another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::Wake;

/// Counts wakes.
#[derive(Default)]
struct Bells(AtomicUsize);
impl Wake for Bells {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

macro_rules! scenarios {
    ($name:ident, $subject:path) => {
        #[allow(dead_code, reason = "each variant is run on what it breaks")]
        mod $name {
            use super::Bells;
            use crate::sync::{ProtocolCell, USUAL, explore};
            use loom::sync::Arc;
            use loom::thread;
            use std::sync::atomic::Ordering::Relaxed;
            use std::task::Waker;
            use subject::{FLYING, FREE, Flight, HELD, Landed};
            use $subject as subject;

            /// A slot with a job, which is emptied once per flight.
            struct Task {
                flight: Flight,
                job: ProtocolCell<Option<u32>>,
                emptied: ProtocolCell<u32>,
            }

            impl Task {
                fn launched() -> Arc<Task> {
                    let task = Task {
                        flight: Flight::new(),
                        job: ProtocolCell::new(Some(1)),
                        emptied: ProtocolCell::new(0),
                    };
                    task.flight.set(FLYING);
                    Arc::new(task)
                }

                fn empty(&self) {
                    assert!(self.job.get().is_some(), "emptied twice");
                    self.job.update(|_| None);
                    self.emptied.update(|n| n + 1);
                    self.flight.set(FREE);
                }

                /// The engine carries it out, then it lands.
                fn land(&self) {
                    self.job.update(|job| job.map(|n| n + 1));
                    if self.flight.land() == Landed::Orphan {
                        self.empty();
                    }
                }
            }

            /// `holder` says whether it is through with the task (else it waits for a wake and takes it).
            fn round(holder: fn(&Task, &Waker) -> bool) {
                explore(USUAL, 4, move || {
                    let task = Task::launched();
                    let bells = std::sync::Arc::new(Bells::default());
                    let waker = Waker::from(bells.clone());
                    let landing = thread::spawn({
                        let task = task.clone();
                        move || task.land()
                    });
                    let through = holder(&task, &waker);
                    landing.join().unwrap();
                    if !through {
                        assert_eq!(bells.0.load(Relaxed), 1, "a parked waker is woken, once");
                        assert!(task.flight.take_or_park(&waker), "it is back");
                        task.empty();
                    }
                    assert_eq!(task.emptied.get(), 1, "emptied once");
                    assert_eq!(task.flight.state(), FREE);
                });
            }

            pub(super) fn drop_in_flight() {
                round(|task, _| {
                    if task.flight.abandon() {
                        task.empty();
                    }
                    true
                });
            }

            pub(super) fn poll_then_drop() {
                round(|task, waker| {
                    if task.flight.take_or_park(waker) || task.flight.abandon() {
                        task.empty();
                    }
                    true
                });
            }

            pub(super) fn poll_twice() {
                round(|task, waker| {
                    let through = task.flight.take_or_park(waker) || task.flight.take_or_park(waker);
                    if through {
                        task.empty();
                    }
                    through
                });
            }

            pub(super) fn try_take() {
                round(|task, waker| {
                    let through = task.flight.try_take() || task.flight.take_or_park(waker);
                    if through {
                        task.empty();
                    }
                    through
                });
            }

            /// The holder takes the task, lets the same slot fly again and parks once more, while the landing side may
            /// still be busy with the first flight.
            pub(super) fn relaunch_while_landing() {
                explore(USUAL, 4, || {
                    let task = Task::launched();
                    let waker = Waker::from(std::sync::Arc::new(Bells::default()));
                    let landing = thread::spawn({
                        let task = task.clone();
                        move || task.land()
                    });
                    if task.flight.take_or_park(&waker) || task.flight.take_or_park(&waker) {
                        task.flight.set(HELD);
                        task.job.update(|_| Some(2));
                        task.flight.set(FLYING);
                        assert!(!task.flight.take_or_park(&waker), "nobody lands the second flight");
                    }
                    landing.join().unwrap();
                });
            }
        }
    };
}

scenarios!(source, crate::flight);
scenarios!(done_before_waker, crate::mutants::flight_done_before_waker);
scenarios!(done_unpublished, crate::mutants::flight_done_unpublished);
scenarios!(no_wake, crate::mutants::flight_no_wake);
scenarios!(orphan_unowned, crate::mutants::flight_orphan_unowned);

#[test]
fn drop_in_flight() {
    source::drop_in_flight();
}

#[test]
fn poll_then_drop() {
    source::poll_then_drop();
}

#[test]
fn poll_twice() {
    source::poll_twice();
}

#[test]
fn try_take() {
    source::try_take();
}

#[test]
fn relaunch_while_landing() {
    source::relaunch_while_landing();
}

#[test]
#[should_panic]
fn broken_done_before_the_waker_is_out() {
    done_before_waker::relaunch_while_landing();
}

#[test]
#[should_panic]
fn broken_done_not_published() {
    done_unpublished::poll_twice();
}

#[test]
#[should_panic(expected = "a parked waker is woken, once")]
fn broken_nobody_wakes() {
    no_wake::poll_twice();
}

#[test]
#[should_panic]
fn broken_orphan_not_told() {
    orphan_unowned::drop_in_flight();
}
