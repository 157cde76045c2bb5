//! Who turns the lanes besides the threads that call progress.
//!
//! [`threads()`] is the board of every process that asks for nothing else: a few worker threads that help with large
//! tasks, take over what nobody turned, and sleep when nothing happens. [`inline`] has no workers: everything is carried
//! out inside progress, in a fixed order, which is what tests want.

mod threads;
mod watch;

pub use softdpu_room::session::inline;
pub use threads::{Threads, threads};
