//! The atomics of this crate, in one place.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
