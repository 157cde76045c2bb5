//! What producers send: a buffer, immediate data, or both.

use crate::caps::MAX_IMM;
use core::fmt;
use core::num::NonZeroU8;
use softdpu_memory::Buf;
use softdpu_status::{Code, Error, Result};

/// Immediate data: a few bytes that travel with a buffer, or alone, and lie in no registered memory. How many a device
/// takes is [`Caps::max_imm_data_len`](crate::Caps), 32 unless the topology says otherwise; the type holds 64.
///
/// ```
/// use softdpu::comch::Imm;
/// # fn main() -> softdpu::Result<()> {
/// let imm = Imm::new(&7u32.to_le_bytes())?;
/// assert_eq!(imm.as_bytes(), [7, 0, 0, 0]);
/// assert!(Imm::new(&[0; 65]).is_err());
/// assert!(Imm::default().is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct Imm {
    /// One more than there are bytes: with that, a job that may own some fits its slot.
    len_and_one: NonZeroU8,
    bytes: [u8; MAX_IMM as usize],
}

impl Imm {
    /// A copy of the bytes.
    ///
    /// # Errors
    /// InvalidValue: more than 64.
    pub fn new(bytes: &[u8]) -> Result<Imm> {
        let mut imm = Imm::default();
        let Some(room) = imm.bytes.get_mut(..bytes.len()) else {
            log::error!(target: crate::LOG, "{} bytes of immediate data, at most {MAX_IMM}", bytes.len());
            return Err(Error::new(Code::InvalidValue, "too many bytes of immediate data"));
        };
        room.copy_from_slice(bytes);
        imm.len_and_one = NonZeroU8::MIN.saturating_add(bytes.len() as u8);
        Ok(imm)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len_and_one.get() - 1)]
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len_and_one == NonZeroU8::MIN
    }
}

impl Default for Imm {
    fn default() -> Imm {
        Imm { len_and_one: NonZeroU8::MIN, bytes: [0; MAX_IMM as usize] }
    }
}

impl PartialEq for Imm {
    fn eq(&self, other: &Imm) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Imm {}

impl fmt::Debug for Imm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Imm({:02x?})", self.as_bytes())
    }
}

/// What a producer sends and gets back: the data of a buffer (and of what is chained to it), immediate data, or both.
///
/// ```
/// use softdpu::comch::Payload;
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.devices()[0].open()?;
/// let memory = Memory::heap(4096).register(&[&device])?;
/// let block = Payload::from(memory.buf(..)?).with_imm(b"block 7")?;
/// assert_eq!(block.imm.as_bytes(), b"block 7");
/// let note = Payload::imm(b"no block")?;
/// assert!(note.buf.is_none());
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct Payload {
    /// The buffer.
    pub buf: Option<Buf>,
    /// Immediate data.
    pub imm: Imm,
}

impl Payload {
    /// Immediate data alone.
    ///
    /// # Errors
    /// As [`Imm::new`].
    pub fn imm(bytes: &[u8]) -> Result<Payload> {
        Ok(Payload { buf: None, imm: Imm::new(bytes)? })
    }

    /// With immediate data.
    ///
    /// # Errors
    /// As [`Imm::new`].
    pub fn with_imm(self, bytes: &[u8]) -> Result<Payload> {
        Ok(Payload { imm: Imm::new(bytes)?, ..self })
    }
}

impl From<Buf> for Payload {
    fn from(buf: Buf) -> Payload {
        Payload { buf: Some(buf), imm: Imm::default() }
    }
}

impl From<Imm> for Payload {
    fn from(imm: Imm) -> Payload {
        Payload { buf: None, imm }
    }
}
