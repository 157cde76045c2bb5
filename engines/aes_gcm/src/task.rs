//! The tasks, and the job they become in a slot.

use crate::ffi::{SHORT_TAG, TAG};
use crate::hardware::AesGcm;
use crate::key::{Iv, Key};
use crate::lent::LentKey;
use softdpu_memory::buf::{Buf, Lend as _};
use softdpu_memory::node::Lent;
use softdpu_room::task::Task;

/// Which way a job goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Direction {
    /// [`Encrypt`].
    Encrypt = 0,
    /// [`Decrypt`].
    Decrypt = 1,
}

impl Direction {
    /// For messages.
    pub(crate) fn name(self) -> &'static str {
        ["encrypt", "decrypt"][self as usize]
    }
}

/// How long a tag is. Short ones are the first bytes of whole ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TagLen {
    /// 12 bytes.
    Bits96,
    /// 16 bytes.
    #[default]
    Bits128,
}

impl TagLen {
    /// In bytes.
    #[expect(clippy::len_without_is_empty, reason = "the length itself")]
    pub const fn len(self) -> usize {
        match self {
            TagLen::Bits96 => SHORT_TAG,
            TagLen::Bits128 => TAG,
        }
    }

    /// From a number of bytes: 12 or 16.
    pub fn from_len(len: u32) -> Option<TagLen> {
        [TagLen::Bits96, TagLen::Bits128].into_iter().find(|tag| tag.len() == len as usize)
    }
}

/// Encrypts the data of `src` (and of what is chained to it) behind the data of `dst`.
///
/// The first `aad_len` bytes of the source are additional data: authenticated and copied as they are. What is added to
/// the destination is additional data, cipher text, tag; the result is how many bytes that are. Both lists may be cut
/// anywhere.
///
/// ```
/// use softdpu_aes_gcm::{AesGcm, Config, Decrypt, Encrypt, Iv, Key, TagLen};
/// # use softdpu_card::{EngineKind, Machine};
/// # use softdpu_memory::{Access, Memory};
/// # use softdpu_room::{pump::ProgressEngine, session::Session, typed::Context};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let session = Session::new(Machine::builder().build()?, softdpu_room::session::inline());
/// let device = session.first_with(EngineKind::AesGcm)?.open()?;
/// let mut pe = ProgressEngine::new(&session)?;
/// let mut aes_gcm = Context::<AesGcm>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
///
/// let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[device.shared()])?;
/// let mut src = memory.buf(..1024)?;
/// src.push_slice(b"header, then the secret")?;
/// let (key, iv, tag) = (Key::new(&[7; 32])?, Iv::from([1; 12]), TagLen::Bits128);
/// let sealed = pe.run(aes_gcm.submit(Encrypt {
///     src,
///     dst: memory.buf(1024..2048)?,
///     key: key.clone(),
///     iv,
///     aad_len: 8,
///     tag,
/// }).map_err(|refused| refused.error)?);
/// assert_eq!(sealed.result?, 23 + 16);
/// assert_eq!(&sealed.task.dst.to_vec()[..8], b"header, ");
///
/// let (src, dst) = (sealed.task.dst, memory.buf(2048..3072)?);
/// let opened = pe.run(aes_gcm.submit(Decrypt { src, dst, key, iv, aad_len: 8, tag }).map_err(|refused| refused.error)?);
/// assert_eq!(opened.result?, 23);
/// assert_eq!(opened.task.dst.to_vec(), b"header, then the secret");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Encrypt {
    /// Additional data, then plain text.
    pub src: Buf,
    /// Where additional data, cipher text and tag go.
    pub dst: Buf,
    /// The key.
    pub key: Key,
    /// The initialisation vector, used once for this key.
    pub iv: Iv,
    /// Bytes of additional data.
    pub aad_len: u32,
    /// Length of the tag.
    pub tag: TagLen,
}

/// Decrypts the data of `src` (additional data, cipher text, tag) behind the data of `dst`, to which additional data and
/// plain text are added; the result is how many bytes that are.
///
/// A message that is not authentic fails with IoFailed: the destination's data does not grow, and no plain text is left
/// behind it.
///
/// ```
/// # use softdpu_aes_gcm::{AesGcm, Config, Decrypt, Iv, Key, TagLen};
/// # use softdpu_card::{EngineKind, Machine};
/// # use softdpu_memory::{Access, Memory};
/// # use softdpu_room::{pump::ProgressEngine, session::Session, typed::Context};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let session = Session::new(Machine::builder().build()?, softdpu_room::session::inline());
/// # let device = session.first_with(EngineKind::AesGcm)?.open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let mut aes_gcm = Context::<AesGcm>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
/// # let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[device.shared()])?;
/// let (mut src, dst) = (memory.buf(..64)?, memory.buf(64..128)?);
/// src.push_slice(&[0x55; 40])?; // nobody sealed this
/// let (key, iv, tag) = (Key::new(&[7; 32])?, Iv::from([1; 12]), TagLen::Bits96);
/// let done = pe.run(aes_gcm.submit(Decrypt { src, dst, key, iv, aad_len: 0, tag }).map_err(|refused| refused.error)?);
/// assert_eq!(done.result.map_err(|e| e.code()), Err(softdpu_status::Code::IoFailed));
/// assert_eq!(done.task.dst.data_len(), 0);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Decrypt {
    /// Additional data, cipher text, tag.
    pub src: Buf,
    /// Where additional data and plain text go.
    pub dst: Buf,
    /// The key.
    pub key: Key,
    /// The initialisation vector the message was encrypted with.
    pub iv: Iv,
    /// Bytes of additional data.
    pub aad_len: u32,
    /// Length of the tag.
    pub tag: TagLen,
}

/// Encrypts the data of `buf` (and of what is chained to it) where it is.
///
/// The first `aad_len` bytes are additional data, which stay as they are. The tag is put behind the cipher text, so that
/// there must be room for it; the result is how many bytes the data has then. Of a list, data begins where the data of
/// each element did and fills one element after the other.
///
/// ```
/// use softdpu_aes_gcm::{AesGcm, Config, DecryptInPlace, EncryptInPlace, Iv, Key, TagLen};
/// # use softdpu_card::{EngineKind, Machine};
/// # use softdpu_memory::{Access, Memory};
/// # use softdpu_room::{pump::ProgressEngine, session::Session, typed::Context};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let session = Session::new(Machine::builder().build()?, softdpu_room::session::inline());
/// # let device = session.first_with(EngineKind::AesGcm)?.open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let mut aes_gcm = Context::<AesGcm>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
/// # let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[device.shared()])?;
/// let mut buf = memory.buf(..1024)?;
/// buf.push_slice(b"header, then the secret")?;
/// let (key, iv, tag) = (Key::new(&[7; 32])?, Iv::from([1; 12]), TagLen::Bits128);
/// let task = EncryptInPlace { buf, key: key.clone(), iv, aad_len: 8, tag };
/// let sealed = pe.run(aes_gcm.submit(task).map_err(|refused| refused.error)?);
/// assert_eq!((sealed.result?, &sealed.task.buf.to_vec()[..8]), (23 + 16, &b"header, "[..]));
///
/// let task = DecryptInPlace { buf: sealed.task.buf, key, iv, aad_len: 8, tag };
/// let opened = pe.run(aes_gcm.submit(task).map_err(|refused| refused.error)?);
/// assert_eq!((opened.result?, opened.task.buf.to_vec()), (23, b"header, then the secret".to_vec()));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct EncryptInPlace {
    /// Additional data and plain text, and room for the tag.
    pub buf: Buf,
    /// The key.
    pub key: Key,
    /// The initialisation vector, used once for this key.
    pub iv: Iv,
    /// Bytes of additional data.
    pub aad_len: u32,
    /// Length of the tag.
    pub tag: TagLen,
}

/// Decrypts the data of `buf` (additional data, cipher text, tag) where it is; the tag is taken off, and the result is how
/// many bytes of data are left.
///
/// A message that is not authentic fails with IoFailed: the ranges of data stay as they were, but what they hold in place
/// of the text is lost, and no plain text is left.
#[derive(Debug)]
pub struct DecryptInPlace {
    /// Additional data, cipher text, tag.
    pub buf: Buf,
    /// The key.
    pub key: Key,
    /// The initialisation vector the message was encrypted with.
    pub iv: Iv,
    /// Bytes of additional data.
    pub aad_len: u32,
    /// Length of the tag.
    pub tag: TagLen,
}

/// A task in a slot: of the Rust face, which owns what it names, or of the C face, which does not.
#[derive(Debug)]
pub struct Job(pub(crate) Kind);

#[derive(Debug)]
pub(crate) enum Kind {
    Encrypt(Encrypt),
    Decrypt(Decrypt),
    EncryptInPlace(EncryptInPlace),
    DecryptInPlace(DecryptInPlace),
    #[cfg(feature = "capi")]
    Lent(Lending),
}

/// A task of the C face.
#[cfg(feature = "capi")]
#[derive(Debug)]
pub(crate) struct Lending {
    pub(crate) parts: Parts,
    /// Where the program has its vector.
    pub(crate) iv_at: usize,
}

/// What a job is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) src: Lent,
    pub(crate) dst: Lent,
    pub(crate) key: LentKey,
    pub(crate) iv: Iv,
    pub(crate) aad_len: u32,
    pub(crate) tag_len: u32,
    pub(crate) direction: Direction,
    /// Source and destination are one.
    pub(crate) in_place: bool,
}

macro_rules! parts {
    ($task:expr, $direction:ident, $src:ident, $dst:ident, $in_place:literal) => {
        Parts {
            src: $task.$src.lend(),
            dst: $task.$dst.lend(),
            key: LentKey::of($task.key.object()),
            iv: $task.iv,
            aad_len: $task.aad_len,
            tag_len: $task.tag.len() as u32,
            direction: Direction::$direction,
            in_place: $in_place,
        }
    };
}

/// A message that lies apart from its result, for a board that gives it to other hardware.
#[derive(Debug)]
pub struct Message<'a> {
    /// Additional data, then text; behind a cipher text its tag.
    pub src: Lent,
    /// Where the result goes.
    pub dst: Lent,
    /// The bytes of the key.
    pub key: &'a [u8],
    /// The initialisation vector.
    pub iv: Iv,
    /// Bytes of additional data.
    pub aad_len: u32,
    /// Bytes of the tag.
    pub tag_len: u32,
    /// Which way it goes.
    pub direction: Direction,
}

impl Job {
    /// The message of a job of the Rust face that does not work in place.
    pub fn message(&self) -> Option<Message<'_>> {
        let key = match &self.0 {
            Kind::Encrypt(task) => &task.key,
            Kind::Decrypt(task) => &task.key,
            _ => return None,
        };
        let Parts { src, dst, iv, aad_len, tag_len, direction, .. } = self.parts();
        Some(Message { src, dst, key: key.object().bytes(), iv, aad_len, tag_len, direction })
    }

    #[inline(always)]
    pub(crate) fn parts(&self) -> Parts {
        match &self.0 {
            Kind::Encrypt(task) => parts!(task, Encrypt, src, dst, false),
            Kind::Decrypt(task) => parts!(task, Decrypt, src, dst, false),
            Kind::EncryptInPlace(task) => parts!(task, Encrypt, buf, buf, true),
            Kind::DecryptInPlace(task) => parts!(task, Decrypt, buf, buf, true),
            #[cfg(feature = "capi")]
            Kind::Lent(task) => task.parts,
        }
    }
}

macro_rules! task {
    ($name:ident) => {
        impl Task for $name {
            type Engine = AesGcm;
            type Output = u64;

            #[inline(always)]
            fn into_job(self) -> Job {
                Job(Kind::$name(self))
            }

            #[inline(always)]
            fn from_job(job: Job) -> $name {
                match job.0 {
                    Kind::$name(task) => task,
                    _ => unreachable!("jobs of the Rust face are made by `into_job` alone"),
                }
            }

            #[inline(always)]
            fn output(raw: u64) -> u64 {
                raw
            }
        }
    };
}
task!(Encrypt);
task!(Decrypt);
task!(EncryptInPlace);
task!(DecryptInPlace);
