//! The atomics of this crate, in one place: counters that stand alone, and the words of [`softdpu_link::armed`].

pub(crate) use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};
