//! Sync events of peers: an update is one atomic instruction on the peer's value, which was found when the task was made.
//! The peer's program takes no part in it.

use crate::job::{Job, Op};
use crate::link::{Link, Step, Tools};
use crate::onesided::admitted;
use softdpu_memory::copy::{Gate, commit};
use softdpu_memory::node::Node;
use softdpu_memory::peer::{self, Use};
use softdpu_memory::view::{self, Hold};
use softdpu_status::{Code, Error, Result};
use softdpu_sync_event::{RemoteEvent, Target};

/// Bytes of a value.
const VALUE: usize = 8;

/// Looks for the value of an event of this machine, on the program's thread: progress must not ask other processes.
pub(crate) fn prepare(event: &RemoteEvent) {
    if event.is_near()
        && let Err(error) = event.reach()
    {
        log::warn!(target: crate::LOG, "{:?} cannot be reached now: {}", event.descriptor(), error.what());
    }
}

/// The event of a task, if it lives.
pub(crate) fn event(job: &Job) -> Option<&RemoteEvent> {
    if let Some(owned) = &job.owned {
        return owned.event.as_deref();
    }
    #[cfg(feature = "capi")]
    return crate::c::event_of(job);
    #[cfg(not(feature = "capi"))]
    None
}

/// The event's value, if the peer of this connection has it.
fn target<'a>(link: &Link, job: &'a Job) -> Option<&'a Target> {
    let complain = |line: std::fmt::Arguments<'_>| {
        log::error!(target: crate::LOG, "connection {}: {}: {line}", link.conn.id(), job.op.name());
    };
    let Some(event) = event(job) else {
        complain(format_args!("the event was destroyed"));
        return None;
    };
    let owner = event.descriptor().owner();
    if link.peer != Some(owner) {
        complain(format_args!("the event is of process {}, which is not the connection's peer", owner.pid));
        return None;
    }
    if event.reached().is_none() {
        complain(format_args!("the event was not found when the task was made"));
    }
    event.reached()
}

/// Carries a task out.
pub(crate) fn carry_out(link: &mut Link, job: &mut Job, tools: &mut Tools) -> Step {
    let what = match job.op {
        Op::EventGet => Use::Read,
        Op::EventSet => Use::Write,
        _ => Use::Atomic,
    };
    let Ok(local) = job.local() else {
        log::error!(target: crate::LOG, "{}: the buffer was released", job.op.name());
        return Step::Failed;
    };
    if local.is_none() && job.owned.is_none() {
        log::error!(target: crate::LOG, "{}: a buffer is missing", job.op.name());
        return Step::Failed;
    }
    if admitted(link, what).is_none() {
        return Step::Failed;
    }
    let Some(target) = target(link, job) else { return Step::Failed };
    let outcome = match job.op {
        Op::EventGet => get(target, local, tools),
        Op::EventSet => set(target, local, job.words[0], tools),
        _ => add(target, local, job.words[0], tools),
    };
    match outcome {
        Ok(value) => {
            job.len = VALUE as u32;
            Step::Done(value)
        }
        Err(_) => Step::Failed,
    }
}

fn get(target: &Target, local: Option<&Node>, tools: &Tools) -> Result<u64> {
    if let Some(to) = local {
        check_room(to, &tools.send)?;
    }
    let value = target.get()?;
    keep(local, value, tools).map(|()| value)
}

/// Stores a value behind the data of the buffer, if there is one.
pub(crate) fn keep(local: Option<&Node>, value: u64, tools: &Tools) -> Result<()> {
    if let Some(to) = local {
        let mut hold = Hold::room(to, &tools.send)?;
        hold.split().1.write(&value.to_ne_bytes());
        hold.check()?;
        drop(hold);
        commit(to, VALUE as u64);
    }
    Ok(())
}

fn set(target: &Target, local: Option<&Node>, number: u64, tools: &Tools) -> Result<u64> {
    let value = number_of(local, number, tools)?;
    target.set(value).map(|()| value)
}

/// The number that an event is set to: the buffer's, or that of the task itself.
pub(crate) fn number_of(local: Option<&Node>, number: u64, tools: &Tools) -> Result<u64> {
    let Some(from) = local else { return Ok(number) };
    check_value(from, &tools.send)?;
    let mut bytes = [0; VALUE];
    let hold = Hold::source(from, &tools.send)?;
    hold.sources().read(0, &mut bytes);
    hold.check()?;
    Ok(u64::from_ne_bytes(bytes))
}

fn add(target: &Target, local: Option<&Node>, number: u64, tools: &Tools) -> Result<u64> {
    local.map_or(Ok(()), |result| peer::check_word(result, &tools.send))?;
    let before = target.add(number)?;
    local.map_or(Ok(()), |result| peer::store_word(result, before)).map(|()| before)
}

pub(crate) fn check_room(to: &Node, gate: &Gate) -> Result<()> {
    let room = view::check_room(to, gate)?;
    if room >= VALUE as u64 {
        return Ok(());
    }
    log::error!(target: crate::LOG, "buffer {to:p}: the value of an event needs 8 bytes, room for {room}");
    Err(Error::new(Code::InvalidValue, "the value does not fit"))
}

pub(crate) fn check_value(from: &Node, gate: &Gate) -> Result<()> {
    let len = view::check_source(from, gate)?;
    if len == VALUE as u64 {
        return Ok(());
    }
    log::error!(target: crate::LOG, "buffer {from:p}: the value of an event has 8 bytes, not {len}");
    Err(Error::new(Code::InvalidValue, "no value of an event"))
}

/// What a checked submit refuses.
pub(crate) fn check(job: &Job, local: Option<&Node>, gate: &Gate) -> Result<()> {
    if event(job).is_none() {
        log::error!(target: crate::LOG, "{}: the event was destroyed", job.op.name());
        return Err(Error::new(Code::InvalidValue, "no event"));
    }
    match (job.op, local) {
        (Op::EventGet, Some(to)) => check_room(to, gate),
        (Op::EventSet, Some(from)) => check_value(from, gate),
        (_, Some(result)) => peer::check_word(result, gate),
        // In Rust numbers are the tasks' own.
        (_, None) if job.owned.is_some() => Ok(()),
        (_, None) => Err(Error::new(Code::InvalidValue, "a buffer is missing")),
    }
}
