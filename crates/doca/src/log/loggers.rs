//! Entry points of `doca_log.h` for the tree of loggers.
//!
//! A list handed to the program is kept in a register by its address, so that a list that was never made
//! here, or was destroyed, is told from a live one without touching it.
#![expect(unsafe_code, reason = "C entry points")]

use super::backend;
use super::source::{self, NAME_SIZE};
use crate::entry::{guard, guard_value, out, text};
use softdpu_status::{Code, Error, Result};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Handle of a logger; opaque to C.
pub type LoggerHandle = *mut c_void;

/// The live lists: address of the array to the array, handles as addresses, 0 at the end.
fn lists() -> MutexGuard<'static, HashMap<usize, Box<[usize]>>> {
    static LISTS: OnceLock<Mutex<HashMap<usize, Box<[usize]>>>> = OnceLock::new();
    LISTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn handle(address: usize) -> LoggerHandle {
    std::ptr::with_exposed_provenance_mut(address)
}

fn invalid(what: &'static str) -> Error {
    log::error!(target: "softdpu::log", "{what}");
    Error::new(Code::InvalidValue, what)
}

/// The loggers below one (NULL: all), at most `depth` levels down (0: all levels).
///
/// # Safety
/// The outputs are NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_logger_create_list(
    logger: *const c_void,
    depth: u8,
    logger_list: *mut *mut LoggerHandle,
    nb_loggers: *mut u32,
) -> c_int {
    guard(|| {
        // SAFETY: passed on from the caller.
        let outputs = unsafe { (out(logger_list, "logger_list"), out(nb_loggers, "nb_loggers")) };
        let (Ok(list), Ok(count)) = outputs else { return Err(invalid("logger list: an output is NULL")) };
        let no_memory = |_| Error::new(Code::NoMemory, "logger list");
        let mut found = Vec::new();
        let mut room: Result<()> = Ok(());
        source::below(logger.addr(), depth, |logger| match found.try_reserve(2).map_err(no_memory) {
            Ok(()) => found.push(logger.address()),
            Err(error) => room = Err(error),
        })?;
        room?;
        let number = u32::try_from(found.len()).unwrap_or(u32::MAX);
        found.try_reserve(1).map_err(no_memory)?;
        found.push(0);
        let array = found.into_boxed_slice();
        let mut lists = lists();
        lists.try_reserve(1).map_err(no_memory)?;
        let address = array.as_ptr().expose_provenance();
        lists.insert(address, array);
        list.set(std::ptr::with_exposed_provenance_mut(address));
        count.set(number);
        Ok(())
    })
}

/// Gives a list back; the loggers live on.
#[unsafe(no_mangle)]
pub extern "C" fn doca_logger_destroy_list(logger_list: *mut LoggerHandle) -> c_int {
    guard(|| match lists().remove(&logger_list.addr()) {
        Some(_) => Ok(()),
        None => Err(invalid("the handle is not a logger list")),
    })
}

/// Sets the verbosity of one logger, and of all below it when asked to (a must for NULL, the top).
#[unsafe(no_mangle)]
pub extern "C" fn doca_logger_set_level(logger: LoggerHandle, level: c_int, propagate: u8) -> c_int {
    guard(|| {
        let level = u32::try_from(level).ok().map_or(Err(invalid("not a log level")), backend::level)?;
        if logger.is_null() && propagate == 0 {
            return Err(invalid("the level of all loggers (NULL) must be set with propagation"));
        }
        source::set_level(logger.addr(), level, propagate != 0)
    })
}

/// The verbosity of one logger.
///
/// # Safety
/// `level` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_logger_get_level(logger: *const c_void, level: *mut c_int) -> c_int {
    guard(|| {
        if logger.is_null() {
            return Err(invalid("the logger is NULL"));
        }
        // SAFETY: passed on from the caller.
        let level =
            unsafe { out(level, "level") }.map_err(|_| invalid("logger level: the output is NULL"))?;
        level.set(source::find(logger.addr())?.level() as c_int);
        Ok(())
    })
}

/// The full name of a logger.
///
/// # Safety
/// `name` is NULL or has room for `DOCA_LOGGER_NAME_SIZE` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_logger_get_name(logger: *const c_void, name: *mut c_char) -> c_int {
    guard(|| {
        if logger.is_null() || name.is_null() {
            return Err(invalid("logger name: an argument is NULL"));
        }
        let text = source::find(logger.addr())?.name();
        debug_assert!(text.len() < NAME_SIZE);
        // SAFETY: 256 bytes of room by the caller's word; names are at most 255.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len());
            name.add(text.len()).write(0);
        }
        Ok(())
    })
}

/// The logger of that name within a list, or NULL.
///
/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_logger_find_by_name(
    logger_list: *mut LoggerHandle,
    name: *const c_char,
) -> LoggerHandle {
    guard_value(std::ptr::null_mut(), || {
        // SAFETY: passed on from the caller.
        let Ok(name) = (unsafe { text(name, "name") }) else { return std::ptr::null_mut() };
        let lists = lists();
        let members = lists.get(&logger_list.addr()).map_or(&[][..], |list| list);
        let named = |address: &&usize| source::find(**address).is_ok_and(|l| l.name() == name.to_bytes());
        members.iter().find(named).map_or(std::ptr::null_mut(), |address| handle(*address))
    })
}
