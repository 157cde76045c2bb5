//! The importer's side of an import from another process: asking the owner, and choosing how to reach the memory.

use super::LOG;
use super::descriptor::{Descriptor, LEN};
use super::wire::{self, Grant, Wish};
use crate::backing;
use crate::far::{Far, Mark, Means, Stage};
use crate::kernel;
use crate::region::{FAR, SHARED, SLOW};
use softdpu_card::{Reach, Settings};
use softdpu_link::{Line, LineHandle, Segment, Tie, Topic};
use softdpu_status::{Code, Error, Result};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long an owner may take to answer. Its service thread needs microseconds, unless its process is stopped.
const PATIENCE: Duration = Duration::from_secs(5);

/// Exports made of imports, one behind the other, at most.
const MOST_HOPS: usize = 4;

/// A kernel copy of a page that takes longer than this is no kernel copy as we know it (a sandbox carries it out), and
/// is compared with the owner's worker.
const SUSPICIOUS: Duration = Duration::from_micros(100);

/// Memory of another process, found and reached.
#[derive(Debug)]
pub(super) struct Remote {
    pub(super) far: Arc<Far>,
    /// Hanging up tells the owners that this process is through.
    pub(super) lines: Vec<LineHandle>,
    pub(super) writable: bool,
}

/// What one owner has granted.
struct Lent {
    grant: Grant,
    mark: Mark,
    file: Option<OwnedFd>,
    line: Line,
}

impl Remote {
    /// Imports what `descriptor` speaks of.
    ///
    /// # Errors
    /// InvalidValue (the exporter is gone, or knows of no such export), NotPermitted, NotSupported (the demanded reach
    /// is not possible), TimeOut, NoMemory, with one log line.
    pub(super) fn open(descriptor: &Descriptor, settings: &Settings) -> Result<Remote> {
        let (mut marks, mut lines) = (Vec::new(), Vec::new());
        let (mut owner, mut bytes) = (*descriptor, encoded(descriptor));
        let (grant, file, pid) = loop {
            let lent = import(&owner, &bytes)?;
            let pid = lent.line.peer().pid;
            marks.push(lent.mark);
            lines.push(lent.line);
            let Some(via) = lent.grant.via else { break (lent.grant, lent.file, pid) };
            // It must be the same memory, and there must be an end.
            if (via.base, via.len) != (owner.base, owner.len) || marks.len() == MOST_HOPS {
                return Err(refuse(
                    &owner,
                    Code::InvalidValue,
                    format_args!("leads on to other memory, or too far"),
                ));
            }
            (owner, bytes) = (via, encoded(&via));
        };
        let writes = grant.writable && descriptor.access.intersects(descriptor.kind.writes());
        let choice =
            Choice { owner: &owner, pid, bytes: &bytes, wanted: settings.reach, trust: settings.trust_shm };
        let means = choice.means(file.map(|file| (file, grant.offset)), writes)?;
        let far = Arc::new(Far::new(marks, means, owner.owner.pid).with_words(owner));
        let watch = |line| softdpu_link::keep(line, Box::new(Watch(far.clone())));
        let lines = lines.into_iter().map(watch).collect();
        Ok(Remote { far, lines, writable: grant.writable })
    }

    /// Where the memory is mapped here, relative to the owner's addresses; bits of the access word.
    pub(super) fn shape(&self, base: u64) -> (isize, u64) {
        let far = match self.far.reach() {
            Reach::Mapped => 0,
            Reach::Worker => FAR | SLOW,
            _ => FAR,
        };
        let delta = self.far.mapped_at().map_or(0, |at| at.wrapping_sub(base as usize) as isize);
        (delta, SHARED | far)
    }
}

fn encoded(descriptor: &Descriptor) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LEN);
    descriptor.encode(&mut bytes);
    bytes
}

#[cold]
fn refuse(descriptor: &Descriptor, code: Code, line: std::fmt::Arguments<'_>) -> Error {
    log::error!(target: LOG, "import of [{:#x}, +{}) of process {}: {line}",
        descriptor.base, descriptor.len, descriptor.owner.pid);
    Error::new(code, "the exporter grants no import")
}

fn ask(descriptor: &Descriptor, wish: Wish, bytes: &[u8]) -> Result<(Grant, Vec<OwnedFd>, Line)> {
    let request = wire::request(wish, bytes);
    let refuse = |code, line: std::fmt::Arguments<'_>| refuse(descriptor, code, line);
    let answer = softdpu_link::ask(descriptor.owner, Topic::EXPORT, &request, &[], PATIENCE);
    let (answer, fds, line) = answer.map_err(|error| match error.code() {
        Code::NotFound if descriptor.owner.is_alive() => refuse(
            Code::InvalidValue,
            format_args!("the process is alive, but does not answer in this runtime folder"),
        ),
        Code::NotFound | Code::ConnectionReset => {
            refuse(Code::InvalidValue, format_args!("the process has ended"))
        }
        Code::NotPermitted => refuse(Code::InvalidValue, format_args!("the process belongs to another user")),
        code => refuse(code, format_args!("the process does not answer: {error}")),
    })?;
    match wire::read_answer(&answer) {
        Some(Ok(grant)) => Ok((grant, fds, line)),
        Some(Err(Code::InvalidValue)) => Err(refuse(
            Code::InvalidValue,
            format_args!("the descriptor is forged or stale: the process has no such export (any more)"),
        )),
        Some(Err(code)) => Err(refuse(code, format_args!("the process refused it: {}", code.name()))),
        None => Err(refuse(Code::InvalidValue, format_args!("the process answers in an unknown form"))),
    }
}

fn import(descriptor: &Descriptor, bytes: &[u8]) -> Result<Lent> {
    let (grant, fds, line) = ask(descriptor, Wish::Import, bytes)?;
    let mut fds = fds.into_iter();
    let strange =
        || refuse(descriptor, Code::InvalidValue, format_args!("the process answers in an unknown form"));
    let page = Segment::from_fd(fds.next().ok_or_else(strange)?, Mark::BYTES)?;
    let mark = Mark::new(page.into_mapping()).ok_or_else(strange)?;
    Ok(Lent { grant, mark, file: fds.next().filter(|_| grant.has_file), line })
}

/// Learns that an owner is gone.
struct Watch(Arc<Far>);

impl Tie for Watch {
    fn gone(&mut self) {
        self.0.lose();
    }
}

/// What speaks for one reach or the other.
struct Choice<'a> {
    owner: &'a Descriptor,
    /// The process that answered, by the number it has here; 0 when it has none. That in the descriptor is a number of the
    /// owner's namespace, and may be somebody else's here.
    pid: u32,
    bytes: &'a [u8],
    wanted: Option<Reach>,
    trust: bool,
}

impl Choice<'_> {
    fn may_be(&self, reach: Reach) -> bool {
        self.wanted.is_none_or(|wanted| wanted == reach)
    }

    fn means(&self, file: Option<(OwnedFd, u64)>, writes: bool) -> Result<Means> {
        let Descriptor { base, len, .. } = *self.owner;
        if self.may_be(Reach::Mapped)
            && let Some((file, offset)) = file
            && let Some(map) = backing::map(file, offset, len as usize, writes, self.trust)
        {
            return Ok(Means::Mapped(map));
        }
        if self.may_be(Reach::KernelCopy) {
            match self.probe() {
                Ok(time) if time < SUSPICIOUS || self.wanted.is_some() => {
                    return Ok(Means::Kernel(self.pid));
                }
                Ok(time) => {
                    let stage = self.stage()?;
                    // It may be that nobody may read.
                    let worker = timed(|buf| stage.try_read(base as usize, buf), self.sample());
                    let is_faster = worker.is_ok_and(|worker| worker < time);
                    return Ok(if is_faster {
                        Means::Worker(Mutex::new(stage))
                    } else {
                        Means::Kernel(self.pid)
                    });
                }
                Err(error) if self.may_be(Reach::Worker) => log::info!(target: LOG,
                    "memory [{base:#x}, +{len}) of process {}: no kernel copy ({error}), its service thread copies",
                    self.owner.owner.pid),
                Err(error) => {
                    return Err(refuse(
                        self.owner,
                        Code::NotSupported,
                        format_args!("no kernel copy: {error}"),
                    ));
                }
            }
        }
        if self.may_be(Reach::Worker) {
            return Ok(Means::Worker(Mutex::new(self.stage()?)));
        }
        Err(refuse(
            self.owner,
            Code::NotSupported,
            format_args!("the memory cannot be mapped, which was demanded"),
        ))
    }

    /// Bytes for a measurement.
    fn sample(&self) -> usize {
        self.owner.len.min(4096) as usize
    }

    /// How long the kernel takes to copy a page, into scrap: the access is not marked.
    fn probe(&self) -> Result<Duration, rustix::io::Errno> {
        let (pid, base) = (self.pid, self.owner.base as usize);
        // The first call pays for page faults.
        timed(|buf| kernel::read(pid, base, buf), self.sample())?;
        timed(|buf| kernel::read(pid, base, buf), self.sample())
    }

    fn stage(&self) -> Result<Stage> {
        open_stage(self.owner, self.bytes)
    }
}

fn open_stage(owner: &Descriptor, bytes: &[u8]) -> Result<Stage> {
    let (_, fds, line) = ask(owner, Wish::Stage, bytes)?;
    let strange =
        || refuse(owner, Code::InvalidValue, format_args!("the process answers in an unknown form"));
    let fd = fds.into_iter().next().ok_or_else(strange)?;
    Stage::new(line, Segment::from_fd(fd, 1)?).ok_or_else(strange)
}

/// A line to the owner of exported memory, and what both copy through.
///
/// # Errors
/// As for an import.
pub(crate) fn stage_of(owner: &Descriptor) -> Result<Stage> {
    open_stage(owner, &encoded(owner))
}

fn timed<E>(read: impl FnOnce(&mut [u8]) -> Result<(), E>, bytes: usize) -> Result<Duration, E> {
    let mut buf = [0; 4096];
    let start = Instant::now();
    read(&mut buf[..bytes])?;
    Ok(start.elapsed())
}
