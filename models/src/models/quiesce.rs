//! An owner takes lent memory back while borrowers in other processes use it.

use crate::quiesce;
use crate::sync::{AtomicU32, ProtocolCell, STRICT, USUAL, World, explore, spin};
use loom::thread;
use std::sync::Arc;

/// What they share: the owner's word, a word per borrower, and the memory, in which loom sees who is there at what time.
struct Lent {
    lent: AtomicU32,
    active: [AtomicU32; 2],
    memory: [ProtocolCell<u32>; 2],
}

/// How borrowers mark.
#[derive(Clone, Copy)]
enum Way {
    /// In a word of several threads.
    Counted,
    /// In words of their own; who can do what decides on the barriers.
    Alone { owner_reaches: bool, reachable: bool },
}

/// Where nobody has a barrier left out.
const FENCED: [Way; 2] = [
    Way::Alone { owner_reaches: false, reachable: true },
    Way::Alone { owner_reaches: true, reachable: false },
];
const REACHED: Way = Way::Alone { owner_reaches: true, reachable: true };

macro_rules! model {
    ($run:ident, $code:path) => {
        /// Borrowers enter, look again whether they may, and leave; afterwards the memory is the owner's alone.
        fn $run(world: World, way: Way, borrowers: usize, accesses: usize) {
            use $code as code;
            let (lent, fast) = match way {
                Way::Counted => (code::LENT_BY_REACHING, code::NEVER),
                Way::Alone { owner_reaches, reachable } => (
                    if owner_reaches { code::LENT_BY_REACHING } else { code::LENT },
                    if reachable { code::LENT_BY_REACHING } else { code::NEVER },
                ),
            };
            explore(world, 3, move || {
                let shared = Arc::new(Lent {
                    lent: AtomicU32::new(lent),
                    active: [AtomicU32::new(0), AtomicU32::new(0)],
                    memory: [ProtocolCell::new(0), ProtocolCell::new(0)],
                });
                let threads: Vec<_> = (0..borrowers)
                    .map(|i| {
                        let shared = shared.clone();
                        thread::spawn(move || {
                            let (lent, active) = (&shared.lent, &shared.active[i]);
                            for _ in 0..accesses {
                                let entered = match way {
                                    Way::Counted => code::enter(lent, active),
                                    Way::Alone { .. } => code::enter_alone(lent, active, fast),
                                };
                                if entered {
                                    shared.memory[i].update(|v| v + 1);
                                    match way {
                                        Way::Counted => code::leave(active),
                                        Way::Alone { .. } => code::leave_alone(active),
                                    }
                                }
                            }
                        })
                    })
                    .collect();
                code::recall([&shared.lent].into_iter());
                for i in 0..borrowers {
                    while !code::is_quiet(&shared.active[i]) {
                        spin();
                    }
                    shared.memory[i].update(|_| 0);
                }
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                assert!(shared.memory[..borrowers].iter().all(|memory| memory.get() == 0));
            });
        }
    };
}

model!(run, quiesce);

#[test]
fn one_borrower() {
    run(USUAL, Way::Counted, 1, 2);
    run(USUAL, REACHED, 1, 2);
    FENCED.into_iter().for_each(|way| run(STRICT, way, 1, 2));
}

#[test]
fn two_borrowers() {
    run(USUAL, Way::Counted, 2, 1);
    run(USUAL, REACHED, 2, 1);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_the_barriers() {
    run(World { fences: false, ..USUAL }, Way::Counted, 1, 1);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_the_fence_where_nobody_reaches() {
    run(World { fences: false, ..STRICT }, FENCED[0], 1, 1);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_the_fence_where_nobody_is_reached() {
    run(World { fences: false, ..STRICT }, FENCED[1], 1, 1);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_the_light_barrier() {
    run(World { light: false, ..USUAL }, REACHED, 1, 1);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_the_far_barrier() {
    run(World { heavy: false, fences: false, ..USUAL }, REACHED, 1, 1);
}

macro_rules! broken {
    ($($name:ident: $mutant:ident, $world:expr, $way:expr;)*) => {$(
        mod $name {
            use super::*;
            model!(run, crate::mutants::$mutant);

            #[test]
            #[should_panic]
            fn is_noticed() {
                run($world, $way, 1, 1);
            }
        }
    )*};
}

broken! {
    broken_by_not_looking_again: quiesce_not_looking, USUAL, Way::Counted;
    broken_by_looking_first: quiesce_looking_first, USUAL, Way::Counted;
    broken_by_an_unpublished_leave: quiesce_leave_unpublished, USUAL, Way::Counted;
    broken_by_an_unseen_leave: quiesce_leave_unseen, USUAL, Way::Counted;
    broken_by_not_looking_alone: quiesce_alone_not_looking, USUAL, REACHED;
    broken_by_looking_first_alone: quiesce_alone_looking_first, USUAL, REACHED;
    broken_by_taking_every_owner_for_a_reaching_one: quiesce_alone_always_fast, STRICT, FENCED[0];
    broken_by_an_unpublished_leave_alone: quiesce_alone_leave_unpublished, USUAL, REACHED;
}
