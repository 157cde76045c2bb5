//! Memory that must not change while a task is in flight: a digest of it at submit, compared when the task has ended.
#![expect(unsafe_code, reason = "memory of the program is read")]

use crate::task::Range;

/// Bytes of each end of a long range that are looked at.
const END: usize = 4096;
/// Tasks from the first one on that are looked at, all of them; then one of so many.
const FIRST: u64 = 1024;
const THEN: u64 = 64;

/// Whether a digest is taken of the task of this number.
#[inline(always)]
pub(crate) fn is_due(number: u64) -> bool {
    number < FIRST || number.is_multiple_of(THEN)
}

/// The digest of a range: of all of it, or of both ends of a long one.
///
/// # Safety
/// The range lies in memory of this process that can be read.
pub(crate) unsafe fn of(range: Range) -> u64 {
    let len = range.len();
    let (one, other) = if len <= 2 * END { (len, 0) } else { (END, END) };
    // SAFETY: both lie in the range.
    let sum = unsafe { add(0, range.begin, one) };
    // SAFETY: as above.
    unsafe { add(sum, range.end - other, other) }
}

/// # Safety
/// As [`of`].
unsafe fn add(mut sum: u64, begin: usize, len: usize) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut at = core::ptr::with_exposed_provenance::<u8>(begin);
    for _ in 0..len / 8 {
        // Another thread may change it, which is what is looked for; any value will do then.
        // SAFETY: inside the range.
        let word = unsafe { at.cast::<u64>().read_unaligned() };
        sum = (sum.rotate_left(5) ^ word).wrapping_mul(FACTOR);
        // SAFETY: at most one past the end.
        at = unsafe { at.add(8) };
    }
    for _ in 0..len % 8 {
        // SAFETY: inside the range.
        let byte = unsafe { at.read_volatile() };
        sum = (sum.rotate_left(5) ^ u64::from(byte)).wrapping_mul(FACTOR);
        // SAFETY: at most one past the end.
        at = unsafe { at.add(1) };
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts_up_to_both_ends() {
        for len in [0, 1, 7, 8, 64, 65, 1000, 2 * END] {
            let mut bytes = vec![0x5a_u8; len];
            let range = Range::new(bytes.as_mut_ptr().expose_provenance(), len as u64);
            // SAFETY: the vector's bytes, here and below.
            let before = unsafe { of(range) };
            let mut flip = |at: usize| bytes[at] ^= 1;
            for at in 0..len {
                flip(at);
                // SAFETY: as above.
                assert_ne!(before, unsafe { of(range) }, "byte {at} of {len}");
                flip(at);
            }
            // SAFETY: as above.
            assert_eq!(before, unsafe { of(range) });
        }
    }

    #[test]
    fn the_first_tasks_are_looked_at_all_and_then_some() {
        assert!((0..FIRST).all(is_due));
        assert_eq!((FIRST..FIRST + 10 * THEN).filter(|n| is_due(*n)).count(), 10);
    }
}
