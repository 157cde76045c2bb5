//! Advice about memory maps: tasks that tell the card to forget what its caches hold of a buffer.
//!
//! The caches of a software card are those of the processor, which keeps them coherent by itself. So the task checks its
//! buffer and completes; that is all there is to do.
//!
//! | file | what |
//! |---|---|
//! | `task.rs` | [`InvalidateCache`], and the job it becomes |
//! | `hardware.rs` | the engine |
//! | `c.rs` | the C entry points (feature `capi`) |

mod hardware;
mod task;

#[cfg(feature = "capi")]
pub mod c;

pub use hardware::{Caps, Config, MmapAdvise};
pub use task::{InvalidateCache, Job};
