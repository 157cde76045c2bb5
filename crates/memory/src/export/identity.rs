//! Who exports: a process, and the card it uses.

use rustix::process::{getpid, getuid};
use softdpu_card::Function;
use softdpu_status::{Code, Error, Result};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

/// A process, told apart from a later one with the same number by its start time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner {
    /// Process number.
    pub(crate) pid: u32,
    /// Clock ticks between the start of the machine and that of the process.
    pub(crate) started: u64,
}

impl Owner {
    /// This process. Asked anew each time: after a fork the answer is another.
    ///
    /// # Errors
    /// Driver when `/proc` cannot tell.
    pub(crate) fn this_process() -> Result<Owner> {
        let pid = getpid().as_raw_nonzero().get().unsigned_abs();
        let started = started("/proc/self/stat").ok_or_else(|| {
            log::error!(target: super::LOG, "/proc/self/stat does not tell when this process was started");
            Error::new(Code::Driver, "start time of the process unknown")
        })?;
        Ok(Owner { pid, started })
    }

    /// Does the process exist?
    pub(crate) fn is_alive(self) -> bool {
        started(&format!("/proc/{}/stat", self.pid)) == Some(self.started)
    }
}

/// Field 22 of a process's status line. The name in field 2 may hold anything, so counting begins behind its end.
fn started(path: &str) -> Option<u64> {
    let line = std::fs::read(path).ok()?;
    let name_end = line.iter().rposition(|&b| b == b')')?;
    let rest = std::str::from_utf8(&line[name_end + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// A card as processes name it to each other: runtime folder, name and topology.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Card {
    /// Number of the runtime folder's path.
    pub(crate) folder: u64,
    /// Number of the topology.
    pub(crate) topology: u64,
    /// The name, cut to fit and filled with zeros.
    pub(crate) name: [u8; Card::NAME],
}

impl Card {
    /// Bytes of a name.
    pub(crate) const NAME: usize = 64;

    /// The card that a function belongs to.
    pub(crate) fn of(function: &Function) -> Card {
        let text = function.card().name().as_bytes();
        let mut name = [0; Card::NAME];
        let n = text.len().min(Card::NAME);
        name[..n].copy_from_slice(&text[..n]);
        let folder = super::descriptor::checksum(runtime_folder(|name| std::env::var_os(name)).as_bytes());
        Card { folder, topology: function.card().topology_hash(), name }
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.name.iter().position(|&b| b == 0).unwrap_or(Card::NAME);
        let name = String::from_utf8_lossy(&self.name[..end]);
        write!(f, "card `{name}` (topology {:#018x}, runtime folder {:#018x})", self.topology, self.folder)
    }
}

/// Where processes of one user that share cards meet.
fn runtime_folder(get: impl Fn(&str) -> Option<OsString>) -> OsString {
    let set = |name| get(name).filter(|value| !value.is_empty());
    if let Some(folder) = set("SOFTDPU_RUNTIME_DIR") {
        return folder;
    }
    match set("XDG_RUNTIME_DIR") {
        Some(mut folder) => {
            folder.push("/softdpu");
            folder
        }
        None => format!("/tmp/softdpu-{}", getuid().as_raw()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_itself_and_others() {
        let me = Owner::this_process().unwrap();
        assert_eq!(me.pid, std::process::id());
        assert!(me.is_alive());
        assert!(!Owner { started: me.started + 1, ..me }.is_alive());
        assert!(!Owner { pid: u32::MAX, ..me }.is_alive());
    }

    #[test]
    fn the_runtime_folder_follows_the_environment() {
        let folder = |runtime: &str, xdg: &str| {
            let folder = runtime_folder(|name| match name {
                "SOFTDPU_RUNTIME_DIR" => Some(runtime.into()),
                "XDG_RUNTIME_DIR" => Some(xdg.into()),
                _ => None,
            });
            folder.into_string().unwrap()
        };
        assert_eq!(folder("/a", "/b"), "/a");
        assert_eq!(folder("", "/b"), "/b/softdpu");
        assert!(folder("", "").starts_with("/tmp/softdpu-"));
    }
}
