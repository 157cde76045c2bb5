//! How contexts of the Rust face are stopped and given up: the room's functions, with loom's locks.

use crate::context::{Core, State, active};
use crate::flight::{self, Landed};
use crate::sync::Ordering;
use loom::sync::{Mutex, MutexGuard};
use softdpu_status::Code;

loom::lazy_static! {
    static ref MEMBERSHIP: Mutex<()> = Mutex::new(());
    static ref GRAVEYARD: Mutex<Vec<&'static Core>> = Mutex::new(Vec::new());
}

/// The end of a handle, with a look at the context where [`drop_handle`] looks at it last. `early`: what must not be, that
/// it is said to be abandoned before the membership is held.
pub(crate) fn drop_handle_watched(core: &'static Core, early: bool) {
    request_stop(core);
    if early {
        core.abandoned.store(1, Ordering::Release);
    }
    let guard = membership();
    // Whoever holds the membership may look: nobody can have given it up.
    let _ = core.lanes();
    core.abandoned.store(1, Ordering::Release);
    bury(core, guard);
}

/// What the next start of a context does, on any thread: contexts that are buried are given up.
pub(crate) fn sweep_graveyard() {
    let graves = std::mem::take(&mut *GRAVEYARD.lock().unwrap());
    for core in graves {
        core.retired.store(true, Ordering::Relaxed);
    }
}

#[allow(unused_imports, unused_qualifications, reason = "the room's functions, as they stand")]
mod cut {
    use super::*;
    use crate::pe::Pe;
    include!(concat!(env!("OUT_DIR"), "/cut_ending.rs"));
    include!(concat!(env!("OUT_DIR"), "/cut_settle.rs"));
}
pub(crate) use cut::{bury, give_up as drop_handle, invite, membership, request_stop};

/// Futures that wait for the context: none here.
mod waiters {
    pub(super) fn forget(_: &'static crate::context::Core) {}
}

const TO_HANDLER: u8 = 1;
