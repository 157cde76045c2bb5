//! Atomics, barriers and shared memory, in one place; the loom models put loom's there.

pub(crate) use core::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
pub(crate) use softdpu_link::Segment;
pub(crate) use softdpu_link::barrier::{
    can_reach_others, far_barrier, init as init_barriers, is_reachable, light_barrier,
};
