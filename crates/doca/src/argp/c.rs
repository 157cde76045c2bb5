//! Entry points of `doca_argp.h` for the parser itself. Single thread, during start-up.
#![expect(unsafe_code, reason = "C entry points")]

pub use super::device::DevOpenCallback;
use super::model::{DpdkCallback, ParamCallback, ValidationCallback};
use super::objects::logged;
pub use super::report::LoggerCallback;
use super::state::{self, Parser};
use super::{report, start, usage};
use crate::entry::{guard, guard_value, out};
use crate::log::{app_global_limits, sdk_global_limit, softdpu_log_init};
use softdpu_status::{Code, Error, Result};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

fn invalid<T>(what: &'static str) -> Result<T> {
    logged(Err(Error::new(Code::InvalidValue, what)))
}

/// Makes the parser of the process.
///
/// # Safety
/// `program_name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_argp_init(program_name: *const c_char, program_config: *mut c_void) -> c_int {
    guard(|| {
        softdpu_log_init();
        // SAFETY: NULL is told apart; else a C string by the caller's word.
        let name =
            (!program_name.is_null()).then(|| unsafe { CStr::from_ptr(program_name) }.to_bytes().into());
        state::init(name, program_config.expose_provenance())
    })
}

/// Parses the command line (and the file it names) and calls the callbacks.
///
/// # Safety
/// `argv` is NULL or has `argc` C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_argp_start(argc: c_int, argv: *mut *mut c_char) -> c_int {
    let mut status = 0;
    let refused = guard(|| {
        let count = usize::try_from(argc).unwrap_or(0);
        // A parser that cannot start says so before it looks at the arguments.
        logged(state::with(|parser| parser.registering()))?;
        if argv.is_null() || count == 0 {
            return invalid("argv is NULL or has no program name");
        }
        // SAFETY: `count` entries by the caller's word.
        let words = (0..count).map(|i| unsafe { argv.add(i).read() });
        // SAFETY: entries that are not NULL are C strings by the caller's word.
        let words = words.map(|word| (!word.is_null()).then(|| unsafe { CStr::from_ptr(word) }.to_bytes()));
        let Some(words) = words.collect::<Option<Vec<_>>>() else {
            return invalid("argv has a NULL before argc");
        };
        status = start::start(&words)?;
        Ok(())
    });
    if refused == 0 { status } else { refused }
}

/// Takes the parser down with its flags, commands, device arguments and DPDK arguments.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_destroy() -> c_int {
    guard(state::destroy)
}

/// Prints the usage of the program, or of the command that was given.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_usage() {
    guard_value((), || {
        let text = state::with(|parser| {
            if parser.name.is_none() && parser.current.is_none() {
                let own = std::env::args_os().next().unwrap_or_default();
                parser.name = own.as_bytes().rsplit(|byte| *byte == b'/').next().map(Into::into);
            }
            let path = parser.current.clone().unwrap_or_else(|| vec![Arc::clone(&parser.tree())]);
            Ok(usage::render(&path, parser.dpdk.is_some()))
        });
        if let Ok(text) = text {
            report::answer(&text);
        }
    });
}

/// A setting that may change until the start.
fn set(edit: impl FnOnce(&mut Parser) -> Result<()>) -> Result<()> {
    logged(state::with(|parser| {
        parser.registering()?;
        edit(parser)
    }))
}

/// Replaces what `-v` does.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_register_version_callback(callback: Option<ParamCallback>) -> c_int {
    guard(|| match callback {
        None => invalid("the version callback is NULL"),
        Some(callback) => set(|parser| {
            parser.version = Some(callback);
            Ok(())
        }),
    })
}

/// Called once after all flags were handled; its error fails the start.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_register_validation_callback(callback: Option<ValidationCallback>) -> c_int {
    guard(|| match callback {
        None => invalid("the validation callback is NULL"),
        Some(callback) => set(|parser| {
            parser.validation = Some(callback);
            Ok(())
        }),
    })
}

/// Lets the program open the devices that flags name.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_register_dev_open_callback(
    callback: Option<DevOpenCallback>,
    usr_ctx: *mut c_void,
) -> c_int {
    guard(|| match callback {
        None => invalid("the open callback is NULL"),
        Some(callback) => set(|parser| {
            parser.dev_open = Some((callback, usr_ctx.expose_provenance()));
            Ok(())
        }),
    })
}

/// Redirects what the parser says to people.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_register_logger_callback(callback: LoggerCallback) -> c_int {
    guard(|| {
        if callback.is_null() {
            return invalid("the logger callback is NULL");
        }
        logged(state::with(|parser| match parser.logger {
            Some(_) => Err(Error::new(Code::AlreadyExist, "a logger callback is already registered")),
            None => {
                parser.logger = Some(callback.expose_provenance());
                Ok(())
            }
        }))
    })
}

/// Back to stdout and stderr.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_disable_logger_callback() -> c_int {
    guard(|| {
        logged(state::with(|parser| match parser.logger.take() {
            Some(_) => Ok(()),
            None => Err(Error::new(Code::BadState, "no logger callback is registered")),
        }))
    })
}

/// Unknown keys of a parameter file are passed over.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_disable_pedantic_config_parsing() -> c_int {
    guard(|| {
        set(|parser| {
            parser.tolerant_json = true;
            Ok(())
        })
    })
}

/// The words before `--` go to this callback. NULL: no DPDK program after all.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_set_dpdk_program(callback: Option<DpdkCallback>) {
    guard(|| {
        set(|parser| {
            parser.dpdk = callback;
            Ok(())
        })
    });
}

/// # Safety
/// `level` is NULL or good for a write.
unsafe fn give_level(level: *mut c_int, given: Option<u32>, global: u32) -> c_int {
    guard(|| {
        // SAFETY: passed on from the caller.
        let Ok(level) = (unsafe { out(level, "level") }) else { return invalid("the output is NULL") };
        level.set(given.unwrap_or(global) as c_int);
        Ok(())
    })
}

/// The level given by `-l`, else the present global one.
///
/// # Safety
/// `log_level` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_argp_get_log_level(log_level: *mut c_int) -> c_int {
    // SAFETY: passed on from the caller.
    unsafe { give_level(log_level, state::levels().0, app_global_limits().0) }
}

/// The level given by `--sdk-log-level`, else the present global one.
///
/// # Safety
/// `log_level` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_argp_get_sdk_log_level(log_level: *mut c_int) -> c_int {
    // SAFETY: passed on from the caller.
    unsafe { give_level(log_level, state::levels().1, sdk_global_limit()) }
}
