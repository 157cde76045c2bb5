//! Check mode: says what a program does wrong with the C face, with object, place and remedy.
//!
//! `softdpu run --check -- PROGRAM` loads this library before the program's own. Its functions (`shim.c`, `peers.c`,
//! `rdma.c`, `packets.c`, `flow.c`, `memory.c`) stand in for those of the C face, tell the checker what is about to happen, and call the library, which
//! knows nothing of it: a program that is not checked runs without a single instruction more.
//!
//! - `hooks`: what the functions tell;
//! - `shadow`: what is known of the program: objects, tasks, engines;
//! - [`rules`]: the table of rules, of which the manual is made;
//! - `report`: the findings;
//! - `object`, `task`, `pump`: an object, a task, a progress engine;
//! - `overlap`: memory that tasks in flight share;
//! - `digest`: memory that changes while a task is in flight;
//! - `table`: all of these by address;
//! - `place`: addresses as words;
//! - `watch`: the watchdog.
//!
//! All of it stands behind one lock, under which neither the program is called nor anything of the library but the few
//! getters of buffers, which take no lock themselves. What the checker does in turn is not checked.

mod digest;
mod hooks;
mod object;
mod overlap;
mod place;
mod pump;
mod report;
pub mod rules;
mod shadow;
mod sys;
mod table;
mod task;
mod watch;

use shadow::Shadow;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, OnceLock};

/// What is known, behind the one lock. Nothing when this thread has the lock already, as when memory that the checker
/// gives back is looked at.
fn with<R>(f: impl FnOnce(&mut Shadow) -> R) -> Option<R> {
    with_as(sys::thread(), f)
}

/// The same for whoever knows the number of its thread.
#[inline(always)]
fn with_as<R>(me: i32, f: impl FnOnce(&mut Shadow) -> R) -> Option<R> {
    static SHADOW: OnceLock<Mutex<Shadow>> = OnceLock::new();
    static OWNER: AtomicI32 = AtomicI32::new(0);
    if OWNER.load(Ordering::Relaxed) == me {
        return None;
    }
    let shadow = match SHADOW.get() {
        Some(shadow) => shadow,
        None => SHADOW.get_or_init(Mutex::default),
    };
    let mut shadow = shadow.lock().unwrap_or_else(|e| e.into_inner());
    OWNER.store(me, Ordering::Relaxed);
    let result = f(&mut shadow);
    OWNER.store(0, Ordering::Relaxed);
    Some(result)
}
