//! Marks of accesses to the memory that a task's lists lie in.

use super::refuse;
use crate::guard::Touch;
use crate::node::Node;
use crate::region::{ALIVE, GUARDED, Region};
use softdpu_status::{Code, Result};

/// Marks the guarded regions of both lists as being accessed, for as long as it lives.
pub(crate) enum Marks<'a> {
    /// Two buffers that are followed by no others.
    Lone {
        _touched: [Option<Touch<'a>>; 2],
    },
    Lists {
        src: &'a Node,
        dst: &'a Node,
    },
}

fn regions(list: &Node) -> impl Iterator<Item = &Region> {
    list.list().map(|n| n.region())
}

impl<'a> Marks<'a> {
    /// None where no region is guarded.
    #[inline]
    pub(crate) fn set(src: &'a Node, dst: &'a Node) -> Result<Option<Marks<'a>>> {
        // Whether a region is guarded never changes while buffers point at it, but the word of a closed one does not say
        // so any more: closed regions are looked at once more.
        let open = |r: &Region| r.word() & (ALIVE | GUARDED) == ALIVE;
        if src.both_alone(dst) {
            let (sr, dr) = (src.region(), dst.region());
            if open(sr) && open(dr) {
                return Ok(None);
            }
            let mark = |r: &'a Region| {
                let touched = if open(r) { Ok(None) } else { r.touch().map(Some).ok_or(r) };
                touched.or_else(stopped)
            };
            return Ok(Some(Marks::Lone { _touched: [mark(sr)?, mark(dr)?] }));
        }
        let all = || regions(src).chain(regions(dst));
        if all().all(open) {
            return Ok(None);
        }
        for (at, region) in all().enumerate() {
            if !region.enter() {
                all().take(at).for_each(Region::leave);
                return stopped(region);
            }
        }
        Ok(Some(Marks::Lists { src, dst }))
    }
}

#[cold]
fn stopped<T>(region: &Region) -> Result<T> {
    let (base, len) = (region.base(), region.len());
    let line = format_args!("memory map [{base:#x}, +{len}) was stopped while a task used it");
    refuse(Code::InvalidValue, "memory map is not started", line)
}

impl Drop for Marks<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Marks::Lists { src, dst } = self {
            regions(src).chain(regions(dst)).for_each(Region::leave);
        }
    }
}
