//! The tasks of a send queue, and the job they become in a slot.

use super::engine::EthTxq;
use crate::batch::Batch;
use crate::caps::MOST_METADATA;
use crate::lent::LentHeaders;
use softdpu_memory::buf::{Buf, Lend};
use softdpu_memory::node::Lent;
use softdpu_room::task::Task;

/// Which checksums the queue fills in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checksums {
    /// That of the IPv4 header.
    pub l3: bool,
    /// That of TCP or UDP.
    pub l4: bool,
}

impl Checksums {
    /// None.
    pub const NONE: Checksums = Checksums { l3: false, l4: false };
    /// Both.
    pub const ALL: Checksums = Checksums { l3: true, l4: true };

    pub(crate) fn bits(self) -> u16 {
        u16::from(self.l3) | u16::from(self.l4) << 1
    }
}

/// Sends the frame in the data of a buffer (and of what is chained to it): Ethernet header first, no check sequence.
///
/// Success means that the frame has left the queue. Whether anybody receives it is another matter, as on a wire.
#[derive(Debug)]
pub struct Send {
    /// The frame.
    pub frame: Buf,
    /// What to fill in.
    pub checksums: Checksums,
}

/// Cuts the data of a buffer into frames of at most `mss` bytes of data, each with the header in front, and sends them.
///
/// A header that ends with TCP or UDP is brought up to date in every frame, checksums included.
#[derive(Debug)]
pub struct LargeSend {
    /// Ethernet header and what follows it.
    pub header: Vec<u8>,
    /// The data.
    pub payload: Buf,
    /// Most bytes of data per frame.
    pub mss: u16,
}

/// What a job is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Frame,
    Large,
    /// Frames or large sends of a C program.
    Batch(&'static Batch),
}

/// A send in a slot.
#[derive(Debug)]
pub struct SendJob {
    pub(crate) what: What,
    /// The frame, or the data of a large send.
    pub(crate) packet: Lent,
    /// C: the header of a large send.
    pub(crate) headers: LentHeaders,
    pub(crate) mss: u16,
    /// As the contract numbers them.
    pub(crate) flags: u16,
    pub(crate) words: [u32; MOST_METADATA],
    owned: Option<Buf>,
    /// Rust: the header of a large send.
    pub(crate) header: Vec<u8>,
}

impl SendJob {
    fn new(what: What, packet: Lent) -> SendJob {
        SendJob {
            what,
            packet,
            headers: LentHeaders::NONE,
            mss: 0,
            flags: 0,
            words: [0; MOST_METADATA],
            owned: None,
            header: Vec::new(),
        }
    }

    /// A frame of a C program.
    pub fn frame(packet: Lent, flags: u16) -> SendJob {
        SendJob { flags, ..SendJob::new(What::Frame, packet) }
    }

    /// A large send of a C program.
    pub fn large(payload: Lent, headers: LentHeaders, mss: u16, flags: u16) -> SendJob {
        SendJob { headers, mss, flags, ..SendJob::new(What::Large, payload) }
    }

    /// A batch.
    pub(crate) fn batch(batch: &'static Batch) -> SendJob {
        SendJob::new(What::Batch(batch), Lent::nobody())
    }
}

impl Task for Send {
    type Engine = EthTxq;
    type Output = ();

    fn into_job(self) -> SendJob {
        let job = SendJob::frame(self.frame.lend(), self.checksums.bits());
        SendJob { owned: Some(self.frame), ..job }
    }

    #[expect(
        clippy::expect_used,
        reason = "tasks come back as what they were; jobs of Rust are made by `into_job` alone"
    )]
    fn from_job(job: SendJob) -> Self {
        let checksums = Checksums { l3: job.flags & 1 != 0, l4: job.flags & 2 != 0 };
        Send { frame: job.owned.expect("a job comes back as the task it was"), checksums }
    }

    fn output(_: u64) {}
}

impl Task for LargeSend {
    type Engine = EthTxq;
    /// Number of frames.
    type Output = u64;

    fn into_job(self) -> SendJob {
        let job = SendJob::large(self.payload.lend(), LentHeaders::NONE, self.mss, 0);
        SendJob { owned: Some(self.payload), header: self.header, ..job }
    }

    #[expect(clippy::expect_used, reason = "as above")]
    fn from_job(job: SendJob) -> Self {
        let payload = job.owned.expect("a job comes back as the task it was");
        LargeSend { header: job.header, payload, mss: job.mss }
    }

    fn output(raw: u64) -> u64 {
        raw
    }
}
