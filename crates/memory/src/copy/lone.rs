//! The transfer between two lone buffers, whatever memory they lie in, in one straight line.
//!
//! What it does not find in order it leaves alone, without a word: the long way looks again, and says what is wrong.
#![expect(unsafe_code, reason = "raw copies between registered ranges")]

use super::Gate;
use super::pieces::move_here;
use crate::far::Way;
use crate::node::Node;
use crate::region::{FAR, GUARDED, SLOW};

impl Gate {
    /// May the device read a region with this access word, which is mapped here?
    #[inline(always)]
    pub(crate) const fn reads(&self, word: u64) -> bool {
        word & (self.read | FAR) == self.read
    }

    /// May it write one?
    #[inline(always)]
    pub(crate) const fn writes(&self, word: u64) -> bool {
        word & (self.write | FAR) == self.write
    }
}

/// Is it a transfer of at most `most` bytes between two lone buffers, with nothing against it as far as this process
/// knows, and without waiting for another one?
#[inline(always)]
pub fn is_lone(src: &Node, dst: &Node, gate: &Gate, most: usize) -> bool {
    let n = src.data_len();
    src.both_alone(dst)
        && n.wrapping_sub(1) < most
        && n as u64 <= gate.max_bytes
        && n <= dst.room()
        && src.region().word() & (gate.read | SLOW) == gate.read
        && dst.region().word() & (gate.write | SLOW) == gate.write
}

/// The same, with another look at what owners in other processes took back.
#[inline]
pub fn is_lone_still(src: &Node, dst: &Node, gate: &Gate, most: usize) -> bool {
    is_lone(src, dst, gate, most)
        && [src.region(), dst.region()].into_iter().all(|region| {
            if region.made() & GUARDED != 0 {
                region.look_again();
            }
            region.is_open()
        })
}

/// Carries the transfer out if it is one; the destination grows.
#[inline(never)]
pub fn transfer_lone(src: &Node, dst: &Node, gate: &Gate, most: usize) -> Option<u64> {
    if !is_lone(src, dst, gate, most) {
        return None;
    }
    let (sr, dr, n) = (src.region(), dst.region(), src.data_len());
    // One after the other, so that they stay in registers.
    let _source = if sr.made() & GUARDED != 0 { Some(sr.touch()?) } else { None };
    let _destination = if dr.made() & GUARDED != 0 { Some(dr.touch()?) } else { None };
    let at = src.data().wrapping_add_signed(sr.delta()) as *const u8;
    let to = dst.tail().wrapping_add_signed(dr.delta()) as *mut u8;
    // SAFETY: both windows lie inside regions that were open just now; the contract (C) or ownership (Rust) keeps their
    // memory until the task is back. Imported ones are marked.
    unsafe {
        match (sr.made() & FAR != 0, dr.made() & FAR != 0) {
            (false, false) => move_here((sr, at), (dr, to), n, false),
            (true, false) => sr.far()?.attempt(Way::Read, at as usize, to, n)?,
            (false, true) => dr.far()?.attempt(Way::Write, to as usize, at.cast_mut(), n)?,
            (true, true) => return None,
        }
    }
    dst.grow(n);
    Some(n as u64)
}
