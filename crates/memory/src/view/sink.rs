//! The destination of a task, as its engine writes it.
#![expect(unsafe_code, reason = "slices on private memory, copies into shared memory")]

use super::{room, seek};
use crate::copy;
use crate::far::Way;
use crate::node::Node;
use crate::overlap::{here, is_private};
use crate::region::FAR;
use core::cell::Cell;
use core::marker::PhantomData;
use softdpu_status::Error;

/// The room of a destination list, written from front to back. Nothing of it becomes data until [`copy::commit`].
#[derive(Debug)]
pub struct Sink<'h> {
    node: Option<&'h Node>,
    /// Bytes used of the room of `node`.
    at: usize,
    failed: &'h Cell<Option<Error>>,
    held: PhantomData<&'h mut [u8]>,
}

impl<'h> Sink<'h> {
    pub(super) fn new(node: Option<&'h Node>, failed: &'h Cell<Option<Error>>) -> Sink<'h> {
        Sink { node, at: 0, failed, held: PhantomData }
    }

    /// Bytes left.
    pub fn room(&self) -> u64 {
        self.node.map_or(0, |n| room(n) - self.at as u64)
    }

    /// Moves over full elements.
    fn settle(&mut self) -> Option<&'h Node> {
        while let Some(node) = self.node {
            if self.at < node.room() {
                return Some(node);
            }
            (self.node, self.at) = (node.next(), 0);
        }
        None
    }

    /// The next bytes in one piece, at most `max`, to be written where they lie; nothing is taken until
    /// [`Sink::advance`]. `None` when they are not private memory (use [`Sink::write`]) or at the end.
    #[inline]
    pub fn slice(&mut self, max: usize) -> Option<&mut [u8]> {
        let node = self.settle()?;
        if !is_private(node.region()) {
            return None;
        }
        let n = max.min(node.room() - self.at);
        // SAFETY: inside the room of a buffer whose region is open, private and writable (the hold checked), in memory
        // that stays while the hold lives. The sink is the only way to it: sources that overlap it are copied, and this
        // borrow of the sink is exclusive.
        Some(unsafe { core::slice::from_raw_parts_mut((node.tail() + self.at) as *mut u8, n) })
    }

    /// Passes over the next `n` bytes (written through [`Sink::slice`], or of no interest).
    pub fn advance(&mut self, mut n: u64) {
        while let Some(node) = self.settle()
            && n > 0
        {
            let now = n.min((node.room() - self.at) as u64);
            self.at += now as usize;
            n -= now;
        }
    }

    /// Says that the next `n` bytes of this element will be written soon, so that their lines come into the cache
    /// meanwhile. Nothing is touched.
    pub fn expect(&mut self, n: usize) {
        if let Some(node) = self.settle() {
            let to = here(node, node.tail() + self.at);
            copy::expect(to as *const u8, n.min(node.room() - self.at));
        }
    }

    /// Copies bytes into the room; returns how many fitted.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let mut done = 0;
        while done < bytes.len()
            && let Some(node) = self.settle()
        {
            let n = (bytes.len() - done).min(node.room() - self.at);
            let to = here(node, node.tail() + self.at) as *mut u8;
            let from = bytes[done..].as_ptr();
            // SAFETY: inside the room of a buffer whose region is held and writable. `bytes` is a slice, hence apart from
            // shared memory; should it be a piece of private memory, `copy` does not mind.
            unsafe {
                if is_private(node.region()) {
                    core::ptr::copy(from, to, n);
                } else if node.region().made() & FAR == 0 {
                    copy::copy_shared(from, to, n);
                } else if let Err(error) =
                    copy::far_copy(node.region(), Way::Write, to as usize, from.cast_mut(), n)
                {
                    self.failed.set(Some(error));
                }
            }
            done += n;
            self.at += n;
        }
        done
    }

    /// Several ranges `(from, len)` of what is left, each in one piece, to be written at the same time. `None` when one
    /// is not in one piece of private memory, or two overlap.
    pub fn slices(self, ranges: &[(u64, usize)]) -> Option<Vec<&'h mut [u8]>> {
        let head = self.node?;
        let mut found = Vec::with_capacity(ranges.len());
        for &(from, len) in ranges {
            let (node, at) = seek(head, from.checked_add(self.at as u64)?, Node::room)?;
            if !is_private(node.region()) || len > node.room() - at {
                return None;
            }
            found.push((node.tail() + at, len));
        }
        let mut sorted = found.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|w| w[0].0 + w[0].1 > w[1].0) {
            return None;
        }
        // SAFETY: as in `slice`; the ranges are pairwise apart, and the sink is used up.
        Some(
            found
                .into_iter()
                .map(|(at, n)| unsafe { core::slice::from_raw_parts_mut(at as *mut u8, n) })
                .collect(),
        )
    }
}
