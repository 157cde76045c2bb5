//! `doca_error.h`: names, texts and classes of the codes, answered from the one table.
#![expect(unsafe_code, reason = "C entry points")]

use softdpu_status::{Class, Code};
use std::ffi::{CStr, c_char, c_int};

/// `DOCA_ERROR_CLASS_*` of `doca_primer.h`.
const CLASS_NONE: c_int = 0;
const CLASS_PARAMETER: c_int = 1;
const CLASS_RESOURCE: c_int = 2;
const CLASS_TRANSIENT: c_int = 3;

/// Name and text of one number as C strings. The table has Rust strings; the terminators are added once,
/// at compile time, into two static arenas.
mod arena {
    use softdpu_status::Code;

    /// Widest entry, terminator included.
    const WIDTH: usize = 48;
    pub(super) type Row = [u8; WIDTH];

    const fn row(text: &str) -> Row {
        let bytes = text.as_bytes();
        assert!(bytes.len() < WIDTH, "widen the rows");
        let mut row = [0; WIDTH];
        let mut i = 0;
        while i < bytes.len() {
            row[i] = bytes[i];
            i += 1;
        }
        row
    }

    const COUNT: usize = Code::ALL.len();

    const fn rows(names: bool) -> [Row; COUNT] {
        let mut rows = [[0; WIDTH]; COUNT];
        let mut i = 0;
        while i < COUNT {
            let code = Code::ALL[i];
            assert!(code.number() == i as i32 + 1, "the table is dense");
            rows[i] = row(if names { code.name() } else { code.text() });
            i += 1;
        }
        rows
    }

    pub(super) static NAMES: [Row; COUNT] = rows(true);
    pub(super) static TEXTS: [Row; COUNT] = rows(false);
}

fn entry(rows: &'static [arena::Row], success: &'static CStr, error: c_int) -> *const c_char {
    if error == 0 {
        return success.as_ptr();
    }
    match usize::try_from(error).ok().and_then(|n| rows.get(n - 1)) {
        Some(row) => row.as_ptr().cast(),
        None => c"unrecognized error code".as_ptr(),
    }
}

/// The enumerator's identifier, such as `DOCA_ERROR_IO_FAILED`. Static, never NULL; any thread.
#[unsafe(no_mangle)]
pub extern "C" fn doca_error_get_name(error: c_int) -> *const c_char {
    entry(&arena::NAMES, c"DOCA_SUCCESS", error)
}

/// A short text for people. Static, never NULL; any thread.
#[unsafe(no_mangle)]
pub extern "C" fn doca_error_get_descr(error: c_int) -> *const c_char {
    entry(&arena::TEXTS, c"Success", error)
}

/// What a caller can do about a code: `DOCA_ERROR_CLASS_*`; `NONE` for success and unknown numbers.
#[unsafe(no_mangle)]
pub extern "C" fn doca_error_get_class(error: c_int) -> c_int {
    match Code::from_number(error).map(Code::class) {
        None => CLASS_NONE,
        Some(Class::Parameter) => CLASS_PARAMETER,
        Some(Class::Resource) => CLASS_RESOURCE,
        Some(Class::Transient) => CLASS_TRANSIENT,
    }
}

/// 1 when the same call may work later without anything else being done, else 0.
#[unsafe(no_mangle)]
pub extern "C" fn doca_error_is_retryable(error: c_int) -> u8 {
    u8::from(Code::from_number(error).is_some_and(Code::is_retryable))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: *const c_char) -> &'static str {
        // SAFETY: the functions under test return static NUL-terminated strings.
        unsafe { CStr::from_ptr(text) }.to_str().expect("ASCII")
    }

    #[test]
    fn every_code_has_its_name_text_and_class() {
        assert_eq!(read(doca_error_get_name(0)), "DOCA_SUCCESS");
        assert_eq!(read(doca_error_get_descr(0)), "Success");
        for code in Code::ALL {
            assert_eq!(read(doca_error_get_name(code.number())), code.name());
            assert_eq!(read(doca_error_get_descr(code.number())), code.text());
            assert_eq!(doca_error_is_retryable(code.number()) == 1, code.class() == Class::Transient);
            assert_ne!(doca_error_get_class(code.number()), CLASS_NONE);
        }
        assert_eq!(doca_error_get_class(18), CLASS_RESOURCE);
        assert_eq!(doca_error_get_class(6), CLASS_PARAMETER);
        assert_eq!(doca_error_get_class(17), CLASS_TRANSIENT);
    }

    #[test]
    fn unknown_numbers_get_a_fixed_text() {
        for number in [-1, 32, c_int::MIN, c_int::MAX] {
            assert_eq!(read(doca_error_get_name(number)), "unrecognized error code");
            assert_eq!(read(doca_error_get_descr(number)), "unrecognized error code");
            assert_eq!(doca_error_get_class(number), CLASS_NONE);
            assert_eq!(doca_error_is_retryable(number), 0);
        }
    }
}
