//! Log events: resources that they are about, scopes that say what an event has, and the events themselves.

use crate::courier::{Chore, Courier, Mail};
use crate::otlp::{self, Event};
use crate::refuse;
use crate::schema::{Identity, Outlet};
use softdpu_status::{Code, Result};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Longest time that an event waits for others.
const INTERVAL: Duration = Duration::from_secs(1);

/// A resource of a log context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceId(pub usize);

/// A scope of a log context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeId(pub usize);

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeType {
    /// A text.
    Text,
    /// A whole number.
    Int,
}

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text.
    Text(&'a str),
    /// A whole number.
    Int(i64),
}

impl Value<'_> {
    fn attribute(self, key: &str) -> serde_json::Value {
        match self {
            Value::Text(value) => otlp::text(key, value),
            Value::Int(value) => otlp::int(key, value),
        }
    }

    fn kind(self) -> AttributeType {
        match self {
            Value::Text(_) => AttributeType::Text,
            Value::Int(_) => AttributeType::Int,
        }
    }
}

#[derive(Debug)]
struct Scope {
    event: String,
    severity: String,
    attributes: Vec<(String, AttributeType)>,
}

#[derive(Debug, Default)]
struct State {
    resources: Vec<Vec<serde_json::Value>>,
    scopes: Vec<Scope>,
    /// Names and versions of the scopes.
    names: Vec<(String, String)>,
    waiting: Vec<Event>,
    bytes: u64,
    next: Option<Instant>,
}

struct Board {
    identity: Arc<Identity>,
    limit: u64,
    state: Mutex<State>,
    outlet: Mutex<Outlet>,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn flush(&self, mail: Mail<'_>) -> Result<()> {
        let (written, notice) = {
            // Held over both steps, so that two flushes do not overtake each other.
            let mut outlet = self.outlet.lock().unwrap_or_else(|e| e.into_inner());
            let document = self.lock().take_document(&self.identity);
            let written = document.map_or(Ok(()), |document| outlet.write(&document, mail));
            (written, outlet.notice())
        };
        if let Some(notice) = notice {
            notice.say();
        }
        written
    }
}

impl State {
    fn take_document(&mut self, who: &Identity) -> Option<serde_json::Value> {
        let events = std::mem::take(&mut self.waiting);
        (self.bytes, self.next) = (0, None);
        (!events.is_empty()).then(|| otlp::logs(who, &self.resources, &self.names, events))
    }
}

impl Chore for Board {
    fn tick(&self, now: Instant, mail: Mail<'_>) -> Option<Instant> {
        let next = self.lock().next?;
        if next > now {
            return Some(next);
        }
        // Said in the log already, once.
        let _ = self.flush(mail);
        None
    }
}

/// The log context of a source. Dropping it writes out what is waiting.
pub struct Logs {
    board: Arc<Board>,
    courier: Arc<Courier>,
}

impl std::fmt::Debug for Logs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Logs({})", self.board.identity.id)
    }
}

impl Logs {
    pub(crate) fn new(identity: Arc<Identity>, limit: u64, outlet: Outlet, courier: Arc<Courier>) -> Logs {
        let (state, outlet) = (Mutex::new(State::default()), Mutex::new(outlet));
        let board = Arc::new(Board { identity, limit, state, outlet });
        courier.look_after(&board);
        Logs { board, courier }
    }

    /// A resource without attributes yet.
    pub fn add_resource(&mut self) -> ResourceId {
        let mut state = self.board.lock();
        state.resources.push(Vec::new());
        ResourceId(state.resources.len())
    }

    /// Gives a resource an attribute; a second one of the same name takes the place of the first.
    ///
    /// # Errors
    /// InvalidValue: no such resource, or no name.
    pub fn add_resource_attribute(&mut self, id: ResourceId, key: &str, value: Value<'_>) -> Result<()> {
        let mut state = self.board.lock();
        let known = state.resources.len();
        let resource = id.0.checked_sub(1).and_then(|at| state.resources.get_mut(at));
        let Some(resource) = resource.filter(|_| !key.is_empty()) else {
            drop(state);
            let line = format_args!(
                "resource {} (of {known}), attribute '{key}': no such resource, or no name",
                id.0
            );
            return Err(refuse(Code::InvalidValue, "no such resource", line));
        };
        resource.retain(|attribute| attribute["key"] != key);
        resource.push(value.attribute(key));
        Ok(())
    }

    /// Describes a kind of event: the attributes it has, and its usual severity.
    ///
    /// # Errors
    /// InvalidValue: an attribute has no name, or its name comes twice.
    pub fn add_scope(
        &mut self,
        name: &str,
        version: &str,
        event: &str,
        severity: &str,
        attributes: &[(&str, AttributeType)],
    ) -> Result<ScopeId> {
        for (i, (key, _)) in attributes.iter().enumerate() {
            if key.is_empty() || attributes[..i].iter().any(|(before, _)| before == key) {
                let line = format_args!("scope '{name}', attribute {i} '{key}': needs a name of its own");
                return Err(refuse(Code::InvalidValue, "not a set of attributes", line));
            }
        }
        let mut state = self.board.lock();
        state.scopes.push(Scope {
            event: event.to_owned(),
            severity: severity.to_owned(),
            attributes: attributes.iter().map(|(key, kind)| ((*key).to_owned(), *kind)).collect(),
        });
        state.names.push((name.to_owned(), version.to_owned()));
        Ok(ScopeId(state.scopes.len()))
    }

    /// The types of a scope's attributes.
    #[must_use]
    pub fn attribute_types(&self, scope: ScopeId) -> Option<Vec<AttributeType>> {
        let state = self.board.lock();
        let found = scope.0.checked_sub(1).and_then(|at| state.scopes.get(at))?;
        Some(found.attributes.iter().map(|(_, kind)| *kind).collect())
    }

    /// Writes an event, with a severity of its own if there is one.
    ///
    /// # Errors
    /// InvalidValue: no such resource or scope, or the values do not fit the scope's attributes. IoFailed: the buffer was
    /// full, and the file cannot be written; events are lost.
    pub fn write(
        &mut self,
        resource: ResourceId,
        scope: ScopeId,
        values: &[Value<'_>],
        severity: Option<&str>,
    ) -> Result<()> {
        let mut state = self.board.lock();
        let fits = |s: &&Scope| {
            s.attributes.len() == values.len()
                && s.attributes.iter().zip(values).all(|((_, kind), value)| *kind == value.kind())
        };
        let found = scope.0.checked_sub(1).and_then(|at| state.scopes.get(at));
        let known = (1..=state.resources.len()).contains(&resource.0);
        let Some(found) = found.filter(fits).filter(|_| known) else {
            let (resources, scopes) = (state.resources.len(), state.scopes.len());
            drop(state);
            let line = format_args!(
                "event of resource {} (of {resources}) and scope {} (of {scopes}) with {} values: does not fit",
                resource.0,
                scope.0,
                values.len()
            );
            return Err(refuse(Code::InvalidValue, "the event does not fit", line));
        };
        let attributes =
            found.attributes.iter().zip(values).map(|((key, _), value)| value.attribute(key)).collect();
        let severity = severity.unwrap_or(&found.severity);
        let record = otlp::record(crate::now_micros(), &found.event, severity, attributes);
        // What the event will take in the document, near enough for a limit.
        state.bytes += record.to_string().len() as u64;
        state.waiting.push(Event { resource: resource.0 - 1, scope: scope.0 - 1, record });
        let full = state.bytes >= self.board.limit;
        let first = state.next.is_none();
        if first {
            state.next = Some(Instant::now() + INTERVAL);
        }
        drop(state);
        if full {
            return self.flush();
        }
        if first {
            self.courier.remind();
        }
        Ok(())
    }

    /// Writes out what is waiting.
    ///
    /// # Errors
    /// IoFailed: the file cannot be written; what could not be is lost.
    pub fn flush(&mut self) -> Result<()> {
        self.board.flush(self.courier.mail())
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        // Said in the log already, once.
        let _ = self.board.flush(self.courier.mail());
    }
}
