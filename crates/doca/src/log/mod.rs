//! `doca_log.h`: records of the program and of the library, and where they go.
//!
//! Two kinds of records never mix. *Application* records come from `doca_log` and go to application
//! backends; *SDK* records are the library's own (the `log` facade) and go to SDK backends. Without a
//! backend of its kind a record costs one compare and is dropped.
//!
//! - `level`: the seven levels;
//! - `source`: names that records come from, a tree by `::`, each with its own verbosity;
//! - `record`: the layout of one line;
//! - `sink`: stream, file descriptor, buffer with callback, syslog;
//! - `backend`: the table of backends, their limits, delivery;
//! - `sdk`: the bridge from the `log` facade, and `SOFTDPU_LOG`;
//! - `c`: the entry points.
//!
//! Everything works before `main`: the state is static and needs no set-up, so that constructors of
//! several shared objects may register sources.

mod backend;
mod c;
mod level;
mod loggers;
mod record;
mod sdk;
mod sink;
mod source;

pub use c::*;
pub use loggers::*;
pub use sdk::softdpu_log_init;

pub(crate) use backend::{
    app_limits as app_global_limits, ensure_sdk as ensure_sdk_backend, sdk_limit as sdk_global_limit,
    set_app_lower, set_sdk_limit,
};
pub(crate) use level::Level;
