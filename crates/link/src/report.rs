//! What this process is doing, for whoever shows it.
//!
//! A report is one JSON document of at most [`MAX_REPORT`] bytes, made when it is asked for ([`Topic::TOP`]) on the
//! service thread. Its sections are lists of flat rows; each part of the library [provides](provide) what it knows.
//!
//! ```text
//!   { "version": 1, "pid": 71, "program": "copy", "uptime_ms": 1500, "left_out": 0,
//!     "devices": [ { .. }, .. ], "contexts": [ .. ], .. }
//! ```
//!
//! | section | rows | fields |
//! |---|---|---|
//! | `devices` | open devices | `pci`, `card`, `topology`, `profile`, `side` |
//! | `boards` | who turns lanes | `name`, `workers` |
//! | `progress_engines` | those with contexts that run | `id`, `contexts`, `calls` (of progress), `sleeps` |
//! | `contexts` | those that are started | `id`, `engine`, `device`, `progress_engine`, `state`, `in_flight`, `completed`, `held` |
//! | `maps` | registered ranges | `base`, `len`, `access`, `devices` |
//! | `exports` | live exports | `id`, `kind`, `base`, `len`, `access`, `mappable`, `importers` |
//! | `imports` | imports | `owner` (process), `kind`, `base`, `len`, `reach` |
//! | `connections` | channels and queue pairs | `id`, `engine`, `role`, `device`, `peer` (process), `state`, `sent`, `received` (messages) |
//! | `ports` | network ports in use | `name`, `device`, `backend`, `queues` (that receive), `rx_frames`, `rx_bytes`, `tx_frames` and whatever else a port counts |
//!
//! Fields that somebody does not know are left out. Ids are unique in their section while the process lives, or nearly.
//! Counters only grow: `completed` and `calls` modulo 2^32 (and from 0 again when their context is started again), the
//! others as far as 64 bits go. Rates are the reader's affair.
//!
//! An answer is the document, or, where that is too long for a packet, one byte 0 and the length as a u64
//! (little-endian), with the document in a [`Segment`].

use crate::owner::Owner;
use crate::segment::Segment;
use crate::service::{Answer, Desk, MAX_REQUEST, Topic, ask};
use crate::socket::Peer;
use core::fmt::Write as _;
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Version of the form above.
pub const VERSION: u64 = 1;

/// The longest report, in bytes. Rows that do not fit are counted and left out.
pub const MAX_REPORT: usize = 1 << 20;

/// The longest text of a field, in bytes.
const MAX_TEXT: usize = 256;

/// Writes the rows of a section. Called on the service thread: must not block, nor ask other processes.
pub type Provider = fn(&mut Rows<'_>);

static PROVIDERS: Mutex<Vec<(&'static str, Provider)>> = Mutex::new(Vec::new());
static BEGUN: OnceLock<Instant> = OnceLock::new();

/// Adds rows to a section of the reports of this process; several may add to one section. Repeating a call changes
/// nothing. Starts nothing: [`ensure`](crate::ensure) does. Any thread.
pub fn provide(section: &'static str, provider: Provider) {
    let mut providers = PROVIDERS.lock().unwrap_or_else(PoisonError::into_inner);
    if !providers.iter().any(|(name, known)| *name == section && core::ptr::fn_addr_eq(*known, provider)) {
        providers.push((section, provider));
    }
}

/// The rows of one section, as they are written.
#[derive(Debug)]
pub struct Rows<'a> {
    out: &'a mut String,
    left_out: u64,
    is_first: bool,
}

impl Rows<'_> {
    /// One more row.
    pub fn row(&mut self, fill: impl FnOnce(&mut Row<'_>)) {
        let before = self.out.len();
        self.out.push_str(if self.is_first { "{" } else { ",{" });
        let mut row = Row { out: self.out, is_first: true };
        fill(&mut row);
        self.out.push('}');
        // What closes the document must fit too.
        if self.out.len() > MAX_REPORT - 1024 {
            self.out.truncate(before);
            self.left_out += 1;
        } else {
            self.is_first = false;
        }
    }
}

/// The fields of one row, as they are written.
#[derive(Debug)]
pub struct Row<'a> {
    out: &'a mut String,
    is_first: bool,
}

impl Row<'_> {
    fn name(&mut self, name: &str) {
        if !self.is_first {
            self.out.push(',');
        }
        self.is_first = false;
        quote(self.out, name);
        self.out.push(':');
    }

    /// A text; cut where it is too long.
    pub fn text(&mut self, name: &str, value: impl core::fmt::Display) -> &mut Self {
        self.name(name);
        quote(self.out, &value.to_string());
        self
    }

    /// A number.
    pub fn number(&mut self, name: &str, value: impl Into<u64>) -> &mut Self {
        self.name(name);
        let _ = write!(self.out, "{}", value.into());
        self
    }

    /// Yes or no.
    pub fn flag(&mut self, name: &str, value: bool) -> &mut Self {
        self.name(name);
        self.out.push_str(if value { "true" } else { "false" });
        self
    }
}

/// A JSON string. Only ASCII is written, so that it may be cut anywhere but in an escape.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    let mut left = MAX_TEXT;
    for c in text.chars() {
        left = left.saturating_sub(c.len_utf8());
        if left == 0 {
            break;
        }
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// The report of this process.
pub fn write() -> String {
    let mut out = String::with_capacity(4096);
    let program = std::env::args_os().next().map(std::path::PathBuf::from);
    let program = program.as_ref().and_then(|path| path.file_name()).unwrap_or_default();
    let uptime = BEGUN.get().map_or(0, |begun| begun.elapsed().as_millis());
    let mut head = Row { out: &mut out, is_first: true };
    head.out.push('{');
    head.number("version", VERSION).number("pid", std::process::id());
    head.text("program", program.to_string_lossy()).number("uptime_ms", uptime as u64);
    // Called without the lock: whoever provides may be adding another section at this moment.
    let mut providers = PROVIDERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    providers.sort_by_key(|(section, _)| *section);
    let mut left_out = 0;
    for same in providers.chunk_by(|a, b| a.0 == b.0) {
        out.push(',');
        quote(&mut out, same[0].0);
        out.push_str(":[");
        let mut rows = Rows { out: &mut out, left_out: 0, is_first: true };
        same.iter().for_each(|(_, provider)| provider(&mut rows));
        left_out += rows.left_out;
        out.push(']');
    }
    let _ = write!(out, ",\"left_out\":{left_out}}}");
    out
}

/// Answers [`Topic::TOP`]; of every process that has a service.
#[derive(Debug)]
pub(crate) struct ReportDesk;

impl Desk for ReportDesk {
    fn ask(&self, _: &Peer, _: &[u8], _: Vec<OwnedFd>) -> Answer {
        let report = write().into_bytes();
        if report.len() <= MAX_REQUEST {
            return Answer { bytes: report, ..Answer::default() };
        }
        let Ok(segment) = Segment::create("softdpu-report", report.len()) else { return Answer::default() };
        segment.put(0, &report);
        let Ok(fd) = segment.fd().try_clone_to_owned() else { return Answer::default() };
        let bytes = [&[0], (report.len() as u64).to_le_bytes().as_slice()].concat();
        Answer { bytes, fds: vec![fd], tie: None }
    }
}

/// Called when the service starts.
pub(crate) fn begin() {
    BEGUN.get_or_init(Instant::now);
    crate::service::serve(Topic::TOP, &ReportDesk);
}

/// Asks a process for its report. The bytes are the other's: they may be anything, at most [`MAX_REPORT`] of them.
///
/// # Errors
/// As [`ask`]; InvalidValue when this is no report.
pub fn read(owner: Owner, timeout: Duration) -> Result<Vec<u8>> {
    let (answer, fds, _) = ask(owner, Topic::TOP, &[], &[], timeout)?;
    let strange = Error::new(Code::InvalidValue, "no report");
    let [0, len @ ..] = answer.as_slice() else { return Ok(answer) };
    let len = u64::from_le_bytes(len.try_into().map_err(|_| strange)?);
    let len = usize::try_from(len).ok().filter(|len| (1..=MAX_REPORT).contains(len)).ok_or(strange)?;
    let fd = fds.into_iter().next().ok_or(strange)?;
    let mut report = vec![0; len];
    Segment::from_fd(fd.as_fd().try_clone_to_owned().map_err(|_| strange)?, len)?.get(0, &mut report);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> String {
        let mut out = String::new();
        quote(&mut out, text);
        out
    }

    #[test]
    fn texts_are_escaped_and_cut() {
        assert_eq!(quoted("a \"b\" \\"), r#""a \"b\" \\""#);
        assert_eq!(quoted("\x1b[2J\n\u{9b}é\u{1f600}"), r#""\u001b[2J\u000a\u009b\u00e9\ud83d\ude00""#);
        assert_eq!(quoted(&"x".repeat(1000)).len(), MAX_TEXT + 1);
    }

    #[test]
    fn rows_that_do_not_fit_are_counted() {
        let mut out = "[".to_owned();
        let mut rows = Rows { out: &mut out, left_out: 0, is_first: true };
        for n in 0..100_000u64 {
            rows.row(|row| {
                row.number("n", n).text("text", "some more of it").flag("flag", n % 2 == 0);
            });
        }
        let left_out = rows.left_out;
        assert!(out.starts_with(r#"[{"n":0,"text":"some more of it","flag":true},{"n":1,"#), "{out:.100}");
        assert!(out.len() <= MAX_REPORT && out.len() > MAX_REPORT - 2048);
        assert_eq!(out.matches('{').count() as u64 + left_out, 100_000);
        assert!(out.ends_with('}'));
    }
}
