//! Steering of Ethernet frames as C programs write it down: ports, pipes, entries.
//!
//! What the contract lists comes down to a few rules per port, which become one classifier of
//! [`softdpu_net::steer`]: entries of root pipes in the order they were added, then what missed them. Rust programs, and
//! whoever wants to match more than everything, use that directly.
//!
//! | file | what |
//! |---|---|
//! | `book.rs` | the ports there are, their pipes and entries, and the rules they come to |
//! | `c.rs`, `c/` | the entry points |

#[cfg(feature = "capi")]
mod book;
#[cfg(feature = "capi")]
pub mod c;

/// Log target of this crate.
#[cfg(feature = "capi")]
const LOG: &str = "softdpu::flow";
