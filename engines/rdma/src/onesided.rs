//! One-sided access: the initiator moves the bytes itself, through its import of the peer's memory. The peer's program
//! takes no part in it.

use crate::inbox::{FIRST, LAST, State};
use crate::job::{Job, Op, Opcode};
use crate::link::{Link, Step, Tools, claim};
use crate::send::put;
use crate::srq::Letter;
use softdpu_memory::cache;
use softdpu_memory::copy::commit;
use softdpu_memory::node::Node;
use softdpu_memory::peer::{self, Change, Use};
use softdpu_status::Result;

/// Longest transfer that goes through the cache, whatever the kernel says of it: virtual machines are told of caches that
/// they hardly have a share of.
const THROUGH_CACHE: u64 = 16 << 20;

/// From this many bytes on a transfer bypasses the cache: its two ends together would fill the last one. One core alone is
/// served as well by the cache up to there, unlike copies that several share, and some processors move what lies in it at
/// twice the rate.
pub(crate) fn stream_from() -> u64 {
    (cache::last_level() / 2).min(THROUGH_CACHE)
}

/// May peers do this with memory of the context at the other end?
pub(crate) fn admitted(link: &Link, what: Use) -> Option<()> {
    let out = link.out.as_ref()?;
    if link.state()? == State::Closed {
        return None;
    }
    // The bits of rights are those of the access word.
    if u64::from(out.srq.rights()) & what as u64 == 0 {
        log::error!(target: crate::LOG, "connection {}: the peer's context does not permit {what:?}; its permissions are {:#x}",
            link.conn.id(), out.srq.rights());
        return None;
    }
    Some(())
}

/// Both buffers, or none at all.
fn both(job: &Job) -> Option<Option<(&'static Node, &'static Node)>> {
    match (job.local(), job.remote()) {
        (Ok(Some(local)), Ok(Some(remote))) => Some(Some((local, remote))),
        (Ok(None), Ok(None)) => Some(None),
        _ => {
            log::error!(target: crate::LOG, "{}: a buffer is missing or was released", job.op.name());
            None
        }
    }
}

/// Longer transfers go the long way.
pub(crate) const STRAIGHT: u64 = 64 << 10;

/// The bytes of a task that has nothing against it, and was carried out. `None` where anything speaks against it, or it
/// failed: the long way finds out what, and says so.
#[inline]
pub(crate) fn straight(link: &Link, job: &mut Job, tools: &mut Tools) -> Option<u64> {
    let (what, from, to) = match job.op {
        Op::Write => (Use::Write, job.local.node()?, job.remote.node()?),
        Op::Read => (Use::Read, job.remote.node()?, job.local.node()?),
        _ => return None,
    };
    let far = if what == Use::Write { to } else { from };
    if link.rights & what as u64 == 0 || link.peer.is_none_or(|peer| peer.pid != far.region().exporter()) {
        return None;
    }
    let most = tools.budget.min(STRAIGHT);
    let moved = match what {
        Use::Write => peer::write_lone(from, to, &tools.send, tools.device, most),
        _ => peer::read_lone(from, to, &tools.send, tools.device, most),
    };
    let bytes = moved?;
    if what == Use::Read {
        job.len = bytes as u32;
    }
    tools.budget -= bytes;
    Some(bytes)
}

/// Is it memory of the connection's peer?
fn is_peers(link: &Link, far: &Node) -> Option<()> {
    let (pid, peer) = (far.region().exporter(), link.peer.map_or(0, |peer| peer.pid));
    if pid == peer {
        return Some(());
    }
    log::error!(target: crate::LOG,
        "connection {}: the remote buffer lies in memory of process {pid}, the peer is process {peer}", link.conn.id());
    None
}

/// Moves what the turn still may; `Done` when that was all.
fn go_on(
    link: &mut Link,
    tools: &mut Tools,
    total: u64,
    move_part: impl Fn(u64, u64, bool) -> Result<()>,
) -> Step {
    let done = link.front.done;
    let n = (total - done).min(tools.budget);
    if move_part(done, n, total >= tools.stream_from).is_err() {
        return Step::Failed;
    }
    tools.budget -= n;
    link.front.done += n;
    if link.front.done == total { Step::Done(total) } else { Step::More }
}

/// Goes on with a write.
#[inline]
pub(crate) fn write(link: &mut Link, job: &mut Job, tools: &mut Tools) -> Step {
    let Some(buffers) = both(job) else { return Step::Failed };
    if admitted(link, Use::Write).is_none() {
        return Step::Failed;
    }
    if let Some((_, to)) = buffers
        && is_peers(link, to).is_none()
    {
        return Step::Failed;
    }
    let total = match (link.front.total, buffers) {
        (Some(total), _) => total,
        (None, None) => 0,
        (None, Some((from, to))) => match peer::check_write(from, to, &tools.send, tools.device) {
            Ok(total) => total,
            Err(_) => return Step::Failed,
        },
    };
    link.front.total = Some(total);
    if job.op == Op::WriteImm {
        let letter = Letter { len: total as u32, imm: job.imm, kind: Opcode::WriteImm as u32 };
        let claim = match claim(link, tools, letter) {
            Ok(claim) => claim,
            Err(step) => return step,
        };
        if link.front.done < total
            && let Some((from, to)) = buffers
        {
            match go_on(link, tools, total, |at, n, stream| peer::write_part(from, to, at, n, stream)) {
                Step::Done(_) => {}
                other => return other,
            }
        }
        return match put(link, claim.place, FIRST | LAST, &[]) {
            Step::More => Step::Done(total),
            other => other,
        };
    }
    match buffers {
        Some((from, to)) if total > 0 => {
            go_on(link, tools, total, |at, n, stream| peer::write_part(from, to, at, n, stream))
        }
        _ => Step::Done(total),
    }
}

/// Goes on with a read.
#[inline]
pub(crate) fn read(link: &mut Link, job: &mut Job, tools: &mut Tools) -> Step {
    let Some(buffers) = both(job) else { return Step::Failed };
    if admitted(link, Use::Read).is_none() {
        return Step::Failed;
    }
    let Some((to, from)) = buffers else {
        job.len = 0;
        return Step::Done(0);
    };
    if is_peers(link, from).is_none() {
        return Step::Failed;
    }
    let total = match link.front.total {
        Some(total) => total,
        None => match peer::check_read(from, to, &tools.send, tools.device) {
            Ok(total) => total,
            Err(_) => return Step::Failed,
        },
    };
    link.front.total = Some(total);
    let step = go_on(link, tools, total, |at, n, stream| peer::read_part(from, to, at, n, stream));
    if step == Step::Done(total) {
        commit(to, total);
        job.len = total as u32;
    }
    step
}

/// Carries out an atomic.
pub(crate) fn atomic(link: &mut Link, job: &mut Job, tools: &mut Tools) -> Step {
    // In Rust the number before is the task's result alone.
    let (result, word) = match (job.local(), job.remote()) {
        (Ok(result), Ok(Some(word))) if result.is_some() || job.owned.is_some() => (result, word),
        _ => {
            log::error!(target: crate::LOG, "{}: a buffer is missing or was released", job.op.name());
            return Step::Failed;
        }
    };
    if admitted(link, Use::Atomic).is_none() || is_peers(link, word).is_none() {
        return Step::Failed;
    }
    let change = match job.op {
        Op::FetchAdd => Change::Add(job.words[0]),
        _ => Change::Swap(job.words[0], job.words[1]),
    };
    let before = result
        .map_or(Ok(()), |result| peer::check_word(result, &tools.send))
        .and_then(|()| peer::check_change(word, tools.device))
        .and_then(|()| peer::change(word, change));
    let stored = |before| result.map_or(Ok(()), |result| peer::store_word(result, before)).map(|()| before);
    match before.and_then(stored) {
        Ok(before) => Step::Done(before),
        Err(_) => Step::Failed,
    }
}
