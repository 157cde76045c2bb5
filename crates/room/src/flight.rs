//! Who owns a task at which moment: the state of one slot.
//!
//! ```text
//! FREE -> HELD -> FLYING -> HELD            C face, handlers: the landing side hands the task back
//!                 FLYING -> DONE -> FREE    future: the holder takes the result
//!                 FLYING <-> WATCHED        a waker is parked (PARKING while it is being written)
//! HELD -> HOOKED -> HELD                   C face: a graph runs it
//!                 FLYING | WATCHED -> ORPHAN -> FREE   the holder went away; the landing side cleans up
//! ```
//! Only futures have a holder on another thread than the landing side, so only their transitions need compare-and-swap.
//! The waker is taken out *before* DONE is published: afterwards the slot may fly again and park another one.
#![cfg_attr(not(loom), expect(unsafe_code, reason = "the waker's cell belongs to whoever the state says"))]

use crate::sync::{AtomicU8, Ordering, ProtocolCell, spin};
use core::task::Waker;

/// In nobody's hands.
pub const FREE: u8 = 0;
/// The program owns the task (C: allocated or handed back; Rust: being filled or emptied).
pub const HELD: u8 = 1;
/// The engine owns the task; somebody is interested.
pub const FLYING: u8 = 2;
/// As FLYING, and a waker is parked.
pub const WATCHED: u8 = 3;
/// Somebody touches the waker; over in a few instructions.
pub const PARKING: u8 = 4;
/// The engine owns the task; nobody is interested.
pub const ORPHAN: u8 = 5;
/// The task is back; the holder may take it.
pub const DONE: u8 = 6;
/// C face: the engine owns the task; how it went is told to a hook instead of the callbacks.
pub const HOOKED: u8 = 7;

/// The state of a slot and the waker parked in it.
#[derive(Debug)]
pub struct Flight {
    waker: ProtocolCell<Option<Waker>>,
    state: AtomicU8,
}

// SAFETY: the waker's cell is touched only by the party that moved the state to PARKING.
unsafe impl Sync for Flight {}
// SAFETY: wakers are Send.
unsafe impl Send for Flight {}

/// What the landing side has to do with a task.
#[derive(Debug, PartialEq, Eq)]
pub enum Landed {
    /// The holder will take it.
    Kept,
    /// Nobody wants it: drop the job and free the slot.
    Orphan,
}

impl Flight {
    /// A free slot.
    #[allow(clippy::new_without_default, reason = "loom's atomics have no const constructor")]
    pub fn new() -> Flight {
        Flight { state: AtomicU8::new(FREE), waker: ProtocolCell::new(None) }
    }

    /// The state, as a hint.
    #[inline(always)]
    pub fn state(&self) -> u8 {
        self.state.load(Ordering::Acquire)
    }

    /// C face, where one thread moves the state: is it this?
    #[inline(always)]
    pub fn is_here(&self, state: u8) -> bool {
        self.state.load(Ordering::Relaxed) == state
    }

    /// Moves between states whose owner is the caller: FREE, HELD, FLYING (without a holder), ORPHAN (C face).
    #[inline(always)]
    pub fn set(&self, state: u8) {
        self.state.store(state, Ordering::Release);
    }

    /// Landing side: the engine is through with a task that has a holder. Wakes it if it waits.
    pub fn land(&self) -> Landed {
        let mut s = self.state.load(Ordering::Acquire);
        loop {
            match s {
                FLYING => {
                    match self.state.compare_exchange(FLYING, DONE, Ordering::AcqRel, Ordering::Acquire) {
                        Ok(_) => return Landed::Kept,
                        Err(now) => s = now,
                    }
                }
                WATCHED => {
                    match self.state.compare_exchange(WATCHED, PARKING, Ordering::AcqRel, Ordering::Acquire) {
                        Ok(_) => {
                            // SAFETY: PARKING is ours.
                            let waker = self.waker.with(|w| unsafe { (*w).take() });
                            self.state.store(DONE, Ordering::Release);
                            if let Some(waker) = waker {
                                waker.wake();
                            }
                            return Landed::Kept;
                        }
                        Err(now) => s = now,
                    }
                }
                ORPHAN => return Landed::Orphan,
                _ => {
                    debug_assert_eq!(s, PARKING, "a task landed twice");
                    spin();
                    s = self.state.load(Ordering::Acquire);
                }
            }
        }
    }

    /// Holder: is the task back? If so it is the holder's, in state HELD.
    #[inline]
    pub fn try_take(&self) -> bool {
        let done = self.state.load(Ordering::Acquire) == DONE;
        if done {
            self.state.store(HELD, Ordering::Relaxed);
        }
        done
    }

    /// Holder: take the task, or leave a waker. True: it is back and the holder's.
    pub fn take_or_park(&self, waker: &Waker) -> bool {
        // Cloned up front: foreign code must not run while the state says PARKING.
        let mut fresh = None;
        loop {
            let s = self.state.load(Ordering::Acquire);
            match s {
                DONE => return self.try_take(),
                FLYING | WATCHED => {
                    let mut new = Some(fresh.take().unwrap_or_else(|| waker.clone()));
                    if self.state.compare_exchange(s, PARKING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                        // SAFETY: PARKING is ours.
                        self.waker.with(|w| core::mem::swap(unsafe { &mut *w }, &mut new));
                        self.state.store(WATCHED, Ordering::Release);
                        drop(new);
                        return false;
                    }
                    fresh = new;
                }
                _ => {
                    debug_assert_eq!(s, PARKING, "polled without a flight");
                    spin();
                }
            }
        }
    }

    /// Holder goes away. True: the task was already back and is the holder's to drop.
    pub fn abandon(&self) -> bool {
        loop {
            let s = self.state.load(Ordering::Acquire);
            match s {
                DONE => return self.try_take(),
                FLYING | WATCHED => {
                    if self.state.compare_exchange(s, PARKING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                        // SAFETY: PARKING is ours.
                        let old = self.waker.with(|w| unsafe { (*w).take() });
                        self.state.store(ORPHAN, Ordering::Release);
                        drop(old);
                        return false;
                    }
                }
                _ => {
                    debug_assert_eq!(s, PARKING, "abandoned without a flight");
                    spin();
                }
            }
        }
    }
}
