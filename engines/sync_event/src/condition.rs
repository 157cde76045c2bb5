//! What somebody waits for.

/// A condition on the value of an event: compared as an unsigned number, after the event's side was masked.
///
/// ```
/// use softdpu_sync_event::Condition;
///
/// let low_byte = Condition::equal(0x34).masked(0xff);
/// assert!(low_byte.holds(0x1234) && !low_byte.holds(0x1235));
/// assert!(Condition::greater(u64::MAX - 1).holds(u64::MAX));
/// assert!(Condition::not_equal(0).holds(1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    pub(crate) compare: Compare,
    pub(crate) value: u64,
    pub(crate) mask: u64,
}

/// How a value is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compare {
    Equal,
    NotEqual,
    Greater,
}

impl Condition {
    const fn new(compare: Compare, value: u64) -> Condition {
        Condition { compare, value, mask: u64::MAX }
    }

    /// The event is `value`.
    pub const fn equal(value: u64) -> Condition {
        Condition::new(Compare::Equal, value)
    }

    /// The event is anything but `value`.
    pub const fn not_equal(value: u64) -> Condition {
        Condition::new(Compare::NotEqual, value)
    }

    /// The event is greater than `value`. Only direct waits take it, no tasks.
    pub const fn greater(value: u64) -> Condition {
        Condition::new(Compare::Greater, value)
    }

    /// The same on some bits of the event.
    #[must_use]
    pub const fn masked(self, mask: u64) -> Condition {
        Condition { mask, ..self }
    }

    /// Does it hold for this value?
    #[inline]
    pub const fn holds(&self, event: u64) -> bool {
        let seen = event & self.mask;
        match self.compare {
            Compare::Equal => seen == self.value,
            Compare::NotEqual => seen != self.value,
            Compare::Greater => seen > self.value,
        }
    }

    /// May a task wait for it? Tasks compare for equality only, and mask whole bytes: 0, 1, 2, 4 or 8 in a row.
    pub(crate) const fn is_for_tasks(&self) -> bool {
        is_task_mask(self.mask) && !matches!(self.compare, Compare::Greater)
    }
}

/// Is a mask made of 0, 1, 2, 4 or 8 bytes 0xff in a row?
pub(crate) const fn is_task_mask(mask: u64) -> bool {
    if mask == 0 {
        return true;
    }
    let low = mask.trailing_zeros();
    let run = (mask >> low).trailing_ones();
    let bare = (mask >> low).count_ones() == run;
    bare && low.is_multiple_of(8) && matches!(run, 8 | 16 | 32 | 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_side_of_the_event_is_masked() {
        assert!(!Condition::equal(0x1234).masked(0xff).holds(0x1234));
        assert!(Condition::not_equal(0x1234).masked(0xff).holds(0x1234));
        assert!(Condition::greater(0xfe).masked(0xff).holds(0x12ff));
        assert!(!Condition::greater(0xff).masked(0xff).holds(u64::MAX));
    }

    #[test]
    fn masks_of_tasks_are_whole_bytes_in_a_row() {
        let mut good = 0;
        for bytes in 0..256u64 {
            let mask = (0..8).filter(|i| bytes >> i & 1 == 1).fold(0, |m, i| m | 0xff << (8 * i));
            let run = (bytes >> bytes.trailing_zeros().min(63)).trailing_ones();
            let want = bytes == 0 || bytes.count_ones() == run && matches!(run, 1 | 2 | 4 | 8);
            assert_eq!(is_task_mask(mask), want, "{mask:#x}");
            good += u32::from(want);
            if mask != 0 {
                assert!(!is_task_mask(mask ^ (1 << mask.trailing_zeros())), "{mask:#x} without a bit");
            }
        }
        assert_eq!(good, 1 + 8 + 7 + 5 + 1);
        assert!(!is_task_mask(0xff0) && !is_task_mask(1) && !is_task_mask(0xff << 60));
    }
}
