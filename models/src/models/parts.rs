//! Claims on the parts of a large task.

macro_rules! scenarios {
    ($name:ident, $subject:path) => {
        #[allow(dead_code, reason = "each variant is run on what it breaks")]
        mod $name {
            use crate::sync::{AtomicU32, Ordering, ProtocolCell, USUAL, explore};
            use loom::sync::Arc;
            use loom::thread;
            use subject::Parts;
            use $subject as subject;

            /// Up to two tasks, one after the other in the same slot, and how often their parts were carried out.
            struct Task {
                parts: Parts,
                /// Which task is there now: what a claimer measures its part with.
                which: AtomicU32,
                done: [[ProtocolCell<u32>; 2]; 2],
                closed: [ProtocolCell<u32>; 2],
            }

            impl Task {
                fn new() -> Arc<Task> {
                    let cells = || [0; 2].map(ProtocolCell::new);
                    Arc::new(Task {
                        parts: Parts::new(),
                        which: AtomicU32::new(0),
                        done: [cells(), cells()],
                        closed: [ProtocolCell::new(0), ProtocolCell::new(0)],
                    })
                }

                /// Each task has parts of its own kind.
                fn open(&self, which: u32, count: u16) {
                    self.which.store(which, Ordering::Relaxed);
                    self.parts.open(count, which as u8);
                }

                /// Carries out one part of whatever task is there; true when that finished the task.
                fn do_part(&self, count: usize) -> Option<bool> {
                    let kind = self.parts.kind();
                    let part = self.parts.claim(kind)?;
                    let which = self.which.load(Ordering::Relaxed) as usize;
                    assert_eq!(which, usize::from(kind), "a part of another kind");
                    self.done[which][usize::from(part)].update(|n| n + 1);
                    let last = self.parts.finished();
                    if last {
                        for done in &self.done[which][..count] {
                            assert_eq!(done.get(), 1, "finished before every part was carried out once");
                        }
                        self.closed[which].update(|n| n + 1);
                    }
                    Some(last)
                }
            }

            /// Two parts, three claimers.
            pub(super) fn many_claimers() {
                explore(USUAL, 2, || {
                    let task = Task::new();
                    task.open(0, 2);
                    let others = [0, 1].map(|_| {
                        let task = task.clone();
                        thread::spawn(move || task.do_part(2) == Some(true))
                    });
                    let mut last = 0;
                    while let Some(l) = task.do_part(2) {
                        last += u32::from(l);
                    }
                    for other in others {
                        last += u32::from(other.join().unwrap());
                    }
                    assert!(task.parts.exhausted());
                    assert_eq!((last, task.closed[0].get()), (1, 1), "one party finishes the task");
                });
            }

            /// A claimer is late: the slot may carry its next task already.
            pub(super) fn late_claimer() {
                explore(USUAL, 4, || {
                    let task = Task::new();
                    task.open(0, 1);
                    let late = thread::spawn({
                        let task = task.clone();
                        move || task.do_part(1)
                    });
                    if task.do_part(1).is_some() {
                        // Finished here, so the next task may move in while the other still looks.
                        task.open(1, 1);
                        task.do_part(1);
                        late.join().unwrap();
                        assert_eq!(
                            task.closed[1].get(),
                            1,
                            "the second task is carried out by one of the two"
                        );
                    } else {
                        assert_eq!(late.join().unwrap(), Some(true));
                    }
                    assert_eq!(task.closed[0].get(), 1);
                });
            }
        }
    };
}

scenarios!(source, crate::parts);
scenarios!(open_unpublished, crate::mutants::parts_open_unpublished);
scenarios!(finish_unordered, crate::mutants::parts_finish_unordered);
scenarios!(claim_torn, crate::mutants::parts_claim_torn);
scenarios!(of_any_kind, crate::mutants::parts_of_any_kind);
scenarios!(left_late, crate::mutants::parts_left_late);

#[test]
fn many_claimers() {
    source::many_claimers();
}

#[test]
fn late_claimer() {
    source::late_claimer();
}

#[test]
#[should_panic(expected = "a part of another kind")]
fn broken_any_kind_will_do() {
    of_any_kind::late_claimer();
}

#[test]
#[should_panic]
fn broken_open_not_published() {
    open_unpublished::late_claimer();
}

#[test]
#[should_panic]
fn broken_finish_does_not_order() {
    finish_unordered::many_claimers();
}

#[test]
#[should_panic]
fn broken_claim_in_two_steps() {
    claim_torn::many_claimers();
}

#[test]
#[should_panic]
fn broken_count_not_set() {
    left_late::many_claimers();
}
