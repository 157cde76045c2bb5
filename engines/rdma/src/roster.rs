//! All contexts of the process: who is asked for by number, and who is shown.

use crate::control::{Control, lock};
use crate::sync::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

static CONTEXTS: Mutex<Vec<(u64, Weak<Control>)>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number that no other context of the process has or had.
pub(crate) fn number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// There is one more.
pub(crate) fn enter(control: &Arc<Control>) {
    crate::report::announce();
    let mut contexts = lock(&CONTEXTS);
    contexts.retain(|(_, control)| control.strong_count() > 0);
    contexts.push((control.number, Arc::downgrade(control)));
}

/// The context of this number, if it lives.
pub(crate) fn find(number: u64) -> Option<Arc<Control>> {
    let contexts = lock(&CONTEXTS);
    contexts.iter().find(|(n, _)| *n == number)?.1.upgrade()
}

/// Shows every context that lives, with nothing held.
pub(crate) fn each(mut look: impl FnMut(&Arc<Control>)) {
    let contexts: Vec<_> = lock(&CONTEXTS).iter().filter_map(|(_, control)| control.upgrade()).collect();
    contexts.iter().for_each(&mut look);
}
