//! The atomics that this engine uses, from one place.

#[cfg(feature = "capi")]
pub(crate) use core::sync::atomic::AtomicPtr;
pub(crate) use core::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
