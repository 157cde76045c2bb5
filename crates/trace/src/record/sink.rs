//! The file of a trace: a list of events in JSON, one a line, that several processes write.
//!
//! It is a whole document at any time: whoever adds lines writes them over the closing bracket and puts that behind them,
//! under a lock of the file. A process that is killed loses what it had not written; one that is killed in the middle of
//! that leaves half a line, which the next one takes away.

use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const OPEN: &[u8] = b"[";
const CLOSE: &[u8] = b"\n]\n";
/// What separates lines; those that are handed over end with it.
pub(crate) const BETWEEN: &[u8] = b",\n";
/// No line is longer.
const LONGEST_LINE: u64 = 1 << 16;

/// The file.
#[derive(Debug)]
pub(crate) struct Sink {
    file: File,
    path: PathBuf,
    limit: u64,
}

/// What came of adding lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    All,
    /// The file is as long as it may get.
    Full,
}

/// Empties a file for a new trace, or makes it.
///
/// # Errors
/// What the system says.
pub fn create(path: &Path) -> io::Result<()> {
    let file = File::create(path)?;
    file.write_all_at(&[OPEN, CLOSE].concat(), 0)
}

impl Sink {
    /// The file at `path`, made where there is none, up to `limit` bytes.
    pub(crate) fn open(path: &Path, limit: u64) -> io::Result<Sink> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let sink = Sink { file, path: path.to_owned(), limit };
        let mut begin = [0; OPEN.len()];
        if sink.file.metadata()?.len() > 0
            && (sink.file.read_exact_at(&mut begin, 0).is_err() || begin != OPEN)
        {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "there is another file, which is no trace",
            ));
        }
        Ok(sink)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Adds lines, each with [`BETWEEN`] behind it.
    pub(crate) fn add(&self, lines: &[u8]) -> io::Result<Added> {
        let Some(lines) = lines.strip_suffix(BETWEEN) else { return Ok(Added::All) };
        flock(&self.file, FlockOperation::LockExclusive)?;
        let added = self.add_locked(lines);
        flock(&self.file, FlockOperation::Unlock)?;
        added
    }

    fn add_locked(&self, lines: &[u8]) -> io::Result<Added> {
        let at = self.end()?;
        let before: &[u8] = match at {
            0 => b"[\n",
            1 => b"\n",
            _ => BETWEEN,
        };
        let text = [before, lines, CLOSE].concat();
        if at + text.len() as u64 > self.limit {
            return Ok(Added::Full);
        }
        self.file.write_all_at(&text, at)?;
        Ok(Added::All)
    }

    /// Where the next line goes: 0 in an empty file, 1 behind the opening bracket, else behind another line.
    fn end(&self) -> io::Result<u64> {
        let len = self.file.metadata()?.len();
        let from = len.saturating_sub(LONGEST_LINE);
        let mut tail = vec![0; (len - from) as usize];
        self.file.read_exact_at(&mut tail, from)?;
        if tail.ends_with(CLOSE) {
            return Ok(len - CLOSE.len() as u64);
        }
        // Half a line: back to the last whole one.
        let whole = tail.windows(2).rposition(|w| w == b"}," || w == b"}\n");
        let end = whole.map_or(len.min(1), |at| from + at as u64 + 1);
        self.file.set_len(end)?;
        Ok(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIG: u64 = 1 << 30;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("softdpu-trace-{name}-{}", std::process::id()))
    }

    fn lines(path: &Path) -> Vec<serde_json::Value> {
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn the_file_is_whole_at_any_time() {
        let path = path("whole");
        create(&path).unwrap();
        assert_eq!(lines(&path).len(), 0);
        let (a, b) = (Sink::open(&path, BIG).unwrap(), Sink::open(&path, BIG).unwrap());
        for n in 1..10 {
            let sink = if n % 2 == 0 { &a } else { &b };
            sink.add(b"{\"n\":1},\n{\"n\":{}},\n").unwrap();
            assert_eq!(lines(&path).len(), 2 * n);
        }
        a.add(b"").unwrap();
        assert_eq!(lines(&path).len(), 18);
        std::fs::remove_file(&path).unwrap();
        // One that nobody made before.
        Sink::open(&path, BIG).unwrap().add(b"{},\n").unwrap();
        assert_eq!(lines(&path).len(), 1);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn what_was_cut_off_is_mended() {
        let path = path("mended");
        let whole = b"[\n{\"n\":1},\n{\"n\":2},\n{\"n\":3}\n]\n";
        for cut in 1..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            Sink::open(&path, BIG).unwrap().add(b"{\"n\":4},\n").unwrap();
            let lines = lines(&path);
            assert_eq!(lines.last().unwrap()["n"], 4, "{cut}");
            assert!(lines.windows(2).all(|w| w[0]["n"].as_u64() < w[1]["n"].as_u64()), "{cut}: {lines:?}");
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn it_does_not_grow_beyond_its_limit_and_touches_no_other_file() {
        let path = path("limit");
        create(&path).unwrap();
        let sink = Sink::open(&path, 30).unwrap();
        assert_eq!(sink.add(b"{\"n\":1},\n").unwrap(), Added::All);
        assert_eq!(sink.add(b"{\"n\":123456789012},\n").unwrap(), Added::Full);
        assert_eq!(lines(&path).len(), 1);
        std::fs::write(&path, "letters\n").unwrap();
        assert!(Sink::open(&path, BIG).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"letters\n");
        std::fs::remove_file(&path).unwrap();
    }
}
