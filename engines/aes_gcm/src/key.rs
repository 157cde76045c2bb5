//! Keys and initialisation vectors of the Rust face.

use crate::lent::KeyObject;
use core::fmt;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// An AES key with its schedule, shared by the tasks that use it. Clones are cheap; the schedule is wiped when the last
/// one goes. Any device that takes its size takes it.
///
/// ```
/// use softdpu_aes_gcm::Key;
///
/// let key = Key::new(&[7; 32])?;
/// assert_eq!(key.bits(), 256);
/// assert!(Key::new(&[7; 24]).is_err());
/// # Ok::<(), softdpu_status::Error>(())
/// ```
#[derive(Clone)]
pub struct Key(Arc<KeyObject>);

impl Key {
    /// From 16 or 32 bytes, of which no copy is kept.
    ///
    /// # Errors
    /// InvalidValue for another length, NoMemory.
    pub fn new(raw: &[u8]) -> Result<Key> {
        let key = Arc::new(KeyObject::new(raw, 0)?);
        key.wake();
        Ok(Key(key))
    }

    /// 128 or 256.
    pub fn bits(&self) -> u32 {
        self.0.cipher().bits()
    }

    pub(crate) fn object(&self) -> &KeyObject {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(AES-{})", self.bits())
    }
}

/// An initialisation vector of up to [`Iv::MAX`] bytes. Never use one twice for encrypting with the same key.
///
/// Twelve bytes are usual and fastest; other lengths, none included, go through the standard's hash rule.
///
/// ```
/// use softdpu_aes_gcm::Iv;
///
/// assert_eq!(Iv::from([1; 12]).as_bytes(), [1; 12]);
/// assert_eq!(Iv::new(b"short")?.as_bytes(), b"short");
/// assert!(Iv::new(&[0; 13]).is_err());
/// # Ok::<(), softdpu_status::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Iv {
    bytes: [u8; Iv::MAX],
    len: u8,
}

impl Iv {
    /// Most bytes.
    pub const MAX: usize = 12;

    /// From its bytes.
    ///
    /// # Errors
    /// InvalidValue for more than [`Iv::MAX`].
    pub fn new(iv: &[u8]) -> Result<Iv> {
        let mut bytes = [0; Iv::MAX];
        let Some(place) = bytes.get_mut(..iv.len()) else {
            log::error!(target: "softdpu::aes_gcm", "initialisation vector of {} bytes, limit {}", iv.len(), Iv::MAX);
            return Err(Error::new(Code::InvalidValue, "the initialisation vector is too long"));
        };
        place.copy_from_slice(iv);
        Ok(Iv { bytes, len: iv.len() as u8 })
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl From<[u8; Iv::MAX]> for Iv {
    fn from(bytes: [u8; Iv::MAX]) -> Iv {
        Iv { bytes, len: Iv::MAX as u8 }
    }
}

impl fmt::Debug for Iv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Iv({:02x?})", self.as_bytes())
    }
}
