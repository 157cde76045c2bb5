//! The machine of this process. It is read from the environment once, at the first call that needs it, and does
//! not change afterwards.

use softdpu_card::{ConfigError, Machine};
use softdpu_status::{Code, Error, Result};
use std::sync::OnceLock;

static MACHINE: OnceLock<Result<Machine, ConfigError>> = OnceLock::new();

/// The machine, or `NOT_FOUND` with the reason in the log when its configuration is refused.
pub(crate) fn machine() -> Result<&'static Machine> {
    MACHINE.get_or_init(Machine::from_env).as_ref().map_err(|error| {
        log::error!(target: "softdpu::device", "no device can be found: {error}");
        Error::new(Code::NotFound, "the configuration of the software cards was refused")
    })
}
