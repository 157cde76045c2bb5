//! The key object, which C programs hold by pointer, and keys lent to tasks.
#![expect(unsafe_code, reason = "keys that C holds by pointer")]

use crate::ffi::Cipher;
use crate::secret::Secret;
use softdpu_memory::handle::{Head, Object, kind, live};
use softdpu_status::Result;

/// A key, as C programs hold it and as the Rust face's [`Key`](crate::Key) shares it.
#[derive(Debug)]
#[repr(C)]
pub struct KeyObject {
    head: Head,
    /// Address of the context it belongs to (C); 0 for keys of the Rust face, which belong to none.
    owner: usize,
    cipher: Cipher,
    /// Of keys of the Rust face, for boards that give messages to other hardware; of others, nothing.
    secret: Secret,
}

// SAFETY: repr(C), head first.
unsafe impl Object for KeyObject {
    const KIND: u32 = kind::AES_GCM_KEY;
    const NAME: &'static str = "AES-GCM key";
}

impl KeyObject {
    /// From 16 or 32 bytes.
    ///
    /// # Errors
    /// InvalidValue for another length, NoMemory.
    pub(crate) fn new(raw: &[u8], owner: usize) -> Result<KeyObject> {
        let cipher = Cipher::new(raw).inspect_err(|e| {
            log::error!(target: "softdpu::aes_gcm", "AES-GCM key of {} bytes: {}", raw.len(), e.what());
        })?;
        let secret = Secret::of(if owner == 0 { raw } else { &[] });
        Ok(KeyObject { head: Head::unborn(), owner, cipher, secret })
    }

    /// Brings a key to life that is not in a slab.
    pub(crate) fn wake(&self) {
        self.head.wake(Self::KIND);
    }

    /// See the field.
    pub(crate) fn owner(&self) -> usize {
        self.owner
    }

    /// The key itself, if it is one of the Rust face.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.secret.bytes()
    }

    /// The schedules.
    pub(crate) fn cipher(&self) -> &Cipher {
        &self.cipher
    }
}

/// A key lent to a task. It may be gone by the time the task flies (C), so every use asks whether it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LentKey(*const KeyObject);

// SAFETY: keys may be used from any thread; whoever gave it keeps it while the task flies (the C contract; by owning it
// in Rust).
unsafe impl Send for LentKey {}
// SAFETY: as above.
unsafe impl Sync for LentKey {}

impl LentKey {
    /// From a C handle.
    ///
    /// # Safety
    /// NULL, or a handle this library gave out (possibly stale).
    #[cfg(feature = "capi")]
    pub(crate) unsafe fn from_handle(key: *const KeyObject) -> LentKey {
        LentKey(key)
    }

    /// The handle.
    #[cfg(feature = "capi")]
    pub(crate) fn handle(self) -> *const KeyObject {
        self.0
    }

    /// For a task that owns a share of the key.
    pub(crate) fn of(key: &KeyObject) -> LentKey {
        LentKey(key)
    }

    /// The key, if it lives.
    #[inline(always)]
    pub(crate) fn get<'a>(self) -> Option<&'a KeyObject> {
        // SAFETY: keys of C programs are type-stable; those of the Rust face are owned by the task that lends them.
        unsafe { live(self.0) }
    }
}
