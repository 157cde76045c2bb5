//! Several queued messages side by side: each takes a lane of the vector registers, and all lanes advance by as many
//! blocks as the one with the shortest stretch has ready.
//!
//! A stretch is the body of a message where it lies, or a copy in the lane's scratch: of messages that are cut by list
//! elements or lie in memory that others write, of short ones together with their padding, and of the ends of long ones.

use crate::algorithm::Algorithm as Name;
use crate::hardware::Sha;
use crate::single::{MOST_PADDING, deposit, settle};
use crate::task::Job;
use core::cell::RefCell;
use softdpu_kernels::sha::{self, Algorithm, LANES, Lanes, pad};
use softdpu_memory::node::Node;
use softdpu_memory::view::{Hold, Sources};
use softdpu_status::Result;

/// Most messages of one go.
pub(crate) const MOST: usize = LANES;

/// Bytes of a lane's scratch: some dozens of blocks.
const SCRATCH: usize = 4096;
/// Messages up to here are copied together with their padding even when they could be hashed where they lie: one call of
/// the kernel instead of two.
const SHORT: u64 = 512;

/// What a thread keeps from one go to the next.
struct Space {
    scratch: Vec<[u8; SCRATCH]>,
    lanes: Vec<Lane<'static>>,
}

thread_local! {
    static SPACE: RefCell<Space> = const { RefCell::new(Space { scratch: Vec::new(), lanes: Vec::new() }) };
}

/// A message on its way.
struct Lane<'a> {
    hold: Hold<'a>,
    /// Which of the jobs.
    job: usize,
    /// Where the digest goes, if this is the last piece.
    dst: Option<&'a Node>,
    /// Bytes of the source; all that are taken into stretches are before `at`.
    bytes: u64,
    at: u64,
    /// Bytes of the message, with all pieces before.
    total: u64,
    /// Blocks to go, padding included.
    blocks: u64,
    /// What is ready: bytes of the source, or of the scratch.
    ready: Stretch,
}

#[derive(Clone, Copy)]
enum Stretch {
    Source(u64, usize),
    Scratch(usize, usize),
}

impl Stretch {
    fn len(self) -> usize {
        match self {
            Stretch::Source(_, n) | Stretch::Scratch(_, n) => n,
        }
    }

    fn pass(&mut self, by: usize) {
        match self {
            Stretch::Source(from, n) => (*from, *n) = (*from + by as u64, *n - by),
            Stretch::Scratch(from, n) => (*from, *n) = (*from + by, *n - by),
        }
    }
}

impl Lane<'_> {
    fn new<A: Algorithm>(sha: &Sha, job: &Job, index: usize) -> Result<Self> {
        let (src, bytes, dst) = sha.admit(job)?;
        let hold = Hold::source(src, sha.gates().0)?;
        let padded = if dst.is_some() { bytes + 1 + A::LENGTH as u64 } else { bytes };
        let (total, blocks) = (job.hash.done + bytes, padded.div_ceil(A::BLOCK as u64));
        Ok(Lane { hold, job: index, dst, bytes, at: 0, total, blocks, ready: Stretch::Scratch(0, 0) })
    }

    /// Makes the next stretch when there is none.
    fn refill<A: Algorithm>(&mut self, scratch: &mut [u8; SCRATCH]) {
        if self.ready.len() > 0 {
            return;
        }
        let sources = self.hold.sources();
        let left = self.bytes - self.at;
        let body = left - left % A::BLOCK as u64;
        let ends = self.dst.is_some() && left <= (SCRATCH - MOST_PADDING) as u64;
        if body > 0 && !(ends && left <= SHORT) && in_place(&sources, self.at, body) {
            self.ready = Stretch::Source(self.at, body as usize);
            self.at += body;
            return;
        }
        let take = if ends { left } else { body.min(SCRATCH as u64) } as usize;
        sources.read(self.at, &mut scratch[..take]);
        self.at += take as u64;
        let end = if ends {
            scratch[take..take + MOST_PADDING].fill(0);
            pad::<A>(scratch, take, self.total)
        } else {
            take
        };
        self.ready = Stretch::Scratch(0, end);
    }

    fn data<'s>(&'s self, scratch: &'s [u8; SCRATCH], len: usize) -> &'s [u8] {
        match self.ready {
            Stretch::Scratch(from, _) => &scratch[from..from + len],
            // It was there when the stretch was made, and the hold lasts.
            Stretch::Source(from, _) => self.hold.sources().slice(from, len).unwrap_or(&[]),
        }
    }
}

fn in_place(sources: &Sources<'_>, from: u64, len: u64) -> bool {
    usize::try_from(len).is_ok_and(|len| sources.slice(from, len).is_some())
}

/// Carries out jobs of all functions, those of one function together.
pub(crate) fn run_many(sha: &Sha, jobs: &mut [&mut Job], results: &mut [Result<u64>]) {
    for name in Name::ALL {
        if !jobs.iter().any(|job| job.hash.algorithm() == name) {
            continue;
        }
        match name {
            Name::Sha1 => run_those::<sha::Sha1>(name, sha, jobs, results),
            Name::Sha256 => run_those::<sha::Sha256>(name, sha, jobs, results),
            Name::Sha512 => run_those::<sha::Sha512>(name, sha, jobs, results),
        }
    }
}

fn run_those<A: Algorithm>(name: Name, sha: &Sha, jobs: &mut [&mut Job], results: &mut [Result<u64>]) {
    SPACE.with_borrow_mut(|space| {
        let Space { scratch, lanes } = space;
        if scratch.is_empty() {
            scratch.resize(MOST, [0; SCRATCH]);
        }
        // A panic may have left some.
        lanes.clear();
        for (index, job) in jobs.iter().enumerate().filter(|(_, job)| job.hash.algorithm() == name) {
            match Lane::new::<A>(sha, job, index) {
                Ok(lane) => lanes.push(lane),
                Err(e) => results[index] = Err(e),
            }
        }
        if let [lane] = &lanes[..] {
            let index = lane.job;
            lanes.clear();
            results[index] = sha.run_one(jobs[index]);
            return;
        }
        // The longest first, so that those under way are always the first ones.
        lanes.sort_unstable_by_key(|lane| core::cmp::Reverse(lane.blocks));
        let mut states = Lanes::<A>::start();
        for (i, lane) in lanes.iter().enumerate() {
            if jobs[lane.job].hash.done > 0 {
                states.set(i, &jobs[lane.job].hash.words::<A>());
            }
        }
        advance(&mut states, lanes, scratch, |lane, state| {
            results[lane.job] = conclude::<A>(sha, jobs[lane.job], lane, state);
        });
        lanes.clear();
    });
}

/// A message is through.
fn conclude<A: Algorithm>(sha: &Sha, job: &mut Job, lane: &Lane<'_>, state: [A::Word; 8]) -> Result<u64> {
    // Of several messages only those fail whose memory did.
    lane.hold.check()?;
    match lane.dst {
        Some(dst) => {
            deposit::<A>(sha, &state, dst)?;
            settle(job, lane.total);
            Ok(A::DIGEST as u64)
        }
        None => {
            job.hash.set_words::<A>(state);
            job.hash.done = lane.total;
            Ok(lane.total)
        }
    }
}

/// All lanes to the ends of their messages; `done` gets each with its state.
fn advance<A: Algorithm>(
    states: &mut Lanes<A>,
    lanes: &mut [Lane<'_>],
    space: &mut [[u8; SCRATCH]],
    mut done: impl FnMut(&Lane<'_>, [A::Word; 8]),
) {
    let mut active = lanes.len();
    loop {
        while active > 0 && lanes[active - 1].blocks == 0 {
            active -= 1;
        }
        if active == 0 {
            return;
        }
        let mut len = usize::MAX;
        for (lane, scratch) in lanes[..active].iter_mut().zip(&mut *space) {
            lane.refill::<A>(scratch);
            len = len.min(lane.ready.len());
        }
        let mut data: [&[u8]; MOST] = [&[]; MOST];
        for (i, (lane, scratch)) in lanes[..active].iter().zip(&*space).enumerate() {
            data[i] = lane.data(scratch, len);
        }
        states.advance(&data[..active]);
        for (i, lane) in lanes[..active].iter_mut().enumerate() {
            lane.ready.pass(len);
            lane.blocks -= (len / A::BLOCK) as u64;
            if lane.blocks == 0 {
                // At once: the kernels do not spare lanes behind those under way.
                done(lane, states.get(i));
            }
        }
    }
}
