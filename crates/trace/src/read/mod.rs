//! Reading a trace: line by line, so that a long one needs no more memory than what is kept of it.

mod check;

pub use check::{Checked, check};

use serde::Deserialize;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead};

/// A line of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Line<'a> {
    /// Phase: `X` a span, `B` a span without end, `s`, `t`, `f` an arrow's points, `C` a counter, `i` a mark of the
    /// process, `M` names and totals.
    pub ph: &'a str,
    /// Process.
    pub pid: u32,
    /// Thread, or row of a context.
    pub tid: u32,
    /// What it is of.
    pub name: Cow<'a, str>,
    /// What sort of span it is.
    #[serde(borrow)]
    pub cat: Option<&'a str>,
    /// Microseconds.
    pub ts: Option<f64>,
    /// Microseconds.
    pub dur: Option<f64>,
    /// Of an arrow.
    #[serde(borrow)]
    pub id: Option<&'a str>,
    /// To which span an arrow's end belongs.
    #[serde(borrow)]
    pub bp: Option<&'a str>,
    /// The rest.
    pub args: Args<'a>,
}

/// What lines have besides; see `docs/trace.md`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the manual describes them")]
pub struct Args<'a> {
    pub name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub context: Option<&'a str>,
    #[serde(borrow)]
    pub engine: Option<&'a str>,
    pub device: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub id: Option<&'a str>,
    #[serde(borrow)]
    pub task: Option<&'a str>,
    pub bytes: Option<u64>,
    #[serde(borrow)]
    pub error: Option<&'a str>,
    pub queued_us: Option<f64>,
    pub work_us: Option<f64>,
    pub unreported_us: Option<f64>,
    #[serde(borrow)]
    pub unfinished: Option<&'a str>,
    pub number: Option<u64>,
    pub left: Option<u64>,
    pub tasks: Option<u64>,
    pub count: Option<u64>,
    pub events: Option<u64>,
    pub lost: Option<u64>,
    pub torn: Option<u64>,
}

/// Nanoseconds of a number of microseconds.
#[must_use]
pub fn nanos(micros: f64) -> u64 {
    (micros * 1000.0).round().max(0.0) as u64
}

impl Line<'_> {
    /// When it is or begins, in nanoseconds.
    #[must_use]
    pub fn begin(&self) -> u64 {
        nanos(self.ts.unwrap_or(0.0))
    }

    /// When it ends.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.begin().saturating_add(nanos(self.dur.unwrap_or(0.0)))
    }

    /// Is it a span of a task?
    #[must_use]
    pub fn is_task(&self) -> bool {
        self.cat == Some("task")
    }
}

/// Why a trace cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// The system says so.
    Io(io::Error),
    /// It is no trace: which line, and what is wrong with it.
    Form(u64, String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(e) => write!(f, "{e}"),
            ReadError::Form(line, what) => write!(f, "line {line}: {what}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(e: io::Error) -> ReadError {
        ReadError::Io(e)
    }
}

/// Longest line that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Shows every line of a trace, with its number. A last line that was cut off, as a killed process leaves it, is passed
/// over.
///
/// # Errors
/// See [`ReadError`].
pub fn each(
    mut from: impl BufRead,
    mut look: impl FnMut(u64, &Line<'_>) -> Result<(), String>,
) -> Result<(), ReadError> {
    let (mut text, mut number) = (Vec::new(), 0);
    loop {
        text.clear();
        number += 1;
        let len = io::Read::take(&mut from, LONGEST).read_until(b'\n', &mut text)?;
        let is_whole = text.last() == Some(&b'\n');
        let line = text.trim_ascii();
        match (number, line) {
            (1, b"[") => continue,
            (1, _) => {
                return Err(ReadError::Form(1, "no trace of this command: it begins with [".to_owned()));
            }
            _ if len == 0 => return Ok(()),
            (_, b"]" | b"") => continue,
            _ => {}
        }
        let line = line.strip_suffix(b",").unwrap_or(line);
        match serde_json::from_slice::<Line<'_>>(line) {
            Ok(line) => look(number, &line).map_err(|what| ReadError::Form(number, what))?,
            Err(_) if !is_whole && (len as u64) < LONGEST => return Ok(()),
            Err(e) => return Err(ReadError::Form(number, e.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<String>, ReadError> {
        let mut names = Vec::new();
        each(text.as_bytes(), |_, line| {
            names.push(line.name.clone().into_owned());
            Ok(())
        })?;
        Ok(names)
    }

    #[test]
    fn lines_are_read_one_by_one() {
        let text =
            "[\n{\"ph\":\"X\",\"name\":\"a\"},\n{\"ph\":\"M\",\"name\":\"b \\\"c\\\"\",\"new\":1}\n]\n";
        assert_eq!(names(text).unwrap(), ["a", "b \"c\""]);
        assert_eq!(names("[\n]\n").unwrap(), [""; 0]);
        // Cut off in the middle of the last one.
        for cut in 26..text.len() {
            let read = names(&text[..cut]).unwrap();
            assert!(
                ["a", "b \"c\""].starts_with(&read.iter().map(String::as_str).collect::<Vec<_>>()[..]),
                "{cut}"
            );
        }
    }

    #[test]
    fn other_files_are_refused() {
        for text in [
            "",
            "{}",
            "letters\n",
            "[\nletters\n]\n",
            "[\n{\"ph\":1}\n]\n",
            "[\n{\"pid\":-1,\"ph\":\"X\"},\n",
        ] {
            assert!(names(text).is_err(), "{text}");
        }
        let long = format!("[\n{}", "x".repeat(3 << 20));
        assert!(names(&long).is_err());
    }
}
