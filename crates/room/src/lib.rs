//! The engine room.
//!
//! # Follow one task
//!
//! | step | file | what happens |
//! |---|---|---|
//! | 1 | the engine's `task.rs` | the task is a plain value that owns its buffers |
//! | 2 | [`typed`] (Rust), `life.rs` (C) | `submit`: required checks; a free slot; a refused task comes back |
//! | 3 | `job.rs`, [`slot`] | the job moves into the slot |
//! | 4 | `context.rs`, `lane.rs` | the slot flies; it goes into the lane's ring; sleeping workers are rung |
//! | 5 | `progress.rs`, or a worker of the board | whoever holds the lane's lock takes it; large tasks are claimed in parts |
//! | 6 | `job.rs` | the engine gets its job |
//! | 7 | the engine's `hardware.rs` | carries it out |
//! | 8 | `softdpu_memory::copy` | moves the bytes |
//! | 9 | [`slot`] | status and result; ready |
//! | 10 | `progress.rs` | the front of the lane is ready: it lands |
//! | 11 | `flight.rs`, `job.rs`, `calls.rs` | a waker is woken, a handler called, or a C callback |
//! | 12 | [`inflight`] | the future gives the task and its result back |
//!
//! Hand-made concurrency is in `flight.rs` (who owns a task), `lock.rs` (who turns a lane), `parts.rs` (claims on large
//! tasks), `arm.rs` (wake-ups) and `lane.rs` (rings); the first four are modelled with loom in `models`.

pub mod batch;
pub mod biased;
pub mod board;
pub mod calls;
pub mod carry;
pub mod clock;
pub mod context;
#[cfg(feature = "tokio")]
mod drive;
pub mod ending;
pub mod engine;
pub mod entry;
pub mod fork;
pub mod hardware;
pub mod hook;
pub mod inflight;
pub mod instrument;
pub mod job;
pub mod life;
pub mod pe;
pub mod pump;
mod ready;
mod report;
pub mod session;
pub mod slot;
pub mod sync;
pub mod sys;
pub mod task;
pub mod touch;
pub mod typed;

// The loom models compile these as public modules.
#[allow(unreachable_pub, reason = "shared with the loom models")]
mod arm;
mod bench;
#[allow(unreachable_pub, reason = "shared with the loom models")]
mod flight;
mod gate;
mod handle;
mod lane;
#[allow(unreachable_pub, reason = "shared with the loom models")]
mod lock;
#[allow(unreachable_pub, reason = "shared with the loom models")]
mod parts;
mod progress;
mod signal;
mod streak;
mod waiters;
mod watch;
mod wish;

// Under this name the models have their own copy of it.
use softdpu_link::armed;
