//! The seats of this process's threads: who has which.
//!
//! A thread takes a seat with its first access to guarded memory, and gives it back when it ends. There are as many as
//! fit the page of marks of an import ([`far`](crate::far)); threads beyond that count their accesses by locked steps.

use crate::region::Region;
use crate::seat::{PLACES, Seat};
use core::cell::Cell;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use softdpu_link::barrier::is_asymmetric;

/// How many there are.
pub(crate) const SEATS: usize = 62;

static TABLE: [Seat<Region>; SEATS] =
    [const { Seat { places: [const { AtomicPtr::new(core::ptr::null_mut()) }; PLACES] } }; SEATS];
/// A bit per seat that somebody has.
static TAKEN: AtomicU64 = AtomicU64::new(0);
/// The process that has guarded memory, 0 while there is none.
static PROCESS: AtomicU32 = AtomicU32::new(0);

const NONE: u8 = u8::MAX;

thread_local! {
    // Apart, since a value that must be dropped costs a look at each access.
    static MINE: Cell<u8> = const { Cell::new(NONE) };
    static GOODBYE: Goodbye = const { Goodbye };
}

/// Gives the seat back at the end of the thread.
struct Goodbye;

impl Drop for Goodbye {
    fn drop(&mut self) {
        give_back(MINE.replace(NONE));
    }
}

/// Called before there is guarded memory.
pub(crate) fn init() {
    softdpu_link::barrier::init();
    PROCESS.store(std::process::id(), Ordering::Relaxed);
}

/// Is this a child of the process whose threads sit here, which it does not have?
pub(crate) fn are_of_parent() -> bool {
    ![0, std::process::id()].contains(&PROCESS.load(Ordering::Relaxed))
}

/// Number and seat of the calling thread. None: it has none and gets none, or the process cannot reach its threads.
#[inline(always)]
pub(crate) fn mine() -> Option<(usize, &'static Seat<Region>)> {
    let number = usize::from(MINE.get());
    match TABLE.get(number) {
        Some(seat) => Some((number, seat)),
        None => take(),
    }
}

#[cold]
#[inline(never)]
fn take() -> Option<(usize, &'static Seat<Region>)> {
    if !is_asymmetric() {
        return None;
    }
    let mut taken = TAKEN.load(Ordering::Relaxed);
    loop {
        let number = taken.trailing_ones() as usize;
        let seat = TABLE.get(number)?;
        match TAKEN.compare_exchange_weak(taken, taken | 1 << number, Ordering::Acquire, Ordering::Relaxed) {
            Err(now) => taken = now,
            // A thread that is ending, after its seat was given back.
            Ok(_) if GOODBYE.try_with(|_| ()).is_err() => {
                give_back(number as u8);
                return None;
            }
            Ok(_) => {
                MINE.set(number as u8);
                return Some((number, seat));
            }
        }
    }
}

fn give_back(number: u8) {
    if usize::from(number) < SEATS {
        TAKEN.fetch_and(!(1 << number), Ordering::Release);
    }
}

/// The seat with that number.
#[inline(always)]
pub(crate) fn numbered(number: usize) -> &'static Seat<Region> {
    &TABLE[number]
}

/// After a heavy barrier: does any thread touch the region, and say so in its seat?
pub(crate) fn hold(region: &Region) -> bool {
    let region = core::ptr::from_ref(region).cast_mut();
    TABLE.iter().any(|seat| seat.holds(region))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn each_thread_has_a_seat_of_its_own_while_there_are_any() {
        init();
        assert!(!are_of_parent());
        if !is_asymmetric() {
            return println!("skipped: no asymmetric barrier");
        }
        let (count, met) = (SEATS + 8, Barrier::new(SEATS + 8));
        for _ in 0..3 {
            let mut numbers: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..count)
                    .map(|_| {
                        scope.spawn(|| {
                            let first = mine().map(|(number, _)| number);
                            met.wait();
                            // Another test may have had one meanwhile; what a thread has it keeps.
                            if first.is_some() {
                                assert_eq!(first, mine().map(|(number, _)| number));
                            }
                            first
                        })
                    })
                    .collect();
                threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
            });
            let all = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert!(numbers.len() == all && all <= SEATS && all > SEATS / 2, "{numbers:?}");
        }
    }
}
