//! The maps there are. Contract calls name their maps; the textbook's write has addresses alone.
#![expect(unsafe_code, reason = "looks at the maps in the list")]

use super::state::{MAPS, Mmap};
use softdpu_status::{Code, Error, Result};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Addresses of living maps.
struct All(Vec<NonNull<Mmap>>);

// SAFETY: maps are shared by all threads; the list holds their addresses.
unsafe impl Send for All {}

static ALL: Mutex<All> = Mutex::new(All(Vec::new()));

fn lock() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A map becomes a handle.
pub(super) fn make(map: Mmap) -> Result<NonNull<Mmap>> {
    let all = &mut lock().0;
    all.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a memory map"))?;
    let made = MAPS.make(map)?;
    all.push(made);
    Ok(made)
}

/// A map is none any more.
///
/// # Safety
/// It is alive and nobody refers to it.
pub(super) unsafe fn retire(map: NonNull<Mmap>) {
    let all = &mut lock().0;
    all.retain(|other| *other != map);
    // SAFETY: the caller's promise; whoever looks through the list does so under the lock.
    unsafe { MAPS.retire(map) }
}

/// What `look` says of the first map for which it says anything. No map ends meanwhile; `look` makes and ends none.
pub(crate) fn find<R>(look: impl FnMut(&Mmap) -> Option<R>) -> Option<R> {
    let all = lock();
    // SAFETY: maps in the list are alive, and leave it under the lock.
    all.0.iter().map(|map| unsafe { map.as_ref() }).find_map(look)
}
