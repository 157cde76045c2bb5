//! Keys and initialisation vectors of the Rust face.

use crate::lent::KeyObject;
use core::fmt;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// An AES key with its schedule, shared by the tasks that use it. Clones are cheap; all of it is wiped when the last
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
    /// From 16 or 32 bytes. Wipe yours if they are not needed any more.
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
/// let iv = Iv::new(b"short")?;
/// assert_eq!((iv.len(), &iv.to_array()[..iv.len()]), (5, &b"short"[..]));
/// assert_eq!(Iv::from([1; 12]).to_array(), [1; 12]);
/// assert!(Iv::new(&[0; 13]).is_err());
/// # Ok::<(), softdpu_status::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Iv {
    /// Its first eight bytes.
    head: u64,
    /// Four more, and above them its length as the program said it (C); [`Iv::new`] lets no more than MAX through. Two
    /// words, because bytes that were just written are slow to move on in another width.
    tail: u64,
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
        Ok(Iv::noted(bytes, iv.len() as u32))
    }

    /// One that may be too long, to be refused later (C).
    #[inline(always)]
    pub(crate) fn noted(bytes: [u8; Iv::MAX], len: u32) -> Iv {
        let [a, b, c, d, e, f, g, h, rest @ ..] = bytes;
        let head = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
        Iv { head, tail: u64::from(u32::from_ne_bytes(rest)) | u64::from(len) << 32 }
    }

    /// Bytes, as the program said.
    #[inline(always)]
    pub(crate) fn said(&self) -> u32 {
        (self.tail >> 32) as u32
    }

    /// Bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        (self.said() as usize).min(Iv::MAX)
    }

    /// Has it no bytes?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its bytes, and zeros behind them.
    #[inline(always)]
    pub fn to_array(&self) -> [u8; Iv::MAX] {
        let [a, b, c, d, e, f, g, h] = self.head.to_ne_bytes();
        let [i, j, k, l] = (self.tail as u32).to_ne_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }

    /// The usual vector of twelve bytes, if it is one.
    #[inline(always)]
    pub(crate) fn usual(&self) -> Option<[u8; Iv::MAX]> {
        (self.said() == Iv::MAX as u32).then(|| self.to_array())
    }
}

impl From<[u8; Iv::MAX]> for Iv {
    #[inline(always)]
    fn from(bytes: [u8; Iv::MAX]) -> Iv {
        Iv::noted(bytes, Iv::MAX as u32)
    }
}

impl fmt::Debug for Iv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Iv({:02x?})", &self.to_array()[..self.len()])
    }
}
