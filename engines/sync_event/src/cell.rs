//! The value of an event, wherever it lives, and what can be done with it.
//!
//! All changes are released and all reads acquire, so whoever sees a value sees what was written before it was set.

use crate::condition::Condition;
use crate::page::{Place, Words};
use crate::real::RealEvent;
use crate::word::Word;
use core::fmt;
use softdpu_link::sync::{AtomicBool, AtomicU64, Ordering};
use softdpu_link::{LineHandle, Mapping, Owner, Tie};
use softdpu_memory::Buf;
use softdpu_memory::export::Imported;
use softdpu_memory::node::Lent;
use softdpu_memory::word::{with_word, with_word_at};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// Log target of this family.
pub(crate) const LOG: &str = "softdpu::sync_event";

/// Where a value lives.
#[derive(Debug)]
pub(crate) enum Cell {
    /// In memory of the library.
    Own(Arc<Place>),
    /// In a cell of the program.
    #[cfg_attr(not(feature = "capi"), expect(dead_code, reason = "the Rust face has buffers for that"))]
    Program(Word),
    /// In the data of a buffer.
    Buffer { lent: Lent, _keep: Option<Buf> },
    /// Another object's, of this process or of another one.
    Peer(Peer),
    /// In memory that another object exported.
    PeerBuffer { map: Imported, at: usize },
    /// Where only a real card gets at it.
    Real(Box<dyn RealEvent>),
}

/// The cell of an event that was imported.
pub(crate) struct Peer {
    words: PeerWords,
    event: u64,
    owner: Owner,
    /// The owner is dead.
    gone: Arc<AtomicBool>,
    line: Option<LineHandle>,
}

/// Where its page is mapped.
#[derive(Debug)]
enum PeerWords {
    Here(Arc<Place>),
    There(Mapping, usize),
}

impl Peer {
    /// Of this process.
    pub(crate) fn here(place: Arc<Place>, event: u64, owner: Owner) -> Peer {
        Peer { words: PeerWords::Here(place), event, owner, gone: Arc::default(), line: None }
    }

    /// Of another process, whose page was mapped. `None` when no cell can be there.
    pub(crate) fn there(page: Mapping, at: usize, event: u64, owner: Owner) -> Option<Peer> {
        Words::at(&page, at)?;
        Some(Peer { words: PeerWords::There(page, at), event, owner, gone: Arc::default(), line: None })
    }

    /// What notices the owner's end on the line to it.
    pub(crate) fn watcher(&self) -> Box<dyn Tie> {
        Box::new(Watcher(self.gone.clone()))
    }

    /// The line is watched; it ends with the import.
    pub(crate) fn hold(&mut self, line: LineHandle) {
        self.line = Some(line);
    }

    #[inline]
    fn words(&self) -> Option<Words<'_>> {
        match &self.words {
            PeerWords::Here(place) => Some(place.words()),
            PeerWords::There(page, at) => Words::at(page, *at),
        }
    }

    /// The value, while its event lives.
    #[inline]
    fn value(&self) -> Result<&AtomicU64> {
        match self.words() {
            Some(words) if words.is_of(self.event) && !self.gone.load(Ordering::Relaxed) => Ok(words.value()),
            _ => Err(self.ended()),
        }
    }

    #[cold]
    fn ended(&self) -> Error {
        let (event, pid) = (self.event, self.owner.pid);
        if self.words().is_some_and(|words| words.is_of(event)) {
            log::error!(target: LOG, "sync event {event} of process {pid}: the process has ended");
            return Error::new(Code::ConnectionReset, "the process of the event has ended");
        }
        log::error!(target: LOG, "sync event {event} of process {pid}: it was stopped there");
        Error::new(Code::Shutdown, "the event was stopped by its owner")
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Peer(event {} of process {}, {:?})", self.event, self.owner.pid, self.words)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.hang_up();
        }
    }
}

/// Notes that the owner is gone.
struct Watcher(Arc<AtomicBool>);

impl Tie for Watcher {
    fn gone(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Cell {
    #[inline]
    fn on<R>(&self, act: impl FnOnce(&AtomicU64) -> R) -> Result<R> {
        match self {
            Cell::Own(place) => Ok(act(place.words().value())),
            Cell::Program(word) => Ok(act(word.get())),
            Cell::Buffer { lent, .. } => match lent.node() {
                Some(node) => with_word(node, act).inspect_err(|_| no_memory_left()),
                None => {
                    no_memory_left();
                    Err(Error::new(Code::InvalidValue, "the buffer was released"))
                }
            },
            Cell::Peer(peer) => peer.value().map(act),
            Cell::PeerBuffer { map, at } => with_word_at(map.region(), *at, act).map_err(|_| {
                no_memory_left();
                Error::new(Code::Shutdown, "the event was stopped by its owner")
            }),
            Cell::Real(_) => Err(Error::new(Code::NotSupported, "the value is not in memory of ours")),
        }
    }

    /// What cannot be done in memory of ours is asked of the card, if it is one's.
    #[cold]
    fn on_card<R>(&self, error: Error, act: impl FnOnce(&dyn RealEvent) -> Result<R>) -> Result<R> {
        match self {
            Cell::Real(event) => act(&**event),
            _ => Err(error),
        }
    }

    /// The value.
    #[inline]
    pub(crate) fn get(&self) -> Result<u64> {
        let value = self.on(|value| value.load(Ordering::Acquire));
        value.or_else(|error| self.on_card(error, |event| event.get()))
    }

    /// Changes the value.
    #[inline]
    pub(crate) fn set(&self, to: u64) -> Result<()> {
        let set = self.on(|value| value.store(to, Ordering::Release));
        set.or_else(|error| self.on_card(error, |event| event.set(to)))
    }

    /// Adds to the value, modulo 2^64; gives the value before.
    #[inline]
    pub(crate) fn add(&self, by: u64) -> Result<u64> {
        let before = self.on(|value| value.fetch_add(by, Ordering::AcqRel));
        before.or_else(|error| self.on_card(error, |event| event.add(by)))
    }

    /// Looks until the condition holds; `pause` is called between looks and ends the wait with an error.
    pub(crate) fn wait(&self, condition: Condition, mut pause: impl FnMut() -> Result<()>) -> Result<u64> {
        loop {
            let seen = self.get()?;
            if condition.holds(seen) {
                return Ok(seen);
            }
            pause()?;
        }
    }
}

#[cold]
fn no_memory_left() {
    log::error!(target: LOG, "sync event in a buffer: its memory was stopped, or the buffer released");
}
