//! A source: the buffer that reports go into, and the way from there to files and to the service.

use crate::courier::Courier;
use crate::files::LineFile;
use crate::logs::Logs;
use crate::metrics::Metrics;
use crate::schema::{Identity, Inner, Outlet};
use crate::time::{Stamp, now_micros};
use crate::{forward, json, refuse};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// Where log events go when no variable says so: the standard's place for a collector.
const LOG_COLLECTOR: &str = "http://127.0.0.1:4318";

/// Some records of one type that were reported together.
#[derive(Debug)]
struct Run {
    index: u8,
    micros: u64,
    /// Where they end in the buffer.
    end: usize,
}

/// Somebody who reports. Dropping it writes out what is buffered.
#[derive(Debug)]
pub struct Source {
    schema: Arc<Inner>,
    identity: Arc<Identity>,
    buffer: Vec<u8>,
    runs: Vec<Run>,
    file: Option<LineFile>,
    courier: Option<Arc<Courier>>,
}

impl Source {
    pub(crate) fn new(schema: Arc<Inner>, identity: Arc<Identity>) -> Result<Source> {
        let courier = schema.service.is_some().then(|| schema.courier()).transpose()?;
        let file = schema.file(&identity, "");
        Ok(Source { schema, identity, buffer: Vec::new(), runs: Vec::new(), file, courier })
    }

    /// Takes records of a type: packed values, one record behind the other. What no longer fits into the buffer makes it
    /// be written out first, and so does a buffer that is exactly full.
    ///
    /// # Errors
    /// InvalidValue: no such type, or not whole records. NoMemory: a record is larger than the buffer, or there is no
    /// memory for it. IoFailed: files could not be written; records of the buffer are lost, these ones are not.
    pub fn report(&mut self, index: u8, records: &[u8]) -> Result<()> {
        let name = &self.schema.name;
        let Some(record) = self.schema.types.get(usize::from(index)) else {
            let types = self.schema.types.len();
            let line = format_args!("schema '{name}': there is no type {index}, there are {types}");
            return Err(refuse(Code::InvalidValue, "no such type", line));
        };
        let size = record.size();
        if !records.len().is_multiple_of(size) {
            let line = format_args!(
                "schema '{name}', type '{}': {} bytes are not whole records of {size}",
                record.name(),
                records.len()
            );
            return Err(refuse(Code::InvalidValue, "not whole records", line));
        }
        let limit = usize::try_from(self.schema.buf_size).unwrap_or(usize::MAX);
        if size > limit {
            let line = format_args!(
                "schema '{name}', type '{}': a record of {size} bytes, the buffer has {limit}",
                record.name()
            );
            return Err(refuse(Code::NoMemory, "the record is larger than the buffer", line));
        }
        let mut outcome = Ok(());
        let mut rest = records;
        while !rest.is_empty() {
            let room = (limit - self.buffer.len()) / size * size;
            let (now, later) = rest.split_at(room.min(rest.len()));
            rest = later;
            self.keep(index, now)?;
            if !rest.is_empty() || self.buffer.len() == limit {
                outcome = outcome.and(self.flush());
            }
        }
        outcome
    }

    fn keep(&mut self, index: u8, records: &[u8]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let no_memory = |_| Error::new(Code::NoMemory, "no memory for records");
        self.buffer.try_reserve(records.len()).map_err(no_memory)?;
        self.runs.try_reserve(1).map_err(no_memory)?;
        self.buffer.extend_from_slice(records);
        self.runs.push(Run { index, micros: now_micros(), end: self.buffer.len() });
        Ok(())
    }

    /// Writes the buffer out.
    ///
    /// # Errors
    /// IoFailed: files could not be written; what could not be is lost. One log line says so until it works again.
    pub fn flush(&mut self) -> Result<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let written = match self.file.is_some() || self.courier.is_some() {
            true => self.write_out(),
            false => Ok(()),
        };
        self.buffer.clear();
        self.runs.clear();
        if let Some(notice) = self.file.as_mut().and_then(LineFile::notice) {
            notice.say();
        }
        written
    }

    fn write_out(&mut self) -> Result<()> {
        let mut lines = Vec::with_capacity(self.buffer.len() * 4);
        let mut parcels: Vec<(u8, Vec<(u64, serde_json::Value)>)> = Vec::new();
        let mut begin = 0;
        for run in &self.runs {
            let record = &self.schema.types[usize::from(run.index)];
            let mut head = Vec::new();
            self.write_head(&mut head, run, record.name());
            for bytes in self.buffer[begin..run.end].chunks_exact(record.size()) {
                let line = lines.len();
                lines.extend_from_slice(&head);
                record.write(&mut lines, bytes);
                lines.extend_from_slice(b"}\n");
                if self.courier.is_some() {
                    let value = serde_json::from_slice(&lines[line..]).unwrap_or_default();
                    match parcels.iter_mut().find(|(index, _)| *index == run.index) {
                        Some((_, values)) => values.push((run.micros, value)),
                        None => parcels.push((run.index, vec![(run.micros, value)])),
                    }
                }
            }
            begin = run.end;
        }
        if let (Some(courier), Some(service)) = (&self.courier, &self.schema.service) {
            for (index, records) in parcels {
                let tag = format!("{}.{}", self.schema.name, self.schema.types[usize::from(index)].name());
                courier.mail().send(service, forward::message(&tag, &records));
            }
        }
        self.file.as_mut().map_or(Ok(()), |file| file.append(&lines))
    }

    fn write_head(&self, out: &mut Vec<u8>, run: &Run, record: &str) {
        out.extend_from_slice(b"{\"time\":\"");
        json::plain(out, Stamp(run.micros));
        out.extend_from_slice(b"\",\"source\":");
        json::text(out, &self.identity.id);
        out.extend_from_slice(b",\"tag\":");
        json::text(out, &self.identity.tag);
        out.extend_from_slice(b",\"type\":");
        json::text(out, record);
        out.extend_from_slice(b",\"data\":");
    }

    /// A metrics context. Files get OTLP documents; a collector gets them too, if `OTEL_EXPORTER_OTLP_ENDPOINT` or
    /// `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT` names one.
    ///
    /// # Errors
    /// NoMemory: no thread for it.
    pub fn metrics(&self) -> Result<Metrics> {
        let outlet = Outlet::new(self.schema.file(&self.identity, "metrics"), "metrics", None);
        let metrics = Metrics::new(self.identity.clone(), outlet, self.schema.courier()?);
        if let Some(server) = &self.schema.scrape {
            server.show(metrics.board());
        }
        Ok(metrics)
    }

    /// A log context. Files get OTLP documents; so does the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` or
    /// `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT` names, else one on this machine, port 4318, if it is there.
    ///
    /// # Errors
    /// BadState: the schema does not allow opaque events. NoMemory: no thread for it.
    pub fn logs(&self) -> Result<Logs> {
        let name = &self.schema.name;
        if !self.schema.opaque {
            let line = format_args!("schema '{name}': log events need a schema that allows opaque events");
            return Err(refuse(Code::BadState, "opaque events are off", line));
        }
        let outlet = Outlet::new(self.schema.file(&self.identity, "logs"), "logs", Some(LOG_COLLECTOR));
        Ok(Logs::new(self.identity.clone(), self.schema.buf_size, outlet, self.schema.courier()?))
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // Said in the log already, once.
        let _ = self.flush();
    }
}
