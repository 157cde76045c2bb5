//! The layout of one line: `[HH:MM:SS:uuuuuu][thread][DOCA][LVL][file:line][function] message`.
#![expect(unsafe_code, reason = "local time comes from the C library")]

use super::level::Level;
use softdpu_status::{Code, Error, Result};
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a record says, before it is laid out.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    pub(crate) level: Level,
    /// Path or base name; only the base name is shown.
    pub(crate) file: &'a [u8],
    pub(crate) line: u32,
    /// Records of the library have none.
    pub(crate) function: Option<&'a [u8]>,
    pub(crate) text: &'a [u8],
}

/// A laid-out record: one line with its newline.
#[derive(Debug)]
pub(crate) struct Line {
    bytes: Vec<u8>,
    /// Where the part after the time begins; syslog has its own time.
    untimed: usize,
    pub(crate) level: Level,
}

impl Line {
    /// The whole line.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The line without time and newline.
    pub(crate) fn untimed(&self) -> &[u8] {
        &self.bytes[self.untimed..self.bytes.len() - 1]
    }
}

impl Record<'_> {
    /// Lays the record out; `NO_MEMORY` when the line has no room.
    pub(crate) fn lay_out(&self) -> Result<Line> {
        let file = self.file.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        // One newline of its own at the end is taken as meant: the record ends the line anyway.
        let text = self.text.strip_suffix(b"\n").unwrap_or(self.text);
        let room = 96 + file.len() + self.function.map_or(0, <[u8]>::len) + text.len();
        let mut bytes = Vec::new();
        bytes.try_reserve(room).map_err(|_| Error::new(Code::NoMemory, "log record"))?;
        let (hour, minute, second, micro) = time_of_day();
        // Writing into a Vec cannot fail.
        let _ = write!(bytes, "[{hour:02}:{minute:02}:{second:02}:{micro:06}]");
        let untimed = bytes.len();
        let thread = rustix::thread::gettid().as_raw_nonzero();
        let _ = write!(bytes, "[{thread}][DOCA][{}][", self.level.tag());
        bytes.extend_from_slice(file);
        let _ = write!(bytes, ":{}]", self.line);
        if let Some(function) = self.function {
            bytes.push(b'[');
            bytes.extend_from_slice(function);
            bytes.push(b']');
        }
        bytes.push(b' ');
        bytes.extend_from_slice(text);
        bytes.push(b'\n');
        Ok(Line { bytes, untimed, level: self.level })
    }
}

/// Local wall-clock time: hour, minute, second, microsecond.
fn time_of_day() -> (i32, i32, i32, u32) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let tm = broken_down(now.as_secs());
    (tm.tm_hour, tm.tm_min, tm.tm_sec, now.subsec_micros())
}

/// Local calendar time.
pub(crate) fn broken_down(seconds: u64) -> libc::tm {
    let seconds = libc::time_t::try_from(seconds).unwrap_or_default();
    // SAFETY: `tm` is plain integers and a pointer; all zero is a value of it.
    let mut tm: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers lead to live locals; the reentrant form keeps nothing.
    unsafe { libc::localtime_r(&raw const seconds, &raw mut tm) };
    tm
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(file: &str, function: Option<&str>, text: &str) -> String {
        let record = Record {
            level: Level::Info,
            file: file.as_bytes(),
            line: 42,
            function: function.map(str::as_bytes),
            text: text.as_bytes(),
        };
        String::from_utf8(record.lay_out().expect("memory").bytes).expect("UTF-8")
    }

    #[test]
    fn the_fields_stand_in_order() {
        let text = line("/a/b/main.c", Some("run"), "done");
        let (time, rest) = text[1..].split_once(']').expect("time");
        let digits: Vec<_> = time.split(':').map(str::len).collect();
        assert_eq!(digits, [2, 2, 2, 6], "{time}");
        assert!(time.bytes().all(|b| b.is_ascii_digit() || b == b':'));
        let thread = rustix::thread::gettid().as_raw_nonzero();
        assert_eq!(rest, format!("[{thread}][DOCA][INF][main.c:42][run] done\n"));
    }

    #[test]
    fn library_records_have_no_function_and_one_newline_is_enough() {
        assert!(line("x.rs", None, "text\n").ends_with("[DOCA][INF][x.rs:42] text\n"));
        assert!(line("x.rs", None, "a\nb\n\n").ends_with("] a\nb\n\n"));
        assert!(line("", Some(""), "").ends_with("[:42][] \n"));
    }
}
