//! One piece of a copy: which routine moves it depends on where source and destination are.
#![expect(unsafe_code, reason = "raw copies between registered ranges")]

use super::bytes::{copy_blocks, copy_stream};
use crate::far::Way;
use crate::fault;
use crate::region::{FAR, Region, SHARED};
use softdpu_link::copy_shared;
use softdpu_status::Result;

/// From this many bytes on a loop over blocks is worth its beginning.
const BLOCKS_FROM: usize = 1024;

/// Copies one piece from region to region. What is far is named by its owner's address.
///
/// # Safety
/// Both pieces lie inside their regions, which are held.
#[inline]
pub(crate) unsafe fn move_piece(
    src: (&Region, *const u8),
    dst: (&Region, *mut u8),
    n: usize,
    stream: bool,
) -> Result<()> {
    if (src.0.made() | dst.0.made()) & FAR != 0 {
        // SAFETY: the caller's promise.
        return unsafe { move_far(src, dst, n) };
    }
    // SAFETY: the caller's promise.
    unsafe { move_here(src, dst, n, stream) };
    Ok(())
}

/// The same where both are mapped in this process.
///
/// # Safety
/// As [`move_piece`].
#[inline(always)]
pub(crate) unsafe fn move_here(
    (sr, at): (&Region, *const u8),
    (dr, to): (&Region, *mut u8),
    n: usize,
    stream: bool,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if stream && n >= 1 << 16 && copy_stream(at, to, n) {
            return;
        }
        if n >= BLOCKS_FROM && copy_blocks(at, to, n) {
            return;
        }
        if (sr.made() | dr.made()) & SHARED != 0 {
            copy_shared(at, to, n);
        } else {
            // Overlap is allowed here. Memory that was exported may be among it, which other processes write: to them
            // this is a call into the C library whose length the compiler does not know, hence a plain loop of machine
            // instructions, and what they race for are bytes. Threads of this process reach exported memory either by
            // its buffers, of which each has one owner, or by an import, which is SHARED.
            core::ptr::copy(at, to, n);
        }
    }
}

/// # Safety
/// As [`move_piece`].
#[cold]
#[inline(never)]
unsafe fn move_far(src: (&Region, *const u8), dst: (&Region, *mut u8), n: usize) -> Result<()> {
    let ((sr, at), (dr, to)) = (src, dst);
    // SAFETY: the caller's promise; the bounce is ours.
    unsafe {
        match (sr.made() & FAR != 0, dr.made() & FAR != 0) {
            (true, false) => far_copy(sr, Way::Read, at as usize, to, n),
            (false, _) => far_copy(dr, Way::Write, to as usize, at.cast_mut(), n),
            (true, true) => {
                let mut bounce = [0u8; 16 << 10];
                for done in (0..n).step_by(bounce.len()) {
                    let now = bounce.len().min(n - done);
                    far_copy(sr, Way::Read, at as usize + done, bounce.as_mut_ptr(), now)?;
                    far_copy(dr, Way::Write, to as usize + done, bounce.as_mut_ptr(), now)?;
                }
                Ok(())
            }
        }
    }
}

/// Copies between this process and a far region.
///
/// # Errors
/// IoFailed, with one log line.
///
/// # Safety
/// The access to the region is marked. `here` is good for `n` bytes, to be read or written as `way` demands, and no
/// reference that another party could break is formed to them.
pub(crate) unsafe fn far_copy(
    region: &Region,
    way: Way,
    there: usize,
    here: *mut u8,
    n: usize,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        match region.far() {
            Some(far) => far.copy(way, there, here, n),
            None => Err(fault::lost()),
        }
    }
}
