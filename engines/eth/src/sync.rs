//! Atomics, in one place.

pub(crate) use core::sync::atomic::{
    AtomicI32, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering,
};
