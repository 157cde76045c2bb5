//! A software DPU: sessions, devices, memory, buffers, engines, progress.

pub use softdpu_card as card;
pub use softdpu_engines::aes_gcm;
pub use softdpu_engines::compress;
pub use softdpu_engines::dma;
pub use softdpu_engines::erasure_coding;
pub use softdpu_engines::mmap_advise;
pub use softdpu_engines::sha;
pub use softdpu_memory as memory;
pub use softdpu_memory::region::Access;
pub use softdpu_room::context::State;
pub use softdpu_room::inflight::InFlight;
pub use softdpu_room::job::Outbox;
pub use softdpu_room::pump::ProgressEngine;
pub use softdpu_room::session::{Device, DeviceInfo, Session};
pub use softdpu_room::task::{Done, Handler, Next, Rejected, Task};
pub use softdpu_room::typed::{Context, Starting, Stopping};
pub use softdpu_status::{Class, Code, Error, Result};
