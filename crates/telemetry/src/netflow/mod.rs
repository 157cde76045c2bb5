//! Flow records: NetFlow version 9 (RFC 3954) over UDP, and the same records as JSON lines.
//!
//! [`Template`] says what a record consists of, [`Exporter`] gathers records of one template into packets. A packet has
//! at most 30 records and 1400 bytes, unless a single record is larger; it carries its template when the collector has
//! not seen it for 20 packets or a minute. UDP loses what it loses: nothing waits and nothing fails for a collector.

mod exporter;
mod fields;
mod packet;

pub use exporter::{Builder, DEFAULT_PORT, Exporter};
pub use packet::{FieldSpec, Template};
