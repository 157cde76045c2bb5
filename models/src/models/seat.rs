//! Threads touch what another one closes, and say so in their seats.

use crate::seat;
use crate::sync::{AtomicPtr, AtomicU32, Ordering, ProtocolCell, USUAL, World, explore, heavy_barrier, spin};
use loom::thread;
use std::sync::Arc;

macro_rules! model {
    ($run:ident, $code:path) => {
        /// Threads touch a thing in different places of their seats; afterwards it is the closer's alone.
        fn $run(world: World, threads: usize, touches: usize) {
            use $code as code;
            struct Shared {
                open: AtomicU32,
                seats: [code::Seat<u8>; 2],
                thing: [ProtocolCell<u32>; 2],
            }
            explore(world, 3, move || {
                let seat =
                    || code::Seat { places: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())) };
                let shared = Arc::new(Shared {
                    open: AtomicU32::new(1),
                    seats: [seat(), seat()],
                    thing: [ProtocolCell::new(0), ProtocolCell::new(0)],
                });
                // Only its address counts.
                let what = std::ptr::without_provenance_mut(64);
                let threads: Vec<_> = (0..threads)
                    .map(|i| {
                        let shared = shared.clone();
                        let what = what as usize;
                        thread::spawn(move || {
                            let seat = &shared.seats[i];
                            let what = std::ptr::without_provenance_mut(what);
                            for _ in 0..touches {
                                let at = seat.free_place().unwrap();
                                if seat.enter(at, what, || shared.open.load(Ordering::Acquire) != 0) {
                                    shared.thing[i].update(|v| v + 1);
                                    seat.leave(at);
                                }
                            }
                        })
                    })
                    .collect();
                shared.open.store(0, Ordering::Release);
                heavy_barrier();
                for i in 0..threads.len() {
                    while shared.seats[i].holds(what) {
                        spin();
                    }
                    shared.thing[i].update(|_| 0);
                }
                let count = threads.len();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                assert!(shared.thing[..count].iter().all(|thing| thing.get() == 0));
            });
        }
    };
}

model!(run, seat);

#[test]
fn one_thread() {
    run(USUAL, 1, 2);
}

#[test]
fn two_threads() {
    run(USUAL, 2, 1);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_the_light_barrier() {
    run(World { light: false, ..USUAL }, 1, 1);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_the_heavy_barrier() {
    run(World { heavy: false, ..USUAL }, 1, 1);
}

macro_rules! broken {
    ($($name:ident: $mutant:ident;)*) => {$(
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
    broken_by_looking_first: seat_looking_first;
    broken_by_an_unpublished_leave: seat_leave_unpublished;
    broken_by_an_unseen_leave: seat_leave_unseen;
}
