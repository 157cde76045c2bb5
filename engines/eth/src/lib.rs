//! Ethernet receive and send queues.
//!
//! A send queue takes frames (or data that it cuts into frames) from the program's buffers to the port of its device; a
//! receive queue takes those frames of the port that rules point at it into buffers. Ports, their backends and rules are
//! [`softdpu_net`]'s; checksums and large sends are carried out here.
//!
//! | file | what |
//! |---|---|
//! | `caps.rs` | limits |
//! | `txq.rs`, `rxq.rs` | the two kinds of queues; each lists its own files |
//! | `batch.rs` | task batches of C programs |
//! | `lso.rs` | what is different in each frame of a large send |
//! | `lent.rs` | header lists and packets that a C program lends |
//! | `face.rs` | the Rust face |

#![cfg_attr(
    not(feature = "capi"),
    allow(dead_code, unreachable_pub, reason = "part of it is for C programs alone")
)]

mod batch;
#[cfg(feature = "capi")]
pub mod c;
mod caps;
pub mod face;
mod lent;
mod lso;
pub mod rxq;
#[cfg(test)]
#[path = "../../../crates/net/src/sample.rs"]
#[allow(dead_code, reason = "the frames of the ports' tests; not every crate needs all of them")]
mod sample;
mod sync;
pub mod txq;

pub use caps::{RxCaps, TxCaps};
pub use softdpu_net as net;

/// Log target of this crate.
const LOG: &str = "softdpu::eth";
