//! The table of codes. Everything that is asked about a code is answered from it: change a row here and
//! nowhere else.

use crate::Class;
use std::fmt;

macro_rules! table {
    ($($variant:ident = $number:literal, $name:literal, $class:ident, $text:literal;)+) => {
        /// A reason for which a call or a task failed. Numbers are those of the C face.
        #[repr(i32)]
        #[non_exhaustive]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Code {
            $(#[doc = $text] $variant = $number,)+
        }

        impl Code {
            /// Every code, by rising number.
            pub const ALL: &[Code] = &[$(Code::$variant,)+];

            /// The code with this number; `None` for success (0) and for numbers nobody gave out.
            #[must_use]
            pub const fn from_number(number: i32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The identifier of the C face, such as `DOCA_ERROR_IO_FAILED`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// A short text for people.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// What a caller can do about it.
            #[must_use]
            pub const fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class,)+ }
            }
        }
    };
}

table! {
    Unknown = 1, "DOCA_ERROR_UNKNOWN", Resource, "Unknown error";
    NotPermitted = 2, "DOCA_ERROR_NOT_PERMITTED", Parameter, "Operation not permitted";
    InUse = 3, "DOCA_ERROR_IN_USE", Resource, "Object still in use";
    NotSupported = 4, "DOCA_ERROR_NOT_SUPPORTED", Parameter, "Operation not supported";
    Again = 5, "DOCA_ERROR_AGAIN", Transient, "No room right now, try again";
    InvalidValue = 6, "DOCA_ERROR_INVALID_VALUE", Parameter, "Invalid input";
    NoMemory = 7, "DOCA_ERROR_NO_MEMORY", Resource, "Out of memory";
    Initialization = 8, "DOCA_ERROR_INITIALIZATION", Resource, "Resource initialization failure";
    TimeOut = 9, "DOCA_ERROR_TIME_OUT", Transient, "Timed out";
    Shutdown = 10, "DOCA_ERROR_SHUTDOWN", Resource, "Object is shut down";
    ConnectionReset = 11, "DOCA_ERROR_CONNECTION_RESET", Resource, "Connection dropped by the peer";
    ConnectionAborted = 12, "DOCA_ERROR_CONNECTION_ABORTED", Resource, "Connection given up";
    ConnectionInProgress = 13, "DOCA_ERROR_CONNECTION_INPROGRESS", Transient, "Connection still being made";
    NotConnected = 14, "DOCA_ERROR_NOT_CONNECTED", Resource, "Not connected";
    NoLock = 15, "DOCA_ERROR_NO_LOCK", Parameter, "Lock not obtained";
    NotFound = 16, "DOCA_ERROR_NOT_FOUND", Parameter, "Not found";
    IoFailed = 17, "DOCA_ERROR_IO_FAILED", Transient, "Input/output operation failed";
    BadState = 18, "DOCA_ERROR_BAD_STATE", Resource, "Not allowed in the present state";
    UnsupportedVersion = 19, "DOCA_ERROR_UNSUPPORTED_VERSION", Parameter, "Unsupported version";
    OperatingSystem = 20, "DOCA_ERROR_OPERATING_SYSTEM", Resource, "System call failed";
    Driver = 21, "DOCA_ERROR_DRIVER", Resource, "Driver failed";
    Unexpected = 22, "DOCA_ERROR_UNEXPECTED", Resource, "Unexpected internal condition";
    AlreadyExist = 23, "DOCA_ERROR_ALREADY_EXIST", Parameter, "Already exists";
    Full = 24, "DOCA_ERROR_FULL", Transient, "Full";
    Empty = 25, "DOCA_ERROR_EMPTY", Transient, "Empty";
    InProgress = 26, "DOCA_ERROR_IN_PROGRESS", Transient, "Started, not finished yet";
    TooBig = 27, "DOCA_ERROR_TOO_BIG", Parameter, "Larger than the limit";
    Authentication = 28, "DOCA_ERROR_AUTHENTICATION", Resource, "Authentication failed";
    BadConfig = 29, "DOCA_ERROR_BAD_CONFIG", Parameter, "Invalid configuration";
    Skipped = 30, "DOCA_ERROR_SKIPPED", Transient, "Done, but earlier output was dropped";
    DeviceFatalError = 31, "DOCA_ERROR_DEVICE_FATAL_ERROR", Resource, "Device failed for good";
}

impl Code {
    /// The number of the C face; never 0.
    #[must_use]
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Whether the same call may work later without anything else being done.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self.class(), Class::Transient)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;
    use crate::Class;
    use std::collections::HashSet;

    #[test]
    fn numbers_are_dense_and_lead_back() {
        for (index, code) in Code::ALL.iter().enumerate() {
            assert_eq!(code.number(), index as i32 + 1);
            assert_eq!(Code::from_number(code.number()), Some(*code));
        }
        assert_eq!(Code::ALL.len(), 31);
        for none in [0, -1, 32, i32::MIN, i32::MAX] {
            assert_eq!(Code::from_number(none), None);
        }
    }

    #[test]
    fn names_follow_the_variants_and_texts_differ() {
        let mut texts = HashSet::new();
        for code in Code::ALL {
            // NotPermitted <-> DOCA_ERROR_NOT_PERMITTED; underscores do not count (CONNECTION_INPROGRESS).
            let name = code.name().strip_prefix("DOCA_ERROR_").expect("prefix").replace('_', "");
            assert_eq!(name.to_lowercase(), format!("{code:?}").to_lowercase());
            assert!(!code.text().is_empty() && texts.insert(code.text()), "{code:?}");
        }
    }

    #[test]
    fn classes_are_those_of_the_design() {
        use Code::*;
        let parameter = [
            InvalidValue,
            NotPermitted,
            NotSupported,
            BadConfig,
            TooBig,
            AlreadyExist,
            NotFound,
            UnsupportedVersion,
            NoLock,
        ];
        let transient = [Again, IoFailed, InProgress, ConnectionInProgress, TimeOut, Full, Empty, Skipped];
        for code in Code::ALL {
            let expected = if parameter.contains(code) {
                Class::Parameter
            } else if transient.contains(code) {
                Class::Transient
            } else {
                Class::Resource
            };
            assert_eq!(code.class(), expected, "{code:?}");
            assert_eq!(code.is_retryable(), expected == Class::Transient, "{code:?}");
        }
        // The six that are fixed by the textbook face.
        assert_eq!(InvalidValue.class(), Class::Parameter);
        assert_eq!(NotSupported.class(), Class::Parameter);
        assert_eq!(NoMemory.class(), Class::Resource);
        assert_eq!(BadState.class(), Class::Resource);
        assert_eq!(Again.class(), Class::Transient);
        assert_eq!(IoFailed.class(), Class::Transient);
    }
}
