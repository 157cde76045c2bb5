//! The yardstick of buffers: copies into slots of shared memory that another process reads, as a program would write it
//! for itself. A counter each way, no descriptors, no completions.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::Ordering::{Acquire, Release};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use softdpu_link::Segment;

use super::peer::{Peer, word};
use super::socket::{get, put};
use super::{Lane, Options};
use crate::bench::lane::text;
use crate::bench::patience::Patience;
use crate::bench::place::{self, Place, Taken};

/// Slots ever filled, slots ever emptied, and runs that are over: a line for each.
const FILLED: usize = 0;
const EMPTIED: usize = 64;
const OVER: usize = 128;
/// Where the slots begin.
const SLOTS: usize = 4096;
/// Looks in vain after which the other end is looked after.
const LOOKS: u32 = 1 << 12;

/// The memory, at either end.
struct Memory {
    segment: Segment,
    bytes: usize,
    count: u64,
}

impl Memory {
    fn len(bytes: usize, count: u64) -> usize {
        SLOTS + bytes.next_multiple_of(64) * count as usize
    }

    fn slot(&self, number: u64) -> usize {
        SLOTS + (number % self.count) as usize * self.bytes.next_multiple_of(64)
    }

    fn read(&self, word: usize) -> u64 {
        self.segment.word64(word).load(Acquire)
    }

    fn write(&self, word: usize, value: u64) {
        self.segment.word64(word).store(value, Release);
    }
}

/// The end that fills them, from as many sources as a producer has buffers.
pub(in crate::bench) struct Slots {
    memory: Memory,
    sources: Vec<Vec<u8>>,
    filled: u64,
    runs: u64,
    end: OwnedFd,
    peer: Peer,
    _taken: Taken,
}

impl Slots {
    /// As many slots as a consumer has receives.
    pub(in crate::bench) fn new(options: &Options, bytes: usize, depth: u32) -> Result<Self, String> {
        Self::of(options, bytes, (depth, super::receives(depth).into()))
    }

    /// A word there, and one back: how far the two processors are from each other.
    pub(super) fn line(options: &Options) -> Result<Self, String> {
        Self::of(options, 0, (1, 1))
    }

    fn of(options: &Options, bytes: usize, (depth, count): (u32, u64)) -> Result<Self, String> {
        let segment = Segment::create("softdpu-bench", Memory::len(bytes, count)).map_err(text)?;
        // Pages that were never written would cost the first copies.
        (SLOTS..segment.len()).step_by(64).for_each(|at| segment.word64(at).store(1, Release));
        let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let (end, other) = pair.map_err(|e| format!("no sockets: {e}"))?;
        let file = format!("/proc/{}/fd/{}", std::process::id(), segment.fd().as_raw_fd());
        let peer = Peer::of_slots(options, &file, bytes, count, other)?;
        let sources = (0..depth).map(|i| vec![i as u8 | 1; bytes]).collect();
        let (memory, taken) = (Memory { segment, bytes, count }, place::take(Place::Here));
        Ok(Self { memory, sources, filled: 0, runs: 0, end, peer, _taken: taken })
    }

    /// Waits until so many slots are empty.
    fn wait(&mut self, emptied: u64) -> Result<(), String> {
        let mut patience = Patience::default();
        while self.memory.read(EMPTIED) < emptied {
            if patience.pass().is_multiple_of(LOOKS) {
                self.peer.check()?;
            }
        }
        Ok(())
    }
}

impl Lane for Slots {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        put(self.end.as_fd(), &[word::WAKE], false).map_err(|e| format!("a socket: {e}"))?;
        let mut room = 0;
        for _ in 0..tasks {
            if room == 0 {
                let count = self.memory.count;
                self.wait((self.filled + 1).saturating_sub(count))?;
                room = self.memory.read(EMPTIED) + count - self.filled;
            }
            let source = &self.sources[self.filled as usize % self.sources.len()];
            self.memory.segment.put(self.memory.slot(self.filled), source);
            self.filled += 1;
            room -= 1;
            self.memory.write(FILLED, self.filled);
        }
        self.wait(self.filled)?;
        self.runs += 1;
        self.memory.write(OVER, self.runs);
        Ok(())
    }
}

/// The end that reads them: all the time during a run, asleep in between; until nobody is there any more.
pub(super) fn serve(end: impl AsFd, file: &str, bytes: usize, count: u64) -> Result<(), String> {
    let fd = open(file, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(|e| format!("{file}: {e}"))?;
    let segment = Segment::from_fd(fd, Memory::len(bytes, count)).map_err(text)?;
    let (memory, mut read, mut emptied, mut runs) = (Memory { segment, bytes, count }, vec![0; bytes], 0, 0);
    while let Ok(1..) = get(end.as_fd(), &mut [0], false) {
        runs += 1;
        let mut patience = Patience::default();
        while memory.read(OVER) != runs {
            let filled = memory.read(FILLED);
            for number in emptied..filled {
                memory.segment.get(memory.slot(number), &mut read);
            }
            if filled == emptied {
                // Whoever hangs up is told without being asked for.
                let mut look = [PollFd::new(&end, PollFlags::empty())];
                let looks = patience.pass().is_multiple_of(LOOKS);
                if looks && poll(&mut look, Some(&Timespec::default())).is_ok_and(|told| told > 0) {
                    return Ok(());
                }
            } else {
                patience.reset();
                emptied = filled;
                memory.write(EMPTIED, emptied);
            }
        }
    }
    Ok(())
}
