//! Entry points of `doca_argp.h` for flags and commands. Single thread, during start-up.
#![expect(unsafe_code, reason = "C entry points")]

use super::model::{CommandCallback, Kind, Param, ParamCallback, Text};
use super::state::{self, CommandObject, Owner, Parser};
use crate::entry::{guard, guard_value, out};
use softdpu_status::{Code, Error, Result};
use std::ffi::{CStr, c_char, c_int, c_void};

/// Handle of a flag; opaque to C.
pub type ParamHandle = *mut c_void;
/// Handle of a command; opaque to C.
pub type CommandHandle = *mut c_void;

/// Says why a call was refused; under the lock nothing may be logged, so this comes after it.
pub(super) fn logged<T>(result: Result<T>) -> Result<T> {
    result.inspect_err(|error| log::error!(target: "softdpu::argp", "{}", error.what()))
}

fn null<T>() -> Result<T> {
    logged(Err(Error::new(Code::InvalidValue, "a handle or an output is NULL")))
}

/// # Safety
/// `text` is NULL or a C string.
unsafe fn copy(text: *const c_char) -> Option<Text> {
    // SAFETY: NULL is told apart; else a C string by the caller's word.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes());
    text.filter(|text| !text.is_empty()).map(Into::into)
}

/// # Safety
/// `handle` is NULL or good for a write.
unsafe fn create(handle: *mut *mut c_void, make: impl FnOnce(&mut Parser) -> Result<usize>) -> c_int {
    guard(|| {
        // SAFETY: passed on from the caller.
        let Ok(handle) = (unsafe { out(handle, "output") }) else { return null() };
        handle.set(std::ptr::with_exposed_provenance_mut(state::with(make)?));
        Ok(())
    })
}

/// Makes a flag.
///
/// # Safety
/// `param` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_argp_param_create(param: *mut ParamHandle) -> c_int {
    // SAFETY: passed on from the caller.
    unsafe { create(param, Parser::create_param) }
}

/// Makes a command.
///
/// # Safety
/// `cmd` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_argp_cmd_create(cmd: *mut CommandHandle) -> c_int {
    // SAFETY: passed on from the caller.
    unsafe { create(cmd, Parser::create_command) }
}

/// Gives back a flag that was never registered.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_param_destroy(param: ParamHandle) -> c_int {
    guard(|| {
        if param.is_null() {
            return null();
        }
        logged(state::with(|parser| match parser.params.get(&param.addr()).map(|object| object.owner) {
            Some(Owner::Program) => {
                parser.params.remove(&param.addr());
                Ok(())
            }
            Some(_) => Err(Error::new(Code::BadState, "the flag is registered: the parser owns it")),
            None => Err(Error::new(Code::InvalidValue, "not a flag of this parser")),
        }))
    })
}

/// Gives back a command that was never registered, with everything registered below it.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_cmd_destroy(cmd: CommandHandle) -> c_int {
    guard(|| {
        if cmd.is_null() {
            return null();
        }
        logged(state::with(|parser| match parser.commands.get(&cmd.addr()).map(|object| object.owner) {
            Some(Owner::Program) => {
                parser.remove_command(cmd.addr());
                Ok(())
            }
            Some(_) => Err(Error::new(Code::BadState, "the command is registered: the parser owns it")),
            None => Err(Error::new(Code::InvalidValue, "not a command of this parser")),
        }))
    })
}

/// Registers a flag of the program; the parser owns it from now on, whatever the answer.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_register_param(input_param: ParamHandle) -> c_int {
    guard(|| {
        if input_param.is_null() {
            return null();
        }
        logged(state::with(|parser| parser.register_param(input_param.addr(), Owner::Top)))
    })
}

/// Registers a command of the program; the parser owns it from now on, whatever the answer.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_register_cmd(input_cmd: CommandHandle) -> c_int {
    guard(|| {
        if input_cmd.is_null() {
            return null();
        }
        logged(state::with(|parser| parser.register_command(input_cmd.addr(), Owner::Top)))
    })
}

/// Registers a flag of a command.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_cmd_register_param(cmd: CommandHandle, input_param: ParamHandle) -> c_int {
    guard(|| {
        if cmd.is_null() || input_param.is_null() {
            return null();
        }
        let owner = Owner::Command(cmd.addr());
        logged(state::with(|parser| parser.register_param(input_param.addr(), owner)))
    })
}

/// Registers a command below a command.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_cmd_register_cmd(cmd: CommandHandle, input_cmd: CommandHandle) -> c_int {
    guard(|| {
        if cmd.is_null() || input_cmd.is_null() {
            return null();
        }
        let owner = Owner::Command(cmd.addr());
        logged(state::with(|parser| parser.register_command(input_cmd.addr(), owner)))
    })
}

/// Changes a flag that is not registered yet; anything else is left alone, with a log line.
fn edit_param(handle: ParamHandle, edit: impl FnOnce(&mut Param)) {
    guard_value((), || {
        let edited = state::with(|parser| match parser.params.get_mut(&handle.addr()) {
            Some(object) if object.owner == Owner::Program => {
                edit(&mut object.param);
                Ok(())
            }
            Some(_) => Err(Error::new(Code::BadState, "the flag is registered: attributes stay")),
            None => Err(Error::new(Code::InvalidValue, "not a flag of this parser")),
        });
        let _ = logged(edited);
    });
}

/// Changes a command that is not registered yet; anything else is left alone, with a log line.
fn edit_command(handle: CommandHandle, edit: impl FnOnce(&mut CommandObject)) {
    guard_value((), || {
        let edited = state::with(|parser| match parser.commands.get_mut(&handle.addr()) {
            Some(object) if object.owner == Owner::Program => {
                edit(object);
                Ok(())
            }
            Some(_) => Err(Error::new(Code::BadState, "the command is registered: attributes stay")),
            None => Err(Error::new(Code::InvalidValue, "not a command of this parser")),
        });
        let _ = logged(edited);
    });
}

macro_rules! text_setters {
    ($($(#[$doc:meta])* $name:ident, $edit:ident, $object:ident.$($field:ident).+;)+) => {$(
        $(#[$doc])*
        /// The text is copied.
        ///
        /// # Safety
        /// The text is NULL or a C string.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(handle: *mut c_void, text: *const c_char) {
            // SAFETY: passed on from the caller.
            let text = unsafe { copy(text) };
            $edit(handle, |$object| $object.$($field).+ = text);
        }
    )+};
}

text_setters! {
    /// Name after one dash.
    doca_argp_param_set_short_name, edit_param, param.short;
    /// Name after two dashes, and key in a parameter file.
    doca_argp_param_set_long_name, edit_param, param.long;
    /// Placeholder of the value in the usage.
    doca_argp_param_set_arguments, edit_param, param.arguments;
    /// What the usage says about the flag.
    doca_argp_param_set_description, edit_param, param.description;
    /// The word that calls the command.
    doca_argp_cmd_set_name, edit_command, command.name;
    /// What the usage says about the command.
    doca_argp_cmd_set_description, edit_command, command.description;
}

macro_rules! switches {
    ($($(#[$doc:meta])* $name:ident, $edit:ident, $field:ident;)+) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(handle: *mut c_void) {
            $edit(handle, |object| object.$field = true);
        }
    )+};
}

switches! {
    /// A start without the flag is refused.
    doca_argp_param_set_mandatory, edit_param, mandatory;
    /// The flag cannot stand in a parameter file.
    doca_argp_param_set_cli_only, edit_param, cli_only;
    /// The flag may be given several times.
    doca_argp_param_set_multiplicity, edit_param, multiple;
    /// The flag must be the only one.
    doca_argp_param_set_singular, edit_param, singular;
    /// The flag is valid in the commands below, too.
    doca_argp_param_set_inherited, edit_param, inherited;
    /// The usage does not show the flag.
    doca_argp_param_set_hidden, edit_param, hidden;
    /// The usage does not show the command.
    doca_argp_cmd_set_hidden, edit_command, hidden;
}

/// What is called with the flag's value.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_param_set_callback(param: ParamHandle, callback: Option<ParamCallback>) {
    edit_param(param, |param| param.callback = callback);
}

/// Type of the flag's value.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_param_set_type(param: ParamHandle, kind: c_int) {
    edit_param(param, |param| param.kind = Kind::from_number(kind));
}

/// What is called when the command was chosen.
#[unsafe(no_mangle)]
pub extern "C" fn doca_argp_cmd_set_callback(cmd: CommandHandle, callback: Option<CommandCallback>) {
    edit_command(cmd, |command| command.callback = callback);
}
