//! Counting begins, and where the counts go.

use super::{METRICS, Metrics, page, report};
use softdpu_room::instrument;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Between two writings of a file.
const INTERVAL: Duration = Duration::from_secs(1);

/// Where metrics go besides `softdpu top`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// Nowhere else.
    Top,
    /// Into a file, once a second and at the end; in its name `%p` is the number of the process.
    File(PathBuf),
    /// To Prometheus, which asks at `host:port`.
    Address(String),
}

impl Where {
    /// Reads `top`, `host:port`, or a path, which has a `/`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Where> {
        let is_address = |text: &str| {
            text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        };
        match text {
            "top" => Some(Where::Top),
            _ if text.contains('/') => Some(Where::File(text.into())),
            _ if is_address(text) => Some(Where::Address(text.to_owned())),
            _ => None,
        }
    }
}

/// The variable that asks for metrics.
pub const VARIABLE: &str = "SOFTDPU_METRICS";

/// Counts tasks of contexts that start from now on. Once in a process.
///
/// # Errors
/// AlreadyExists: this process counts already.
pub fn start(place: Where) -> io::Result<()> {
    if METRICS.set(Metrics::new(place)).is_err() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "this process counts already"));
    }
    if let Some(metrics) = METRICS.get() {
        instrument::observe(Arc::new(metrics));
    }
    Ok(())
}

/// The first context starts.
pub(super) fn begin(place: &Where) {
    softdpu_link::report::provide("tasks", report::write);
    let begun = match place {
        Where::Top => Ok(()),
        Where::File(path) => write_again_and_again(path).map_err(|e| {
            say!("{VARIABLE}={}: metrics cannot be written: {e}", path.display());
        }),
        // What goes wrong has its line.
        Where::Address(address) => softdpu_telemetry::serve_page(VARIABLE, address, page).map_err(|_| ()),
    };
    if begun.is_err() {
        say!("metrics of this process are shown by 'softdpu top' only");
    }
}

/// Writes the page beside the file and moves it there, so that nobody reads half of it.
fn write(path: &Path) -> io::Result<()> {
    let beside = path.with_added_extension("new");
    std::fs::write(&beside, page())?;
    std::fs::rename(&beside, path)
}

static FILE: std::sync::OnceLock<(PathBuf, u32)> = std::sync::OnceLock::new();

fn write_again_and_again(path: &Path) -> io::Result<()> {
    let pid = std::process::id();
    let path = std::path::absolute(path.to_string_lossy().replace("%p", &pid.to_string()))?;
    write(&path)?;
    let _ = FILE.set((path, pid));
    softdpu_link::with_signals_blocked(|| {
        std::thread::Builder::new().name("softdpu-metrics".into()).spawn(|| {
            let Some((path, _)) = FILE.get() else { return };
            let mut failed = false;
            loop {
                std::thread::sleep(INTERVAL);
                if let Err(e) = write(path)
                    && !core::mem::replace(&mut failed, true)
                {
                    say!("{}: metrics cannot be written: {e}", path.display());
                }
            }
        })
    })?;
    softdpu_link::at_exit(end);
    Ok(())
}

extern "C" fn end() {
    // A forked child has no metrics of its own.
    if let Some((path, _)) = FILE.get().filter(|(_, pid)| *pid == std::process::id()) {
        let _ = write(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        assert_eq!(Where::parse("top"), Some(Where::Top));
        assert_eq!(Where::parse("./m.prom"), Some(Where::File("./m.prom".into())));
        assert_eq!(Where::parse("127.0.0.1:9100"), Some(Where::Address("127.0.0.1:9100".to_owned())));
        assert_eq!(Where::parse("[::1]:0"), Some(Where::Address("[::1]:0".to_owned())));
        for bad in ["", "file", ":1", "host:port", "host:99999"] {
            assert_eq!(Where::parse(bad), None, "{bad}");
        }
    }
}
