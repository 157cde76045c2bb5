//! Tasks of the Rust face: plain values that own their buffers.

use crate::engine::Rdma;
use crate::face::Target;
use crate::job::{ConnRef, Job, Op, Opcode};
use crate::sync::{AtomicU64, Ordering};
use softdpu_memory::buf::Lend as _;
use softdpu_memory::node::Lent;
use softdpu_memory::{Buf, RemoteBuf};
use softdpu_room::task::Task;
use softdpu_sync_event::RemoteEvent;
use std::sync::Arc;

/// What a task owns while it flies.
#[derive(Debug)]
pub(crate) struct Owned {
    local: Option<Buf>,
    remote: Option<RemoteBuf>,
    pub(crate) event: Option<Arc<RemoteEvent>>,
    /// Counts the receives of a stream that are through.
    pub(crate) tally: Option<Arc<Tally>>,
}

/// How many receives of a stream are through, so that it need not look at each of them.
#[derive(Debug, Default)]
pub(crate) struct Tally(AtomicU64);

impl Tally {
    /// One more; the lane's holder alone gets here.
    pub(crate) fn count(&self) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// So many, at least as soon as one of them is done.
    pub(crate) fn through(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// A [`Receive`] of a stream.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) receive: Receive,
    pub(crate) tally: Arc<Tally>,
}

impl Task for Counted {
    type Engine = Rdma;
    type Output = u64;

    #[inline]
    fn into_job(self) -> Job {
        let mut job = self.receive.into_job();
        if let Some(owned) = &mut job.owned {
            owned.tally = Some(self.tally);
        }
        job
    }

    #[expect(clippy::expect_used, reason = "made with one")]
    #[inline]
    fn from_job(mut job: Job) -> Counted {
        let tally = job.owned.as_mut().and_then(|owned| owned.tally.take()).expect("a receive of a stream");
        Counted { receive: Receive::from_job(job), tally }
    }

    fn output(raw: u64) -> u64 {
        raw
    }
}

/// Sends the data of `src`, and of what is chained to it, as one message; without a buffer an empty one. The result is
/// the number of bytes.
#[derive(Debug)]
pub struct Send {
    /// Whom to.
    pub to: Target,
    /// What.
    pub src: Option<Buf>,
    /// Four bytes beside the message.
    pub immediate: Option<[u8; 4]>,
}

/// A place for a message, from whatever connection of the context. The result is the number of bytes.
#[derive(Debug)]
pub struct Receive {
    /// Where to: behind its data. Without a buffer only messages without bytes fit.
    pub dst: Option<Buf>,
    /// What came, after success.
    pub message: Option<Message>,
}

/// What a receive got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// From whom; good for an answer.
    pub from: Target,
    /// Send, or write with immediate data.
    pub opcode: Opcode,
    /// Bytes sent or written.
    pub len: u32,
    /// Four bytes beside it, if the opcode says so.
    pub immediate: [u8; 4],
}

/// Writes the data of `src` to where the data of `dst` begins. The result is the number of bytes.
#[derive(Debug)]
pub struct Write {
    /// Through which connection.
    pub to: Target,
    /// What.
    pub src: Buf,
    /// Where to, in memory of the peer.
    pub dst: RemoteBuf,
    /// With four bytes, a receive of the peer completes behind the write.
    pub immediate: Option<[u8; 4]>,
}

/// Reads the data of `src` into the room behind the data of `dst`. The result is the number of bytes.
#[derive(Debug)]
pub struct Read {
    /// Through which connection.
    pub from: Target,
    /// What, in memory of the peer.
    pub src: RemoteBuf,
    /// Where to.
    pub dst: Buf,
}

/// Adds to 8 aligned bytes of the peer's memory, modulo 2^64. The result is the number before.
#[derive(Debug)]
pub struct FetchAdd {
    /// Through which connection.
    pub to: Target,
    /// Which bytes: where its data begins.
    pub word: RemoteBuf,
    /// How much.
    pub add: u64,
}

/// Stores a number in 8 aligned bytes of the peer's memory if another one is there. The result is the number before.
#[derive(Debug)]
pub struct CompareSwap {
    /// Through which connection.
    pub to: Target,
    /// Which bytes: where its data begins.
    pub word: RemoteBuf,
    /// What has to be there.
    pub expected: u64,
    /// What is stored then.
    pub new: u64,
}

/// Looks at a sync event of the peer. The result is its value.
#[derive(Clone, Debug)]
pub struct EventGet {
    /// Through which connection.
    pub from: Target,
    /// Which event, opened from its network export.
    pub event: Arc<RemoteEvent>,
}

/// Changes a sync event of the peer; whoever waits there for it wakes. The result is the value.
#[derive(Clone, Debug)]
pub struct EventSet {
    /// Through which connection.
    pub to: Target,
    /// Which event.
    pub event: Arc<RemoteEvent>,
    /// What it is to be.
    pub value: u64,
}

/// Adds to a sync event of the peer, modulo 2^64. The result is the value before.
#[derive(Clone, Debug)]
pub struct EventAdd {
    /// Through which connection.
    pub to: Target,
    /// Which event.
    pub event: Arc<RemoteEvent>,
    /// How much.
    pub add: u64,
}

#[inline]
fn job(
    op: Op,
    conn: ConnRef,
    local: Option<Buf>,
    remote: Option<RemoteBuf>,
    immediate: [u8; 4],
    words: [u64; 2],
) -> Job {
    Job {
        op,
        flags: 0,
        opcode: Opcode::Send,
        imm: immediate,
        len: 0,
        conn,
        handle: 0,
        local: local.as_ref().map_or(Lent::nobody(), |buf| buf.lend()),
        remote: remote.as_ref().map_or(Lent::nobody(), |buf| buf.lend()),
        words,
        owned: Some(Owned { local, remote, event: None, tally: None }),
    }
}

/// A job on a peer's event, whose value is looked for now: what was not found fails when it is carried out.
fn event_job(op: Op, conn: ConnRef, event: Arc<RemoteEvent>, number: u64) -> Job {
    crate::event::prepare(&event);
    let mut job = job(op, conn, None, None, [0; 4], [number, 0]);
    job.owned = Some(Owned { local: None, remote: None, event: Some(event), tally: None });
    job
}

#[expect(clippy::expect_used, reason = "made with that event")]
fn event(job: &mut Job) -> Arc<RemoteEvent> {
    job.owned.take().and_then(|owned| owned.event).expect("the task was made with an event")
}

#[expect(clippy::expect_used, reason = "jobs of the Rust face are made by `job` alone")]
#[inline]
fn parts(job: &mut Job) -> (Option<Buf>, Option<RemoteBuf>) {
    let owned = job.owned.take().expect("a job of the Rust face owns its task");
    (owned.local, owned.remote)
}

#[expect(clippy::expect_used, reason = "made with that buffer")]
#[inline]
fn local(buf: Option<Buf>) -> Buf {
    buf.expect("the task was made with a buffer")
}

#[expect(clippy::expect_used, reason = "made with that buffer")]
#[inline]
fn remote(buf: Option<RemoteBuf>) -> RemoteBuf {
    buf.expect("the task was made with a buffer")
}

macro_rules! task {
    ($name:ident, $self:ident => $into:expr, |$job:ident, $local:ident, $remote:ident| $from:expr) => {
        impl Task for $name {
            type Engine = Rdma;
            type Output = u64;

            #[inline]
            fn into_job($self) -> Job {
                $into
            }

            #[inline]
            fn from_job(mut job: Job) -> $name {
                let ($local, $remote) = parts(&mut job);
                let $job = job;
                $from
            }

            #[inline]
            fn output(raw: u64) -> u64 {
                raw
            }
        }
    };
}

task!(Send, self => {
    let op = if self.immediate.is_some() { Op::SendImm } else { Op::Send };
    job(op, self.to.0, self.src, None, self.immediate.unwrap_or_default(), [0; 2])
}, |job, local, _remote| Send {
    to: Target(job.conn),
    src: local,
    immediate: (job.op == Op::SendImm).then_some(job.imm),
});

task!(Receive, self => job(Op::Receive, ConnRef::default(), self.dst, None, [0; 4], [0; 2]), |job, local, _remote| Receive {
    dst: local,
    // No connection has the number 0.
    message: (job.conn.uid != 0).then_some(Message {
        from: Target(job.conn),
        opcode: job.opcode,
        len: job.len,
        immediate: job.imm,
    }),
});

task!(Write, self => {
    let op = if self.immediate.is_some() { Op::WriteImm } else { Op::Write };
    job(op, self.to.0, Some(self.src), Some(self.dst), self.immediate.unwrap_or_default(), [0; 2])
}, |job, from, to| Write {
    to: Target(job.conn),
    src: local(from),
    dst: remote(to),
    immediate: (job.op == Op::WriteImm).then_some(job.imm),
});

task!(Read, self => job(Op::Read, self.from.0, Some(self.dst), Some(self.src), [0; 4], [0; 2]), |job, to, from| Read {
    from: Target(job.conn),
    src: remote(from),
    dst: local(to),
});

task!(FetchAdd, self => job(Op::FetchAdd, self.to.0, None, Some(self.word), [0; 4], [self.add, 0]), |job, _local, word| FetchAdd {
    to: Target(job.conn),
    word: remote(word),
    add: job.words[0],
});

task!(CompareSwap, self => {
    job(Op::CmpSwap, self.to.0, None, Some(self.word), [0; 4], [self.expected, self.new])
}, |job, _local, word| CompareSwap {
    to: Target(job.conn),
    word: remote(word),
    expected: job.words[0],
    new: job.words[1],
});

macro_rules! event_task {
    ($name:ident { $target:ident $(, $number:ident)? }, $op:ident) => {
        impl Task for $name {
            type Engine = Rdma;
            type Output = u64;

            #[inline]
            fn into_job(self) -> Job {
                event_job(Op::$op, self.$target.0, self.event, 0 $(+ self.$number)?)
            }

            #[inline]
            fn from_job(mut job: Job) -> $name {
                $name { $target: Target(job.conn), event: event(&mut job) $(, $number: job.words[0])? }
            }

            #[inline]
            fn output(raw: u64) -> u64 {
                raw
            }
        }
    };
}

event_task!(EventGet { from }, EventGet);
event_task!(EventSet { to, value }, EventSet);
event_task!(EventAdd { to, add }, EventAdd);
