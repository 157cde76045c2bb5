//! What every cold C entry point shares: the panic border, and the look at pointers handed in.
//!
//! [`guard`] turns a Rust result into a `doca_error_t` and keeps a panic of ours from unwinding into C.
//! Hot entry points (submit, progress, buffer getters) do without it: an `extern "C"` function aborts on
//! unwind by itself, which costs nothing while nobody panics.
#![expect(unsafe_code, reason = "looks at pointers handed in by C")]
#![allow(dead_code, reason = "shared by every file of the C face")]

use softdpu_status::{Code, Error, Result};
use std::ffi::{CStr, c_char};

pub(crate) use softdpu_room::entry::{SUCCESS, guard, guard_value, number};

/// An output parameter; `INVALID_VALUE` when it is NULL.
///
/// # Safety
/// A pointer that is not NULL must be good for one write of `T` and for nobody else during the call.
pub(crate) unsafe fn out<'a, T>(pointer: *mut T, what: &'static str) -> Result<&'a mut Slot<T>> {
    // `MaybeUninit` inside: what C hands in for output is often uninitialised.
    if pointer.is_null() {
        return Err(Error::new(Code::InvalidValue, what));
    }
    // SAFETY: not NULL, and the caller vouches for the rest; `Slot` has the layout of `T` and claims no
    // initialised content.
    Ok(unsafe { &mut *pointer.cast::<Slot<T>>() })
}

/// Room for one output value of a C call.
#[repr(transparent)]
pub(crate) struct Slot<T>(std::mem::MaybeUninit<T>);

impl<T> Slot<T> {
    /// Stores the output.
    pub(crate) fn set(&mut self, value: T) {
        self.0.write(value);
    }
}

/// A string parameter; `INVALID_VALUE` when it is NULL.
///
/// # Safety
/// A pointer that is not NULL must lead to a NUL-terminated string that lives for `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &'static str) -> Result<&'a CStr> {
    if pointer.is_null() {
        return Err(Error::new(Code::InvalidValue, what));
    }
    // SAFETY: not NULL, and the caller vouches for the rest.
    Ok(unsafe { CStr::from_ptr(pointer) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_errors_and_panics_become_numbers() {
        assert_eq!(guard(|| Ok(())), 0);
        assert_eq!(guard(|| Err(Error::new(Code::Full, "test"))), 24);
        assert_eq!(guard(|| panic!("expected by the test")), Code::Unexpected.number());
        assert_eq!(guard_value(7, || panic!("expected by the test")), 7);
        assert_eq!(number(Err(Code::Again.into())), 5);
    }

    #[test]
    fn null_outputs_and_strings_are_refused() {
        // SAFETY: NULL is allowed.
        let refused = unsafe { out(std::ptr::null_mut::<u32>(), "out is NULL") }.err().map(|e| e.code());
        assert_eq!(refused, Some(Code::InvalidValue));
        // SAFETY: NULL is allowed.
        assert!(unsafe { text(std::ptr::null(), "name is NULL") }.is_err());
        let mut value = 1u32;
        // SAFETY: a live local.
        unsafe { out(&raw mut value, "out is NULL") }.expect("not NULL").set(9);
        assert_eq!(value, 9);
    }
}
