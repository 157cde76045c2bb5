//! Failures in the middle of a task: memory of another process that could not be reached.
//!
//! Engines hand bytes from list to list and find no failure in between; a [`Hold`](crate::view::Hold) notes the first
//! one, and leaves it here when it goes. Whoever carries out a task asks afterwards ([`take`]) and fails it; until then
//! no destination grows. A fault belongs to the thread and to the call that carries the task out.

use core::cell::Cell;
use softdpu_status::{Code, Error, Result};

thread_local! {
    static FAULT: Cell<bool> = const { Cell::new(false) };
}

/// The failure as engines report it.
pub(crate) const fn lost() -> Error {
    Error::new(Code::IoFailed, "memory of another process could not be reached")
}

#[cold]
pub(crate) fn raise() {
    FAULT.set(true);
}

/// Did memory fail since [`take`] was last called on this thread?
#[inline]
pub fn is_pending() -> bool {
    FAULT.get()
}

/// Whether memory failed since the last call on this thread.
///
/// # Errors
/// IoFailed if it did.
#[inline]
pub fn take() -> Result<()> {
    if FAULT.get() {
        FAULT.set(false);
        return Err(lost());
    }
    Ok(())
}
