//! A schema: which types of records there are, and where everything goes. It is built, then started, then shared by its
//! sources.

use crate::courier::{Collector, Courier, Mail};
use crate::endpoint::{Endpoint, Url};
use crate::field::RecordType;
use crate::files::{self, LineFile, Notice, default_root, file_name};
use crate::forward::{self, Forward};
use crate::http::Post;
use crate::scrape::{self, Server};
use crate::source::Source;
use crate::{LOG, refuse};
use serde_json::json;
use softdpu_status::{Code, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Bytes that a source buffers when nothing else was said.
const BUF_SIZE: u64 = 60_000;
/// Types that a schema can have: their numbers have 8 bits.
pub const MAX_TYPES: usize = 256;

/// A schema that is being put together.
#[derive(Clone, Debug)]
pub struct SchemaBuilder {
    name: String,
    data_root: Option<PathBuf>,
    buf_size: u64,
    write_files: bool,
    service: bool,
    opaque: bool,
    types: Vec<RecordType>,
    scrape: Option<String>,
}

/// Who reports.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) schema: String,
    pub(crate) id: String,
    pub(crate) tag: String,
}

impl SchemaBuilder {
    /// Sets how many bytes of records a source keeps before it writes them out; 60000 at first.
    #[must_use]
    pub fn buf_size(mut self, bytes: u64) -> Self {
        self.buf_size = bytes;
        self
    }

    /// Sets the folder for files; [`crate::default_root`] at first.
    #[must_use]
    pub fn data_root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.data_root = Some(folder.into());
        self
    }

    /// Files are written.
    #[must_use]
    pub fn write_files(mut self) -> Self {
        self.write_files = true;
        self
    }

    /// Records are delivered to a telemetry service, if `SOFTDPU_TELEMETRY_SERVICE` names one.
    #[must_use]
    pub fn deliver_to_service(mut self) -> Self {
        self.service = true;
        self
    }

    /// Allows events without a record type; log contexts need it.
    #[must_use]
    pub fn opaque_events(mut self) -> Self {
        self.opaque = true;
        self
    }

    /// Sets where metrics can be asked for, as `host:port`; at first the value of `PROMETHEUS_ENDPOINT`, if any.
    #[must_use]
    pub fn serve_metrics(mut self, endpoint: Option<String>) -> Self {
        self.scrape = endpoint;
        self
    }

    /// Adds a type of records; its number comes back.
    ///
    /// # Errors
    /// InvalidValue: the name is taken, a field has no name or no values, or shares its name. NoMemory: 256 types.
    pub fn add_type(&mut self, record: RecordType) -> Result<u8> {
        record.check()?;
        let name = record.name();
        if self.types.iter().any(|known| known.name() == name) {
            let line = format_args!("schema '{}': there is a type '{name}' already", self.name);
            return Err(refuse(Code::InvalidValue, "the name is taken", line));
        }
        let Some(index) = u8::try_from(self.types.len()).ok().filter(|_| self.types.len() < MAX_TYPES) else {
            let line =
                format_args!("schema '{}': type '{name}' is one too many, allowed {MAX_TYPES}", self.name);
            return Err(refuse(Code::NoMemory, "too many types", line));
        };
        self.types.push(record);
        Ok(index)
    }

    /// Freezes the schema and opens the ways out.
    ///
    /// # Errors
    /// Initialization: the folder cannot be written to, or metrics cannot be served where they should be.
    pub fn start(self) -> Result<Schema> {
        let folder = match self.write_files {
            true => Some(self.prepare_folder()?),
            false => None,
        };
        let scrape = self.scrape.as_deref().map(Server::at).transpose()?;
        let service = if self.service { service(&self.name) } else { None };
        let inner = Inner {
            name: self.name,
            types: self.types,
            buf_size: self.buf_size,
            folder,
            service,
            opaque: self.opaque,
            scrape,
            courier: Mutex::new(None),
        };
        Ok(Schema { inner: Arc::new(inner) })
    }

    /// Makes the folder for data files, and the file that says what is in them.
    fn prepare_folder(&self) -> Result<PathBuf> {
        let root = self.data_root.clone().unwrap_or_else(default_root);
        let name = file_name(&self.name);
        let folder = root.join(&name);
        files::prepare(&folder)?;
        let types: Vec<_> = self.types.iter().enumerate().map(|(i, t)| t.describe(i)).collect();
        let document = json!({"schema": self.name, "types": types});
        let text = serde_json::to_vec_pretty(&document).unwrap_or_default();
        files::replace(&root.join(format!("{name}.schema.json")), &text)?;
        Ok(folder)
    }
}

/// The telemetry service of this machine, if there is one.
pub(crate) fn service(who: &str) -> Option<Arc<dyn Collector>> {
    let variable = forward::VARIABLE;
    let Some(place) = std::env::var(variable).ok().filter(|v| !v.is_empty()) else {
        log::info!(target: LOG, "{who}: delivery to a telemetry service is on, and {variable} names none; \
            nothing is delivered");
        return None;
    };
    match Endpoint::parse(&place) {
        Some(endpoint) => Some(Arc::new(Forward::new(endpoint))),
        None => {
            log::error!(target: LOG, "{variable}={place}: neither host:port nor unix:/path; nothing is delivered");
            None
        }
    }
}

/// A started schema. Sources keep what they need of it.
#[derive(Debug)]
pub struct Schema {
    inner: Arc<Inner>,
}

impl Schema {
    /// Begins a schema.
    pub fn builder(name: impl Into<String>) -> SchemaBuilder {
        SchemaBuilder {
            name: name.into(),
            data_root: None,
            buf_size: BUF_SIZE,
            write_files: false,
            service: false,
            opaque: false,
            types: Vec::new(),
            scrape: std::env::var(scrape::VARIABLE).ok().filter(|v| !v.is_empty()),
        }
    }

    /// A source of records. The tag may be empty.
    ///
    /// # Errors
    /// InvalidValue: no id. NoMemory: no thread for deliveries.
    pub fn source(&self, id: impl Into<String>, tag: impl Into<String>) -> Result<Source> {
        let identity = Identity { schema: self.inner.name.clone(), id: id.into(), tag: tag.into() };
        if identity.id.is_empty() {
            let line = format_args!("schema '{}': a source needs an id", self.inner.name);
            return Err(refuse(Code::InvalidValue, "the source has no id", line));
        }
        Source::new(self.inner.clone(), Arc::new(identity))
    }

    /// Bytes of a record of a type.
    #[must_use]
    pub fn record_size(&self, index: u8) -> Option<usize> {
        self.inner.types.get(usize::from(index)).map(RecordType::size)
    }

    /// Where metrics can be asked for.
    #[must_use]
    pub fn metrics_address(&self) -> Option<std::net::SocketAddr> {
        self.inner.scrape.as_ref().map(|server| server.address())
    }
}

/// What the sources of a schema share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) name: String,
    pub(crate) types: Vec<RecordType>,
    pub(crate) buf_size: u64,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) service: Option<Arc<dyn Collector>>,
    pub(crate) opaque: bool,
    pub(crate) scrape: Option<Arc<Server>>,
    courier: Mutex<Option<Arc<Courier>>>,
}

impl Inner {
    /// The delivery thread, started when it is first needed.
    pub(crate) fn courier(&self) -> Result<Arc<Courier>> {
        let mut courier = self.courier.lock().unwrap_or_else(|e| e.into_inner());
        match &*courier {
            Some(running) => Ok(running.clone()),
            None => {
                let started = Arc::new(Courier::start()?);
                *courier = Some(started.clone());
                Ok(started)
            }
        }
    }

    /// A file for one kind of output of a source.
    pub(crate) fn file(&self, of: &Identity, what: &str) -> Option<LineFile> {
        let folder: &Path = self.folder.as_deref()?;
        Some(LineFile::new(folder.to_owned(), files::stem(&of.id, &of.tag, what)))
    }
}

/// Where documents of OpenTelemetry go.
pub(crate) struct Outlet {
    file: Option<LineFile>,
    post: Option<Arc<dyn Collector>>,
}

impl Outlet {
    /// The file, and the collector that the standard's variables name: `signal` is "metrics" or "logs". `usual` is where
    /// one is looked for that they do not name.
    pub(crate) fn new(file: Option<LineFile>, signal: &str, usual: Option<&str>) -> Outlet {
        let upper = signal.to_uppercase();
        let set = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        let off = set(&format!("OTEL_{upper}_EXPORTER")).is_some_and(|v| v == "none");
        let own = set(&format!("OTEL_EXPORTER_OTLP_{upper}_ENDPOINT"));
        let shared = || set("OTEL_EXPORTER_OTLP_ENDPOINT").or_else(|| usual.map(str::to_owned));
        let place = own.or_else(|| Some(format!("{}/v1/{signal}", shared()?.trim_end_matches('/'))));
        let post = place.filter(|_| !off).and_then(|place| match Url::parse(&place) {
            Some(url) => Some(Arc::new(Post { url }) as Arc<dyn Collector>),
            None => {
                log::error!(target: LOG, "{place}: {signal} go to http://host:port/path only; nothing is delivered");
                None
            }
        });
        Outlet { file, post }
    }

    /// Writes a document to the file, and hands it to the collector.
    pub(crate) fn write(&mut self, document: &serde_json::Value, mail: Mail<'_>) -> Result<()> {
        let mut line = document.to_string().into_bytes();
        if let Some(post) = &self.post {
            mail.send(post, line.clone());
        }
        line.push(b'\n');
        self.file.as_mut().map_or(Ok(()), |file| file.append(&line))
    }

    /// What has to be said about the file.
    pub(crate) fn notice(&mut self) -> Option<Notice> {
        self.file.as_mut()?.notice()
    }
}
