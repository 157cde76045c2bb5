//! The bytes of a packet.

use super::fields;
use crate::refuse;
use softdpu_status::{Code, Result};

/// A field of a template: its number and its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// The number that the protocol gives it.
    pub kind: u16,
    /// Bytes of a value.
    pub length: u16,
}

/// What a record consists of: values one behind the other, numbers in network order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    fields: Vec<FieldSpec>,
}

/// Largest datagram, less what a packet has besides one record and its template.
const MAX_RECORD: usize = 65_507 - 64;

impl Template {
    /// A template without fields yet.
    #[must_use]
    pub fn new() -> Template {
        Template::default()
    }

    /// Appends a field.
    ///
    /// # Errors
    /// InvalidValue: no number or no length, or a record would no longer fit into a datagram.
    pub fn add(&mut self, field: FieldSpec) -> Result<()> {
        let size = self.size() + usize::from(field.length) + 4 * (self.fields.len() + 1);
        if field.kind == 0 || field.length == 0 || size > MAX_RECORD {
            let line = format_args!(
                "flow field {} of {} bytes: needs a number and a length, all fields together at most {MAX_RECORD} bytes",
                field.kind, field.length
            );
            return Err(refuse(Code::InvalidValue, "not a field", line));
        }
        self.fields.push(field);
        Ok(())
    }

    /// Bytes of one record.
    #[must_use]
    pub fn size(&self) -> usize {
        self.fields.iter().map(|f| usize::from(f.length)).sum()
    }

    /// Bytes of the flow set that describes it.
    pub(super) fn set_size(&self) -> usize {
        8 + 4 * self.fields.len()
    }

    /// One record as a JSON object.
    pub(super) fn write(&self, out: &mut Vec<u8>, record: &[u8]) {
        let mut rest = record;
        out.push(b'{');
        for (i, field) in self.fields.iter().enumerate() {
            let (value, behind) = rest.split_at(usize::from(field.length).min(rest.len()));
            rest = behind;
            if i > 0 {
                out.push(b',');
            }
            fields::write(out, field.kind, value);
        }
        out.push(b'}');
    }
}

/// Bytes of a packet's header.
pub(super) const HEADER: usize = 20;

/// What the header says besides the number of records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// Milliseconds since the exporter started.
    pub(super) uptime: u32,
    /// Seconds since 1970.
    pub(super) seconds: u32,
    /// Packets before this one.
    pub(super) sequence: u32,
    /// Who exports.
    pub(super) source: u32,
}

/// A packet with the records of one template, numbered `id`, and the template itself if it is to be told.
pub(super) fn packet(header: Header, id: u16, template: &Template, tell: bool, records: &[u8]) -> Vec<u8> {
    let size = template.size().max(1);
    let count = records.len() / size + usize::from(tell);
    let mut out = Vec::with_capacity(HEADER + template.set_size() + records.len() + 8);
    let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX).to_be_bytes();
    out.extend(9u16.to_be_bytes());
    out.extend(short(count));
    for word in [header.uptime, header.seconds, header.sequence, header.source] {
        out.extend(word.to_be_bytes());
    }
    if tell {
        out.extend(0u16.to_be_bytes());
        out.extend(short(template.set_size()));
        out.extend(id.to_be_bytes());
        out.extend(short(template.fields.len()));
        for field in &template.fields {
            out.extend(field.kind.to_be_bytes());
            out.extend(field.length.to_be_bytes());
        }
    }
    if !records.is_empty() {
        // Flow sets end on a multiple of four bytes.
        let padding = records.len().wrapping_neg() % 4;
        out.extend(id.to_be_bytes());
        out.extend(short(4 + records.len() + padding));
        out.extend_from_slice(records);
        out.resize(out.len() + padding, 0);
    }
    out
}
