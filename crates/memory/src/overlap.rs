//! How the source and the destination of a task lie to each other.

use crate::node::Node;
use crate::view::{here, is_private};

/// How source and destination lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// No byte in common (or one of them is not private memory, which is copied anyway).
    Apart,
    /// Byte for byte the same: what a [`Sink`] offers holds the source's bytes at the same offsets.
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
