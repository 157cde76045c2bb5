//! Received messages: owned, and their memory used again.

use crate::event::Message as Bytes;
use core::fmt;
use core::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Memory of messages that were dropped.
#[derive(Debug)]
pub(super) struct Spare {
    free: Mutex<Vec<Bytes>>,
    limit: usize,
}

impl Spare {
    /// Keeps at most `limit` of them.
    pub(super) fn new(limit: usize) -> Arc<Spare> {
        Arc::new(Spare { free: Mutex::new(Vec::new()), limit })
    }

    /// Moves all of it to an empty list.
    pub(super) fn take(&self, into: &mut Vec<Bytes>) {
        core::mem::swap(&mut *self.free.lock().unwrap_or_else(PoisonError::into_inner), into);
    }

    fn give(&self, bytes: Bytes) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < self.limit {
            free.push(bytes);
        }
    }
}

/// A message that came over a connection. It belongs to whoever holds it, on any thread; once dropped, its memory is used
/// for a later message of the same server or client.
///
/// ```
/// use softdpu::comch::Message;
///
/// /// Answers in capitals, in the same memory.
/// fn shout(message: &mut Message) -> &[u8] {
///     message.make_ascii_uppercase();
///     message
/// }
/// ```
pub struct Message {
    bytes: Option<Bytes>,
    spare: Arc<Spare>,
}

impl Message {
    pub(super) fn new(bytes: Bytes, spare: &Arc<Spare>) -> Message {
        Message { bytes: Some(bytes), spare: spare.clone() }
    }
}

impl Deref for Message {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.as_ref().map_or(&[], |bytes| bytes.bytes())
    }
}

impl DerefMut for Message {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.bytes.as_mut().map_or(&mut [], |bytes| bytes.bytes_mut())
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Message {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message({} bytes)", self.len())
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if let Some(bytes) = self.bytes.take() {
            self.spare.give(bytes);
        }
    }
}
