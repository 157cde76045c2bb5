//! Waking a sleeper in another process.
//!
//! A doorbell is a word that says whether its owner sleeps, and an event descriptor. Whoever is given an
//! [`Invitation`] can ring: two loads when the owner is awake, and a fence where its barriers do not reach the ringer
//! ([`barrier`]). Words lie in pages that the owner shares, many
//! in each; a word is never given out twice, so a late ring of somebody who was invited long ago finds nobody. A page is
//! given back with the last doorbell in it.
//!
//! Whoever is invited can write all words of the page: a peer that plays foul can keep the owner from being woken. It can
//! also make the event descriptor one that blocks, since its flags are common to all who have it: so nobody here relies
//! on them.

use crate::armed;
use crate::barrier;
use crate::segment::{Mapping, Segment};
use crate::sync::{AtomicU32, Ordering};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{Errno, IoSliceMut, ReadWriteFlags, preadv2};
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a page of words.
const PAGE: usize = 4096;
/// Distance of words: one to a cache line.
const STRIDE: usize = 64;
/// Behind a word: does its owner's barrier, when it arms, reach other processes? Written before anybody is invited.
const REACHES: usize = 4;
/// Words of a page.
const WORDS: u32 = (PAGE / STRIDE) as u32;

/// A page that still has words to give out, and the next one.
static OPEN_PAGE: Mutex<Option<(Arc<Segment>, u32)>> = Mutex::new(None);

/// The owner's end. Send and Sync; one thread at a time sleeps.
#[derive(Debug)]
pub struct Doorbell {
    page: Arc<Segment>,
    index: u32,
    event: OwnedFd,
}

/// What a peer needs for ringing.
#[derive(Clone, Copy, Debug)]
pub struct Invitation<'a> {
    /// The page with the word.
    pub page: BorrowedFd<'a>,
    /// Which word.
    pub index: u32,
    /// What to write to.
    pub event: BorrowedFd<'a>,
}

impl Doorbell {
    /// A doorbell with an event descriptor of its own, that nobody waits for.
    ///
    /// # Errors
    /// NoMemory (memory or descriptors), with one log line.
    pub fn new() -> Result<Doorbell> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(|errno| {
            log::error!(target: crate::LOG, "event descriptor of a doorbell: {errno}");
            Error::new(Code::NoMemory, "no event descriptor")
        })?;
        Doorbell::with_event(event)
    }

    /// A doorbell that rings on an event descriptor there is already; it must be non-blocking.
    ///
    /// # Errors
    /// As [`Doorbell::new`]; InvalidValue when peers would not accept the descriptor.
    pub fn with_event(event: OwnedFd) -> Result<Doorbell> {
        check_event(event.as_fd())?;
        barrier::init();
        let mut open = OPEN_PAGE.lock().unwrap_or_else(PoisonError::into_inner);
        let (page, index) = match open.take() {
            Some(found) => found,
            None => (Arc::new(Segment::create("softdpu-doorbells", PAGE)?), 0),
        };
        if index + 1 < WORDS {
            *open = Some((page.clone(), index + 1));
        }
        let reaches = u32::from(barrier::can_reach_others());
        page.word32(index as usize * STRIDE + REACHES).store(reaches, Ordering::Release);
        Ok(Doorbell { page, index, event })
    }

    /// The word: not zero while the owner sleeps or is about to.
    #[inline]
    pub fn arm_word(&self) -> &AtomicU32 {
        self.page.word32(self.index as usize * STRIDE)
    }

    /// Becomes readable when somebody rings.
    pub fn event(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// Asks to be rung. Look for work *after* this, and sleep only if there is none.
    #[inline]
    pub fn arm(&self) {
        armed::arm_far(self.arm_word());
    }

    /// Takes the wish back, and every ring that came.
    pub fn disarm(&self) {
        armed::disarm(self.arm_word());
        drain(self.event.as_fd());
    }

    /// The owner's own process rings, after publishing.
    #[inline]
    pub fn ring(&self) {
        if armed::wants_ring(self.arm_word()) {
            signal(self.event.as_fd());
        }
    }

    /// What to hand to a peer; see [`Ringer::accept`].
    pub fn invitation(&self) -> Invitation<'_> {
        Invitation { page: self.page.fd(), index: self.index, event: self.event.as_fd() }
    }
}

/// The peer's end of somebody's doorbell. Send and Sync.
#[derive(Debug)]
pub struct Ringer {
    page: Mapping,
    at: usize,
    event: OwnedFd,
}

impl Ringer {
    /// From what a peer sent.
    ///
    /// # Errors
    /// InvalidValue, with one log line: the page is no page of doorbells, there is no such word, or `event` is not a
    /// non-blocking event descriptor.
    pub fn accept(page: OwnedFd, index: u32, event: OwnedFd) -> Result<Ringer> {
        check_event(event.as_fd())?;
        barrier::init();
        let page = Segment::from_fd(page, PAGE)?.into_mapping();
        if page.len() != PAGE || index >= WORDS {
            log::error!(target: crate::LOG,
                "doorbell of a peer refused: word {index} of {WORDS}, page of {} bytes instead of {PAGE}", page.len());
            return Err(Error::new(Code::InvalidValue, "doorbell of a peer"));
        }
        Ok(Ringer { page, at: index as usize * STRIDE, event })
    }

    /// Wakes the owner if it sleeps. Called after publishing; any thread. It is a barrier towards whatever the owner does
    /// with a [`barrier::far_barrier`] on its side.
    #[inline]
    pub fn ring(&self) {
        let word = self.page.word32(self.at);
        let light =
            self.page.word32(self.at + REACHES).load(Ordering::Relaxed) != 0 && barrier::is_reachable();
        if if light { armed::wants_ring_light(word) } else { armed::wants_ring(word) } {
            signal(self.event.as_fd());
        }
    }
}

/// Makes an event descriptor readable. A full counter is so already, and the owner may be gone: nothing to do about either.
/// Asked first, since the write could wait for as long as a peer likes.
///
/// What is left is the moment between the two: a peer that cleared the flag before could fill the counter (2^64 - 2) just
/// then, and the write would wait until the owner, which a full counter wakes, takes the rings. No call writes to an event
/// descriptor without waiting whatever its flags say. It takes a process of the same user, and such a one may stop this
/// one by a signal: nothing is lost that was defended.
#[cold]
pub fn signal(event: BorrowedFd<'_>) {
    if is_ready(event, PollFlags::OUT) {
        let _ = rustix::io::write(event, &1u64.to_ne_bytes());
    }
}

/// Takes every ring that came, without waiting for one, whatever the flags of the event descriptor say.
pub fn drain(event: BorrowedFd<'_>) {
    let mut count = [0; 8];
    if cfg!(miri) {
        let _ = rustix::io::read(event, &mut count); // our own descriptors never wait, and Miri has neither call below
        return;
    }
    // An offset of -1 stands for a file without offsets.
    let read = preadv2(event, &mut [IoSliceMut::new(&mut count)], u64::MAX, ReadWriteFlags::NOWAIT);
    // Kernels before 5.12.
    if read == Err(Errno::OPNOTSUPP) && is_ready(event, PollFlags::IN) {
        let _ = rustix::io::read(event, &mut count);
    }
}

fn is_ready(event: BorrowedFd<'_>, what: PollFlags) -> bool {
    poll(&mut [PollFd::new(&event, what)], Some(&Timespec::default())).is_ok_and(|ready| ready == 1)
}

fn check_event(event: BorrowedFd<'_>) -> Result<()> {
    let refuse = |line: &str| {
        log::error!(target: crate::LOG, "event descriptor of a doorbell refused: {line}");
        Err(Error::new(Code::InvalidValue, "event descriptor of a doorbell"))
    };
    let link = std::fs::read_link(format!("/proc/self/fd/{}", event.as_raw_fd()));
    if !link.is_ok_and(|kind| kind.as_os_str() == "anon_inode:[eventfd]") {
        return refuse("it is no eventfd");
    }
    if !fcntl_getfl(event).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK)) {
        return refuse("it may block");
    }
    Ok(())
}
