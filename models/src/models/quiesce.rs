//! An owner takes lent memory back while borrowers in other processes use it.

use crate::quiesce;
use crate::sync::{AtomicU32, ProtocolCell, USUAL, World, explore, spin};
use loom::thread;
use std::sync::Arc;

/// What they share: the owner's word, a word per borrower, and the memory, in which loom sees who is there at what time.
struct Lent {
    lent: AtomicU32,
    active: [AtomicU32; 2],
    memory: [ProtocolCell<u32>; 2],
}

macro_rules! model {
    ($run:ident, $code:path) => {
        /// Borrowers enter, look again whether they may, and leave; afterwards the memory is the owner's alone.
        fn $run(world: World, borrowers: usize, accesses: usize) {
            use $code as code;
            explore(world, 3, move || {
                let shared = Arc::new(Lent {
                    lent: AtomicU32::new(code::LENT),
                    active: [AtomicU32::new(0), AtomicU32::new(0)],
                    memory: [ProtocolCell::new(0), ProtocolCell::new(0)],
                });
                let threads: Vec<_> = (0..borrowers)
                    .map(|i| {
                        let shared = shared.clone();
                        thread::spawn(move || {
                            for _ in 0..accesses {
                                if code::enter(&shared.lent, &shared.active[i]) {
                                    shared.memory[i].update(|v| v + 1);
                                    code::leave(&shared.active[i]);
                                }
                            }
                        })
                    })
                    .collect();
                code::recall(&shared.lent);
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
    run(USUAL, 1, 2);
}

#[test]
fn two_borrowers() {
    run(USUAL, 2, 1);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_the_barriers() {
    run(World { fences: false, ..USUAL }, 1, 1);
}

macro_rules! broken {
    ($($name:ident: $mutant:ident),* $(,)?) => {$(
        mod $name {
            use super::*;
            model!(run, crate::mutants::$mutant);

            #[test]
            #[should_panic]
            fn is_noticed() {
                run(USUAL, 1, 1);
            }
        }
    )*};
}

broken! {
    broken_by_not_looking_again: quiesce_not_looking,
    broken_by_looking_first: quiesce_looking_first,
    broken_by_an_unpublished_leave: quiesce_leave_unpublished,
    broken_by_an_unseen_leave: quiesce_leave_unseen,
}
