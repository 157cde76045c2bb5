//! Messages: bytes of a list into the peer's ring, a claimed receive with them.

use crate::inbox::{CHUNK, FIRST, LAST};
use crate::job::{Job, Op, Opcode};
use crate::link::{Link, Step, Tools, claim};
use crate::srq::{Letter, TOO_LONG};
use softdpu_memory::node::Node;
use softdpu_memory::peer;
use softdpu_memory::view::{self, Hold};
use std::time::{Duration, Instant};

/// A sender that found no room for so long asks the peer for a turn.
const STUCK: Duration = Duration::from_millis(1);

fn letter(job: &Job, len: u64) -> Letter {
    let kind = if job.op == Op::SendImm { Opcode::SendImm } else { Opcode::Send };
    Letter { len: len as u32, imm: job.imm, kind: kind as u32 }
}

/// The bytes of a message that lies in one piece, fits into a record, and is in the ring. `None` where it is not, and
/// nothing has happened: the long way says what is wrong.
#[inline]
pub(crate) fn straight(link: &mut Link, job: &Job, tools: &mut Tools) -> Option<u64> {
    let (most, out) = (tools.budget.min(CHUNK as u64), link.out.as_mut()?);
    let mut post = |bytes: &[u8]| {
        let len = bytes.len() as u64;
        (len <= most && out.post(bytes, letter(job, len))).then_some(len)
    };
    let source = job.local.node()?;
    let bytes = match view::with_data(source, &tools.send, &mut post) {
        Some(posted) => posted?,
        // Memory that others may touch.
        None => {
            let len = peer::copy_out(source, &tools.send, &mut tools.scratch)?;
            post(&tools.scratch[..len])?
        }
    };
    link.dirty = true;
    tools.budget -= bytes;
    Some(bytes)
}

/// Goes on with a send.
pub(crate) fn send(link: &mut Link, job: &mut Job, tools: &mut Tools) -> Step {
    let Ok(source) = job.local() else {
        log::error!(target: crate::LOG, "{}: the source buffer was released", job.op.name());
        return Step::Failed;
    };
    let total = match (link.front.total, source) {
        (Some(total), _) => total,
        (None, None) => 0,
        (None, Some(source)) => match view::check_source(source, &tools.send) {
            Ok(total) => total,
            Err(_) => return Step::Failed,
        },
    };
    link.front.total = Some(total);
    let letter = letter(job, total);
    let claim = match claim(link, tools, letter) {
        Ok(claim) => claim,
        Err(step) => return step,
    };
    if total > u64::from(claim.room) {
        log::error!(target: crate::LOG, "connection {}: message of {total} bytes, the peer's receive takes {}",
            link.conn.id(), claim.room);
        if let Some(out) = &mut link.out {
            out.srq.write(claim, Letter { kind: TOO_LONG, ..letter });
        }
        // Full, the peer finds the claim when the connection goes.
        let _ = put(link, claim.place, FIRST | LAST, &[]);
        return Step::Failed;
    }
    loop {
        let done = link.front.done;
        let n = (total - done).min(CHUNK as u64);
        let flags = if done == 0 { FIRST } else { 0 } | if done + n == total { LAST } else { 0 };
        let step = match source {
            Some(source) if n > 0 => piece(link, source, tools, claim.place, flags, n as usize),
            _ => put(link, claim.place, flags, &[]),
        };
        match step {
            Step::More => {}
            other => return other,
        }
        link.front.done += n;
        tools.budget = tools.budget.saturating_sub(n);
        if link.front.done == total {
            return Step::Done(total);
        }
        if tools.budget == 0 {
            return Step::More;
        }
    }
}

/// One record with the next `n` bytes of a list.
fn piece(link: &mut Link, source: &Node, tools: &mut Tools, place: u32, flags: u32, n: usize) -> Step {
    let from = link.front.done;
    let Ok(hold) = Hold::source(source, &tools.send) else { return Step::Failed };
    let sources = hold.sources();
    match sources.slice(from, n) {
        Some(bytes) => put(link, place, flags, bytes),
        None => {
            let Some(scratch) = tools.scratch.get_mut(..n) else { return Step::Failed };
            sources.read(from, scratch);
            put(link, place, flags, scratch)
        }
    }
}

/// Puts a record into the ring: `More` when it is there.
pub(crate) fn put(link: &mut Link, place: u32, flags: u32, bytes: &[u8]) -> Step {
    let Some(out) = &mut link.out else { return Step::Failed };
    match out.stage(place, flags, bytes) {
        Ok(true) => {
            (link.dirty, link.front.staged) = (true, true);
            link.front.no_room = None;
            Step::More
        }
        Ok(false) if out.state() == crate::inbox::State::Closed => Step::Failed,
        Ok(false) => {
            let now = Instant::now();
            if now.duration_since(*link.front.no_room.get_or_insert(now)) > STUCK {
                link.front.no_room = Some(now);
                out.end.nudge();
            }
            Step::Wait
        }
        Err(broken) => {
            log::error!(target: crate::LOG, "connection {}: {broken}", link.conn.id());
            Step::Failed
        }
    }
}
