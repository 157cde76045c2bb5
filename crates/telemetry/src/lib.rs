//! Telemetry: what a program reports about itself, and the way to whoever collects it.
//!
//! A [`Schema`] says what records look like and where they go; a [`Source`] reports packed records, metrics and log
//! events. Everything is written in formats that other tools read:
//!
//! | what | file | network |
//! |---|---|---|
//! | records | JSON lines, next to a JSON document that describes them | Fluent Forward, when delivery to a service is on |
//! | metrics | OTLP/JSON lines | OTLP/HTTP; Prometheus text for whoever asks |
//! | log events | OTLP/JSON lines | OTLP/HTTP |
//! | flow records ([`netflow`]) | JSON lines | NetFlow version 9 over UDP; Fluent Forward |
//!
//! Reports only touch memory; files are written by the flush that they cause. Whatever goes to the network is handed to
//! one thread per schema ([`courier`]), which is started when there is something for it to do, so that a collector that
//! is slow or gone never holds the program up.
//!
//! ```
//! use softdpu_telemetry::{Field, FieldType, RecordType, Schema};
//!
//! # fn main() -> softdpu_status::Result<()> {
//! # let folder = std::env::temp_dir().join(format!("softdpu-telemetry-doc-{}", std::process::id()));
//! let mut schema = Schema::builder("readings").data_root(&folder).write_files();
//! let reading = schema.add_type(
//!     RecordType::new("reading")
//!         .field(Field::new("celsius", FieldType::Float))
//!         .field(Field::new("name", FieldType::Char).array(8)),
//! )?;
//! let mut source = schema.start()?.source("sensor-1", "cellar")?;
//! source.report(reading, b"\0\0\xb0\x41east\0\0\0\0")?; // 22.0, "east"
//! source.flush()?;
//! # drop(source);
//! # std::fs::remove_dir_all(&folder).expect("the folder was made");
//! # Ok(())
//! # }
//! ```

pub mod courier;
mod endpoint;
mod field;
mod files;
mod forward;
mod http;
mod json;
mod logs;
mod metrics;
pub mod netflow;
mod otlp;
mod prometheus;
mod schema;
mod scrape;
mod source;
mod time;

pub use field::{Field, FieldType, RecordType};
pub use files::default_root;
pub use logs::{AttributeType, Logs, ResourceId, ScopeId, Value};
pub use metrics::{LabelSetId, Metrics};
pub use schema::{MAX_TYPES, Schema, SchemaBuilder};
pub use scrape::serve_page;
pub use source::Source;
pub use time::now_micros;

/// Log target of this crate.
const LOG: &str = "softdpu::telemetry";

/// A refusal, with its cause in one log line.
#[cold]
fn refuse(
    code: softdpu_status::Code,
    what: &'static str,
    line: std::fmt::Arguments<'_>,
) -> softdpu_status::Error {
    log::error!(target: LOG, "{line}");
    softdpu_status::Error::new(code, what)
}
