//! `doca_mmap.h`: memory maps.
//!
//! | file | what |
//! |---|---|
//! | `all.rs` | the maps there are |
//! | `state.rs` | what a map is, and every rule about what it may do when; no C |
//! | `lend.rs` | rules of export, keys and tokens; no C |
//! | `life.rs` | create, destroy, start, stop, devices, thread safety |
//! | `config.rs` | the setters |
//! | `query.rs` | the getters |
//! | `share.rs` | export and import |
//!
//! A map is used by one thread at a time, unless it was made safe for threads. Its lock orders the cold calls; buffers
//! are made without it, through the map's region alone.

pub(crate) mod all;
mod config;
mod lend;
mod life;
mod query;
mod share;
mod state;

pub use config::*;
pub use life::*;
pub use query::*;
pub use share::*;
pub use state::{FreeCallback, Mmap};
