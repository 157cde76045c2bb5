//! Error codes, classes and texts: one table.
//!
//! [`Code`] is one non-success code of the contract with its number, its name, its short text and its
//! [`Class`]. [`Error`] is what the library returns: a code and a static text that says which rule was
//! broken. Details with numbers go to the log, where they cost nothing when nobody listens.
//!
//! The classes say what a caller can do: [`Class::Parameter`]: this call is wrong and stays wrong;
//! [`Class::Resource`]: something is missing, out of order or in use: act, then call again;
//! [`Class::Transient`]: the same call may work later.
//!
//! ```
//! use softdpu_status::{Class, Code, Error};
//!
//! let refused = Error::new(Code::InvalidValue, "length is zero");
//! assert_eq!(refused.code().number(), 6);
//! assert_eq!(refused.class(), Class::Parameter);
//! assert_eq!(refused.to_string(), "DOCA_ERROR_INVALID_VALUE: length is zero");
//! ```

mod class;
mod code;
mod error;

pub use class::Class;
pub use code::Code;
pub use error::{Error, Result};
