//! What was done to a program, for whoever wants to do less of it: one line each, written at once, since the program may
//! not live to see its end.

use crate::sync::{AtomicU32, Ordering};
use std::fmt::Arguments;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;

/// Variable that names the file.
pub(crate) const VARIABLE: &str = "SOFTDPU_FAULTS_RECORD";

/// Lines after which nothing more is written: nobody reads more.
const MOST: u32 = 100_000;

/// Where it goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record(Option<&'static File>);

static LINES: AtomicU32 = AtomicU32::new(0);

impl Record {
    /// The file that the environment names, if it does and it can be written.
    pub(crate) fn of_process() -> Record {
        static FILE: OnceLock<Option<File>> = OnceLock::new();
        let file = FILE.get_or_init(|| {
            let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
            OpenOptions::new().append(true).create(true).open(path).ok()
        });
        Record(file.as_ref())
    }

    /// Writes a line.
    pub(crate) fn write(self, line: Arguments<'_>) {
        let Some(mut file) = self.0 else { return };
        if LINES.fetch_add(1, Ordering::Relaxed) < MOST {
            // In one piece: other processes write, too. Whoever reads it sees that it is short.
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}
