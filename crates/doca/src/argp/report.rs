//! What the parser says to people: to the program's logger callback when there is one, else to stdout
//! (texts that were asked for) and stderr (complaints). Through stdio, so that the order with the
//! program's own output is kept.
#![expect(unsafe_code, reason = "stdio and a callback with va_list")]

use super::state;
use crate::log::Level;
use std::ffi::{CString, c_char, c_int};

/// `doca_argp_logger_cb_t`; its last parameter is a `va_list`, which only `shim.c` can make.
pub type LoggerCallback = *const std::ffi::c_void;

unsafe extern "C" {
    fn softdpu_argp_call_logger(callback: LoggerCallback, level: c_int, message: *const c_char) -> c_int;
    fn softdpu_stream(number: c_int) -> *mut libc::FILE;
}

fn say(stream: c_int, level: Level, text: &str) {
    if let Some(callback) = state::logger_callback() {
        let text = CString::new(text.trim_end().replace('\0', "?")).unwrap_or_default();
        // SAFETY: the program registered the callback for this; no lock is held.
        unsafe { softdpu_argp_call_logger(callback, level as c_int, text.as_ptr()) };
        return;
    }
    // SAFETY: a standard stream and a live text.
    unsafe {
        let stream = softdpu_stream(stream);
        libc::fwrite(text.as_ptr().cast(), 1, text.len(), stream);
        libc::fflush(stream);
    }
}

/// A text somebody asked for.
pub(crate) fn answer(text: &str) {
    say(1, Level::Info, text);
}

/// Why a start was refused, and how to do it right.
pub(crate) fn complain(program: &str, reason: &str, usage: &str) {
    say(2, Level::Error, &format!("{program}: {reason}\n"));
    say(2, Level::Info, &format!("{usage}\n"));
}
