//! Delivery to a telemetry service of this machine, in the Forward protocol that Fluentd and Fluent Bit take.
//!
//! A parcel is one message, `[tag, [[time, record], ...], {"chunk": id}]` in MessagePack; the service answers
//! `{"ack": id}` once it has it, so that nothing is lost with a connection.

use crate::courier::Collector;
use crate::endpoint::{Endpoint, Stream};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::sync::Mutex;

/// The variable that says where the service is.
pub(crate) const VARIABLE: &str = "SOFTDPU_TELEMETRY_SERVICE";

/// A service, and the connection to it.
pub(crate) struct Forward {
    endpoint: Endpoint,
    connection: Mutex<Option<Box<dyn Stream>>>,
}

impl std::fmt::Debug for Forward {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Forward({})", self.endpoint)
    }
}

impl Forward {
    pub(crate) fn new(endpoint: Endpoint) -> Forward {
        Forward { endpoint, connection: Mutex::new(None) }
    }
}

impl Collector for Forward {
    fn deliver(&self, parcel: &[u8]) -> io::Result<()> {
        let mut connection = self.connection.lock().unwrap_or_else(|e| e.into_inner());
        // Comes back only if all went well: a connection on which something failed is not used again.
        let mut stream = match connection.take() {
            Some(open) => open,
            None => self.endpoint.connect()?,
        };
        let chunk = softdpu_link::checksum64(parcel);
        let id = format!("{chunk:016x}");
        stream.write_all(parcel)?;
        stream.write_all(&map1("chunk", &id))?;
        let want = map1("ack", &id);
        let mut got = vec![0; want.len()];
        stream.read_exact(&mut got)?;
        if got != want {
            return Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                "the service acknowledged something else",
            ));
        }
        *connection = Some(stream);
        Ok(())
    }

    fn place(&self) -> String {
        format!("telemetry service at {}", self.endpoint)
    }
}

/// A map of one short text to another.
fn map1(key: &str, value: &str) -> Vec<u8> {
    let mut out = vec![0x81];
    string(&mut out, key);
    string(&mut out, value);
    out
}

/// A message of `records` under construction; [`Forward`] appends the option with the identifier.
pub(crate) fn message(tag: &str, records: &[(u64, Value)]) -> Vec<u8> {
    let mut out = vec![0x93];
    string(&mut out, tag);
    out.push(0xdd);
    out.extend(u32::try_from(records.len()).unwrap_or(u32::MAX).to_be_bytes());
    for (micros, record) in records {
        out.push(0x92);
        event_time(&mut out, *micros);
        value(&mut out, record);
    }
    out
}

/// The protocol's time: extension type 0 with seconds and nanoseconds.
fn event_time(out: &mut Vec<u8>, micros: u64) {
    let seconds = u32::try_from(micros / 1_000_000).unwrap_or(u32::MAX);
    out.extend([0xd7, 0]);
    out.extend(seconds.to_be_bytes());
    out.extend(((micros % 1_000_000) as u32 * 1000).to_be_bytes());
}

fn string(out: &mut Vec<u8>, text: &str) {
    match text.len() {
        n @ 0..32 => out.push(0xa0 | n as u8),
        n @ 32..256 => out.extend([0xd9, n as u8]),
        n => {
            out.push(0xdb);
            out.extend((n as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(text.as_bytes());
}

fn value(out: &mut Vec<u8>, from: &Value) {
    match from {
        Value::Null => out.push(0xc0),
        Value::Bool(b) => out.push(if *b { 0xc3 } else { 0xc2 }),
        Value::Number(n) => {
            let (mark, bytes) = match (n.as_u64(), n.as_i64()) {
                (Some(n), _) => (0xcf, n.to_be_bytes()),
                (None, Some(n)) => (0xd3, n.to_be_bytes()),
                _ => (0xcb, n.as_f64().unwrap_or(f64::NAN).to_be_bytes()),
            };
            out.push(mark);
            out.extend(bytes);
        }
        Value::String(text) => string(out, text),
        Value::Array(items) => {
            out.push(0xdd);
            out.extend((items.len() as u32).to_be_bytes());
            items.iter().for_each(|item| value(out, item));
        }
        Value::Object(map) => {
            out.push(0xdf);
            out.extend((map.len() as u32).to_be_bytes());
            for (key, item) in map {
                string(out, key);
                value(out, item);
            }
        }
    }
}
