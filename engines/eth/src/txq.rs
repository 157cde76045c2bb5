//! Send queues.
//!
//! | file | what |
//! |---|---|
//! | `txq/engine.rs` | the engine, its settings, what submits look at |
//! | `txq/task.rs` | its tasks, and the job they become |
//! | `txq/hardware.rs` | takes tasks and batches in order, a bounded number of bytes per turn |
//! | `txq/number.rs` | numbers of queues |
//! | `txq/frame.rs` | one frame, one large send: from the program's buffers to the port |

mod engine;
mod frame;
mod hardware;
mod number;
mod task;

pub use engine::{EthTxq, Terms, TxConfig, TxSetup};
pub use task::{Checksums, LargeSend, Send, SendJob};
