//! Sync events: 64-bit values that threads, processes on both sides of a card, and RDMA peers read, change and wait for.
//!
//! A value lives in a cell that every process that imported the event has mapped; an update is one atomic instruction there
//! and reaches a peer that is blocked and makes no progress. Waiting without a thread is a task of a context.
//!
//! | file | what |
//! |---|---|
//! | `condition.rs` | [`Condition`]: what somebody waits for |
//! | `page.rs` | cells on pages that can be shared |
//! | `word.rs` | cells of the program, places for results |
//! | `cell.rs` | the value wherever it lives: get, set, add, wait |
//! | `descriptor.rs` | an export in bytes |
//! | `share.rs`, `import.rs` | the exports of this process, and finding those of others |
//! | `live.rs` | an event that lives: value and exports |
//! | `event.rs` | [`SyncEvent`], the Rust face |
//! | `remote.rs` | events of RDMA peers |
//! | `real.rs` | events of real cards |
//! | `task.rs`, `hardware.rs` | the tasks, and the engine that keeps waits |
//! | `caps.rs` | what a device can do |
//! | `c.rs`, `c/` | the C entry points (feature `capi`) |

mod caps;
mod cell;
mod condition;
mod descriptor;
mod event;
mod hardware;
mod import;
mod live;
mod page;
pub mod real;
mod remote;
mod share;
mod task;
mod word;

#[cfg(feature = "capi")]
pub mod c;

pub use caps::Caps;
pub use condition::Condition;
pub use descriptor::{Descriptor, Kind, MAX_EXPORT};
pub use event::SyncEvent;
pub use hardware::{Config, SyncEvents};
pub use remote::{RemoteEvent, Target};
pub use task::{Get, Job, NotifyAdd, NotifySet, WaitEqual, WaitNotEqual};
