//! Where messages wait whose ring is full: room for every task of a context, set up when it starts.

use softdpu_link::{Mapping, Segment};
use softdpu_status::{Code, Error, Result};
use std::sync::{Mutex, PoisonError};

/// Places for messages.
#[derive(Debug)]
pub(crate) struct Store {
    /// Memory of this process alone, taken page by page as it is touched.
    places: Mapping,
    size: usize,
    free: Mutex<Vec<u32>>,
}

impl Store {
    /// Room for `count` messages of at most `msg` bytes.
    ///
    /// # Errors
    /// NoMemory, with one log line.
    pub(crate) fn new(count: u32, msg: u32) -> Result<Store> {
        let size = (msg as usize).next_multiple_of(8);
        let bytes = size.saturating_mul(count as usize).max(8);
        let places = Segment::create("softdpu-comch-store", bytes).map_err(|_| no_memory(count, msg))?;
        let mut free = Vec::new();
        free.try_reserve_exact(count as usize).map_err(|_| no_memory(count, msg))?;
        free.extend((0..count).rev());
        Ok(Store { places: places.into_mapping(), size, free: Mutex::new(free) })
    }

    /// Puts a message away. `None`: there are more than there are tasks, which cannot be.
    pub(crate) fn put(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > self.size {
            return None;
        }
        let place = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        self.places.put(place as usize * self.size, bytes);
        Some(place)
    }

    /// Copies a message out and keeps it.
    pub(crate) fn get(&self, place: u32, into: &mut [u8]) {
        self.places.get(place as usize * self.size, into);
    }

    /// The message is not needed any more.
    pub(crate) fn free(&self, place: u32) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(place);
    }
}

fn no_memory(count: u32, msg: u32) -> Error {
    log::error!(target: crate::LOG, "no memory for {count} messages of {msg} bytes to wait in");
    Error::new(Code::NoMemory, "no memory for messages")
}
