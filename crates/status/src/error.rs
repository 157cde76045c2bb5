//! The error value: two words, no allocation, so that refusing a call is cheap.

use crate::{Class, Code};
use std::fmt;

/// A refused call: a code and a static text naming the rule. Details with numbers are in the log.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Error {
    code: Code,
    what: &'static str,
}

/// What fallible calls return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with this code; `what` names the rule that was broken.
    #[must_use]
    pub const fn new(code: Code, what: &'static str) -> Self {
        Self { code, what }
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// What a caller can do about it.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.code.class()
    }

    /// The rule that was broken.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        self.what
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.name(), self.what)
    }
}

impl std::error::Error for Error {}

impl From<Code> for Error {
    fn from(code: Code) -> Self {
        Self::new(code, code.text())
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Result};
    use crate::{Class, Code};

    #[test]
    fn carries_code_and_text() {
        const REFUSED: Error = Error::new(Code::TooBig, "length above max_buf_size");
        assert_eq!(REFUSED.code(), Code::TooBig);
        assert_eq!(REFUSED.class(), Class::Parameter);
        assert_eq!(REFUSED.what(), "length above max_buf_size");
        assert_eq!(REFUSED.to_string(), "DOCA_ERROR_TOO_BIG: length above max_buf_size");
    }

    #[test]
    fn a_bare_code_becomes_an_error_with_its_text() {
        fn refuse() -> Result<()> {
            Err(Code::Again)?
        }
        let error = refuse().unwrap_err();
        assert_eq!((error.code(), error.what()), (Code::Again, Code::Again.text()));
    }
}
