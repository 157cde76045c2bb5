//! What the kernel is asked for, where no safe wrapper fits.

pub(crate) mod bpf;
pub(crate) mod interface;
pub(crate) mod map;
pub(crate) mod packet;
pub(crate) mod xdp;
