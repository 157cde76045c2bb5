//! Which way RDMA connections take.

use std::sync::OnceLock;

/// Which way connections to RDMA peers take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum RdmaPath {
    /// Peers in the same runtime folder are reached through memory, all others over the network.
    Auto,
    /// Peers elsewhere are not reached, and nobody elsewhere is let in.
    Local,
    /// Every peer is reached over the network.
    Network,
}

/// Variable that chooses it.
const PATH: &str = "SOFTDPU_RDMA_PATH";

impl RdmaPath {
    /// What the process was started with: `SOFTDPU_RDMA_PATH` (`auto`, `local`, `network`), read once. Another value is
    /// named in a log line and counts as `auto`.
    pub fn of_process() -> RdmaPath {
        static OF_PROCESS: OnceLock<RdmaPath> = OnceLock::new();
        *OF_PROCESS.get_or_init(|| {
            let text = std::env::var(PATH).unwrap_or_default();
            RdmaPath::named(&text).unwrap_or_else(|| {
                log::warn!(target: "softdpu::card", "{PATH}: unknown path `{}`; allowed: auto, local, network",
                    text.escape_debug());
                RdmaPath::Auto
            })
        })
    }

    fn named(text: &str) -> Option<RdmaPath> {
        Some(match text {
            "" | "auto" => RdmaPath::Auto,
            "local" => RdmaPath::Local,
            "network" => RdmaPath::Network,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_a_path() {
        assert_eq!(RdmaPath::named(""), Some(RdmaPath::Auto));
        assert_eq!(RdmaPath::named("local"), Some(RdmaPath::Local));
        assert_eq!(RdmaPath::named("network"), Some(RdmaPath::Network));
        assert_eq!(RdmaPath::named("Network"), None);
    }
}
