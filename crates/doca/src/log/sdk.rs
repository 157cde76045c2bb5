//! The library's own records: from the `log` facade to the SDK backends.
//!
//! The facade's filter follows the most verbose SDK backend and is off without one, so a record nobody
//! wants costs one compare. `SOFTDPU_LOG=<number or name>` adds a backend on stderr from outside the
//! program, for programs that never ask for one.

use super::backend::{self, Backend};
use super::level::Level;
use super::record::Record;
use super::sink::Sink;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Once, OnceLock};

struct Facade;

static FACADE: Facade = Facade;
static OURS: AtomicBool = AtomicBool::new(false);

/// Puts the bridge in place, once. A Rust program that links the C face may have a logger of its own: it
/// keeps it, with its own filter.
pub(super) fn install() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        if log::set_logger(&FACADE).is_ok() {
            OURS.store(true, Relaxed);
        }
    });
}

/// Keeps the facade's filter in step with the backends.
pub(super) fn set_facade_filter(filter: log::LevelFilter) {
    if OURS.load(Relaxed) {
        log::set_max_level(filter);
    }
}

impl log::Log for Facade {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        backend::sdk_listens(metadata.level().into())
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = match record.args().as_str() {
            Some(text) => text.to_owned(),
            None => record.args().to_string(),
        };
        let record = Record {
            level: record.level().into(),
            file: record.file().unwrap_or(record.target()).as_bytes(),
            line: record.line().unwrap_or(0),
            function: None,
            text: text.as_bytes(),
        };
        // Out of memory: the record is lost, there is nobody to tell.
        if let Ok(line) = record.lay_out() {
            backend::deliver_sdk(&line);
        }
    }

    fn flush(&self) {}
}

/// The line that opens every SDK backend of a program.
pub(super) fn greet(handle: usize) {
    let text = format!(
        "DOCA version {} (SoftDPU {})",
        crate::version::RUNTIME.to_string_lossy(),
        env!("CARGO_PKG_VERSION")
    );
    let record = Record {
        level: Level::Info,
        file: file!().as_bytes(),
        line: line!(),
        function: None,
        text: text.as_bytes(),
    };
    if let Ok(line) = record.lay_out() {
        backend::deliver_to(handle, &line);
    }
}

/// Reads `SOFTDPU_LOG`, once per process. Called by the entry points a program is likely to come through
/// first; calling it again costs one load.
pub fn softdpu_log_init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Some(value) = std::env::var_os("SOFTDPU_LOG").filter(|value| !value.is_empty()) else { return };
        let level = value.to_str().and_then(Level::from_text);
        let failed = match level {
            Some(level) => {
                backend::add_sdk(Backend::sdk(Sink::Standard(2)).private(level)).err().map(|e| e.what())
            }
            None => Some("not a log level; use 10, 20 ... 70 or CRIT, ERROR, WARNING, INFO, DEBUG, TRACE"),
        };
        if let Some(why) = failed {
            let value = value.to_string_lossy();
            let _ = writeln!(std::io::stderr(), "softdpu: SOFTDPU_LOG={value}: {why}");
        }
    });
}
