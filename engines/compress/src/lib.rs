//! The compression engine: DEFLATE both ways, LZ4 decompression, checksums of the plain data on the way.
//!
//! | file | what |
//! |---|---|
//! | `task.rs` | [`CompressDeflate`], [`DecompressDeflate`], [`DecompressLz4Stream`], [`DecompressLz4Block`], and the job they become |
//! | `caps.rs` | what a device can do |
//! | `hardware.rs` | checks, and where input and output of a job lie |
//! | `tools.rs` | the tools of whoever carries a job out: codec states and bounce memory, used again and again |
//! | `codec.rs` | one job on plain slices |
//! | `lz4.rs` | LZ4 streams: blocks back to back |
//! | `ffi.rs`, `ffi/isal.rs` | libdeflate and lz4, the codecs underneath; ISA-L for the fastest level where it is installed |
//! | `bare.rs` | the codecs alone, for measurements |
//! | `c.rs`, `c/support.rs` | the C entry points (feature `capi`) |

#[doc(hidden)]
pub mod bare;
mod caps;
mod codec;
mod ffi;
mod hardware;
mod lz4;
mod task;
mod tools;

#[cfg(feature = "capi")]
pub mod c;

pub use caps::{Caps, Kind};
pub use hardware::{Compress, Config, Level};
pub use task::{
    CompressDeflate, DecompressDeflate, DecompressLz4Block, DecompressLz4Stream, DeflateSums, Job, Lz4Sums,
    sums,
};
