//! How tracing begins: out of the environment, or asked for by a program.

use crate::metrics::{self, VARIABLE, Where};
use crate::probes;
use crate::record::{LIMIT, create, is_recording};
use softdpu_status::{Code, Error, Result};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Once;

/// The file to add to.
pub const FILE: &str = "SOFTDPU_TRACE";
/// Its greatest length, in MiB.
pub const LIMIT_MIB: &str = "SOFTDPU_TRACE_LIMIT";

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Reads a limit in MiB.
#[must_use]
pub fn limit(text: &str) -> Option<u64> {
    text.parse::<u64>().ok().filter(|mib| (1..=1 << 20).contains(mib)).map(|mib| mib << 20)
}

/// Starts what the environment asks for, once in a process, for contexts that start from now on. What cannot be done is
/// told in the log, and the program goes on without it.
pub fn from_environment() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if [FILE, VARIABLE].iter().any(|name| variable(name).is_some()) {
            crate::ASKED.store(true, crate::sync::Ordering::Relaxed);
        }
        let most = variable(LIMIT_MIB).map(|text| limit(&text.to_string_lossy()).ok_or(text));
        let most = most.transpose().unwrap_or_else(|text| {
            say!(
                "{LIMIT_MIB}={}: wanted is a number of MiB, 1 to 1048576; taken is {}",
                text.display(),
                LIMIT >> 20
            );
            None
        });
        if variable(probes::VARIABLE).is_some_and(|value| value != "0") {
            probes::start();
        }
        if let Some(text) = variable(VARIABLE) {
            let started = match Where::parse(&text.to_string_lossy()) {
                Some(place) => metrics::start(place).map_err(|e| e.to_string()),
                None => Err("wanted is top, host:port, or a path with a '/'".to_owned()),
            };
            if let Err(e) = started {
                say!("{VARIABLE}={}: nothing is counted: {e}", text.display());
            }
        }
        if let Some(path) = variable(FILE)
            && let Err(e) = crate::trace(Path::new(&path), most.unwrap_or(LIMIT))
        {
            say!("{FILE}={}: there is no trace: {e}", path.display());
        }
    });
}

/// Traces this process into a new file, for contexts that start from now on.
///
/// # Errors
/// AlreadyExist: it is traced already. IoFailed: the file cannot be written, or there is no thread for it. The log says
/// more.
pub fn into_file(path: &Path) -> Result<()> {
    // Before the file is emptied, which may be the one in use.
    let free = if is_recording() { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(()) };
    let started = free.and_then(|()| create(path)).and_then(|()| crate::trace(path, LIMIT));
    started.map(|_| ()).map_err(|e| {
        say!("{}: there is no trace: {e}", path.display());
        match e.kind() {
            io::ErrorKind::AlreadyExists => Error::new(Code::AlreadyExist, "this process is traced already"),
            _ => Error::new(Code::IoFailed, "the trace cannot be written"),
        }
    })
}
