//! What is wrong with a file.

use std::fmt;

/// A file that cannot be read: what is wrong with it, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Bytes from the beginning of the file.
    pub offset: usize,
    /// What is wrong there.
    pub what: String,
}

impl Damage {
    pub(super) fn at<T>(offset: usize, what: impl Into<String>) -> Result<T, Self> {
        Err(Self { offset, what: what.into() })
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.what)
    }
}

impl std::error::Error for Damage {}
