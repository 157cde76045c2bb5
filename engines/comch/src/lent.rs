//! What a C program lends to a task: the bytes of a message, and the connection it goes to.
//!
//! Both may be gone by the time they are looked at. A connection is asked whether it lives; bytes are looked at inside
//! submit alone, where the contract keeps them. Tasks of the Rust face own both.
#![expect(unsafe_code, reason = "bytes and connections that C holds by pointer")]

use crate::connection::Connection;
use crate::sync::AtomicU64;
use softdpu_memory::handle::{Head, Object, kind, live};
use std::sync::Arc;

/// A connection as C programs hold it.
#[derive(Debug)]
#[repr(C)]
pub struct Handle {
    head: Head,
    connection: Arc<Connection>,
    /// Address of the context it belongs to.
    owner: usize,
    /// Program's cookie.
    user: AtomicU64,
    /// Counters as they were when the program last asked: messages and bytes sent, messages and bytes received.
    snapshot: [AtomicU64; 4],
}

// SAFETY: repr(C), head first.
unsafe impl Object for Handle {
    const KIND: u32 = kind::COMCH_CONNECTION;
    const NAME: &'static str = "connection";
}

impl Handle {
    /// Of the context at address `owner`. Not alive yet.
    pub fn new(connection: Arc<Connection>, owner: usize) -> Handle {
        let zero = || AtomicU64::new(0);
        Handle { head: Head::unborn(), connection, owner, user: zero(), snapshot: [(); 4].map(|()| zero()) }
    }

    /// Brings one to life that is not in a slab, for a task of the Rust face.
    pub fn wake(&self) {
        self.head.wake(Self::KIND);
    }

    /// What it stands for.
    #[inline]
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Program's cookie.
    pub fn user(&self) -> &AtomicU64 {
        &self.user
    }

    /// Counters as they were when the program last asked: messages and bytes sent, messages and bytes received.
    pub fn snapshot(&self) -> &[AtomicU64; 4] {
        &self.snapshot
    }

    /// Address of the context it belongs to.
    pub fn owner(&self) -> usize {
        self.owner
    }
}

/// A connection lent to a task.
#[derive(Clone, Copy, Debug)]
pub struct LentConnection(*const Handle);

// SAFETY: connections are for any thread; whether the handle lives is asked on the thread that submits (C), or the task
// owns it (Rust).
unsafe impl Send for LentConnection {}
// SAFETY: as above.
unsafe impl Sync for LentConnection {}

impl LentConnection {
    /// From a C handle.
    ///
    /// # Safety
    /// NULL, or a handle this library gave out (possibly stale).
    pub unsafe fn from_handle(handle: *const Handle) -> LentConnection {
        LentConnection(handle)
    }

    /// For a task that owns a share of the handle.
    pub fn of(handle: &Arc<Handle>) -> LentConnection {
        LentConnection(Arc::as_ptr(handle))
    }

    /// The connection, if the handle lives.
    #[inline]
    pub(crate) fn get<'a>(self) -> Option<&'a Connection> {
        // SAFETY: handles of C programs are type-stable; those of the Rust face are owned by the task that lends them.
        unsafe { live(self.0) }.map(|handle| &*handle.connection)
    }
}

/// Bytes lent to a task.
#[derive(Clone, Copy, Debug)]
pub struct LentBytes {
    at: *const u8,
    len: u32,
}

// SAFETY: looked at on the thread that submits, while the program keeps them.
unsafe impl Send for LentBytes {}
// SAFETY: as above.
unsafe impl Sync for LentBytes {}

impl LentBytes {
    /// No bytes.
    pub const NONE: LentBytes = LentBytes { at: core::ptr::null(), len: 0 };

    /// From what a C program gave.
    ///
    /// # Safety
    /// `at` is good for reading `len` bytes whenever the task is submitted; NULL stands for none.
    pub unsafe fn new(at: *const u8, len: u32) -> LentBytes {
        if at.is_null() { LentBytes::NONE } else { LentBytes { at, len } }
    }

    /// Of bytes that the task owns and nobody moves.
    pub fn of(bytes: &[u8]) -> LentBytes {
        LentBytes { at: bytes.as_ptr(), len: bytes.len() as u32 }
    }

    /// How many.
    pub fn len(self) -> u32 {
        self.len
    }

    /// Are there none?
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Where they are, as the program said.
    pub fn as_ptr(self) -> *const u8 {
        self.at
    }

    /// The bytes; only inside submit.
    #[inline]
    pub(crate) fn bytes<'a>(self) -> &'a [u8] {
        if self.at.is_null() {
            return &[];
        }
        // SAFETY: readable by the promise of whoever made it; nobody writes them during submit.
        unsafe { core::slice::from_raw_parts(self.at, self.len as usize) }
    }
}
