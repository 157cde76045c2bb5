//! libfabric, loaded when the first connection to another machine is made: nothing of it is needed to build, and nothing
//! else than an error when it is not there.
//!
//! | file | what |
//! |---|---|
//! | `abi.rs` | declarations of the C interface |
//! | `load.rs` | finding the library, and what is chosen of it |
//! | `object.rs` | objects of the library, closed when they are dropped |
//! | `gate.rs` | a place where one peer may connect |
//! | `plug.rs`, `parts.rs`, `store.rs` | a connected endpoint, what it is made of, its buffers |

mod abi;
mod gate;
mod load;
mod object;
mod parts;
mod plug;
mod store;

pub(crate) use gate::Gate;
pub(crate) use load::{Library, provider};
pub(crate) use parts::{Class, Got, State};
pub(crate) use plug::Plug;
pub(crate) use store::Shape;
