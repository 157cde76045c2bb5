//! The erasure coding engine: blocks of bytes times a matrix over GF(2^8).
//!
//! `k` data blocks get `m` redundancy blocks; as long as any `k` of the `k + m` are left, the others can be computed from
//! them. A [`Matrix`] says how, and the four tasks are the same multiplication under the names of its uses:
//!
//! | task | matrix | from | gives |
//! |---|---|---|---|
//! | [`Create`] | a coding matrix | all data blocks | the redundancy blocks |
//! | [`Recover`] | [`Matrix::recover`] | the first `k` blocks that are left | the lost blocks |
//! | [`Update`] | [`Matrix::update`] | old and new data blocks, old redundancy | the new redundancy |
//! | [`GaloisMul`] | any | its inputs | its outputs |
//!
//! | file | what |
//! |---|---|
//! | `matrix.rs` | the matrices |
//! | `task.rs` | the tasks, and the job they become |
//! | `caps.rs` | what a device can do |
//! | `hardware.rs` | what is refused, and how a job is cut |
//! | `strip.rs` | how a range of all blocks is computed |
//! | `held.rs`, `c.rs` | the C face: matrices that C programs hold; entry points (feature `capi`) |

mod caps;
mod hardware;
mod held;
mod matrix;
mod strip;
mod task;

#[cfg(feature = "capi")]
pub mod c;

pub use caps::{Caps, Kind};
pub use hardware::{Config, ErasureCoding};
pub use matrix::Matrix;
pub use task::{Create, GaloisMul, Job, Recover, Update};
