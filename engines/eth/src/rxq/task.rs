//! The receive task, and the job it becomes in a slot.

use super::engine::EthRxq;
use super::fill::Info;
use softdpu_memory::buf::{Buf, Lend};
use softdpu_memory::node::Lent;
use softdpu_room::task::Task;

/// Receives one frame behind the data of a buffer (and of what is chained to it).
///
/// The result is the number of its bytes. Frames meet receives in the order of both.
#[derive(Debug)]
pub struct Receive {
    /// Where to.
    pub into: Buf,
    /// What the queue tells about the frame, once it is there.
    pub info: Info,
}

impl Receive {
    /// Into this buffer.
    pub fn new(into: Buf) -> Receive {
        Receive { into, info: Info::default() }
    }
}

/// A receive in a slot.
#[derive(Debug)]
pub struct RecvJob {
    pub(crate) packet: Lent,
    pub(crate) info: Info,
    owned: Option<Buf>,
}

impl RecvJob {
    /// Into a buffer of a C program.
    pub fn new(packet: Lent) -> RecvJob {
        RecvJob { packet, info: Info::default(), owned: None }
    }
}

impl Task for Receive {
    type Engine = EthRxq;
    /// Bytes of the frame.
    type Output = u64;

    fn into_job(self) -> RecvJob {
        RecvJob { packet: self.into.lend(), info: self.info, owned: Some(self.into) }
    }

    #[expect(
        clippy::expect_used,
        reason = "tasks come back as what they were; jobs of Rust are made by `into_job` alone"
    )]
    fn from_job(job: RecvJob) -> Self {
        Receive { into: job.owned.expect("a job comes back as the task it was"), info: job.info }
    }

    fn output(raw: u64) -> u64 {
        raw
    }
}
