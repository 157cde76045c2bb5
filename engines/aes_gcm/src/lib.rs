//! The AES-GCM engine: authenticated encryption and decryption of lists of buffers.
//!
//! | file | what |
//! |---|---|
//! | `task.rs` | [`Encrypt`], [`Decrypt`], the same in place, and the job they become |
//! | `key.rs` | [`Key`], [`Iv`] |
//! | `caps.rs` | what a device can do |
//! | `config.rs` | [`Config`], and the handlers of posted tasks |
//! | `hardware.rs` | the engine: checks, and which way a job takes |
//! | `message.rs` | a message that lies in one piece |
//! | `in_place.rs` | a list that is source and destination |
//! | `pieces.rs` | a message in pieces: lists, shared memory, steps of long ones |
//! | `ffi.rs` | aws-lc, behind a safe door |
//! | `lent.rs` | key objects, and keys lent to tasks |
//! | `secret.rs` | the bytes of a key |
//! | `field.rs` | the arithmetic behind empty vectors |
//! | `bare.rs` | aws-lc alone, for benches |
//! | `c.rs` | the C entry points (feature `capi`) |
//!
//! A message that is not authentic leaves no plain text: private memory is decrypted where it lies and wiped before the
//! task is reported; what others could be looking at is written only after the tag was found right.

#[doc(hidden)]
pub mod bare;
mod caps;
mod config;
mod ffi;
mod field;
mod hardware;
mod in_place;
mod key;
mod lent;
mod message;
mod pieces;
mod secret;
mod task;
mod twice;

#[cfg(feature = "capi")]
pub mod c;

pub use caps::Caps;
pub use config::{Config, Handlers};
pub use hardware::AesGcm;
pub use key::{Iv, Key};
#[doc(hidden)]
pub use lent::KeyObject;
pub use task::{Decrypt, DecryptInPlace, Direction, Encrypt, EncryptInPlace, Job, Message, TagLen};
