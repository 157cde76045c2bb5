//! Loom models of the hand-made concurrency of the engine room, and of messages between processes.
//!
//! The files of the room and of the link are included as they stand, with the primitives of `sync.rs` in the place of `core`'s. `build.rs`
//! cuts single functions out of files that cannot be included whole, and makes broken variants of the source. Each model
//! is run on the source, where it must hold, and on broken variants (a line changed, or a barrier left out), where it
//! must fail: a model that cannot fail proves nothing.
//!
//! | model | question |
//! |---|---|
//! | `models/flight.rs` | who owns a task, and is every parked waker woken? |
//! | `models/lock.rs` | does one party at a time turn a lane, and is no task left lying? |
//! | `models/biased.rs` | is one party at a time inside, whoever is preferred, and does nobody wait for ever? |
//! | `models/parts.rs` | is every part claimed once, and does one party finish? |
//! | `models/lane.rs` | is every task carried out once, in flight, and reported with what was written? |
//! | `models/arm.rs` | does whoever sleeps on the descriptor get its signal? |
//! | `models/ring.rs` | does a context that leaves its engine's ring lose a submit or a stop? |
//! | `models/end.rs` | is a context given up only when nobody can reach it any more? |
//! | `models/bell.rs` | does a worker that lies down miss a task? |
//! | `models/quiesce.rs` | does an owner that takes memory back find a borrower in it? |
//! | `models/seat.rs` | does whoever closes a region find a thread in it? |
//! | `models/receives.rs` | is each receive between processes taken once, and filled when that is said? |
//! | `models/messages.rs` | does every message between processes arrive, with what was written, and does it wake a sleeper? |
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
#[path = "../../crates/link/src/armed.rs"]
#[allow(dead_code, unreachable_pub, reason = "the link's file as it stands; not every model uses all of it")]
mod armed;
#[path = "../../crates/room/src/biased.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unsafe_code,
    unused_qualifications,
    reason = "the room's file as it stands; not every model uses all of it"
)]
mod biased;
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
#[path = "../../crates/link/src/ring.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    missing_debug_implementations,
    reason = "the link's file as it stands; not every model uses all of it"
)]
mod ring;
#[path = "../../crates/room/src/signal.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    reason = "the room's file as it stands; not every model uses all of it"
)]
mod signal;

#[path = "../../engines/comch/src/rings.rs"]
#[allow(dead_code, reason = "the channel's file as it stands; not every model uses all of it")]
mod rings;

#[path = "../../crates/memory/src/quiesce.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    reason = "the file of the memory crate as it stands"
)]
mod quiesce;
#[path = "../../crates/memory/src/seat.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_qualifications,
    reason = "the file of the memory crate as it stands"
)]
mod seat;

/// Broken variants of the files.
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
mod segment;
mod slot;
mod streak;
mod sync;
