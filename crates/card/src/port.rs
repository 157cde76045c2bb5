//! How frames of a port leave the process, and the ends that wires of a card join.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What is behind the network port of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Backend {
    /// The wires of the card itself, see [`Plug`]; needs no rights.
    #[default]
    Loop,
    /// A TAP interface of this name: what the kernel sends through it arrives at the port, and the other way round.
    Tap(String),
    /// A network interface through packet sockets.
    Packet(String),
    /// A network interface through AF_XDP sockets: frames go past the kernel's network stack.
    AfXdp(String),
    /// Capture files: frames that arrive come out of one, frames that are sent go into another.
    Pcap {
        /// A pcap or pcapng file.
        read: Option<PathBuf>,
        /// Made anew; pcap with nanoseconds.
        write: Option<PathBuf>,
    },
}

impl Backend {
    /// `loop`, `tap`, `packet`, `afxdp` or `pcap`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Backend::Loop => "loop",
            Backend::Tap(_) => "tap",
            Backend::Packet(_) => "packet",
            Backend::AfXdp(_) => "afxdp",
            Backend::Pcap { .. } => "pcap",
        }
    }

    /// The network interface it uses, if it uses one.
    pub fn interface(&self) -> Option<&str> {
        match self {
            Backend::Tap(name) | Backend::Packet(name) | Backend::AfXdp(name) => Some(name),
            Backend::Loop | Backend::Pcap { .. } => None,
        }
    }

    /// From a kind and what goes with it: `interface` for `tap`, `packet` and `afxdp`, the files for `pcap`.
    pub(crate) fn assemble(
        kind: &str,
        interface: Option<String>,
        read: Option<PathBuf>,
        write: Option<PathBuf>,
    ) -> Result<Backend, String> {
        let backend = match (kind, interface) {
            ("loop", None) => Backend::Loop,
            ("tap", Some(name)) => Backend::Tap(name),
            ("packet", Some(name)) => Backend::Packet(name),
            ("afxdp", Some(name)) => Backend::AfXdp(name),
            ("pcap", None) if read.is_some() || write.is_some() => return Ok(Backend::Pcap { read, write }),
            ("pcap", None) => return Err("backend `pcap` needs a file to read or to write".into()),
            ("tap" | "packet" | "afxdp", None) => {
                return Err(format!("backend `{kind}` needs the name of an interface"));
            }
            ("loop" | "pcap", Some(_)) => return Err(format!("backend `{kind}` has no interface")),
            _ => return Err(format!("unknown backend `{kind}`; allowed: {KINDS}")),
        };
        if read.is_some() || write.is_some() {
            return Err(format!("backend `{kind}` reads and writes no capture files"));
        }
        match backend.interface() {
            Some(name) if !is_interface(name) => Err(format!(
                "`{name}` is no interface name: 1 to 15 characters out of letters, digits, `.`, `_`, `-`"
            )),
            _ => Ok(backend),
        }
    }
}

const KINDS: &str = "loop, tap, packet, afxdp, pcap";

fn is_interface(name: &str) -> bool {
    (1..=15).contains(&name.len())
        && name != "."
        && name != ".."
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// `loop`, `tap:NAME`, `packet:INTERFACE`, `afxdp:INTERFACE`, `pcap:read=FILE,write=FILE`.
impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Backend, String> {
        let (kind, detail) = match text.split_once(':') {
            Some((kind, detail)) => (kind, Some(detail)),
            None => (text, None),
        };
        if kind != "pcap" {
            return Backend::assemble(kind, detail.map(str::to_owned), None, None);
        }
        let (mut read, mut write) = (None, None);
        for part in detail.unwrap_or_default().split(',').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some(("read", path)) if !path.is_empty() && read.is_none() => read = Some(path.into()),
                Some(("write", path)) if !path.is_empty() && write.is_none() => write = Some(path.into()),
                _ => {
                    return Err(format!(
                        "`{part}` is no part of a pcap backend; allowed: read=FILE, write=FILE"
                    ));
                }
            }
        }
        Backend::assemble(kind, None, read, write)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        if let Some(name) = self.interface() {
            write!(f, ":{name}")?;
        }
        if let Backend::Pcap { read, write } = self {
            let mut mark = ':';
            for (what, path) in [("read", read), ("write", write)] {
                if let Some(path) = path {
                    write!(f, "{mark}{what}={}", path.display())?;
                    mark = ',';
                }
            }
        }
        Ok(())
    }
}

/// One end of a wire inside of a card: a function, or the representor of one. Without a word in the topology
///
/// - each host function is wired to its representor, where it has one;
/// - the physical functions that are left are wired to each other, side by side: the first to the second, the third to
///   the fourth;
/// - whatever is left then is wired to itself, as with a loop-back plug.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Plug {
    /// Number of the function, see [`Function::vhca_id`](crate::Function::vhca_id).
    pub number: u16,
    /// The end is the representor of that function.
    pub is_representor: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_are_read_as_they_are_written() {
        for text in
            ["loop", "tap:sd0", "packet:eth0.5", "afxdp:enp1s0", "pcap:read=a b,write=/c", "pcap:write=x"]
        {
            let backend: Backend = text.parse().unwrap();
            assert_eq!(backend.to_string(), text);
            assert!(text.starts_with(backend.kind()));
        }
        assert_eq!("tap:x".parse::<Backend>().unwrap().interface(), Some("x"));
    }

    #[test]
    fn refusals_name_what_is_allowed() {
        let refuse = |text: &str| text.parse::<Backend>().unwrap_err();
        assert!(refuse("wire").contains("allowed: loop, tap, packet, afxdp, pcap"));
        assert!(refuse("tap").contains("needs the name of an interface"));
        assert!(refuse("tap:a/b").contains("no interface name"));
        assert!(refuse("packet:0123456789abcdef").contains("no interface name"));
        assert!(refuse("loop:x").contains("has no interface"));
        assert!(refuse("pcap").contains("needs a file"));
        assert!(refuse("pcap:read=").contains("allowed: read=FILE"));
        assert!(refuse("pcap:read=a,read=b").contains("no part"));
    }
}
