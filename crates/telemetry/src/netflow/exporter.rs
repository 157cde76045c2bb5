//! Gathers records into packets and sends them.

use super::packet::{HEADER, Header, Template, packet};
use crate::courier::{Collector, Courier};
use crate::files::{self, LineFile, default_root};
use crate::time::{Stamp, now_micros};
use crate::{LOG, forward, json, refuse, schema};
use softdpu_status::{Code, Result};
use std::net::{ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// UDP port of a collector for which none was set.
pub const DEFAULT_PORT: u16 = 2055;
/// Records in one packet.
const MAX_RECORDS: usize = 30;
/// Bytes of a packet: what goes over any usual network in one piece.
const MAX_PACKET: usize = 1400;
/// Packets and time after which a template is told again.
const TELL_PACKETS: u32 = 20;
const TELL_TIME: Duration = Duration::from_secs(60);
/// The number of the first template; those below are the protocol's own.
const FIRST_TEMPLATE: usize = 256;

/// An exporter that is being put together.
#[derive(Clone, Debug)]
pub struct Builder {
    source: u16,
    address: Option<String>,
    port: u16,
    files: bool,
    service: bool,
    id: String,
    tag: String,
}

impl Builder {
    /// An exporter that calls itself by this number in each packet.
    #[must_use]
    pub fn new(source: u16) -> Builder {
        let (id, tag) = (String::new(), String::new());
        Builder { source, address: None, port: DEFAULT_PORT, files: false, service: false, id, tag }
    }

    /// Sets the collector: an address or a name.
    pub fn collector(&mut self, address: impl Into<String>) -> &mut Self {
        self.address = Some(address.into());
        self
    }

    /// Sends nothing to a collector.
    pub fn without_collector(&mut self) -> &mut Self {
        self.address = None;
        self
    }

    /// Sets the collector's UDP port, 2055 at first.
    pub fn port(&mut self, port: u16) -> &mut Self {
        self.port = port;
        self
    }

    /// Files are written, into [`crate::default_root`].
    pub fn write_files(&mut self) -> &mut Self {
        self.files = true;
        self
    }

    /// Records are delivered to a telemetry service, if `SOFTDPU_TELEMETRY_SERVICE` names one.
    pub fn deliver_to_service(&mut self) -> &mut Self {
        self.service = true;
        self
    }

    /// Sets who reports.
    pub fn id(&mut self, id: impl Into<String>) -> &mut Self {
        self.id = id.into();
        self
    }

    /// Sets the tag.
    pub fn tag(&mut self, tag: impl Into<String>) -> &mut Self {
        self.tag = tag.into();
        self
    }

    /// Opens the exporter.
    ///
    /// # Errors
    /// InvalidValue: the collector's name leads nowhere. Initialization: the folder for files cannot be written to.
    /// NoMemory: no socket or thread.
    pub fn start(&self) -> Result<Exporter> {
        let socket = self.address.as_deref().map(|address| self.connect(address)).transpose()?;
        let file = match self.files {
            true => {
                let folder = default_root().join("netflow");
                files::prepare(&folder)?;
                let id = if self.id.is_empty() { format!("netflow{}", self.source) } else { self.id.clone() };
                Some(LineFile::new(folder, files::stem(&id, &self.tag, "")))
            }
            false => None,
        };
        let service = if self.service { schema::service("netflow") } else { None };
        let service = match service {
            Some(service) => Some((service, Courier::start()?)),
            None => None,
        };
        Ok(Exporter {
            who: self.clone(),
            socket,
            file,
            service,
            began: Instant::now(),
            sequence: 0,
            templates: Vec::new(),
            pending: Vec::new(),
            current: 0,
            lost: 0,
        })
    }

    fn connect(&self, address: &str) -> Result<UdpSocket> {
        let port = self.port;
        let bad = |e: std::io::Error| {
            refuse(
                Code::InvalidValue,
                "no such collector",
                format_args!("flow collector {address}, port {port}: {e}"),
            )
        };
        let to = (address, port).to_socket_addrs().map_err(bad)?.next();
        let to = to.ok_or_else(|| bad(std::io::ErrorKind::NotFound.into()))?;
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let open = || {
            let socket = UdpSocket::bind(any)?;
            socket.set_nonblocking(true)?;
            socket.connect(to)?;
            Ok(socket)
        };
        open().map_err(|e: std::io::Error| {
            refuse(Code::NoMemory, "no socket", format_args!("flow collector {to}: no socket: {e}"))
        })
    }
}

#[derive(Debug)]
struct Known {
    template: Template,
    /// When the collector was last told of it, and by which packet.
    told: Option<(Instant, u32)>,
}

/// A running exporter. Dropping it sends what is gathered.
#[derive(Debug)]
pub struct Exporter {
    who: Builder,
    socket: Option<UdpSocket>,
    file: Option<LineFile>,
    service: Option<(Arc<dyn Collector>, Courier)>,
    began: Instant,
    /// Packets sent.
    sequence: u32,
    templates: Vec<Known>,
    /// Records of template `current`.
    pending: Vec<u8>,
    current: usize,
    /// Packets lost since the last one that was sent.
    lost: u64,
}

impl Exporter {
    /// Takes records; full packets leave at once.
    ///
    /// # Errors
    /// InvalidValue: the template has no fields, or a record is not as long as it says. NoMemory: too many templates.
    /// IoFailed: files could not be written; all records were taken, some are lost there.
    pub fn send(&mut self, template: &Template, records: &[&[u8]]) -> Result<()> {
        let size = template.size();
        if size == 0 || records.iter().any(|record| record.len() != size) {
            let line = format_args!("flow records: their template has {size} bytes, and so has each of them");
            return Err(refuse(Code::InvalidValue, "records do not fit the template", line));
        }
        let index = self.number(template)?;
        let mut outcome = Ok(());
        if index != self.current {
            outcome = self.flush();
            self.current = index;
        }
        let head = HEADER + template.set_size() + 4;
        let fit = (MAX_PACKET.saturating_sub(head) / size).clamp(1, MAX_RECORDS);
        for record in records {
            self.pending.extend_from_slice(record);
            if self.pending.len() >= fit * size {
                outcome = outcome.and(self.flush());
            }
        }
        outcome
    }

    /// The place of a template among those that were used.
    fn number(&mut self, template: &Template) -> Result<usize> {
        if let Some(known) = self.templates.iter().position(|known| known.template == *template) {
            return Ok(known);
        }
        if self.templates.len() > usize::from(u16::MAX) - FIRST_TEMPLATE {
            let line =
                format_args!("flow templates: {} are in use, all that have numbers", self.templates.len());
            return Err(refuse(Code::NoMemory, "too many templates", line));
        }
        self.templates.push(Known { template: template.clone(), told: None });
        Ok(self.templates.len() - 1)
    }

    /// Sends what is gathered.
    ///
    /// # Errors
    /// IoFailed: files could not be written.
    pub fn flush(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.send_packet();
        let written = self.write_lines();
        self.pending.clear();
        if let Some(notice) = self.file.as_mut().and_then(LineFile::notice) {
            notice.say();
        }
        written
    }

    fn send_packet(&mut self) {
        let Some(socket) = &self.socket else { return };
        let known = &mut self.templates[self.current];
        let stale = |(when, packet): (Instant, u32)| {
            when.elapsed() > TELL_TIME || self.sequence.wrapping_sub(packet) >= TELL_PACKETS
        };
        let tell = known.told.is_none_or(stale);
        if tell {
            known.told = Some((Instant::now(), self.sequence));
        }
        let header = Header {
            uptime: self.began.elapsed().as_millis() as u32,
            seconds: (now_micros() / 1_000_000) as u32,
            sequence: self.sequence,
            source: self.who.source.into(),
        };
        let id = (FIRST_TEMPLATE + self.current) as u16;
        let bytes = packet(header, id, &known.template, tell, &self.pending);
        // The number goes on whether or not the packet arrives: that is how a collector counts what it missed.
        self.sequence = self.sequence.wrapping_add(1);
        match socket.send(&bytes) {
            Ok(_) => {
                if self.lost > 0 {
                    log::info!(target: LOG, "flow collector: reached again; {} packets were lost", self.lost);
                    self.lost = 0;
                }
            }
            Err(e) => {
                self.lost += 1;
                if self.lost == 1 {
                    log::warn!(target: LOG, "flow collector: packets are lost: {e}; the program goes on without");
                }
            }
        }
    }

    fn write_lines(&mut self) -> Result<()> {
        if self.file.is_none() && self.service.is_none() {
            return Ok(());
        }
        let (template, micros) = (&self.templates[self.current].template, now_micros());
        let (mut lines, mut records) = (Vec::new(), Vec::new());
        for record in self.pending.chunks_exact(template.size()) {
            let begin = lines.len();
            lines.extend_from_slice(b"{\"time\":\"");
            json::plain(&mut lines, Stamp(micros));
            lines.extend_from_slice(b"\",\"source\":");
            json::text(&mut lines, &self.who.id);
            lines.extend_from_slice(b",\"tag\":");
            json::text(&mut lines, &self.who.tag);
            lines.extend_from_slice(b",\"type\":\"netflow\",\"data\":");
            template.write(&mut lines, record);
            lines.extend_from_slice(b"}\n");
            if self.service.is_some() {
                records.push((micros, serde_json::from_slice(&lines[begin..]).unwrap_or_default()));
            }
        }
        if let Some((service, courier)) = &self.service {
            courier.mail().send(service, forward::message("netflow", &records));
        }
        self.file.as_mut().map_or(Ok(()), |file| file.append(&lines))
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        // Said in the log already, once.
        let _ = self.flush();
    }
}
