//! How a process reaches memory that another process exported.

use core::fmt;
use serde::Deserialize;
use std::str::FromStr;

/// How imported memory is reached. Chosen at import, best first; a setting can demand one of those between processes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(try_from = "String")]
#[non_exhaustive]
pub enum Reach {
    /// It is memory of the importing process itself.
    Local,
    /// The owner's pages are mapped into the importer.
    Mapped,
    /// The kernel copies between the two processes.
    KernelCopy,
    /// The owner's service thread copies.
    Worker,
    /// It is on another machine: connections to its owner reach it.
    Network,
    /// A real card reaches it; this process alone does not.
    Card,
}

impl Reach {
    /// `local`, `mapped`, `kernel`, `worker`, `network` or `card`.
    pub const fn name(self) -> &'static str {
        match self {
            Reach::Local => "local",
            Reach::Mapped => "mapped",
            Reach::KernelCopy => "kernel",
            Reach::Worker => "worker",
            Reach::Network => "network",
            Reach::Card => "card",
        }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Reach {
    type Err = String;

    /// What can be demanded: every reach between processes.
    fn from_str(text: &str) -> Result<Reach, String> {
        [Reach::Mapped, Reach::KernelCopy, Reach::Worker]
            .into_iter()
            .find(|reach| reach.name() == text)
            .ok_or_else(|| format!("unknown reach `{text}`; allowed: mapped, kernel, worker"))
    }
}

impl TryFrom<String> for Reach {
    type Error = String;

    fn try_from(text: String) -> Result<Reach, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for reach in [Reach::Mapped, Reach::KernelCopy, Reach::Worker] {
            assert_eq!(reach.to_string().parse(), Ok(reach));
        }
        assert!("local".parse::<Reach>().unwrap_err().contains("allowed: mapped, kernel, worker"));
    }
}
