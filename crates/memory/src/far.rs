//! Memory of another process: how its bytes are reached, and the marks that its owner waits for.
//!
//! | reach | how bytes move | when |
//! |---|---|---|
//! | mapped | as in this process: the owner's pages are mapped here | they lie in a file that cannot shrink |
//! | kernel copy | one system call per piece | the kernel lets this process |
//! | worker | through a stage that both share; the owner's service thread copies | always |
//! | network | not from here: connections of the RDMA engine carry them | the owner is on another machine |
#![expect(unsafe_code, reason = "copies between ranges of registered memory and another process")]

use crate::copy::copy_shared;
use crate::export::Descriptor;
use crate::kernel;
use crate::map::Map;
use crate::quiesce;
use crate::seats::SEATS;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use softdpu_card::Reach;
use softdpu_link::{Line, Mapping, Segment, barrier};
use softdpu_status::Result;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::fault::lost;
pub(crate) use kernel::Way;

/// The page that this process shares with somebody who lends it memory: the lender's word, and the marks of accesses
/// under way. See [`quiesce`].
#[derive(Debug)]
pub(crate) struct Mark {
    page: Mapping,
    /// The lender's word when threads with a seat need no barrier.
    fast: u32,
}

/// Distance of words: one to a cache line. The first is the lender's, the second counts for threads without a seat, and
/// each seat has one of its own.
const STRIDE: usize = 64;
const COUNTED: usize = STRIDE;

fn word_of_seat(number: usize) -> usize {
    COUNTED + STRIDE + STRIDE * number
}

impl Mark {
    pub(crate) const BYTES: usize = STRIDE * (SEATS + 2);

    /// The marks in a page of at least [`Mark::BYTES`] bytes.
    pub(crate) fn new(page: Mapping) -> Option<Mark> {
        let fast = if barrier::is_reachable() { quiesce::LENT_BY_REACHING } else { quiesce::NEVER };
        (page.len() >= Mark::BYTES).then_some(Mark { page, fast })
    }

    /// The lender: what its word says at the beginning.
    pub(crate) fn lend(page: &Mapping) {
        let reaches = barrier::can_reach_others();
        let word = if reaches { quiesce::LENT_BY_REACHING } else { quiesce::LENT };
        page.word32(0).store(word, Relaxed);
    }

    /// The lender: its word.
    pub(crate) fn lent(page: &Mapping) -> &AtomicU32 {
        page.word32(0)
    }

    /// The lender, after a recall: is no access under way?
    pub(crate) fn is_quiet(page: &Mapping) -> bool {
        let mut seats = (0..SEATS).map(word_of_seat);
        quiesce::is_quiet(page.word32(COUNTED)) && seats.all(|at| quiesce::is_quiet(page.word32(at)))
    }

    #[inline(always)]
    fn enter(&self, seat: Option<usize>) -> bool {
        let lent = self.page.word32(0);
        match seat {
            Some(number) => quiesce::enter_alone(lent, self.page.word32(word_of_seat(number)), self.fast),
            None => quiesce::enter(lent, self.page.word32(COUNTED)),
        }
    }

    #[inline(always)]
    fn leave(&self, seat: Option<usize>) {
        match seat {
            Some(number) => quiesce::leave_alone(self.page.word32(word_of_seat(number))),
            None => quiesce::leave(self.page.word32(COUNTED)),
        }
    }

    fn is_lent(&self) -> bool {
        quiesce::is_lent(self.page.word32(0))
    }
}

#[inline(never)]
fn enter_all(marks: &[Mark], seat: Option<usize>) -> bool {
    for (at, mark) in marks.iter().enumerate() {
        if !mark.enter(seat) {
            marks[..at].iter().for_each(|mark| mark.leave(seat));
            return false;
        }
    }
    true
}

/// How bytes move.
#[derive(Debug)]
pub(crate) enum Means {
    Mapped(Map),
    /// Addresses of this process.
    Kernel(u32),
    Worker(Mutex<Stage>),
    /// It is on another machine: no copy of ours gets there, but connections to the owner do.
    Network(Box<Descriptor>),
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

/// A piece to be copied by the owner: way, address, bytes.
pub(crate) struct Piece {
    pub(crate) way: Way,
    pub(crate) addr: u64,
    pub(crate) len: u32,
}

impl Piece {
    pub(crate) fn encode(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[0] = self.way as u8;
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.addr.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Piece> {
        let bytes: &[u8; 16] = bytes.try_into().ok()?;
        let [way, 0, 0, 0, l0, l1, l2, l3, addr @ ..] = *bytes else { return None };
        let way = [Way::Read, Way::Write].into_iter().find(|&w| w as u8 == way)?;
        Some(Piece { way, addr: u64::from_le_bytes(addr), len: u32::from_le_bytes([l0, l1, l2, l3]) })
    }
}

/// The answer to a piece that was copied; every other one says that it was not.
pub(crate) const COPIED: &[u8] = b"copied";

impl Stage {
    pub(crate) fn new(line: Line, memory: Segment) -> Option<Stage> {
        (memory.len() >= STAGE_BYTES).then_some(Stage { line, memory })
    }

    /// Reads into bytes of the caller.
    pub(crate) fn try_read(&self, addr: usize, into: &mut [u8]) -> Result<()> {
        // SAFETY: the bytes are borrowed for writing.
        unsafe { self.copy(Way::Read, addr, into.as_mut_ptr(), into.len()) }
    }

    /// # Safety
    /// As [`Far::copy`].
    unsafe fn copy(&self, way: Way, addr: usize, here: *mut u8, n: usize) -> Result<()> {
        let mut bounce = [0; 16 << 10];
        let mut done = 0;
        while done < n {
            let piece = STAGE_BYTES.min(n - done);
            let each = |at: usize| (at, bounce_len(piece - at), here.wrapping_add(done + at));
            if way == Way::Write {
                for (at, len, from) in (0..piece).step_by(bounce.len()).map(each) {
                    // SAFETY: inside the caller's range; the bounce is ours.
                    unsafe { copy_shared(from, bounce.as_mut_ptr(), len) };
                    self.memory.put(at, &bounce[..len]);
                }
            }
            self.ask(Piece { way, addr: (addr + done) as u64, len: piece as u32 })?;
            if way == Way::Read {
                for (at, len, to) in (0..piece).step_by(bounce.len()).map(each) {
                    self.memory.get(at, &mut bounce[..len]);
                    // SAFETY: inside the caller's range; the bounce is ours.
                    unsafe { copy_shared(bounce.as_ptr(), to, len) };
                }
            }
            done += piece;
        }
        Ok(())
    }

    fn ask(&self, piece: Piece) -> Result<()> {
        self.line.send(&piece.encode(), &[])?;
        match self.line.receive(Some(Instant::now() + PATIENCE))? {
            Some((answer, _)) if answer == COPIED => Ok(()),
            _ => Err(lost()),
        }
    }
}

fn bounce_len(left: usize) -> usize {
    left.min(16 << 10)
}

/// The way to memory of another process.
#[derive(Debug)]
pub(crate) struct Far {
    /// One per process on the way: the exporter, and those it imported from.
    marks: Vec<Mark>,
    means: Means,
    /// The process that the memory belongs to.
    owner: u32,
    /// The owner, or somebody on the way, is gone.
    is_lost: AtomicBool,
}

impl Far {
    pub(crate) fn new(marks: Vec<Mark>, means: Means, owner: u32) -> Far {
        Far { marks, means, owner, is_lost: AtomicBool::new(false) }
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
                let copied = unsafe { stage.copy(way, there, here, n) };
                copied.err().map(|e| e.to_string())
            }
            Means::Mapped(_) => Some("it is mapped, not far".to_owned()),
            Means::Network(_) => Some("it is on another machine".to_owned()),
        };
        match failed {
            None => Ok(()),
            Some(cause) => {
                if matches!(self.means, Means::Worker(_)) {
                    // An answer may still come, and would be taken for that of a later piece.
                    self.lose();
                }
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
    use super::*;

    #[test]
    fn pieces_have_one_form() {
        for way in [Way::Read, Way::Write] {
            let bytes = Piece { way, addr: 0x0102_0304_0506_0708, len: 77 }.encode();
            let back = Piece::decode(&bytes).unwrap();
            assert_eq!((back.way, back.addr, back.len), (way, 0x0102_0304_0506_0708, 77));
            for at in 0..4 {
                let mut bent = bytes;
                bent[at] ^= 0x80;
                assert!(Piece::decode(&bent).is_none(), "{at}");
            }
            assert!(Piece::decode(&bytes[..15]).is_none());
        }
    }

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
