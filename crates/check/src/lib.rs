//! Check mode: says what a program does wrong with the C face, with object, place and remedy.
//!
//! `softdpu run --check -- PROGRAM` loads this library before the program's own. Its functions (`shim.c`) stand in for
//! those of the C face, tell the checker what is about to happen, and call the library, which knows nothing of it: a
//! program that is not checked runs without a single instruction more.
//!
//! - `hooks`: what the functions tell;
//! - `shadow`: what is known of the program: objects, tasks, engines;
//! - [`rules`]: the table of rules, of which the manual is made;
//! - `report`: the findings;
//! - `overlap`: memory that tasks in flight share;
//! - `place`: addresses as words;
//! - `watch`: the watchdog.
//!
//! All of it stands behind one lock, which is never held while the library or the program is called.

mod hooks;
mod overlap;
mod place;
mod report;
pub mod rules;
mod shadow;
mod sys;
mod table;
mod watch;

use shadow::Shadow;
use std::sync::{Mutex, OnceLock};

/// What is known, behind the one lock.
fn with<R>(f: impl FnOnce(&mut Shadow) -> R) -> R {
    static SHADOW: OnceLock<Mutex<Shadow>> = OnceLock::new();
    let shadow = SHADOW.get_or_init(Mutex::default);
    f(&mut shadow.lock().unwrap_or_else(|e| e.into_inner()))
}
