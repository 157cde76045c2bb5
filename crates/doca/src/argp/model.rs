//! Flags and commands, as the parser sees them once everything is registered.

use softdpu_status::{Code, Error};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

/// `doca_argp_param_cb_t`: value pointer, then the program's configuration.
pub type ParamCallback = unsafe extern "C" fn(value: *mut c_void, config: *mut c_void) -> c_int;
/// `doca_argp_cmd_cb_t`.
pub type CommandCallback = unsafe extern "C" fn(config: *mut c_void) -> c_int;
/// `doca_argp_validation_cb_t`.
pub type ValidationCallback = unsafe extern "C" fn(config: *mut c_void) -> c_int;
/// `doca_argp_dpdk_cb_t`.
pub type DpdkCallback = unsafe extern "C" fn(argc: c_int, argv: *mut *mut c_char) -> c_int;

/// `enum doca_argp_type`, without UNKNOWN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    String,
    Int,
    Boolean,
    Device,
    DeviceRep,
    Double,
}

impl Kind {
    pub(crate) fn from_number(number: c_int) -> Option<Self> {
        match number {
            1 => Some(Self::String),
            2 => Some(Self::Int),
            3 => Some(Self::Boolean),
            4 => Some(Self::Device),
            5 => Some(Self::DeviceRep),
            6 => Some(Self::Double),
            _ => None,
        }
    }
}

/// Names and texts are what C handed in: bytes.
pub(crate) type Text = Box<[u8]>;

/// One flag of the program.
#[derive(Clone, Default, Debug)]
pub(crate) struct Param {
    pub(crate) short: Option<Text>,
    pub(crate) long: Option<Text>,
    /// Placeholder of the value in the usage.
    pub(crate) arguments: Option<Text>,
    pub(crate) description: Option<Text>,
    pub(crate) callback: Option<ParamCallback>,
    pub(crate) kind: Option<Kind>,
    pub(crate) mandatory: bool,
    pub(crate) cli_only: bool,
    pub(crate) multiple: bool,
    pub(crate) singular: bool,
    pub(crate) inherited: bool,
    pub(crate) hidden: bool,
}

impl Param {
    /// How people know the flag: `-p/--path`.
    pub(crate) fn shown(&self) -> String {
        let short = self.short.as_deref().map(|name| format!("-{}", lossy(name)));
        let long = self.long.as_deref().map(|name| format!("--{}", lossy(name)));
        match (short, long) {
            (Some(short), Some(long)) => format!("{short}/{long}"),
            (short, long) => short.or(long).unwrap_or_default(),
        }
    }

    /// The type; a registered flag has one.
    pub(crate) fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::String)
    }
}

/// The program itself (the root) or one of its commands.
#[derive(Clone, Default, Debug)]
pub(crate) struct Command {
    pub(crate) name: Text,
    pub(crate) description: Text,
    pub(crate) callback: Option<CommandCallback>,
    pub(crate) hidden: bool,
    pub(crate) params: Vec<Arc<Param>>,
    pub(crate) commands: Vec<Arc<Command>>,
}

/// Why a start is refused: the status and what people are told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) reason: String,
}

impl Refusal {
    pub(crate) fn new(code: Code, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }

    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::new(Code::InvalidValue, reason)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::new(error.code(), error.what())
    }
}

/// Bytes as people read them.
pub(crate) fn lossy(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
