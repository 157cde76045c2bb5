//! The side of the program that is recorded: takes entries from the functions that stand in (`src/c`), in order.
//!
//! One lock orders all entries; it is held while an entry is copied, never while the program or the library runs.

mod hooks;
mod place;
mod tasks;
mod writer;

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;

use tasks::Tasks;
use writer::Writer;

use softdpu_record::file::{ENTRY, Kind};

/// What the recorder knows.
#[derive(Default)]
struct Recorder {
    writer: Option<Writer>,
    /// Where the file goes once there is an entry.
    path: Option<PathBuf>,
    limit: usize,
    /// The last entry of a thread, if it counts empty progress of an engine.
    idle: HashMap<u32, (u64, usize)>,
    places: HashSet<usize>,
    tasks: Tasks,
}

static RECORDER: Mutex<Option<Recorder>> = Mutex::new(None);

/// Runs something with the recorder of this process, if it records.
fn with<R>(f: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    RECORDER.lock().unwrap_or_else(|e| e.into_inner()).as_mut().map(f)
}

/// A variable that is there and not empty.
fn set(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|v| !v.is_empty())
}

/// Begins in a process, also in one that was forked off a recorded one: that writes a file of its own.
fn begin(key: u64) -> bool {
    let Some(path) = set("SOFTDPU_RECORD").map(PathBuf::from) else { return false };
    let me = std::process::id();
    let main = set("SOFTDPU_RECORD_PID").is_some_and(|pid| pid == *me.to_string());
    let path = if main { path } else { path.with_added_extension(me.to_string()) };
    let mebibytes =
        set("SOFTDPU_RECORD_LIMIT").and_then(|n| n.to_str()?.parse::<usize>().ok()).unwrap_or(1024);
    let mut recorder =
        Recorder { path: Some(path), limit: mebibytes.saturating_mul(1 << 20), ..Recorder::default() };
    if main {
        recorder.open(key);
    }
    *RECORDER.lock().unwrap_or_else(|e| e.into_inner()) = Some(recorder);
    true
}

impl Recorder {
    /// Makes the file. One line says why there is none.
    fn open(&mut self, key: u64) {
        let Some(path) = self.path.take() else { return };
        match Writer::create(&path, self.limit, key) {
            Ok(writer) => self.writer = Some(writer),
            Err(e) => eprintln!("softdpu record: {}: {e}; nothing is recorded", path.display()),
        }
    }

    /// Adds an entry.
    fn append(&mut self, entry: &[u8]) {
        let thread = u32::from_le_bytes(entry[8..12].try_into().unwrap_or_default());
        self.idle.remove(&thread);
        self.write(entry);
    }

    fn write(&mut self, entry: &[u8]) -> Option<usize> {
        if self.writer.is_none() {
            self.open(softdpu_record::file::KEY);
        }
        self.writer.as_mut()?.append(entry)
    }

    /// One more progress that found nothing.
    fn idle(&mut self, thread: u32, engine: u64) {
        if let (Some(&(of, at)), Some(writer)) = (self.idle.get(&thread), self.writer.as_mut())
            && of == engine
        {
            return writer.count(at + ENTRY);
        }
        let at = self.write(&entry(Kind::Idle, 0, thread, engine, &[1], &[]));
        if let Some(at) = at {
            self.idle.insert(thread, (engine, at));
        }
    }
}

/// An entry with at most one part, of parameter 0.
fn entry(kind: Kind, index: u16, thread: u32, first: u64, words: &[u64], part: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend([kind as u8 + 1, words.len() as u8]);
    bytes.extend(index.to_le_bytes());
    bytes.extend(thread.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(first.to_le_bytes());
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    if !part.is_empty() {
        bytes.extend([0; 4]);
        bytes.extend((part.len() as u32).to_le_bytes());
        bytes.extend(part);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    let len = bytes.len() as u32;
    bytes[..4].copy_from_slice(&len.to_le_bytes());
    bytes
}
