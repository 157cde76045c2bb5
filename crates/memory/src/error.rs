//! Why a window was refused: with the ranges, so that a program need not read the log to know.

use core::fmt;
use core::ops::{Bound, Range, RangeBounds};
use softdpu_status::{Class, Code, Error};

/// A refused window: the reason, the range that was asked for, and the range it has to do with. A small value; turns
/// into an [`Error`] with `?`.
///
/// ```
/// # use softdpu_card::Machine;
/// # use softdpu_memory::{Memory, device::Device};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
/// let memory = Memory::heap(4096).register(&[&device])?;
/// let refused = memory.buf(4000..5000).unwrap_err();
/// assert_eq!((refused.requested(), refused.against()), (4000..5000, 0..4096));
///
/// let first = memory.buf(0..1000)?;
/// let refused = memory.buf(500..600).unwrap_err();
/// assert_eq!((refused.requested(), refused.against()), (500..600, 0..1000));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WindowError {
    error: Error,
    requested: (usize, usize),
    against: (usize, usize),
}

impl WindowError {
    /// Says it in one log line and makes the value.
    #[cold]
    pub(crate) fn new(
        code: Code,
        what: &'static str,
        object: fmt::Arguments<'_>,
        requested: (usize, usize),
        against: (usize, usize),
    ) -> WindowError {
        log::error!(target: "softdpu::buf", "{object}: {what}: requested [{:#x}, {:#x}), against [{:#x}, {:#x})",
            requested.0, requested.1, against.0, against.1);
        WindowError { error: Error::new(code, what), requested, against }
    }

    /// A refusal that was logged where it arose.
    pub(crate) fn from_error(
        error: Error,
        requested: (usize, usize),
        against: (usize, usize),
    ) -> WindowError {
        WindowError { error, requested, against }
    }

    /// The code.
    pub const fn code(&self) -> Code {
        self.error.code()
    }

    /// What a caller can do about it.
    pub const fn class(&self) -> Class {
        self.error.class()
    }

    /// The rule that was broken.
    pub const fn what(&self) -> &'static str {
        self.error.what()
    }

    /// The range that was asked for. Its end may lie before its start, if that is how it was asked.
    pub const fn requested(&self) -> Range<usize> {
        self.requested.0..self.requested.1
    }

    /// The range that it has to do with: the one it must stay inside, or the one that is taken already.
    pub const fn against(&self) -> Range<usize> {
        self.against.0..self.against.1
    }
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: requested {:?}, against {:?}", self.error, self.requested(), self.against())
    }
}

impl std::error::Error for WindowError {}

impl From<WindowError> for Error {
    fn from(e: WindowError) -> Error {
        e.error
    }
}

/// Start and end of a range of something `len` long. Ends that no number can hold come out reversed, hence refused.
pub(crate) fn ends(range: impl RangeBounds<usize>, len: usize) -> (usize, usize) {
    let start = match range.start_bound() {
        Bound::Included(&s) => Some(s),
        Bound::Excluded(&s) => s.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(&e) => e.checked_add(1),
        Bound::Excluded(&e) => Some(e),
        Bound::Unbounded => Some(len),
    };
    match (start, end) {
        (Some(s), Some(e)) => (s, e),
        _ => (usize::MAX, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_range() {
        assert_eq!(ends(.., 7), (0, 7));
        assert_eq!(ends(2.., 7), (2, 7));
        assert_eq!(ends(..3, 7), (0, 3));
        assert_eq!(ends(1..=3, 7), (1, 4));
        assert_eq!(ends((Bound::Excluded(1), Bound::Unbounded), 7), (2, 7));
        for (s, e) in [ends(0..=usize::MAX, 7), ends((Bound::Excluded(usize::MAX), Bound::Unbounded), 7)] {
            assert!(s > e);
        }
    }

    #[test]
    fn turns_into_an_error() {
        let e = WindowError::new(Code::InvalidValue, "no", format_args!("test"), (1, 2), (3, 4));
        let plain: Error = e.into();
        assert_eq!((plain.code(), plain.what()), (Code::InvalidValue, "no"));
        assert_eq!(e.to_string(), "DOCA_ERROR_INVALID_VALUE: no: requested 1..2, against 3..4");
    }
}
