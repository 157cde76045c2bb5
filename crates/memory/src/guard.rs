//! Guarded regions: who may touch memory that somebody else can end, and who waits for whom.
//!
//! Whoever touches a guarded region marks the access first and looks whether the region is open afterwards; whoever
//! closes it shuts it first and looks for marks afterwards. A thread marks in its seat ([`seats`]) if it has one, else by
//! counting in the region. Between processes the same is done once more with words in memory that both share
//! ([`Mark`](crate::far::Mark)). The anchor, and with it the mapping of another process's memory, goes only when no
//! access is under way.
#![expect(
    unsafe_code,
    reason = "the anchor is reached through a pointer that lives as long as accesses are marked"
)]

use crate::far::Far;
use crate::region::{ALIVE, GUARDED, Region};
use crate::seats;
use crate::sync::heavy_barrier;
use core::marker::PhantomData;
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
        if self.made() & GUARDED != 0 {
            heavy_barrier();
        }
        let mut looks = 0u32;
        while self.users.load(SeqCst) != 0 || self.made() & GUARDED != 0 && seats::hold(self) {
            // Accesses are short (a part of a task at most), but their thread may have lost its processor.
            looks += 1;
            if looks < 1000 {
                core::hint::spin_loop();
            } else if seats::are_of_parent() {
                // In a child of fork the marks are those of threads that it does not have.
                break;
            } else {
                std::thread::yield_now();
            }
        }
        drop(self.anchor.take());
        crate::region::tell_closed(self);
    }

    /// Counts an access to the region; false when it was closed. Pair with [`Region::leave`]. For those who cannot keep
    /// a [`Touch`].
    pub(crate) fn enter(&self) -> bool {
        let Some(hold) = Hold::counted(self) else { return false };
        // SAFETY: held, and seen open.
        let entered = unsafe { self.anchor.get() }.is_none_or(|far| far.enter(None));
        if entered {
            core::mem::forget(hold);
        } else {
            self.access.store(0, SeqCst);
        }
        entered
    }

    /// A counted access is over.
    pub(crate) fn leave(&self) {
        // SAFETY: the caller's mark is still there, and `enter` saw the region open.
        if let Some(far) = unsafe { self.anchor.get() } {
            far.leave(None);
        }
        self.users.fetch_sub(1, SeqCst);
    }

    /// Marks an access to a guarded region, for as long as the result lives; none when the region was closed.
    #[inline(always)]
    pub(crate) fn touch(&self) -> Option<Touch<'_>> {
        let hold = Hold::on(self)?;
        // SAFETY: held, and seen open.
        match unsafe { self.anchor.get() } {
            Some(far) if !far.enter(hold.seat_number()) => {
                // The owner took it back. Nobody opens the region meanwhile: it is held.
                self.access.store(0, SeqCst);
                None
            }
            _ => Some(Touch(hold)),
        }
    }

    /// Closes a guarded region that its owner took back, as the next access would. Cheaper than an access: nobody else
    /// waits for a look.
    pub(crate) fn look_again(&self) {
        let Some(_hold) = Hold::on(self) else { return };
        // SAFETY: held, and seen open.
        if unsafe { self.anchor.get() }.is_some_and(|far| !far.is_lent()) {
            self.access.store(0, SeqCst);
        }
    }

    /// The way to memory that is not mapped here, if it is such.
    ///
    /// # Safety
    /// An access is marked ([`Region::touch`]), and its mark stays as long as the result is used.
    pub(crate) unsafe fn far(&self) -> Option<&Far> {
        // SAFETY: the caller's promise; `touch` saw the region open.
        unsafe { self.anchor.get() }
    }
}

/// An access under way to a guarded region. Ends on the thread that began it.
#[derive(Debug)]
pub(crate) struct Touch<'a>(Hold<'a>);

impl Drop for Touch<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the region is held, and was seen open.
        if let Some(far) = unsafe { self.0.region.anchor.get() } {
            far.leave(self.0.seat_number());
        }
    }
}

/// Keeps an open region's anchor in its place. Two words, so that it travels in registers: between stores of a copy and
/// those of the next, a look at what was just stored in other pieces would wait for all of them.
#[derive(Debug)]
struct Hold<'a> {
    region: &'a Region,
    mark: Marked,
    /// A seat belongs to a thread.
    only_here: PhantomData<*const ()>,
}

/// How an access is marked: in which place of which seat, or by the count of the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marked(u32);

const COUNTED: Marked = Marked(u32::MAX);

impl Marked {
    #[inline(always)]
    fn in_seat(number: usize, at: usize) -> Marked {
        Marked((number as u32) << 16 | at as u32)
    }

    #[inline(always)]
    fn seat(self) -> Option<usize> {
        if self == COUNTED { None } else { Some((self.0 >> 16) as usize) }
    }

    #[inline(always)]
    fn place(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

impl<'a> Hold<'a> {
    /// None when the region is closed.
    #[inline(always)]
    fn on(region: &'a Region) -> Option<Hold<'a>> {
        if let Some((number, seat)) = seats::mine()
            && let Some(at) = seat.free_place()
        {
            let open = seat.enter(at, core::ptr::from_ref(region).cast_mut(), || region.is_alive());
            let hold = || Hold { region, mark: Marked::in_seat(number, at), only_here: PhantomData };
            return open.then(hold);
        }
        Hold::counted(region)
    }

    #[inline(never)]
    fn counted(region: &'a Region) -> Option<Hold<'a>> {
        region.users.fetch_add(1, SeqCst);
        let hold = Hold { region, mark: COUNTED, only_here: PhantomData };
        (region.access.load(SeqCst) & ALIVE != 0).then_some(hold)
    }

    #[inline(always)]
    fn seat_number(&self) -> Option<usize> {
        self.mark.seat()
    }
}

impl Drop for Hold<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        match self.mark.seat() {
            Some(number) => seats::numbered(number).leave(self.mark.place()),
            None => _ = self.region.users.fetch_sub(1, SeqCst),
        }
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
        // Without a seat, with one, and with more accesses than it has places for.
        for (with_seat, count) in [(false, 1), (true, 1), (true, 9)] {
            if with_seat {
                softdpu_link::barrier::init();
            }
            region.open(0x1000, 0x100, 0, CAN_READ | GUARDED);
            let mut marks: Vec<_> = (0..count).map(|_| region.touch().unwrap()).collect();
            std::thread::scope(|scope| {
                let closer = scope.spawn(|| region.close());
                while region.is_open() {
                    std::thread::yield_now();
                }
                while !marks.is_empty() {
                    assert!(region.touch().is_none() && !closer.is_finished());
                    marks.pop();
                }
                closer.join().unwrap();
            });
            assert!(region.touch().is_none() && region.users.load(SeqCst) == 0);
        }
    }
}
