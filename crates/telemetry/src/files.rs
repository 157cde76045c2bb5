//! Files of lines: where they are, what they are called, and when the next one begins.
//!
//! A file takes at most 1 MB and is written to for at most an hour. Only whole lines get in: what could not be written
//! as a whole is cut off again, so that a full disk leaves no half record behind.

use crate::time::{Stamp, now_micros};
use crate::{LOG, refuse};
use rustix::process::getuid;
use softdpu_status::{Code, Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes after which a new file begins.
const MAX_BYTES: u64 = 1_000_000;
/// Time after which a new file begins.
const MAX_AGE: Duration = Duration::from_secs(3600);

/// Where files go that were given no folder: `$SOFTDPU_TELEMETRY_DIR`, else `softdpu/telemetry` in the user's folder for
/// state, else one in the folder for temporary files.
#[must_use]
pub fn default_root() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(folder) = set("SOFTDPU_TELEMETRY_DIR") {
        return folder;
    }
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    match state.filter(|folder| folder.is_absolute()) {
        Some(folder) => folder.join("softdpu/telemetry"),
        None => std::env::temp_dir().join(format!("softdpu-telemetry-{}", getuid().as_raw())),
    }
}

/// A name of the program as a part of a file name: other characters than letters, digits, `.`, `_` and `-` become `_`.
pub(crate) fn file_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
    let name: String = text.chars().map(plain).take(100).collect();
    // "." and ".." are folders; a leading dot would hide the file.
    if name.is_empty() || name.starts_with('.') { format!("_{name}") } else { name }
}

/// A stem for the files of a source.
pub(crate) fn stem(id: &str, tag: &str, what: &str) -> String {
    let mut stem = file_name(id);
    for part in [tag, what].into_iter().filter(|part| !part.is_empty()) {
        stem.push('-');
        stem.push_str(&file_name(part));
    }
    stem
}

/// Makes a folder, and says so when it cannot be written to.
pub(crate) fn prepare(folder: &Path) -> Result<()> {
    let writable = fs::create_dir_all(folder).and_then(|()| {
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        rustix::fs::access(folder, access).map_err(io::Error::from)
    });
    writable.map_err(|e| {
        let folder = folder.display();
        refuse(Code::Initialization, "no folder for files", format_args!("{folder}: cannot be written: {e}"))
    })
}

/// Writes a whole file in one step: readers find the old one or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let fresh = path.with_added_extension(format!("new{}", std::process::id()));
    let written = fs::write(&fresh, bytes).and_then(|()| fs::rename(&fresh, path));
    written.map_err(|e| {
        let _ = fs::remove_file(&fresh);
        let path = path.display();
        refuse(
            Code::Initialization,
            "a file cannot be written",
            format_args!("{path}: cannot be written: {e}"),
        )
    })
}

/// A file of lines that is followed by another one when it is full or old.
#[derive(Debug)]
pub(crate) struct LineFile {
    folder: PathBuf,
    stem: String,
    open: Option<Open>,
    /// Lines that were lost since the last one that was written.
    lost: u64,
    /// What is to be said in the log, by whoever holds no lock.
    notice: Option<Notice>,
}

/// A log line about a file.
#[derive(Debug)]
pub(crate) struct Notice(log::Level, String);

impl Notice {
    pub(crate) fn say(self) {
        log::log!(target: LOG, self.0, "{}", self.1);
    }
}

#[derive(Debug)]
struct Open {
    file: File,
    path: PathBuf,
    size: u64,
    since: Instant,
}

impl LineFile {
    /// Nothing is made before the first line.
    pub(crate) fn new(folder: PathBuf, stem: String) -> LineFile {
        LineFile { folder, stem, open: None, lost: 0, notice: None }
    }

    /// Appends lines, each with its line feed. What cannot be written is lost, and counted.
    ///
    /// # Errors
    /// IoFailed: at least one line was lost; one [`LineFile::notice`] says so until writing works again.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<()> {
        let mut rest = lines;
        while !rest.is_empty() {
            let piece = match self.room(rest) {
                Ok(n) => n,
                Err(e) => return Err(self.lose(rest, &e)),
            };
            let (now, later) = rest.split_at(piece);
            if let Err(e) = self.write(now) {
                return Err(self.lose(rest, &e));
            }
            rest = later;
            if self.lost > 0 {
                let line = format!("{}: written again; {} lines were lost", self.place(), self.lost);
                self.notice = Some(Notice(log::Level::Warn, line));
                self.lost = 0;
            }
        }
        Ok(())
    }

    /// Opens the file that the first line goes to; how many bytes of whole lines it takes.
    fn room(&mut self, lines: &[u8]) -> io::Result<usize> {
        let first = end_of_line(lines);
        let full = |open: &Open| {
            open.since.elapsed() > MAX_AGE
                || (open.size > 0 && open.size.saturating_add(first as u64) > MAX_BYTES)
        };
        if self.open.as_ref().is_none_or(full) {
            self.open = None;
            self.open = Some(self.next()?);
        }
        let size = self.open.as_ref().map_or(0, |open| open.size);
        let room = usize::try_from(MAX_BYTES.saturating_sub(size)).unwrap_or(usize::MAX);
        if lines.len() <= room {
            return Ok(lines.len());
        }
        let whole = lines[..room].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        Ok(whole.max(first))
    }

    fn next(&self) -> io::Result<Open> {
        let now = now_micros();
        for attempt in 0.. {
            // Two in one microsecond take names of the next ones.
            let path = self.folder.join(format!("{}-{:#}.jsonl", self.stem, Stamp(now + attempt)));
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Open { file, path, size: 0, since: Instant::now() }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Err(io::ErrorKind::NotFound.into()) };
        match open.file.write_all(lines) {
            Ok(()) => {
                open.size += lines.len() as u64;
                Ok(())
            }
            Err(e) => {
                // Without its half line the file is good for readers; one that cannot even be cut is left.
                if open.file.set_len(open.size).is_err() {
                    self.open = None;
                }
                Err(e)
            }
        }
    }

    #[cold]
    fn lose(&mut self, lines: &[u8], cause: &io::Error) -> Error {
        if self.lost == 0 {
            let line = format!("{}: cannot be written, records are lost: {cause}", self.place());
            self.notice = Some(Notice(log::Level::Error, line));
        }
        self.lost += lines.iter().filter(|&&b| b == b'\n').count() as u64;
        Error::new(Code::IoFailed, "a file could not be written")
    }

    /// What has to be said about it.
    pub(crate) fn notice(&mut self) -> Option<Notice> {
        self.notice.take()
    }

    fn place(&self) -> String {
        let path = self.open.as_ref().map_or_else(|| self.folder.join(&self.stem), |open| open.path.clone());
        path.display().to_string()
    }

    /// Lines that were lost since the last one that was written.
    #[cfg(test)]
    fn lost(&self) -> u64 {
        self.lost
    }
}

fn end_of_line(lines: &[u8]) -> usize {
    lines.iter().position(|&b| b == b'\n').map_or(lines.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("softdpu-telemetry-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn sizes(folder: &Path) -> Vec<u64> {
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        files.iter().map(|f| fs::metadata(f).unwrap().len()).collect()
    }

    #[test]
    fn files_end_at_their_limit_between_two_lines() {
        let folder = folder("limit");
        let mut file = LineFile::new(folder.clone(), "x".into());
        let line = [vec![b'a'; 299], vec![b'\n']].concat();
        file.append(&line.repeat(10_000)).unwrap();
        let sizes = sizes(&folder);
        assert_eq!(sizes.iter().sum::<u64>(), 3_000_000);
        assert_eq!(sizes.len(), 4);
        assert!(sizes.iter().all(|&s| s <= MAX_BYTES && s % 300 == 0), "{sizes:?}");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_line_above_the_limit_gets_a_file_of_its_own() {
        let folder = folder("long");
        let mut file = LineFile::new(folder.clone(), "x".into());
        let long = [vec![b'b'; 1_500_000], vec![b'\n']].concat();
        file.append(b"short\n").unwrap();
        file.append(&long).unwrap();
        file.append(b"short\n").unwrap();
        assert_eq!(sizes(&folder), [6, 1_500_001, 6]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_old_file_is_followed_by_another() {
        let folder = folder("old");
        let mut file = LineFile::new(folder.clone(), "x".into());
        file.append(b"one\n").unwrap();
        let open = file.open.as_mut().unwrap();
        // A machine that has not run for that long cannot show it.
        let Some(before) = open.since.checked_sub(MAX_AGE + Duration::from_secs(1)) else { return };
        open.since = before;
        file.append(b"two\n").unwrap();
        assert_eq!(sizes(&folder), [4, 4]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_full_disk_loses_lines_and_counts_them() {
        let folder = folder("full");
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let mut file = LineFile::new(folder.clone(), "x".into());
        file.open = Some(Open { file: full, path: "/dev/full".into(), size: 0, since: Instant::now() });
        assert_eq!(file.append(b"one\ntwo\n").unwrap_err().code(), Code::IoFailed);
        assert_eq!(file.lost(), 2);
        // A device cannot be cut: the next lines go to a fresh file.
        file.append(b"three\n").unwrap();
        assert_eq!((file.lost(), sizes(&folder)), (0, vec![6]));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_of_the_program_stay_inside_the_folder() {
        assert_eq!(file_name("../etc/pass wd"), "_.._etc_pass_wd");
        assert_eq!(file_name(""), "_");
        assert_eq!(stem("a", "", "logs"), "a-logs");
        assert_eq!(file_name(&"x".repeat(1000)).len(), 100);
    }
}
