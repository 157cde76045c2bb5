//! The file: a head, and entries in the order in which things happened.
//!
//! ```text
//! head    "SDPUCALL", version u32, length of the head u32, key of the contract u64, entries lost u64, process u64,
//!         begin in seconds since 1970 u64, zeros up to 64 bytes
//! entry   length u32 (0: the end), kind u8, words u8, index u16, thread u32, 0 u32, first u64, words u64 each, parts
//! part    parameter u16, element u16, length u32, so many bytes, zeros up to the next 8
//! ```
//!
//! All numbers are little-endian. An entry's length is written last, in one store: a program that is killed leaves a file
//! that ends at its last whole entry. The key changes with the functions of the contract, since entries name them by number.

mod damage;
mod entry;
mod reader;

pub use crate::contract::KEY;
pub use damage::Damage;
pub use entry::Kind;
pub(crate) use entry::{Entry, little};
pub use reader::Record;

/// The first bytes of a file.
pub const MAGIC: &[u8; 8] = b"SDPUCALL";
/// The version of this form.
pub const VERSION: u32 = 1;
/// Length of the head.
pub const HEAD: usize = 64;
/// Where in the head the number of lost entries stands.
pub const LOST: usize = 24;
/// Length of an entry without words and parts.
pub const ENTRY: usize = 24;
/// The place of a text that a function returned.
pub const RESULT: u16 = 0xffff;

/// The hash of bytes that stands for them.
#[must_use]
pub fn hash(bytes: &[u8]) -> u64 {
    let step = |h: u64, w: u64| (h.rotate_left(23) ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut chunks = bytes.chunks_exact(8);
    let words = (&mut chunks)
        .fold(bytes.len() as u64, |h, c| step(h, c.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b))));
    chunks.remainder().iter().fold(words, |h, &b| step(h, u64::from(b)))
}
