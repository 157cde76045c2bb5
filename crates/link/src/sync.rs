//! The primitives of the protocols between processes; the loom models put loom's in their place.

pub use crate::barrier::{far_barrier, light_barrier};
pub use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
