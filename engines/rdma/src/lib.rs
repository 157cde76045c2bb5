//! The RDMA engine: messages, one-sided access and atomics between peers.
//!
//! Peers are contexts: of one program, or of two processes that share a runtime folder. One-sided access and atomics are
//! carried out by the initiator itself, in memory that it imported; messages go through rings in shared memory into
//! receives that their sender claimed before. The peer's program need not make progress for any of it. Wake-ups are
//! doorbells, which are rung only when somebody sleeps. Peers elsewhere are reached over the network, with the same rules.
//!
//! | file | what |
//! |---|---|
//! | `caps.rs`, `config.rs` | what a device can do, and what a context asks for |
//! | `job.rs`, `task.rs` | tasks in their slots |
//! | `engine.rs`, `desk.rs`, `hardware.rs` | the engine, what submits look at, and one turn |
//! | `link.rs`, `queue.rs`, `life.rs` | a connection as the engine has it, the tasks that wait on it, how it ends |
//! | `onesided.rs`, `event.rs`, `send.rs`, `receive.rs` | how tasks are carried out |
//! | `srq.rs`, `inbox.rs` | the shared memory of peers: posted receives, rings |
//! | `conn.rs`, `control.rs` | a connection as the program has it, and what program and engine share |
//! | `blob.rs`, `meet.rs`, `caller.rs` | descriptions, connecting by them, and who may |
//! | `addr.rs`, `knock.rs`, `door.rs`, `clock.rs` | addresses, and the connection manager |
//! | `net/` | peers on other machines; `ffi/`: libfabric, which carries that |
//! | `face.rs`, `handlers.rs`, `receives.rs` | the Rust face |
//! | `roster.rs`, `report.rs` | all contexts of the process; what `softdpu top` shows |
//! | `c.rs`, `c/` | the C entry points (feature `capi`) |

mod addr;
mod blob;
mod caller;
mod caps;
mod clock;
mod config;
mod conn;
mod control;
mod desk;
mod door;
mod engine;
mod event;
mod events;
mod face;
mod ffi;
mod handlers;
mod hardware;
mod inbox;
mod job;
mod knock;
mod life;
mod link;
mod meet;
mod net;
mod onesided;
mod posted;
mod queue;
mod receive;
mod receives;
mod report;
mod roster;
mod send;
mod senders;
mod srq;
mod sync;
mod task;

#[cfg(feature = "capi")]
pub mod c;

pub use addr::{Address, AddressKind};
pub use caps::{Caps, Transport};
pub use conn::{Conn, Phase};
pub use control::Control;
pub use engine::{Event, Rdma};
pub use face::{Connection, Endpoint, Happening, Options, Request, Target};
pub use handlers::Config;
pub use job::{Job, Op, Opcode};
#[doc(hidden)]
pub use net::bare;
pub use receives::{Received, Receives, Unfilled};
pub use softdpu_sync_event::RemoteEvent;
pub use task::{CompareSwap, EventAdd, EventGet, EventSet, FetchAdd, Message, Read, Receive, Send, Write};

/// Log target of this engine.
const LOG: &str = "softdpu::rdma";
