//! The task, and the job it becomes in a slot.

use crate::hardware::MmapAdvise;
use softdpu_memory::buf::{Buf, Lend as _};
use softdpu_memory::node::Lent;
use softdpu_room::task::Task;

/// Tells the card to forget what its caches hold of a buffer.
#[derive(Debug)]
pub struct InvalidateCache {
    /// Of which buffer. It is not changed.
    pub buf: Buf,
}

/// An invalidation in a slot.
#[derive(Debug)]
pub struct Job {
    pub(crate) buf: Lent,
    pub(crate) owned: Option<InvalidateCache>,
}

impl Task for InvalidateCache {
    type Engine = MmapAdvise;
    type Output = ();

    fn into_job(self) -> Job {
        Job { buf: self.buf.lend(), owned: Some(self) }
    }

    #[expect(clippy::expect_used, reason = "jobs of the Rust face are made by `into_job` alone")]
    fn from_job(job: Job) -> InvalidateCache {
        job.owned.expect("a job of the Rust face owns its task")
    }

    fn output(_: u64) {}
}
