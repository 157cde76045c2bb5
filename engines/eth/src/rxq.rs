//! Receive queues.
//!
//! | file | what |
//! |---|---|
//! | `rxq/engine.rs` | the engine, its settings, what submits and the faces look at |
//! | `rxq/task.rs` | the receive task, and the job it becomes |
//! | `rxq/fill.rs` | a frame into the buffers it is received in, and what is told about it |
//! | `rxq/pool.rs`, `rxq/packets.rs`, `rxq/report.rs` | managed queues: packet memory, arrays of packets, what events tell |
//! | `rxq/hardware.rs` | takes frames from the port as long as there is room for them |
//! | `rxq/gather.rs` | its managed side: frames become events |

mod engine;
pub(crate) mod fill;
mod gather;
mod hardware;
mod packets;
mod pool;
mod report;
mod task;

pub use engine::{EthRxq, Managed, Mode, RxConfig, RxCounters, RxDesk, RxSetup, RxStart};
pub use fill::Info;
pub use hardware::Event;
pub use packets::{MOST_PACKETS, Packets, Shelf};
pub use pool::Pool;
#[cfg(feature = "capi")]
pub(crate) use pool::stride;
pub use report::{Report, Told, Want};
pub use task::{Receive, RecvJob};
