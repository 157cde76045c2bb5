//! Capture files: reading pcap and pcapng, writing pcap. Anything may stand in a file that is read: what makes no sense
//! ends it, with a reason.

mod reader;
mod writer;

pub use reader::{Reader, Record};
pub use writer::Writer;

/// Link type of Ethernet frames.
const ETHERNET: u32 = 1;
/// Longest record that is looked at; a longer one ends the file.
const MAX_RECORD: usize = 1 << 20;

#[cfg(test)]
#[path = "pcap_tests.rs"]
mod tests;
