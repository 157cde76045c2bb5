//! Memory of another process: how its bytes are reached, and the marks that its owner waits for.
//!
//! | reach | how bytes move | when |
//! |---|---|---|
//! | mapped | as in this process: the owner's pages are mapped here | they lie in a file that cannot shrink |
//! | kernel copy | one system call per piece | the kernel lets this process |
//! | worker | through a stage that both share; the owner's service thread copies | always |
//! | network | not from here: connections of the RDMA engine carry them | the owner is on another machine |
//! | card | not from here: tasks of a real card move them | the memory came through a bridge ([`crate::real`]) |
//!
//! Words of memory that is not mapped are changed by the owner's service thread, whatever carries the bytes: only there
//! is such a change one step to everybody.
#![expect(unsafe_code, reason = "copies between ranges of registered memory and another process")]

mod mark;
mod piece;

use crate::copy::copy_shared;
use crate::export::{Descriptor, stage_of};
use crate::kernel;
use crate::map::Map;
use crate::peer::Change;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use softdpu_card::Reach;
use softdpu_link::{Line, Segment};
use softdpu_status::{Code, Error, Result};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::fault::lost;
pub(crate) use kernel::Way;
pub(crate) use mark::Mark;
use mark::enter_all;
pub(crate) use piece::{Alter, CHANGED, COPIED, Piece, REFUSED};

/// How bytes move.
#[derive(Debug)]
pub(crate) enum Means {
    Mapped(Map),
    /// Addresses of this process.
    Kernel(u32),
    Worker(Mutex<Stage>),
    /// It is on another machine: no copy of ours gets there, but connections to the owner do.
    Network(Box<Descriptor>),
    /// A real card has it registered, and moves its bytes.
    Card,
}

/// A line to the owner, and memory that both copy through.
#[derive(Debug)]
pub(crate) struct Stage {
    line: Line,
    memory: Segment,
}

/// Bytes that the owner's service thread copies at once: short, since it also serves others.
pub(crate) const STAGE_BYTES: usize = 256 << 10;

/// How long the owner's service thread may take for a piece; it needs microseconds unless its process is stopped.
const PATIENCE: Duration = Duration::from_secs(10);

impl Stage {
    pub(crate) fn new(line: Line, memory: Segment) -> Option<Stage> {
        (memory.len() >= STAGE_BYTES).then_some(Stage { line, memory })
    }

    /// Reads into bytes of the caller.
    pub(crate) fn try_read(&self, addr: usize, into: &mut [u8]) -> Result<()> {
        // SAFETY: the bytes are borrowed for writing.
        let copied = unsafe { self.copy(Way::Read, addr, into.as_mut_ptr(), into.len())? };
        if copied { Ok(()) } else { Err(lost()) }
    }

    /// False: the owner refuses.
    ///
    /// # Safety
    /// As [`Far::copy`].
    unsafe fn copy(&self, way: Way, addr: usize, here: *mut u8, n: usize) -> Result<bool> {
        let mut bounce = [0; 16 << 10];
        let mut done = 0;
        while done < n {
            let piece = STAGE_BYTES.min(n - done);
            let each = |at: usize| (at, (piece - at).min(16 << 10), here.wrapping_add(done + at));
            if way == Way::Write {
                for (at, len, from) in (0..piece).step_by(bounce.len()).map(each) {
                    // SAFETY: inside the caller's range; the bounce is ours.
                    unsafe { copy_shared(from, bounce.as_mut_ptr(), len) };
                    self.memory.put(at, &bounce[..len]);
                }
            }
            if !self.ask(Piece { way, addr: (addr + done) as u64, len: piece as u32 })? {
                return Ok(false);
            }
            if way == Way::Read {
                for (at, len, to) in (0..piece).step_by(bounce.len()).map(each) {
                    self.memory.get(at, &mut bounce[..len]);
                    // SAFETY: inside the caller's range; the bounce is ours.
                    unsafe { copy_shared(bounce.as_ptr(), to, len) };
                }
            }
            done += piece;
        }
        Ok(true)
    }

    /// The word before, or nothing where the owner refuses.
    fn change(&self, alter: Alter) -> Result<Option<u64>> {
        self.line.send(&alter.encode(), &[])?;
        match self.line.receive(Some(Instant::now() + PATIENCE))? {
            Some((answer, _)) if answer == REFUSED => Ok(None),
            Some((answer, _)) => {
                let before = answer.strip_prefix(CHANGED).and_then(|word| word.try_into().ok());
                before.map(|word| Some(u64::from_le_bytes(word))).ok_or_else(lost)
            }
            None => Err(lost()),
        }
    }

    fn ask(&self, piece: Piece) -> Result<bool> {
        self.line.send(&piece.encode(), &[])?;
        match self.line.receive(Some(Instant::now() + PATIENCE))? {
            Some((answer, _)) if answer == COPIED || answer == REFUSED => Ok(answer == COPIED),
            _ => Err(lost()),
        }
    }
}

/// The way to memory of another process.
#[derive(Debug)]
pub(crate) struct Far {
    /// One per process on the way: the exporter, and those it imported from.
    marks: Vec<Mark>,
    means: Means,
    /// The process that the memory belongs to.
    owner: u32,
    /// Whom to ask for changes of words where the kernel copies, and the line for that, from the first one on.
    words: Option<(Box<Descriptor>, Mutex<Option<Stage>>)>,
    /// The owner, or somebody on the way, is gone.
    is_lost: AtomicBool,
}

impl Far {
    pub(crate) fn new(marks: Vec<Mark>, means: Means, owner: u32) -> Far {
        Far { marks, means, owner, words: None, is_lost: AtomicBool::new(false) }
    }

    /// The owner may be asked for changes of words, by its own descriptor.
    pub(crate) fn with_words(self, owner: Descriptor) -> Far {
        Far { words: Some((Box::new(owner), Mutex::default())), ..self }
    }

    /// Has a word at `there`, an address of the owner, changed in one step; gives the value before. Waits for the owner's
    /// service thread.
    ///
    /// # Errors
    /// NotSupported (nobody can be asked), IoFailed (the owner is gone, or has unmapped the memory), with one log line.
    pub(crate) fn change(&self, there: usize, change: Change) -> Result<u64> {
        let alter = Alter { addr: there as u64, change };
        let changed = match (&self.means, &self.words) {
            (Means::Worker(stage), _) => stage.lock().unwrap_or_else(|e| e.into_inner()).change(alter),
            (Means::Kernel(_), Some((owner, stage))) => {
                let mut stage = stage.lock().unwrap_or_else(|e| e.into_inner());
                let asked = match &mut *stage {
                    Some(stage) => Ok(stage),
                    none => stage_of(owner).map(|fresh| none.insert(fresh)),
                };
                asked.and_then(|stage| stage.change(alter))
            }
            _ => {
                log::error!(target: "softdpu::mmap", "memory of process {} at {there:#x} ({}): nobody can be asked to change a word",
                    self.owner, self.reach());
                return Err(Error::new(Code::NotSupported, "atomics on memory that is not mapped here"));
            }
        };
        let cause = match changed {
            Ok(Some(before)) => return Ok(before),
            Ok(None) => "it is not aligned to 8 bytes, or not mapped there any more".to_owned(),
            Err(cause) => {
                // An answer may still come, and would be taken for that of a later word.
                self.lose();
                cause.to_string()
            }
        };
        log::error!(target: "softdpu::mmap", "word at {there:#x} of process {} could not be changed: {cause}", self.owner);
        Err(lost())
    }

    /// Marks an access of the thread in `seat`, or of one without, with everybody who may end it.
    #[inline(always)]
    pub(crate) fn enter(&self, seat: Option<usize>) -> bool {
        if self.is_lost.load(Relaxed) {
            return false;
        }
        match &self.marks[..] {
            // As good as always there is one.
            [mark] => mark.enter(seat),
            marks => enter_all(marks, seat),
        }
    }

    /// The access is over.
    #[inline(always)]
    pub(crate) fn leave(&self, seat: Option<usize>) {
        match &self.marks[..] {
            [mark] => mark.leave(seat),
            marks => marks.iter().for_each(|mark| mark.leave(seat)),
        }
    }

    /// Would an access be let in now?
    pub(crate) fn is_lent(&self) -> bool {
        !self.is_lost.load(Relaxed) && self.marks.iter().all(Mark::is_lent)
    }

    /// Nobody enters any more.
    pub(crate) fn lose(&self) {
        self.is_lost.store(true, Relaxed);
    }

    pub(crate) fn reach(&self) -> Reach {
        match self.means {
            Means::Mapped(_) => Reach::Mapped,
            Means::Kernel(_) => Reach::KernelCopy,
            Means::Worker(_) => Reach::Worker,
            Means::Network(_) => Reach::Network,
            Means::Card => Reach::Card,
        }
    }

    /// The descriptor of memory on another machine.
    pub(crate) fn on_network(&self) -> Option<&Descriptor> {
        match &self.means {
            Means::Network(descriptor) => Some(descriptor),
            _ => None,
        }
    }

    /// Where the mapped bytes begin here.
    pub(crate) fn mapped_at(&self) -> Option<usize> {
        match &self.means {
            Means::Mapped(map) => Some(map.addr()),
            _ => None,
        }
    }

    /// As [`Far::copy`], but without a word when it fails, and only by the kernel.
    ///
    /// # Safety
    /// As [`Far::copy`].
    #[inline]
    pub(crate) unsafe fn attempt(&self, way: Way, there: usize, here: *mut u8, n: usize) -> Option<()> {
        let Means::Kernel(pid) = self.means else { return None };
        // SAFETY: the caller's promise.
        unsafe { kernel::copy(pid, way, there, here, n) }.ok()?;
        self.is_still_there().then_some(())
    }

    /// After a copy by process number: was it the owner's all the time? A number is given out again only after its
    /// process has gone, which hangs up the line to it first; what the thread that watches the line has not noticed by
    /// now, it had no time to notice.
    #[inline]
    fn is_still_there(&self) -> bool {
        !self.is_lost.load(Relaxed)
    }

    /// Copies `n` bytes between `here` and `there`, an address of the owner.
    ///
    /// # Errors
    /// IoFailed, with one log line: the owner is gone, or has unmapped the memory. Some bytes may have been copied.
    ///
    /// # Safety
    /// `here` is good for `n` bytes, to be read or written as `way` demands, and no reference to them exists.
    pub(crate) unsafe fn copy(&self, way: Way, there: usize, here: *mut u8, n: usize) -> Result<()> {
        let failed = match &self.means {
            Means::Kernel(pid) => {
                // SAFETY: the caller's promise.
                let copied = unsafe { kernel::copy(*pid, way, there, here, n) };
                let gone = || (!self.is_still_there()).then(|| "the process has ended".to_owned());
                copied.err().map(|e| e.to_string()).or_else(gone)
            }
            Means::Worker(stage) => {
                let stage = stage.lock().unwrap_or_else(|e| e.into_inner());
                // SAFETY: the caller's promise.
                match unsafe { stage.copy(way, there, here, n) } {
                    Ok(true) => None,
                    Ok(false) => Some("the process has unmapped it".to_owned()),
                    Err(cause) => {
                        // An answer may still come, and would be taken for that of a later piece.
                        self.lose();
                        Some(cause.to_string())
                    }
                }
            }
            Means::Mapped(_) => Some("it is mapped, not far".to_owned()),
            Means::Network(_) => Some("it is on another machine".to_owned()),
            Means::Card => Some("only tasks of the card reach it".to_owned()),
        };
        match failed {
            None => Ok(()),
            Some(cause) => {
                let what = if way == Way::Read { "read" } else { "written" };
                log::error!(target: "softdpu::mmap",
                    "memory [{there:#x}, +{n}) of process {} could not be {what} ({}): {cause}", self.owner, self.reach());
                Err(lost())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mark::{COUNTED, word_of_seat};
    use super::*;
    use crate::quiesce;
    use crate::seats::SEATS;
    use softdpu_link::barrier;

    #[test]
    fn accesses_are_marked_with_everybody_or_nobody() {
        barrier::init();
        for seat in [None, Some(0), Some(SEATS - 1)] {
            let pages: Vec<_> =
                (0..3).map(|_| Segment::create("softdpu-test", Mark::BYTES).unwrap()).collect();
            pages.iter().for_each(|page| Mark::lend(page));
            let marks = pages.iter().map(|page| {
                let again = Segment::from_fd(page.fd().try_clone_to_owned().unwrap(), Mark::BYTES).unwrap();
                Mark::new(again.into_mapping()).unwrap()
            });
            let far = Far::new(marks.collect(), Means::Kernel(1), 1);
            let word = seat.map_or(COUNTED, word_of_seat);
            let active = || pages.iter().map(|page| page.word32(word).load(Relaxed)).collect::<Vec<_>>();
            assert!(far.enter(seat) && far.enter(seat));
            assert_eq!(active(), [2, 2, 2]);
            assert!(pages.iter().all(|page| !Mark::is_quiet(page)));
            far.leave(seat);
            quiesce::recall([Mark::lent(&pages[2])].into_iter());
            assert!(!far.enter(seat));
            assert_eq!(active(), [1, 1, 1]);
            far.leave(seat);
            assert!(pages.iter().all(|page| Mark::is_quiet(page)));
            far.lose();
            assert!(!far.enter(seat));
        }
        assert!(
            Mark::new(Segment::create("softdpu-test", Mark::BYTES - 1).unwrap().into_mapping()).is_none()
        );
    }
}
