//! A board without workers, and the room's bell.

use crate::context::Core;
use crate::sync::{AtomicU32, Ordering};
use loom::sync::Mutex;
use loom::thread::Thread;

pub(crate) trait Board: Send + Sync + std::fmt::Debug {
    fn detach(&self, core: &'static Core);
    fn has_no_workers(&self) -> bool;
}

#[derive(Debug)]
struct None_;

impl Board for None_ {
    fn detach(&self, _: &'static Core) {}
    fn has_no_workers(&self) -> bool {
        false
    }
}

pub(crate) fn none() -> &'static dyn Board {
    &None_
}

const SLEEPING: u32 = 1;

/// The fields of the room's bell; its functions are the room's.
pub(crate) struct Bell {
    asleep: AtomicU32,
    sleepers: Mutex<Vec<Thread>>,
}

impl Bell {
    pub(crate) fn new() -> Bell {
        Bell { asleep: AtomicU32::new(2), sleepers: Mutex::new(Vec::new()) }
    }
}

impl std::fmt::Debug for Bell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bell")
    }
}

#[allow(unreachable_pub, reason = "as in the room")]
mod cut {
    use super::*;
    include!(concat!(env!("OUT_DIR"), "/cut_bell.rs"));
}
