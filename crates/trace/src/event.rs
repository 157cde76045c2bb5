//! What is written down of a task, 32 bytes a time.
//!
//! Four words, so that a ring of them needs nothing but atomic loads and stores.

/// What happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum What {
    /// The program handed it over.
    Submitted = 0,
    /// Somebody begins to carry it out.
    Begun = 1,
    /// The same thread has carried it out.
    Worked = 2,
    /// Status and bytes are final, and its callback or handler will be called.
    Ended = 3,
    /// The same, but nobody is called: a future is woken, or a graph goes on. Of tasks that are computed, this and
    /// [`What::Landed`] come when they are reported.
    Over = 4,
    /// Its callback or handler begins.
    Reported = 5,
    /// Its callback or handler has returned.
    Returned = 6,
    /// The context is idle: nothing flies any more.
    Idle = 7,
    /// A part of a large task begins.
    Part = 8,
    /// The part is carried out.
    PartOver = 9,
    /// Begun and worked in one; `value`: for how many counts it was carried out.
    Carried = 10,
    /// Ended and reported in one.
    Landed = 11,
    /// Carried and landed in one, with success; `status`: for how many counts it was carried out.
    AtOnce = 12,
    /// It has ended, and nobody learns how it went.
    Forgotten = 13,
}

const ALL: [What; 14] = [
    What::Submitted,
    What::Begun,
    What::Worked,
    What::Ended,
    What::Over,
    What::Reported,
    What::Returned,
    What::Idle,
    What::Part,
    What::PartOver,
    What::Carried,
    What::Landed,
    What::AtOnce,
    What::Forgotten,
];

impl What {
    fn from(number: u8) -> What {
        ALL.get(usize::from(number)).copied().unwrap_or(What::Idle)
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Cycle counter.
    pub at: u64,
    /// Number of the task in its context, 48 bits of it.
    pub task: u64,
    /// Number of its context.
    pub context: u32,
    /// What happened.
    pub what: What,
    /// Which of its engine's task kinds.
    pub kind: u8,
    /// Status, as the contract numbers it.
    pub status: i32,
    /// Of a task that ends, what its engine reports; of one that is submitted, its address.
    pub value: u64,
}

/// Bits of a task's number.
const NUMBER: u64 = (1 << 48) - 1;

impl Event {
    /// As a ring keeps it.
    #[inline(always)]
    #[must_use]
    pub fn words(&self) -> [u64; 4] {
        let head = self.task & NUMBER | u64::from(self.kind) << 48 | (self.what as u64) << 56;
        [self.at, head, u64::from(self.context) | u64::from(self.status as u32) << 32, self.value]
    }

    /// For how many counts it was carried out, where that is in one with its end.
    #[must_use]
    pub fn counts(&self) -> u64 {
        match self.what {
            What::Carried => self.value,
            What::AtOnce => u64::from(self.status as u32),
            _ => 0,
        }
    }

    /// Out of a ring.
    #[must_use]
    pub fn from_words([at, head, pair, value]: [u64; 4]) -> Event {
        Event {
            at,
            task: head & NUMBER,
            context: pair as u32,
            what: What::from((head >> 56) as u8),
            kind: (head >> 48) as u8,
            status: (pair >> 32) as u32 as i32,
            value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_go_into_words_and_back() {
        for what in ALL {
            let event = Event {
                at: u64::MAX - 1,
                task: 0x7fff_ffff_ffc0,
                context: u32::MAX,
                what,
                kind: 255,
                status: -7,
                value: 1 << 40,
            };
            assert_eq!(Event::from_words(event.words()), event);
            let counts = match what {
                What::Carried => 1 << 40,
                What::AtOnce => u64::from(u32::MAX) - 6,
                _ => 0,
            };
            assert_eq!(event.counts(), counts);
        }
    }
}
