//! Guarded regions: who may touch memory that somebody else can end, and who waits for whom.
//!
//! Whoever touches a guarded region marks the access first and looks whether the region is open afterwards; whoever
//! closes it shuts it first and looks for marks afterwards. Between processes the same is done once more with words in
//! memory that both share ([`Mark`](crate::far::Mark)). The anchor, and with it the mapping of another process's
//! memory, goes only when no access is under way.
#![expect(
    unsafe_code,
    reason = "the anchor is reached through a pointer that lives as long as accesses are marked"
)]

use crate::far::Far;
use crate::region::{ALIVE, Region};
use core::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Release, SeqCst},
};
use std::sync::Arc;

/// What a region of another process's memory hangs on, if it is one.
#[derive(Debug)]
pub(crate) struct Anchor(AtomicPtr<Far>);

impl Anchor {
    pub(crate) const fn new() -> Anchor {
        Anchor(AtomicPtr::new(core::ptr::null_mut()))
    }

    fn put(&self, far: Arc<Far>) {
        let before = self.0.swap(Arc::into_raw(far).cast_mut(), Release);
        debug_assert!(before.is_null(), "the region was closed before");
    }

    fn take(&self) -> Option<Arc<Far>> {
        let far = self.0.swap(core::ptr::null_mut(), Acquire);
        // SAFETY: what `put` made of an `Arc`, and the swap gave it to us alone.
        (!far.is_null()).then(|| unsafe { Arc::from_raw(far) })
    }

    /// # Safety
    /// An access to the region is marked, and it was seen open after that.
    unsafe fn get(&self) -> Option<&Far> {
        // SAFETY: `close` takes the anchor only after it saw the region without marks and shut; whoever marks later sees
        // it shut.
        unsafe { self.0.load(Acquire).as_ref() }
    }
}

impl Region {
    /// Opens a region over memory of another process; `far` is the way there. The region is closed.
    pub(crate) fn open_far(&self, base: usize, len: usize, delta: isize, word: u64, far: Arc<Far>) {
        self.anchor.put(far);
        self.open(base, len, delta, word);
    }

    /// Closes the region: every later access is refused, and on return no guarded access is under way.
    pub fn close(&self) {
        self.access.store(0, SeqCst);
        let mut looks = 0u32;
        while self.users.load(SeqCst) != 0 {
            // Accesses are short (a part of a task at most), but their thread may have lost its processor.
            looks += 1;
            if looks < 1000 { core::hint::spin_loop() } else { std::thread::yield_now() }
        }
        drop(self.anchor.take());
    }

    /// Marks an access to a guarded region; false when it was closed. Pair with [`Region::leave`].
    pub(crate) fn enter(&self) -> bool {
        self.users.fetch_add(1, SeqCst);
        if self.access.load(SeqCst) & ALIVE != 0 {
            // SAFETY: marked, and seen open.
            match unsafe { self.anchor.get() } {
                None => return true,
                Some(far) if far.enter() => return true,
                // The owner took it back. Nobody opens the region meanwhile: it has a mark.
                Some(_) => self.access.store(0, SeqCst),
            }
        }
        self.users.fetch_sub(1, SeqCst);
        false
    }

    /// Closes a guarded region that its owner took back, as the next access would. Cheaper than an access: nobody else
    /// waits for a look.
    pub(crate) fn look_again(&self) {
        self.users.fetch_add(1, SeqCst);
        if self.access.load(SeqCst) & ALIVE != 0 {
            // SAFETY: marked, and seen open.
            if unsafe { self.anchor.get() }.is_some_and(|far| !far.is_lent()) {
                self.access.store(0, SeqCst);
            }
        }
        self.users.fetch_sub(1, SeqCst);
    }

    /// The access is over.
    pub(crate) fn leave(&self) {
        // SAFETY: the caller's mark is still there, and `enter` saw the region open.
        if let Some(far) = unsafe { self.anchor.get() } {
            far.leave();
        }
        self.users.fetch_sub(1, SeqCst);
    }

    /// The way to memory that is not mapped here, if it is such.
    ///
    /// # Safety
    /// An access is marked ([`Region::enter`]), and its mark stays as long as the result is used.
    pub(crate) unsafe fn far(&self) -> Option<&Far> {
        // SAFETY: the caller's promise; `enter` saw the region open.
        unsafe { self.anchor.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::{CAN_READ, GUARDED};

    #[test]
    fn closing_waits_for_marks_and_refuses_later_ones() {
        let region = Region::closed();
        region.open(0x1000, 0x100, 0, CAN_READ | GUARDED);
        assert!(region.enter());
        std::thread::scope(|scope| {
            let closer = scope.spawn(|| region.close());
            while region.is_open() {
                std::thread::yield_now();
            }
            assert!(!closer.is_finished());
            assert!(!region.enter());
            region.leave();
            closer.join().unwrap();
        });
        assert!(!region.enter());
    }
}
