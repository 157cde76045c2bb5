//! What submits look at: how full a send queue is, and what a checked submit refuses.

use crate::conn::Phase;
use crate::control::Control;
use crate::event;
use crate::job::{Job, Op};
use crate::sync::{AtomicU32, Ordering};
use softdpu_memory::copy::Gate;
use softdpu_memory::{peer, view};
use softdpu_room::touch::{self, Peer, Tell, Touch};
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Weak};

/// How many tasks of a connection fly; each number has one writer.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Flying {
    submitted: AtomicU32,
    completed: AtomicU32,
}

/// What submits look at.
#[derive(Debug)]
pub(crate) struct Desk {
    control: Weak<Control>,
    flying: Box<[Flying]>,
    most: u32,
    device: u64,
    send: Gate,
    receive: Gate,
}

impl Desk {
    pub(crate) fn new(
        control: &Arc<Control>,
        connections: usize,
        most: u32,
        device: u64,
        send: Gate,
        receive: Gate,
    ) -> Desk {
        let flying = (0..connections).map(|_| Flying::default()).collect();
        Desk { control: Arc::downgrade(control), flying, most, device, send, receive }
    }

    /// Memory and peer of a task. A receive takes a message of any peer.
    pub(crate) fn touches(&self, job: &Job, tell: Tell<'_>) {
        match job.op {
            Op::Send | Op::SendImm | Op::Write | Op::WriteImm => touch::source(job.local, tell),
            Op::Receive | Op::Read | Op::EventGet | Op::CmpSwap | Op::FetchAdd => {
                touch::destination(job.local, tell);
            }
            Op::EventSet | Op::EventAdd => {}
        }
        match job.op {
            Op::Read => touch::source(job.remote, tell),
            Op::Receive => return,
            _ => touch::target(job.remote, tell),
        }
        let conn = self.control.upgrade().and_then(|control| control.conn(job.conn));
        if let Some(conn) = conn {
            let process = conn.peer().unwrap_or(0);
            tell(Touch::Peer(Peer { process, address: conn.address().map(|a| a.ip()) }));
        }
    }

    /// A task of the send side of a connection is through. One that a handler posted was not counted.
    #[inline]
    pub(crate) fn completed(&self, slot: u32, posted: bool) {
        if let Some(flying) = self.flying.get(slot as usize).filter(|_| !posted) {
            // The lane's holder alone gets here.
            flying
                .completed
                .store(flying.completed.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        }
    }

    /// How many tasks of the send side of a slot were ever through, modulo 2^32.
    pub(crate) fn through(&self, slot: u32) -> u32 {
        self.flying.get(slot as usize).map_or(0, |flying| flying.completed.load(Ordering::Relaxed))
    }

    /// Is the program still to be told what came of an attempt to connect?
    pub(crate) fn is_owed(&self) -> bool {
        self.control.upgrade().is_some_and(|control| {
            control.settings().told
                && control.connections().iter().any(|(conn, _)| conn.phase() == Phase::Connecting)
        })
    }

    /// Is there room in the connection's send queue?
    #[inline]
    pub(crate) fn admit(&self, job: &Job) -> Result<(), Code> {
        if job.op == Op::Receive {
            return Ok(());
        }
        let Some(flying) = self.flying.get(job.conn.slot as usize) else {
            log::error!(target: crate::LOG, "{}: no connection", job.op.name());
            return Err(Code::InvalidValue);
        };
        let submitted = flying.submitted.load(Ordering::Relaxed);
        if submitted.wrapping_sub(flying.completed.load(Ordering::Acquire)) >= self.most {
            log::debug!(target: crate::LOG, "connection {}: send queue full, {} tasks", job.conn.uid, self.most);
            return Err(Code::Full);
        }
        flying.submitted.store(submitted.wrapping_add(1), Ordering::Relaxed);
        Ok(())
    }

    /// What a checked submit refuses.
    pub(crate) fn check(&self, job: &Job) -> Result<()> {
        let missing = |()| Error::new(Code::InvalidValue, "a buffer was released");
        let (local, far) = (job.local().map_err(missing)?, job.remote().map_err(missing)?);
        match (job.op, local, far) {
            (Op::Receive, Some(to), _) => view::check_room(to, &self.receive).map(drop),
            (Op::Send | Op::SendImm, Some(from), _) => view::check_source(from, &self.send).map(drop),
            (Op::Receive | Op::Send | Op::SendImm, None, _) => Ok(()),
            // The usual ones, which need no reason.
            (Op::Write | Op::WriteImm, Some(from), Some(to))
                if peer::is_lone_write(from, to, &self.send, self.device) =>
            {
                Ok(())
            }
            (Op::Read, Some(to), Some(from)) if peer::is_lone_read(from, to, &self.send, self.device) => {
                Ok(())
            }
            (Op::Write | Op::WriteImm, Some(from), Some(to)) => {
                peer::check_write(from, to, &self.send, self.device).map(drop)
            }
            (Op::Read, Some(to), Some(from)) => peer::check_read(from, to, &self.send, self.device).map(drop),
            (Op::Write | Op::WriteImm | Op::Read, None, None) => Ok(()),
            (Op::CmpSwap | Op::FetchAdd, result, Some(word)) if result.is_some() || job.owned.is_some() => {
                result.map_or(Ok(()), |result| peer::check_word(result, &self.send))?;
                peer::check_change(word, self.device)
            }
            (Op::EventGet | Op::EventSet | Op::EventAdd, local, _) => event::check(job, local, &self.send),
            _ => Err(Error::new(Code::InvalidValue, "a buffer is missing")),
        }
    }
}
