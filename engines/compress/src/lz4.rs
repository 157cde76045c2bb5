//! LZ4 streams: the data blocks of an LZ4 frame, back to back, without the frame around them.
//!
//! A block is a little-endian size word (highest bit: its bytes are stored plain), its bytes, and with block checksums
//! the XXH32 of those bytes as they stand. A size word of 0 is an end mark, which may be the last thing.

use crate::codec::{Failure, xxh32};
use crate::ffi;

const STORED: u32 = 1 << 31;

/// Decompresses a stream into `to`; gives the bytes written.
///
/// # Errors
/// Damaged input, a wrong block checksum, or too little room.
pub(crate) fn stream(
    from: &[u8],
    to: &mut [u8],
    checksums: bool,
    independent: bool,
) -> Result<usize, Failure> {
    let (mut rest, mut at) = (from, 0);
    while !rest.is_empty() {
        let size = word(&mut rest)?;
        if size == 0 {
            return if rest.is_empty() { Ok(at) } else { Err(Failure::Damaged) };
        }
        let block = bytes(&mut rest, (size & !STORED) as usize)?;
        if checksums && word(&mut rest)? != xxh32(block) {
            return Err(Failure::Checksum);
        }
        at += if size & STORED != 0 {
            to[at..].get_mut(..block.len()).ok_or(Failure::TooLong)?.copy_from_slice(block);
            block.len()
        } else {
            ffi::lz4_block(block, to, at, !independent).ok_or(Failure::Damaged)?
        };
    }
    Ok(at)
}

fn bytes<'a>(rest: &mut &'a [u8], n: usize) -> Result<&'a [u8], Failure> {
    let (head, tail) = rest.split_at_checked(n).ok_or(Failure::Damaged)?;
    *rest = tail;
    Ok(head)
}

fn word(rest: &mut &[u8]) -> Result<u32, Failure> {
    let (head, tail) = rest.split_first_chunk().ok_or(Failure::Damaged)?;
    *rest = tail;
    Ok(u32::from_le_bytes(*head))
}
