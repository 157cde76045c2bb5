//! Loom models of the hand-made concurrency of the engine room.
//!
//! The files of the room are included as they stand, with the primitives of `sync.rs` in the place of `core`'s. `build.rs`
//! cuts single functions out of files that cannot be included whole, and makes broken variants of the source. Each model
//! is run on the source, where it must hold, and on broken variants (a line changed, or a barrier left out), where it
//! must fail: a model that cannot fail proves nothing.
//!
//! | model | question |
//! |---|---|
//! | `models/flight.rs` | who owns a task, and is every parked waker woken? |
//! | `models/lock.rs` | does one party at a time turn a lane, and is no task left lying? |
//! | `models/parts.rs` | is every part claimed once, and does one party finish? |
//! | `models/lane.rs` | is every task carried out once, in flight, and reported with what was written? |
//! | `models/arm.rs` | does whoever sleeps on the descriptor get its signal? |
//! | `models/ring.rs` | does a context that leaves its engine's ring lose a submit or a stop? |
//! | `models/end.rs` | is a context given up only when nobody can reach it any more? |
//! | `models/bell.rs` | does a worker that lies down miss a task? |
//!
//! `tests/` holds the same protocols on real threads, for the sanitizers.
#![cfg(test)]

#[path = "../../crates/room/src/arm.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    reason = "the room's file as it stands; not every model uses all of it"
)]
mod arm;
#[path = "../../crates/room/src/flight.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    unsafe_code,
    reason = "the room's file as it stands; not every model uses all of it"
)]
mod flight;
#[path = "../../crates/room/src/lane.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    reason = "the room's file as it stands; not every model uses all of it"
)]
mod lane;
#[path = "../../crates/room/src/lock.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    reason = "the room's file as it stands; not every model uses all of it"
)]
mod lock;
#[path = "../../crates/room/src/parts.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    reason = "the room's file as it stands; not every model uses all of it"
)]
mod parts;
#[path = "../../crates/room/src/pe.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    reason = "the room's file as it stands; not every model uses all of it"
)]
mod pe;

/// Broken variants of the room's files.
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    unused_variables,
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    reason = "broken on purpose"
)]
mod mutants {
    include!(concat!(env!("OUT_DIR"), "/mutants.rs"));
}

mod board;
mod context;
mod ending;
mod engine;
mod handle;
mod models;
mod slot;
mod sync;
