//! Wakers, collected under a lock and called without it: wakers are foreign code.

use core::task::Waker;

/// A few wakers; more of them take an allocation.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    few: [Option<Waker>; 4],
    more: Vec<Waker>,
}

impl Wakers {
    pub(super) fn add(&mut self, waker: Waker) {
        match self.few.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(waker),
            None => self.more.push(waker),
        }
    }

    pub(crate) fn add_all(&mut self, wakers: &mut Vec<Waker>) {
        wakers.drain(..).for_each(|waker| self.add(waker));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.few[0].is_none()
    }

    /// Calls them. Nothing is locked.
    pub(super) fn wake(self) {
        self.few.into_iter().flatten().chain(self.more).for_each(Waker::wake);
    }

    /// Calls them where something is locked that they might need, at the rare end of a context whose progress engine was
    /// dropped, or of a message queue's consumer.
    #[cold]
    pub(crate) fn wake_elsewhere(self) {
        if self.is_empty() {
            return;
        }
        let name = String::from("softdpu-comch-end");
        // Without memory for a thread they stay asleep, as anything else would fail then, too.
        let _ = std::thread::Builder::new().name(name).spawn(|| self.wake());
    }
}

/// Notes who waits, once.
pub(crate) fn note(list: &mut Vec<Waker>, waker: &Waker) {
    if !list.iter().any(|other| other.will_wake(waker)) {
        list.push(waker.clone());
    }
}
