//! The exports of this process, and who answers for them.
//!
//! An export stands in a table while its event lives. An importer shows its bytes; if they are those of a live export it
//! gets the page and the place of the value, and the owner keeps the place reserved for as long as the importer's line
//! stands.

use crate::cell::LOG;
use crate::descriptor::{Descriptor, Kind};
use crate::page::Place;
use softdpu_link::{Answer, Desk, Peer, Tie, Topic};
use softdpu_memory::export::Exported as ExportedMap;
use softdpu_status::{Code, Error, Result};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an importer gets.
#[derive(Clone, Debug)]
pub(crate) enum Lendable {
    /// A cell on a page.
    Place(Arc<Place>),
    /// Memory with a descriptor of its own, which holds eight bytes.
    Memory(Arc<ExportedMap>),
}

#[derive(Debug)]
struct Record {
    descriptor: Descriptor,
    lendable: Lendable,
}

static TABLE: Mutex<Vec<Record>> = Mutex::new(Vec::new());

fn table() -> MutexGuard<'static, Vec<Record>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A live export. Dropping it makes its bytes worthless.
#[derive(Debug)]
pub(crate) struct Exported {
    descriptor: Descriptor,
    bytes: Vec<u8>,
}

impl Exported {
    /// Puts an export into the table.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn new(descriptor: Descriptor, lendable: Lendable) -> Result<Exported> {
        let mut table = table();
        table.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for an export"))?;
        table.push(Record { descriptor, lendable });
        drop(table);
        Ok(Exported { descriptor, bytes: descriptor.encode() })
    }

    /// Who it is for.
    pub(crate) fn kind(&self) -> Kind {
        self.descriptor.kind
    }

    /// They stay where they are as long as this value lives.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        let (event, kind) = (self.descriptor.event, self.descriptor.kind);
        let mut table = table();
        let at = table.iter().position(|r| r.descriptor.event == event && r.descriptor.kind == kind);
        let gone = at.map(|at| table.swap_remove(at));
        drop(table);
        drop(gone);
    }
}

/// Why an export was not found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// No live event has this number.
    Gone,
    /// The export of this number says something else.
    Different,
}

impl Missing {
    /// As importers are told.
    pub(crate) fn refuse(self, descriptor: &Descriptor) -> Error {
        let why = match self {
            Missing::Gone => "is stale: the event was stopped or destroyed",
            Missing::Different => "is forged: it differs from the export of this event",
        };
        log::error!(target: LOG, "{descriptor:?} {why}");
        Error::new(Code::InvalidValue, "forged or stale export")
    }
}

/// The live export that a descriptor speaks of.
pub(crate) fn find(descriptor: &Descriptor) -> Result<Lendable, Missing> {
    let table = table();
    let mut mine = table.iter().filter(|r| r.descriptor.event == descriptor.event).peekable();
    if mine.peek().is_none() {
        return Err(Missing::Gone);
    }
    mine.find(|r| r.descriptor.is_same(descriptor)).map(|r| r.lendable.clone()).ok_or(Missing::Different)
}

/// First byte of an answer.
pub(crate) const PLACE: u8 = 1;
/// See [`PLACE`].
pub(crate) const MEMORY: u8 = 2;
/// See [`PLACE`].
pub(crate) const GONE: u8 = 3;
/// See [`PLACE`].
pub(crate) const DIFFERENT: u8 = 4;

/// From now on other processes are answered, once the service runs.
pub(crate) fn serve() {
    softdpu_link::serve(Topic::SYNC_EVENT, &Window);
}

/// Where other processes ask.
struct Window;

impl Desk for Window {
    fn ask(&self, peer: &Peer, request: &[u8], _: Vec<OwnedFd>) -> Answer {
        let bare = |byte: u8| Answer { bytes: vec![byte], ..Answer::default() };
        let Ok(descriptor) = Descriptor::decode(request) else {
            // The importer logs it; here a hostile one could fill the log.
            log::debug!(target: LOG, "process {}: {} bytes that are no export of an event", peer.pid, request.len());
            return bare(DIFFERENT);
        };
        match find(&descriptor) {
            Err(Missing::Gone) => bare(GONE),
            Err(Missing::Different) => bare(DIFFERENT),
            Ok(Lendable::Memory(map)) => {
                let mut bytes = vec![MEMORY];
                bytes.extend_from_slice(map.bytes());
                Answer { bytes, ..Answer::default() }
            }
            Ok(Lendable::Place(place)) => {
                let Ok(page) = place.page().fd().try_clone_to_owned() else { return bare(GONE) };
                let mut bytes = vec![PLACE];
                bytes.extend_from_slice(&(place.offset() as u64).to_le_bytes());
                Answer { bytes, fds: vec![page], tie: Some(Box::new(Reserved { _place: place })) }
            }
        }
    }
}

/// Keeps a place from being used again while an importer has it mapped.
struct Reserved {
    _place: Arc<Place>,
}

impl Tie for Reserved {
    fn gone(&mut self) {}
}
