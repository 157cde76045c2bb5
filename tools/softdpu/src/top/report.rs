//! What processes answer when they are asked what they are doing, and the asking.
//!
//! The answers are bytes of other processes: read with bounds, refused as a whole when they are not in the form that
//! `softdpu_link::report` describes, and cleaned of everything a terminal could take for a command.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use softdpu_link::{Owner, processes, report};

/// How long a process may take to answer.
pub(crate) const PATIENCE: Duration = Duration::from_millis(200);
/// Processes that are asked at the same time.
const AT_ONCE: usize = 16;
/// Processes that are asked at all.
const MOST: usize = 1000;
/// Characters of a text.
const LONGEST: usize = 128;

/// What a process says of itself. Fields that are missing are empty; of lists only the form is checked.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Report {
    pub(crate) version: u64,
    pub(crate) program: Text,
    pub(crate) uptime_ms: u64,
    pub(crate) left_out: u64,
    pub(crate) devices: Vec<Device>,
    pub(crate) boards: Vec<Board>,
    pub(crate) progress_engines: Vec<ProgressEngine>,
    pub(crate) contexts: Vec<Context>,
    pub(crate) maps: Vec<Map>,
    pub(crate) exports: Vec<Export>,
    pub(crate) imports: Vec<Import>,
    pub(crate) connections: Vec<Connection>,
    pub(crate) ports: Vec<Port>,
    pub(crate) tasks: Vec<Tasks>,
}

/// An open device.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Device {
    pub(crate) pci: Text,
    pub(crate) card: Text,
    pub(crate) topology: Text,
    pub(crate) profile: Text,
    pub(crate) side: Text,
}

/// Who turns lanes.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Board {
    name: Text,
    workers: u64,
}

impl Board {
    pub(crate) fn workers(&self) -> u64 {
        self.workers
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ProgressEngine {
    pub(crate) id: Text,
    pub(crate) contexts: u64,
    pub(crate) calls: u64,
    pub(crate) sleeps: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Context {
    pub(crate) id: Text,
    pub(crate) engine: Text,
    pub(crate) device: Text,
    pub(crate) progress_engine: Text,
    pub(crate) state: Text,
    pub(crate) in_flight: u64,
    pub(crate) completed: u64,
    pub(crate) held: Option<u64>,
}

/// A registered range.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Map {
    pub(crate) base: Text,
    pub(crate) len: u64,
    pub(crate) access: Text,
    pub(crate) devices: Text,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Export {
    id: u64,
    pub(crate) kind: Text,
    pub(crate) base: Text,
    pub(crate) len: u64,
    pub(crate) access: Text,
    pub(crate) mappable: bool,
    pub(crate) importers: u64,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Import {
    pub(crate) owner: u64,
    pub(crate) kind: Text,
    pub(crate) base: Text,
    pub(crate) len: u64,
    pub(crate) reach: Text,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Connection {
    pub(crate) id: Text,
    pub(crate) engine: Text,
    pub(crate) role: Text,
    pub(crate) device: Text,
    pub(crate) peer: u64,
    pub(crate) state: Text,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

/// A network port. Counters that a version of the library does not know are 0.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Port {
    pub(crate) name: Text,
    pub(crate) device: Text,
    pub(crate) backend: Text,
    pub(crate) queues: u64,
    pub(crate) rx_frames: u64,
    pub(crate) rx_bytes: u64,
    pub(crate) rx_missed: u64,
    pub(crate) rx_unmatched: u64,
    pub(crate) rx_dropped: u64,
    pub(crate) rx_no_queue: u64,
    pub(crate) rx_bad: u64,
    pub(crate) tx_frames: u64,
    pub(crate) tx_bytes: u64,
    pub(crate) tx_lost: u64,
    pub(crate) tx_bad: u64,
}

/// Tasks of one kind in one context, where the process counts them. Durations in nanoseconds.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Tasks {
    pub(crate) context: Text,
    pub(crate) id: Text,
    pub(crate) engine: Text,
    pub(crate) device: Text,
    pub(crate) card: Text,
    pub(crate) kind: Text,
    pub(crate) submitted: u64,
    pub(crate) refused: u64,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) bytes: u64,
    pub(crate) median_ns: u64,
    pub(crate) p99_ns: u64,
    pub(crate) longest_ns: u64,
    pub(crate) work_median_ns: u64,
}

/// A text of another process, made harmless.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(from = "String")]
pub(crate) struct Text(String);

impl Text {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(clean(&text))
    }
}

/// Without control characters (escape sequences begin with one), without characters that turn the direction of writing
/// or take no place, and not too long.
pub(crate) fn clean(text: &str) -> String {
    let harmless = |c: char| match c {
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{ad}' | '\u{61c}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => false,
        c => !c.is_control(),
    };
    text.chars().take(LONGEST).map(|c| if harmless(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// What came of asking a process.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) owner: Owner,
    /// When it came.
    pub(crate) at: Instant,
    /// The report, or why there is none.
    pub(crate) report: Result<Report, String>,
}

/// Asks all processes in the runtime folder; in the order of their numbers. Those that ended meanwhile are left out.
pub(crate) fn ask_all() -> Vec<Answer> {
    let mut owners = processes();
    owners.truncate(MOST);
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(Vec::with_capacity(owners.len()));
    let ask_some = || {
        while let Some(&owner) = owners.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(answer) = ask(owner) {
                answers.lock().unwrap_or_else(|e| e.into_inner()).push(answer);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..owners.len().min(AT_ONCE) {
            // With fewer threads it takes longer, that is all.
            let _ = thread::Builder::new().spawn_scoped(scope, ask_some);
        }
        ask_some();
    });
    let mut answers = answers.into_inner().unwrap_or_else(|e| e.into_inner());
    answers.sort_by_key(|answer| answer.owner);
    answers
}

fn ask(owner: Owner) -> Option<Answer> {
    let report = match report::read(owner, PATIENCE) {
        Ok(bytes) => read(&bytes),
        Err(_) if !owner.is_alive() => return None,
        Err(error) => Err(error.what().to_owned()),
    };
    Some(Answer { owner, at: Instant::now(), report })
}

/// Reads a report.
fn read(bytes: &[u8]) -> Result<Report, String> {
    match serde_json::from_slice::<Report>(bytes) {
        Ok(report) if report.version == report::VERSION => Ok(report),
        Ok(report) => Err(format!("report of version {}, known is {}", report.version, report::VERSION)),
        Err(_) => Err("report not understood".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_whatever_is_missing_or_new() {
        let report = read(
            br#"{"version": 1, "program": "copy", "news": [1], "contexts": [{"id": "0x1", "more": 1}]}"#,
        );
        let report = report.unwrap();
        assert_eq!((report.program.as_str(), report.contexts.len(), report.maps.len()), ("copy", 1, 0));
        assert_eq!(report.contexts[0].id.as_str(), "0x1");
        assert!(read(br#"{"version": 2}"#).unwrap_err().contains("version 2"));
    }

    #[test]
    fn other_bytes_are_refused() {
        let bad: [&[u8]; 6] = [
            b"",
            b"[]",
            b"{\"version\": -1}",
            b"{\"version\": 1, \"contexts\": [{\"completed\": \"many\"}]}",
            b"{\"version\": 1, \"program\": \"\xff\"}",
            &[b'['; 100_000],
        ];
        for bytes in bad {
            assert!(read(bytes).is_err(), "{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(60)]));
        }
    }

    #[test]
    fn texts_cannot_command_the_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\u{9b}31mc\rd\u{202e}e\tf\u{7f}"), "a�[2Jb�31mc�d�e�f�");
        assert_eq!(clean("kopiér 複写"), "kopiér 複写");
        assert_eq!(clean(&"x".repeat(1000)).len(), LONGEST);
        let report = read(br#"{"version": 1, "program": "\u001b]0;title\u0007"}"#).unwrap();
        assert_eq!(report.program.as_str(), "�]0;title�");
    }
}
