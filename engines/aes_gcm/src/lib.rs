//! The AES-GCM engine: authenticated encryption and decryption of lists of buffers.
//!
//! | file | what |
//! |---|---|
//! | `task.rs` | [`Encrypt`], [`Decrypt`], and the job they become |
//! | `key.rs` | [`Key`], [`Iv`] |
//! | `caps.rs` | what a device can do |
//! | `hardware.rs` | the engine: checks, and which way a job takes |
//! | `message.rs` | a message that lies in one piece |
//! | `pieces.rs` | a message in pieces: lists, shared memory, steps of long ones |
//! | `ffi.rs` | aws-lc, behind a safe door |
//! | `lent.rs` | key objects, and keys lent to tasks |
//! | `field.rs` | the arithmetic behind empty vectors |
//! | `bare.rs` | aws-lc alone, for benches |
//! | `c.rs` | the C entry points (feature `capi`) |
//!
//! A message that is not authentic leaves no plain text: private memory is decrypted where it lies and wiped before the
//! task is reported; what others could be looking at is written only after the tag was found right.

#[doc(hidden)]
pub mod bare;
mod caps;
mod ffi;
mod field;
mod hardware;
mod key;
mod lent;
mod message;
mod pieces;
mod task;

#[cfg(feature = "capi")]
pub mod c;

pub use caps::Caps;
pub use hardware::{AesGcm, Config};
pub use key::{Iv, Key};
#[doc(hidden)]
pub use lent::KeyObject;
pub use task::{Decrypt, Direction, Encrypt, Job, TagLen};
