//! How engines look at the buffers of a task: lists as sources and destinations, piece by piece.
//!
//! A [`Hold`] stands for the right to touch the bytes of a source list and a destination list for a moment: rights were
//! checked, and guarded regions (imports) are marked, so that whoever ends them waits. Keep it short: at most one step of
//! a task. Inside it, memory that only this process touches is looked at where it lies; memory that others may be
//! writing is copied to a scratch first, so that no reference to it ever exists. Where source and destination overlap,
//! the source is copied too, unless both are the very same bytes ([`Overlap::Same`]).
//!
//! ```ignore
//! let mut hold = Hold::both(src, dst, &gate)?;
//! let (sources, mut sink) = hold.split();
//! sources.each(0, bytes, |piece| sink.write(&transformed(piece)));
//! drop(hold);
//! copy::commit(dst, bytes); // only on success: the destination's data grows
//! ```
//!
//! Memory of another process that is not mapped here is copied piece by piece, which can fail: what could not be read
//! is zero then, what could not be written is lost, and the hold notes it ([`Hold::check`]). An engine that does not ask
//! fails all the same, see [`fault`].
//!
//! Whoever carries out a task has its lists to itself (by ownership in Rust, by the contract in C); several threads that
//! carry out parts of one task each take a hold and stay within their own part of the destination.
#![expect(unsafe_code, reason = "slices on private memory, copies of shared memory")]

mod sink;

use crate::copy::{self, Gate, Marks};
use crate::far::Way;
use crate::fault;
use crate::node::Node;
pub use crate::overlap::Overlap;
use crate::overlap::{here, is_plain, is_private, overlap};
use crate::region::{ALIVE, FAR, GUARDED, Region};
use core::cell::Cell;
pub use sink::Sink;
use softdpu_status::{Error, Result};

/// Bytes of the scratch that [`Sources::each`] uses for shared memory.
pub const SCRATCH: usize = 16 << 10;

/// Checks a list as a source: limits of the gate, rights, devices. Returns its bytes of data, which may be 0.
///
/// # Errors
/// InvalidValue (above a limit, map not open or not registered with the device) and NotPermitted (no read access), with
/// one log line that has the numbers.
pub fn check_source(list: &Node, gate: &Gate) -> Result<u64> {
    let bytes = copy::volume(list);
    copy::check_limits(list, bytes, gate)?;
    copy::look_again(list);
    list.list().try_for_each(|node| copy::admit_source(node, gate))?;
    Ok(bytes)
}

/// Checks a list as a destination: limits of the gate, rights, devices. Returns the bytes free behind its data.
///
/// # Errors
/// As [`check_source`], NotPermitted for no write access.
pub fn check_room(list: &Node, gate: &Gate) -> Result<u64> {
    copy::check_limits(list, 0, gate)?;
    copy::look_again(list);
    list.list().try_for_each(|node| copy::admit_destination(node, gate))?;
    Ok(room(list))
}

/// The shortest way: the data of a lone buffer and the room of another, where both are private memory and have nothing in
/// common. `None`, and `act` is not called, when anything speaks against it; the other ways find out what.
#[inline(always)]
pub fn with_lone<R>(
    src: &Node,
    dst: &Node,
    gate: &Gate,
    act: impl FnOnce(&[u8], &mut [u8]) -> R,
) -> Option<R> {
    let (from, to) = ((src.data(), src.data_len()), (dst.tail(), dst.room()));
    let apart = from.0 + from.1 <= to.0 || to.0 + to.1 <= from.0;
    if !src.both_alone(dst)
        || !apart
        || from.1 as u64 > gate.max_bytes()
        || !gate.is_plain(src.region(), dst.region())
    {
        return None;
    }
    // SAFETY: data and room of buffers whose regions are open and private, hence memory that stays while `act` runs; they
    // are apart, and whoever carries out a task has its buffers to itself. Released buffers have neither data nor room.
    Some(unsafe {
        act(
            core::slice::from_raw_parts(from.0 as *const u8, from.1),
            core::slice::from_raw_parts_mut(to.0 as *mut u8, to.1),
        )
    })
}

/// The shortest way in place: the data and the room behind it of a lone buffer of private memory that may be read and
/// written, and how many bytes of it are data. `None`, and `act` is not called, when anything speaks against it.
#[inline(always)]
pub fn with_own<R>(node: &Node, gate: &Gate, act: impl FnOnce(&mut [u8], usize) -> R) -> Option<R> {
    let (at, len, room) = (node.data(), node.data_len(), node.room());
    let is_ours = node.both_alone(node)
        && len as u64 <= gate.max_bytes()
        && gate.is_plain(node.region(), node.region());
    // SAFETY: the window of a buffer whose region is open and private, hence memory that stays while `act` runs; whoever
    // carries out a task has its buffers to itself. The region of a released buffer is closed.
    is_ours.then(|| act(unsafe { core::slice::from_raw_parts_mut(at as *mut u8, len + room) }, len))
}

/// The shortest way of a source: the data of a lone buffer of private memory. `None`, and `act` is not called, when anything
/// speaks against it; the other ways find out what.
#[inline(always)]
pub fn with_data<R>(node: &Node, gate: &Gate, act: impl FnOnce(&[u8]) -> R) -> Option<R> {
    let (at, len) = (node.data(), node.data_len());
    let is_plain =
        node.both_alone(node) && len as u64 <= gate.max_bytes() && gate.is_plain_source(node.region());
    // SAFETY: the data of a buffer whose region is open and private, hence memory that stays while `act` runs; whoever
    // carries out a task has its buffers to itself, or only reads them. Released buffers have no data.
    is_plain.then(|| act(unsafe { core::slice::from_raw_parts(at as *const u8, len) }))
}

/// The shortest way of a destination: the room of a lone buffer of private memory; `act` tells how many bytes of it it has
/// written, from the first one on, and the data grows by those. `None`, and `act` is not called, as above.
#[inline(always)]
pub fn with_room(node: &Node, gate: &Gate, act: impl FnOnce(&mut [u8]) -> usize) -> Option<usize> {
    if !node.both_alone(node) || !gate.is_plain_destination(node.region()) {
        return None;
    }
    // SAFETY: the room of a buffer whose region is open and private, hence memory that stays while `act` runs; whoever
    // carries out a task has its buffers to itself. Released buffers have no room.
    let n = act(unsafe { core::slice::from_raw_parts_mut(node.tail() as *mut u8, node.room()) });
    node.grow(n.min(node.room()));
    Some(n)
}

/// Bytes free behind the data of a list's elements.
pub fn room(list: &Node) -> u64 {
    list.list().fold(0u64, |sum, n| sum.saturating_add(n.room() as u64))
}

/// The right to touch a source list and a destination list. See the module.
pub struct Hold<'a> {
    src: &'a Node,
    dst: Option<&'a Node>,
    overlap: Overlap,
    marks: Option<Marks<'a>>,
    failed: Cell<Option<Error>>,
}

impl Drop for Hold<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.failed.get().is_some() {
            fault::raise();
        }
    }
}

impl core::fmt::Debug for Hold<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Hold({:p}, {:?}, guarded: {})", self.src, self.overlap, self.marks.is_some())
    }
}

impl<'a> Hold<'a> {
    /// For reading a list.
    ///
    /// # Errors
    /// InvalidValue, NotPermitted: a right is missing, or a memory map was stopped meanwhile.
    #[inline]
    pub fn source(src: &'a Node, gate: &Gate) -> Result<Hold<'a>> {
        src.list().try_for_each(|node| copy::admit_source(node, gate))?;
        let marks = if is_plain(src) { None } else { Marks::set(src, src)? };
        Ok(Hold { src, dst: None, overlap: Overlap::Apart, marks, failed: Cell::new(None) })
    }

    /// For reading one list and writing into the room of another.
    ///
    /// # Errors
    /// As [`Hold::source`].
    pub fn both(src: &'a Node, dst: &'a Node, gate: &Gate) -> Result<Hold<'a>> {
        src.list().try_for_each(|node| copy::admit_source(node, gate))?;
        dst.list().try_for_each(|node| copy::admit_destination(node, gate))?;
        let marks = Marks::set(src, dst)?;
        Ok(Hold { src, dst: Some(dst), overlap: overlap(src, dst), marks, failed: Cell::new(None) })
    }

    /// For writing into the room of a list.
    ///
    /// # Errors
    /// As [`Hold::source`].
    pub fn room(dst: &'a Node, gate: &Gate) -> Result<Hold<'a>> {
        dst.list().try_for_each(|node| copy::admit_destination(node, gate))?;
        let marks = if is_plain(dst) { None } else { Marks::set(dst, dst)? };
        // Nothing to read: the source is the destination's data, which is apart from its room.
        Ok(Hold { src: dst, dst: Some(dst), overlap: Overlap::Mixed, marks, failed: Cell::new(None) })
    }

    /// How the lists lie to each other.
    #[inline]
    pub fn overlap(&self) -> Overlap {
        self.overlap
    }

    /// For reading.
    #[inline]
    pub fn sources(&self) -> Sources<'_> {
        Sources { list: self.src, direct: self.overlap == Overlap::Apart, failed: &self.failed }
    }

    /// For reading, and for writing from the first byte of the destination's room on. Of a hold without destination the
    /// sink has no room.
    #[inline]
    pub fn split(&mut self) -> (Sources<'_>, Sink<'_>) {
        (self.sources(), Sink::new(self.dst, &self.failed))
    }

    /// Whether all bytes since the last call could be read and written.
    ///
    /// # Errors
    /// IoFailed: memory of another process could not be reached.
    #[inline]
    pub fn check(&self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

/// The bytes of a source list, by their offset from the list's first byte.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'h> {
    list: &'h Node,
    direct: bool,
    failed: &'h Cell<Option<Error>>,
}

impl<'h> Sources<'h> {
    /// Bytes of data.
    pub fn len(&self) -> u64 {
        copy::volume(self.list)
    }

    /// Is there no data?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes `[from, from + len)` where they lie: only if they are in one piece, of private memory, and nothing of the
    /// destination.
    #[inline]
    pub fn slice(&self, from: u64, len: usize) -> Option<&'h [u8]> {
        let (node, at) = seek(self.list, from, Node::data_len)?;
        if !self.direct || !is_private(node.region()) || len > node.data_len() - at {
            return None;
        }
        // SAFETY: inside the data of a buffer whose region is open and private, hence inside memory that stays while the
        // hold lives. Nobody writes it: it is apart from the destination, and the task has its buffers to itself.
        Some(unsafe { core::slice::from_raw_parts((node.data() + at) as *const u8, len) })
    }

    /// Where bytes from `from` on lie in this process, and how many of at most `max` are in one piece: for system calls,
    /// which may look at them as long as the task is under way. None where somebody else may end the memory.
    pub fn place(&self, from: u64, max: usize) -> Option<(*const u8, usize)> {
        let (node, at) = seek(self.list, from, Node::data_len)?;
        let stays = node.region().word() & (ALIVE | FAR | GUARDED) == ALIVE;
        stays.then(|| (here(node, node.data() + at) as *const u8, max.min(node.data_len() - at)))
    }

    /// The next piece from `from` on, at most `max` bytes: where it lies if that is possible, otherwise copied into
    /// `scratch` (and at most as long as that). Empty behind the end.
    #[inline]
    pub fn piece<'s>(&self, from: u64, max: usize, scratch: &'s mut [u8]) -> &'s [u8]
    where
        'h: 's,
    {
        let Some((node, at)) = seek(self.list, from, Node::data_len) else { return &[] };
        let n = max.min(node.data_len() - at);
        match self.slice(from, n) {
            Some(bytes) => bytes,
            None => {
                let n = n.min(scratch.len());
                self.read(from, &mut scratch[..n]);
                &scratch[..n]
            }
        }
    }

    /// Copies bytes from `from` on; returns how many there were, at most the length of `into`.
    pub fn read(&self, from: u64, into: &mut [u8]) -> usize {
        let mut done = 0;
        let mut place = seek(self.list, from, Node::data_len);
        while let Some((node, at)) = place
            && done < into.len()
        {
            let n = (into.len() - done).min(node.data_len() - at);
            let src = here(node, node.data() + at) as *const u8;
            // SAFETY: inside the data of a buffer whose region is held; `into` is ours alone and apart from it.
            unsafe { get(node.region(), src, into[done..].as_mut_ptr(), n, self.failed) };
            done += n;
            place = node.next().map(|next| (next, 0));
        }
        done
    }

    /// Hands bytes `[from, from + len)` to `look`, piece by piece, in order. Returns how many there were.
    pub fn each(&self, from: u64, len: u64, mut look: impl FnMut(&[u8])) -> u64 {
        let mut left = len;
        let mut place = seek(self.list, from, Node::data_len);
        while let Some((node, at)) = place
            && left > 0
        {
            let n = left.min((node.data_len() - at) as u64) as usize;
            let src = here(node, node.data() + at) as *const u8;
            if self.direct && is_private(node.region()) {
                if n > 0 {
                    // SAFETY: as in `slice`.
                    look(unsafe { core::slice::from_raw_parts(src, n) });
                }
            } else {
                bounce(node.region(), src, n, self.failed, &mut look);
            }
            left -= n as u64;
            place = node.next().map(|next| (next, 0));
        }
        len - left
    }
}

/// Hands a piece of a source to `look` through a scratch; `src` has `n` bytes inside `region`, which is held.
#[inline(never)]
fn bounce(
    region: &Region,
    src: *const u8,
    n: usize,
    failed: &Cell<Option<Error>>,
    look: &mut impl FnMut(&[u8]),
) {
    let mut scratch = [0; SCRATCH];
    let mut done = 0;
    while done < n {
        let now = SCRATCH.min(n - done);
        // SAFETY: the caller's range; the scratch is apart from everything.
        unsafe { get(region, src.wrapping_add(done), scratch.as_mut_ptr(), now, failed) };
        look(&scratch[..now]);
        done += now;
    }
}

/// Copies out of a held region. Bytes that cannot be reached are zero.
///
/// # Safety
/// `src` has `n` bytes inside the region, `into` as many that are apart from it and the caller's alone.
#[inline]
unsafe fn get(region: &Region, src: *const u8, into: *mut u8, n: usize, failed: &Cell<Option<Error>>) {
    // SAFETY: per contract.
    unsafe {
        if is_private(region) {
            core::ptr::copy_nonoverlapping(src, into, n);
        } else if region.made() & FAR == 0 {
            copy::copy_shared(src, into, n);
        } else if let Err(error) = copy::far_copy(region, Way::Read, src as usize, into, n) {
            into.write_bytes(0, n);
            failed.set(Some(error));
        }
    }
}

/// The element of byte `from`, counted by `size`, and where in it that byte is.
#[inline]
fn seek(head: &Node, from: u64, size: impl Fn(&Node) -> usize) -> Option<(&Node, usize)> {
    let (node, at) = copy::seek(head, from, size);
    Some((node?, at))
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
