//! `doca_version.h`: the version of the library that is linked at run time.
#![expect(unsafe_code, reason = "C entry points")]

use std::ffi::{CStr, c_char};

/// The DOCA version whose programs compile against this library; `doca_version.h` has the same text.
pub const RUNTIME: &CStr = c"3.3.0000";

/// The version of the linked library, in the form of `doca_version()`. Static; any thread.
#[unsafe(no_mangle)]
pub extern "C" fn doca_version_runtime() -> *const c_char {
    RUNTIME.as_ptr()
}
