//! Messages to the person at the terminal: failures with their exit status, and the library's log lines.

use std::env;
use std::process::ExitCode;

use log::{Level, LevelFilter, Log, Metadata, Record};

/// Result of a sub-command.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// Why a sub-command ended early.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    status: u8,
}

impl Failure {
    /// The command line is wrong: status 2.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self { text: text.into(), status: 2 }
    }

    /// What was asked for did not work: status 1.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::with_status(text, 1)
    }

    /// A status of its own, as shells give for programs that cannot be started.
    pub(crate) fn with_status(text: impl Into<String>, status: u8) -> Self {
        Self { text: text.into(), status }
    }

    /// What it says.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Says it on stderr and gives the status.
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("softdpu: {}", self.text);
        if self.status == 2 {
            eprintln!("softdpu: 'softdpu --help' and 'softdpu COMMAND --help' show what is possible");
        }
        ExitCode::from(self.status)
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<softdpu_sdk::KitError> for Failure {
    fn from(error: softdpu_sdk::KitError) -> Self {
        Self::failed(error.to_string())
    }
}

struct Stderr;

static STDERR: Stderr = Stderr;

impl Log for Stderr {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let word = match record.level() {
                Level::Error => "error",
                Level::Warn => "warning",
                Level::Info => "info",
                Level::Debug => "debug",
                Level::Trace => "trace",
            };
            eprintln!("softdpu: {word}: {}", record.args());
        }
    }

    fn flush(&self) {}
}

/// Shows the library's warnings and errors, or what `SOFTDPU_LOG` asks for.
pub(crate) fn start_log() {
    if log::set_logger(&STDERR).is_ok() {
        let wanted = env::var("SOFTDPU_LOG").ok().and_then(|text| level(&text));
        log::set_max_level(wanted.unwrap_or(LevelFilter::Warn));
    }
}

/// A level by name or by its number in the C interface.
fn level(text: &str) -> Option<LevelFilter> {
    Some(match text.to_ascii_lowercase().as_str() {
        "disable" | "off" | "10" => LevelFilter::Off,
        "critical" | "error" | "20" | "30" => LevelFilter::Error,
        "warning" | "warn" | "40" => LevelFilter::Warn,
        "info" | "50" => LevelFilter::Info,
        "debug" | "60" => LevelFilter::Debug,
        "trace" | "70" => LevelFilter::Trace,
        _ => return None,
    })
}
