//! The tasks, and the job they become in a slot.

use crate::algorithm::Algorithm;
use crate::hardware::Sha;
use crate::state::HashState;
use softdpu_memory::buf::{Buf, Lend as _};
use softdpu_memory::node::Lent;
use softdpu_room::task::Task;

/// Hashes the data of `src` (and of what is chained to it) and puts the digest behind the data of `dst`, in its first
/// element. The result is the length of the digest.
#[derive(Debug)]
pub struct Hash {
    /// The hash function.
    pub algorithm: Algorithm,
    /// The message.
    pub src: Buf,
    /// Where to: into the room behind its data.
    pub dst: Buf,
}

/// Hashes the next piece of a message: a multiple of [`Algorithm::block_len`]. The result is the number of bytes hashed
/// so far.
///
/// ```
/// # use softdpu_card::{EngineKind, Machine};
/// # use softdpu_memory::{Access, Memory};
/// # use softdpu_room::{pump::ProgressEngine, session::Session, typed::Context};
/// use softdpu_sha::{Algorithm, Config, Finish, HashState, Sha, Update};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let session = Session::new(Machine::builder().build()?, softdpu_board::inline());
/// # let device = session.first_with(EngineKind::Sha)?.open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let mut sha = Context::<Sha>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
/// let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[device.shared()])?;
/// let (mut src, dst) = (memory.buf(..1024)?, memory.buf(1024..1088)?);
/// src.push_slice(&[b'a'; 1024])?;
/// let first = Update { hash: HashState::new(Algorithm::Sha512), src };
/// let flight = sha.submit(first).map_err(|refused| refused.error)?;
/// let mut done = pe.run(flight);
/// assert_eq!(done.result?, 1024);
/// done.task.src.set_data(..11)?;
/// let last = Finish { hash: done.task.hash, src: done.task.src, dst };
/// let flight = sha.submit(last).map_err(|refused| refused.error)?;
/// let done = pe.run(flight);
/// assert_eq!((done.result?, done.task.dst.data_len(), done.task.hash.hashed()), (64, 64, 1035));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Update {
    /// The hash under way.
    pub hash: HashState,
    /// The next piece.
    pub src: Buf,
}

/// Hashes the last piece of a message, of any length, and puts the digest behind the data of `dst`. The result is the
/// length of the digest.
#[derive(Debug)]
pub struct Finish {
    /// The hash under way; finished afterwards.
    pub hash: HashState,
    /// The last piece; may be empty.
    pub src: Buf,
    /// Where to: into the room behind its data.
    pub dst: Buf,
}

/// A hash in a slot. Both faces fill all but `owned`, where Rust's buffers travel.
#[derive(Debug)]
pub struct Job {
    pub(crate) src: Lent,
    pub(crate) dst: Lent,
    pub(crate) hash: HashState,
    /// Is it the whole message? Then every run starts anew.
    pub(crate) whole: bool,
    pub(crate) owned: Option<Owned>,
}

/// The buffers of a Rust task.
#[derive(Debug)]
pub(crate) enum Owned {
    Hash(Buf, Buf),
    Update(Buf),
    Finish(Buf, Buf),
}

impl Job {
    /// Hash function, message and place of the digest of a job that is a whole message.
    pub fn whole_message(&self) -> Option<(Algorithm, Lent, Lent)> {
        self.whole.then(|| (self.hash.algorithm(), self.src, self.dst))
    }

    /// The piece of a job that is not a whole message.
    pub fn piece(&self) -> Option<Piece> {
        (!self.whole).then(|| Piece {
            algorithm: self.hash.algorithm(),
            src: self.src,
            dst: self.hash.last.then_some(self.dst),
            before: self.hash.done,
            ticket: self.hash.ticket(),
        })
    }

    /// Other hardware has hashed the piece; the message has so many bytes now, and is known there by `ticket`.
    pub fn hashed_elsewhere(&mut self, ticket: u64, bytes: u64) {
        self.hash.set_ticket(ticket, bytes);
    }

    /// Other hardware has made the digest of a message of so many bytes.
    pub fn finished_elsewhere(&mut self, bytes: u64) {
        self.hash.done = bytes;
        self.hash.finished = true;
    }

    /// Other hardware has lost the message.
    pub fn lost_elsewhere(&mut self) {
        self.hash.broken = true;
    }

    /// Does it end with a digest?
    #[inline]
    pub(crate) fn is_last(&self) -> bool {
        self.whole || self.hash.last
    }
}

/// A piece of a message, for a board that gives it to other hardware.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// The hash function.
    pub algorithm: Algorithm,
    /// The bytes.
    pub src: Lent,
    /// Of the last piece: where the digest goes.
    pub dst: Option<Lent>,
    /// Bytes hashed before.
    pub before: u64,
    /// By what the other hardware knows the message, if it has hashed a part of it.
    pub ticket: Option<u64>,
}

const MADE: &str = "a job of the Rust face holds the task it was made of";

impl Task for Hash {
    type Engine = Sha;
    type Output = u64;

    #[inline(always)]
    fn into_job(self) -> Job {
        let (src, dst) = (self.src.lend(), self.dst.lend());
        let hash = HashState::new(self.algorithm);
        Job { src, dst, hash, whole: true, owned: Some(Owned::Hash(self.src, self.dst)) }
    }

    #[inline(always)]
    fn from_job(job: Job) -> Hash {
        let Some(Owned::Hash(src, dst)) = job.owned else { unreachable!("{MADE}") };
        Hash { algorithm: job.hash.algorithm(), src, dst }
    }

    #[inline(always)]
    fn output(raw: u64) -> u64 {
        raw
    }
}

impl Task for Update {
    type Engine = Sha;
    type Output = u64;

    fn into_job(mut self) -> Job {
        self.hash.last = false;
        // There is no destination; nobody looks at it.
        let (src, dst) = (self.src.lend(), self.src.lend());
        Job { src, dst, hash: self.hash, whole: false, owned: Some(Owned::Update(self.src)) }
    }

    fn from_job(job: Job) -> Update {
        let Some(Owned::Update(src)) = job.owned else { unreachable!("{MADE}") };
        Update { hash: job.hash, src }
    }

    fn output(raw: u64) -> u64 {
        raw
    }
}

impl Task for Finish {
    type Engine = Sha;
    type Output = u64;

    fn into_job(mut self) -> Job {
        self.hash.last = true;
        let (src, dst) = (self.src.lend(), self.dst.lend());
        Job { src, dst, hash: self.hash, whole: false, owned: Some(Owned::Finish(self.src, self.dst)) }
    }

    fn from_job(job: Job) -> Finish {
        let Some(Owned::Finish(src, dst)) = job.owned else { unreachable!("{MADE}") };
        Finish { hash: job.hash, src, dst }
    }

    fn output(raw: u64) -> u64 {
        raw
    }
}
