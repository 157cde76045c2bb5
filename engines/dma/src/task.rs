//! The task, and the job it becomes in a slot.

use crate::hardware::Dma;
use softdpu_memory::buf::Buf;
use softdpu_memory::node::Lent;
use softdpu_memory::node::pair::{Pair, Side};
use softdpu_room::task::Task;

/// Copies the data of `src` (and of what is chained to it) behind the data of `dst`, whose data grows by that.
///
/// Source and destination may be cut differently. Either may be memory that another process exported. The result is the
/// number of bytes copied.
#[derive(Debug)]
pub struct Memcpy<S = Buf, D = Buf> {
    /// What to copy.
    pub src: S,
    /// Where to: into the room behind its data.
    pub dst: D,
}

/// A copy in a slot: the buffers, which travel in it (Rust) or stay the program's (C).
#[derive(Debug)]
pub struct Job(pub(crate) Pair);

impl Job {
    /// What is copied.
    #[inline(always)]
    pub fn src(&self) -> Lent {
        self.0.src()
    }

    /// Where it goes.
    #[inline(always)]
    pub fn dst(&self) -> Lent {
        self.0.dst()
    }
}

impl<S: Side, D: Side> Task for Memcpy<S, D>
where
    Memcpy<S, D>: Send + 'static,
{
    type Engine = Dma;
    type Output = u64;

    #[inline(always)]
    fn into_job(self) -> Job {
        Job(Pair::new(self.src, self.dst))
    }

    #[inline(always)]
    #[expect(
        clippy::expect_used,
        reason = "tasks come back as what they were; jobs of Rust are made by `into_job` alone"
    )]
    fn from_job(job: Job) -> Self {
        let (src, dst) = job.0.into_parts().expect("a job comes back as the task it was");
        Memcpy { src, dst }
    }

    #[inline(always)]
    fn output(raw: u64) -> u64 {
        raw
    }
}
