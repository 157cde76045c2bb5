//! The DMA engine: copies lists of buffers into lists of buffers.
//!
//! | file | what |
//! |---|---|
//! | `task.rs` | [`Memcpy`], and the job it becomes |
//! | `caps.rs` | what a device can do |
//! | `hardware.rs` | how a job is carried out |
//! | `taste.rs` | whether large copies go past the cache |
//! | `c.rs` | the C entry points (feature `capi`) |

mod caps;
mod hardware;
mod task;
mod taste;

#[cfg(feature = "capi")]
pub mod c;

pub use caps::Caps;
pub use hardware::{Config, Dma};
pub use task::{Job, Memcpy};
