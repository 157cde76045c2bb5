//! The atomics of this crate.

pub(crate) use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
