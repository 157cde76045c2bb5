//! Barriers of which one side pays nothing.
//!
//! Two that belong together: [`light_barrier`] on the side that runs per task, [`heavy_barrier`] on the side that runs
//! rarely. Where the kernel has `membarrier`, the light one only stops the compiler and the heavy one makes every running
//! thread of the process execute a full barrier; elsewhere ([`is_asymmetric`] is false) the per-task side is kept on its
//! slow path.
//!
//! The same between processes: a process whose threads can be reached ([`is_reachable`]) leaves its full barrier out
//! when it deals with one that reaches others ([`can_reach_others`], [`far_barrier`]).

use core::sync::atomic::{AtomicU32, Ordering, compiler_fence, fence};
use rustix::thread::{MembarrierCommand, membarrier};
use std::sync::Once;
use std::time::Duration;

/// Bits of what this process can do. 0 until [`init`].
static ABLE: AtomicU32 = AtomicU32::new(0);
/// Its threads reach each other.
const PRIVATE: u32 = 1;
/// Its threads are reached by other processes.
const REACHED: u32 = 2;
/// It reaches other processes.
const REACHES: u32 = 4;

/// Finds out which barriers this process has. Called before the first protocol that uses them; repeating it is harmless.
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        use MembarrierCommand::{
            GlobalExpedited, PrivateExpedited, RegisterGlobalExpedited, RegisterPrivateExpedited,
        };
        // What can be registered can be denied all the same, by a filter for example: so each is tried.
        let does = |command| !cfg!(miri) && membarrier(command).is_ok();
        let mut able = 0;
        if does(RegisterPrivateExpedited) && does(PrivateExpedited) {
            able |= PRIVATE;
        }
        if does(RegisterGlobalExpedited) {
            able |= REACHED;
        }
        if does(GlobalExpedited) {
            able |= REACHES;
        }
        ABLE.store(able, Ordering::SeqCst);
    });
}

fn able(what: u32) -> bool {
    ABLE.load(Ordering::Relaxed) & what != 0
}

/// Does the heavy barrier reach into running threads? Where it does not, the side that runs per task must be told to take
/// its slow path, which has a full barrier.
#[inline]
pub fn is_asymmetric() -> bool {
    able(PRIVATE)
}

/// Do the far barriers of other processes reach the running threads of this one?
#[inline]
pub fn is_reachable() -> bool {
    able(REACHED)
}

/// Do far barriers of this process reach those that are reachable?
pub fn can_reach_others() -> bool {
    able(REACHES)
}

/// The cheap half: a store before it is seen by anybody whose heavy barrier comes later (see [`is_asymmetric`]).
#[inline(always)]
pub fn light_barrier() {
    compiler_fence(Ordering::SeqCst);
}

/// The dear half (a system call), for the threads of this process.
pub fn heavy_barrier() {
    let reached = able(PRIVATE) && membarrier(MembarrierCommand::PrivateExpedited).is_ok();
    // Refused after a successful trial only in a child of fork; be safe there too.
    if !reached {
        fence(Ordering::SeqCst);
    }
}

/// The dear half between processes: a full barrier on every running thread of every process that is reachable.
pub fn far_barrier() {
    fence(Ordering::SeqCst);
    if able(REACHES) && membarrier(MembarrierCommand::GlobalExpedited).is_err() {
        // The program forbade itself the call after the trial. What a processor has not published yet it publishes
        // within microseconds.
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_stays_found() {
        init();
        let first = (is_asymmetric(), is_reachable(), can_reach_others());
        init();
        assert_eq!(first, (is_asymmetric(), is_reachable(), can_reach_others()));
        heavy_barrier();
        far_barrier();
    }
}
