//! What the lists of a task say of themselves, before a byte is touched: what kind of memory they stand on, and how source
//! and destination lie to each other.

use crate::node::Node;
use crate::region::{ALIVE, EXPOSED, FAR, GUARDED, MOVED, Region, SHARED};

/// May references to the region's bytes be formed?
#[inline(always)]
pub(crate) fn is_private(region: &Region) -> bool {
    region.word() & (ALIVE | EXPOSED | SHARED | FAR | MOVED | GUARDED) == ALIVE
}

/// Is it a lone buffer of private memory, which needs no marks?
#[inline(always)]
pub(crate) fn is_plain(list: &Node) -> bool {
    list.next().is_none() && is_private(list.region())
}

/// Where the byte that the program names `at` is in this process.
#[inline(always)]
pub(crate) fn here(node: &Node, at: usize) -> usize {
    at.wrapping_add_signed(node.region().delta())
}

/// How source and destination lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// No byte in common (or one of them is not private memory, which is copied anyway).
    Apart,
    /// Byte for byte the same: what a `Sink` offers holds the source's bytes at the same offsets.
    Same,
    /// Some bytes in common, at different offsets.
    Mixed,
}

/// How the data of `src` and the room of `dst` lie to each other.
pub(crate) fn overlap(src: &Node, dst: &Node) -> Overlap {
    let meet = |s: &Node, d: &Node| {
        let (a, b) = (here(s, s.data()), here(d, d.tail()));
        a < b + d.room() && b < a + s.data_len()
    };
    if !src.list().any(|s| dst.list().any(|d| meet(s, d))) {
        return Overlap::Apart;
    }
    if same(src, dst) { Overlap::Same } else { Overlap::Mixed }
}

/// Is every byte of the source at the place of the destination's byte of the same offset, and meets no other?
fn same(src: &Node, dst: &Node) -> bool {
    let (mut s, mut d) = ((Some(src), 0), (Some(dst), 0));
    let mut ranges = Vec::new();
    while let Some(sn) = s.0 {
        if s.1 == sn.data_len() {
            s = (sn.next(), 0);
            continue;
        }
        let Some(dn) = d.0 else { return false };
        if d.1 == dn.room() {
            d = (dn.next(), 0);
            continue;
        }
        let (from, to) = (here(sn, sn.data() + s.1), here(dn, dn.tail() + d.1));
        if from != to || !is_private(sn.region()) || !is_private(dn.region()) {
            return false;
        }
        let n = (sn.data_len() - s.1).min(dn.room() - d.1);
        ranges.push((from, n));
        s.1 += n;
        d.1 += n;
    }
    // A piece that occurs twice would be read after it was written.
    ranges.sort_unstable();
    ranges.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0)
}
