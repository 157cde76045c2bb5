//! What a caller can do about an error.

use std::fmt;

/// What a caller can do about an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// This call is wrong and stays wrong: fix the program.
    Parameter,
    /// Something is missing, out of order, broken or still in use: act, then call again.
    Resource,
    /// The same call may work later: call again.
    Transient,
}

impl Class {
    /// The class as one lower-case word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::Resource => "resource",
            Self::Transient => "transient",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
