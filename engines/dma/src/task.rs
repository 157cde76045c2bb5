//! The task, and the job it becomes in a slot.

use crate::hardware::Dma;
use softdpu_memory::buf::{Buf, Lend as _};
use softdpu_memory::node::Lent;
use softdpu_room::task::Task;

/// Copies the data of `src` (and of what is chained to it) behind the data of `dst`, whose data grows by that.
///
/// Source and destination may be cut differently. The result is the number of bytes copied.
#[derive(Debug)]
pub struct Memcpy {
    /// What to copy.
    pub src: Buf,
    /// Where to: into the room behind its data.
    pub dst: Buf,
}

/// A copy in a slot. Both faces fill `src` and `dst`; Rust's buffers travel in `owned`.
#[derive(Debug)]
pub struct Job {
    pub(crate) src: Lent,
    pub(crate) dst: Lent,
    pub(crate) owned: Option<Memcpy>,
}

impl Task for Memcpy {
    type Engine = Dma;
    type Output = u64;

    #[inline(always)]
    fn into_job(self) -> Job {
        Job { src: self.src.lend(), dst: self.dst.lend(), owned: Some(self) }
    }

    #[inline(always)]
    #[expect(clippy::expect_used, reason = "jobs of the Rust face are made by `into_job` alone")]
    fn from_job(job: Job) -> Memcpy {
        job.owned.expect("a job of the Rust face owns its task")
    }

    #[inline(always)]
    fn output(raw: u64) -> u64 {
        raw
    }
}
