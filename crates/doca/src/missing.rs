//! Entry points of what is not built yet.
//!
//! Every function of the contract is exported, so that programs link and find out at run time: one that is
//! missing logs a line with its name and answers `DOCA_ERROR_NOT_SUPPORTED`, or NULL, or 0, where it returns no
//! status. The list is made from `contract/functions.toml`, of which `MATRIX.md` is the readable form; an engine
//! that gets built leaves it by its `state` there.
//!
//! The functions take no parameters here although programs pass some. In the C calling conventions of x86-64 and
//! arm64 the caller places arguments and cleans them up, and a function that does not look at them need not know
//! of them. `union doca_data` is returned like a 64-bit integer.
#![allow(
    unsafe_code,
    dead_code,
    unused_macros,
    reason = "symbols for C need the no_mangle attribute; there may be nothing missing"
)]

use softdpu_status::Code;
use std::ffi::c_int;

macro_rules! missing {
    ($($kind:ident $name:ident $family:literal;)*) => {
        $(missing!(@ $kind $name $family);)*
    };
    (@ error $name:ident $family:literal) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> std::ffi::c_int {
            super::refuse(stringify!($name), $family)
        }
    };
    (@ capability $name:ident $family:literal) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> std::ffi::c_int {
            super::deny(stringify!($name), $family)
        }
    };
    (@ pointer $name:ident $family:literal) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> *mut std::ffi::c_void {
            super::refuse(stringify!($name), $family);
            std::ptr::null_mut()
        }
    };
    (@ void $name:ident $family:literal) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name() {
            super::refuse(stringify!($name), $family);
        }
    };
    (@ $number:ident $name:ident $family:literal) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> $number {
            super::refuse(stringify!($name), $family);
            0
        }
    };
}

mod table;

/// A call that was meant: one line for people.
#[cold]
fn refuse(name: &str, family: &str) -> c_int {
    crate::log::softdpu_log_init();
    log::error!(
        target: "softdpu::missing",
        "{name}: not supported: this part of {family} is not built yet (MATRIX.md lists what is there)"
    );
    Code::NotSupported.number()
}

/// A capability query. Programs ask these of every device while they look for one, so "no" is an ordinary answer.
#[cold]
fn deny(name: &str, family: &str) -> c_int {
    crate::log::softdpu_log_init();
    log::debug!(target: "softdpu::missing", "{name}: no device has it: {family} is not built yet");
    Code::NotSupported.number()
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;

    missing! {
        error softdpu_test_error "a test";
        capability softdpu_test_cap_is_supported "a test";
        pointer softdpu_test_pointer "a test";
        void softdpu_test_void "a test";
        u8 softdpu_test_u8 "a test";
        u64 softdpu_test_u64 "a test";
    }

    #[test]
    fn every_kind_says_no_in_its_own_way() {
        assert_eq!(softdpu_test_error(), 4);
        assert_eq!(softdpu_test_cap_is_supported(), 4);
        assert_eq!(softdpu_test_pointer(), std::ptr::null_mut::<c_void>());
        softdpu_test_void();
        assert_eq!(softdpu_test_u8(), 0);
        assert_eq!(softdpu_test_u64(), 0);
    }
}
