//! Moving bytes: the copy routines, and the copy of one list of buffers into another.
//!
//! Memory that only this process touches is copied with the best routine there is. Memory that others may write at the
//! same time is copied by machine instructions the compiler cannot see through, so that a racing writer gives mixed bytes
//! and never undefined behaviour. Volumes that would only wash the cache out go past it.
#![expect(unsafe_code, reason = "raw copies between registered ranges")]

mod bytes;
mod lone;
mod marks;
mod pieces;

use crate::fault;
use crate::node::{Lent, Node};
use crate::region::{ALIVE, CAN_READ, CAN_WRITE, EXPOSED, FAR, GUARDED, MOVED, Region, SHARED, SLOW};
use bytes::copy_line;
pub(crate) use bytes::expect;
pub use lone::{is_lone, is_lone_still, transfer_lone};
pub(crate) use marks::Marks;
pub(crate) use pieces::far_copy;
pub(crate) use pieces::{move_here, move_piece};
pub use softdpu_link::copy_shared;
use softdpu_status::{Code, Error, Result};

/// Bytes that are copied without a call.
const LINE: usize = 64;

/// What a context demands of the buffers it is given: rights as bits of a region's access word, and its limits.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    read: u64,
    write: u64,
    /// What decides between the shortest path and the others: the demanded bits, and those that must not be set.
    read_mask: u64,
    write_mask: u64,
    line: usize,
    max_bytes: u64,
    max_elements: u32,
}

impl Gate {
    /// For a context on the device with access-word bit `device`.
    pub const fn new(device: u64, max_bytes: u64, max_elements: u32) -> Gate {
        let (read, write) = (ALIVE | CAN_READ | device, ALIVE | CAN_WRITE | device);
        let line = if max_bytes < LINE as u64 { max_bytes as usize } else { LINE };
        let never = SHARED | FAR | MOVED | GUARDED;
        Gate {
            read,
            write,
            read_mask: read | never,
            write_mask: write | never,
            line,
            max_bytes,
            max_elements,
        }
    }

    /// May source and destination be looked at where they lie: rights there, memory that only this process touches?
    #[inline(always)]
    pub(crate) fn is_plain(&self, src: &Region, dst: &Region) -> bool {
        src.word() & (self.read_mask | EXPOSED) == self.read
            && dst.word() & (self.write_mask | EXPOSED) == self.write
    }

    /// [`Gate::is_plain`] of a source alone.
    #[inline(always)]
    pub(crate) fn is_plain_source(&self, region: &Region) -> bool {
        region.word() & (self.read_mask | EXPOSED) == self.read
    }

    /// [`Gate::is_plain`] of a destination alone.
    #[inline(always)]
    pub(crate) fn is_plain_destination(&self, region: &Region) -> bool {
        region.word() & (self.write_mask | EXPOSED) == self.write
    }

    /// Most bytes of one task.
    pub const fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Most elements of a list.
    pub const fn max_elements(&self) -> u32 {
        self.max_elements
    }
}

/// Copies the data of `src`'s list behind the data of `dst`'s list and grows `dst`. Returns the bytes moved.
///
/// # Errors
/// As [`check`]; nothing changes then.
pub fn transfer(src: &Node, dst: &Node, gate: &Gate) -> Result<u64> {
    match transfer_line(src, dst, gate) {
        Some(bytes) => Ok(bytes),
        None => transfer_any(src, dst, gate),
    }
}

/// Is it a transfer of at most a cache line between two lone buffers of private memory, with nothing against it? Buffers
/// that were released have neither data nor room, so it is none with them.
#[inline(always)]
pub fn is_line(src: &Node, dst: &Node, gate: &Gate) -> bool {
    let n = src.data_len();
    src.both_alone(dst)
        && n.wrapping_sub(1) < gate.line
        && n <= dst.room()
        && src.region().word() & gate.read_mask == gate.read
        && dst.region().word() & gate.write_mask == gate.write
}

/// The transfer of at most a cache line, if it is one: no call, no loop.
#[inline(always)]
pub fn transfer_line(src: &Node, dst: &Node, gate: &Gate) -> Option<u64> {
    if !is_line(src, dst, gate) {
        return None;
    }
    // Neither region is MOVED, so the addresses are ours.
    let (from, to, n) = (src.data() as *const u8, dst.tail() as *mut u8, src.data_len());
    // SAFETY: both windows lie inside open regions (checked when they were aimed), which stand for memory that is valid
    // while they are open.
    unsafe { copy_line(from, to, n) };
    dst.grow(n);
    Some(n as u64)
}

#[inline(never)]
fn transfer_any(src: &Node, dst: &Node, gate: &Gate) -> Result<u64> {
    let bytes = check_standing(src, dst, gate)?;
    transfer_part(src, dst, 0, bytes, false)?;
    commit(dst, bytes);
    Ok(bytes)
}

/// Bytes of data in a list.
#[inline(always)]
pub fn volume(src: &Node) -> u64 {
    match src.next() {
        None => src.data_len() as u64,
        Some(_) => src.list().fold(0u64, |sum, n| sum.saturating_add(n.data_len() as u64)),
    }
}

/// Checks everything a copy needs: something to copy, room for it, limits, rights, devices. Returns the bytes.
///
/// # Errors
/// InvalidValue (empty, no room, above a limit, map not open or not registered with the device) and NotPermitted (right
/// missing), with one log line that has the numbers.
pub fn check(src: &Node, dst: &Node, gate: &Gate) -> Result<u64> {
    look_again(src);
    look_again(dst);
    check_standing(src, dst, gate)
}

/// Closes imported regions that their exporter has taken back in another process, as the next access would.
pub(crate) fn look_again(list: &Node) {
    list.list().map(Node::region).filter(|region| region.word() & GUARDED != 0).for_each(Region::look_again);
}

/// [`check`] without looking whether exporters took memory back; the access itself will.
fn check_standing(src: &Node, dst: &Node, gate: &Gate) -> Result<u64> {
    let (bytes, from) =
        src.list().fold((0u64, 0u32), |(b, e), n| (b.saturating_add(n.data_len() as u64), e + 1));
    let (room, to) = dst.list().fold((0u64, 0u32), |(b, e), n| (b.saturating_add(n.room() as u64), e + 1));
    if bytes == 0 {
        return refuse(
            Code::InvalidValue,
            "the source holds no data",
            format_args!("source buffer {src:p}: data length 0"),
        );
    }
    if bytes > room {
        return refuse(
            Code::InvalidValue,
            "the destination is too small",
            format_args!(
                "destination buffer {dst:p}: {bytes} bytes do not fit behind its data, room for {room}"
            ),
        );
    }
    refuse_above(src, bytes, from.max(to), gate)?;
    src.list().try_for_each(|node| admit_source(node, gate))?;
    dst.list().try_for_each(|node| admit_destination(node, gate))?;
    Ok(bytes)
}

/// Checks a list of `bytes` bytes against the limits of the gate.
///
/// # Errors
/// InvalidValue, with one log line that has the numbers.
pub(crate) fn check_limits(list: &Node, bytes: u64, gate: &Gate) -> Result<()> {
    let elements = if list.next().is_none() { 1 } else { list.list().count() as u32 };
    refuse_above(list, bytes, elements, gate)
}

#[inline(always)]
fn refuse_above(list: &Node, bytes: u64, elements: u32, gate: &Gate) -> Result<()> {
    if bytes > gate.max_bytes {
        return refuse(
            Code::InvalidValue,
            "more bytes than one task may move",
            format_args!("source buffer {list:p}: {bytes} bytes, limit of one task {}", gate.max_bytes),
        );
    }
    if elements > gate.max_elements {
        return refuse(
            Code::InvalidValue,
            "more list elements than the device takes",
            format_args!("buffer {list:p}: list of {elements} elements, limit {}", gate.max_elements),
        );
    }
    Ok(())
}

/// May the device read it?
///
/// # Errors
/// InvalidValue, NotPermitted, with one log line.
#[inline(always)]
pub(crate) fn admit_source(node: &Node, gate: &Gate) -> Result<()> {
    admit(node, gate.read, "source")
}

/// May the device write it?
///
/// # Errors
/// InvalidValue, NotPermitted, with one log line.
#[inline(always)]
pub(crate) fn admit_destination(node: &Node, gate: &Gate) -> Result<()> {
    admit(node, gate.write, "destination")
}

fn admit(node: &Node, need: u64, role: &str) -> Result<()> {
    let word = node.region().word();
    if word & need == need {
        return Ok(());
    }
    let range = (node.region().base(), node.region().len());
    if word & ALIVE == 0 {
        let line = format_args!(
            "{role} buffer {node:p}: its memory map [{:#x}, +{}) is stopped or its exporter is gone",
            range.0, range.1
        );
        return refuse(Code::InvalidValue, "memory map is not started", line);
    }
    let rights = CAN_READ | CAN_WRITE;
    if word & need & rights != need & rights {
        let missing = if need & CAN_WRITE != 0 { "write" } else { "read" };
        let line = format_args!(
            "{role} buffer {node:p}: its memory map [{:#x}, +{}) gives this device no {missing} access \
             (a local device writes only with LOCAL_READ_WRITE, an importer with PCI_READ_WRITE)",
            range.0, range.1
        );
        return refuse(Code::NotPermitted, "access right missing", line);
    }
    let line = format_args!(
        "{role} buffer {node:p}: its memory map [{:#x}, +{}) is not registered with this device",
        range.0, range.1
    );
    refuse(Code::InvalidValue, "memory map lacks the device", line)
}

#[cold]
fn refuse<T>(code: Code, what: &'static str, line: core::fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: "softdpu::task", "{line}");
    Err(Error::new(code, what))
}

/// Copies bytes `[from, from + len)` of a checked transfer; several threads may carry out parts that do not overlap.
/// Does not grow the destination.
///
/// # Errors
/// InvalidValue when a memory map was stopped meanwhile (its exporter is gone); nothing of it is touched then. IoFailed
/// when memory of another process could not be reached; some bytes may have been copied.
pub fn transfer_part(src: &Node, dst: &Node, from: u64, len: u64, stream: bool) -> Result<()> {
    let _marks = Marks::set(src, dst)?;
    let (mut s, mut s_at) = seek(src, from, |n| n.data_len());
    let (mut d, mut d_at) = seek(dst, from, |n| n.room());
    let mut left = len as usize;
    while left > 0 {
        let (Some(sn), Some(dn)) = (s, d) else { break };
        let n = left.min(sn.data_len() - s_at).min(dn.room() - d_at);
        let (sr, dr) = (sn.region(), dn.region());
        let at = (sn.data() + s_at).wrapping_add_signed(sr.delta()) as *const u8;
        let to = (dn.tail() + d_at).wrapping_add_signed(dr.delta()) as *mut u8;
        // SAFETY: both windows lie inside regions that were open when the transfer was checked; the contract (C) or
        // ownership (Rust) keeps their memory until the task is back. Imported ones are marked.
        unsafe { move_piece((sr, at), (dr, to), n, stream) }?;
        left -= n;
        s_at += n;
        d_at += n;
        if s_at == sn.data_len() {
            (s, s_at) = (sn.next(), 0);
        }
        if d_at == dn.room() {
            (d, d_at) = (dn.next(), 0);
        }
    }
    Ok(())
}

/// Does any element of a task's lists lie in memory whose every access waits for another process? Progress must not wait:
/// engines leave such tasks, however short, to a card's worker.
pub fn waits<const N: usize>(lists: [Lent; N]) -> bool {
    lie_in(lists, SLOW)
}

/// Does any element of a task's lists lie in memory that is not mapped here?
pub fn is_far<const N: usize>(lists: [Lent; N]) -> bool {
    lie_in(lists, FAR)
}

/// Is a copy with memory that is not mapped here long enough for two threads, which begin at its ends? The kernel locks
/// the page tables of the owner one by one for every page: threads at the same one take turns with each page, and are no
/// faster than one.
pub fn is_spread(src: &Node, dst: &Node) -> bool {
    let bytes = volume(src) as usize;
    let page = rustix::param::page_size();
    // A page of entries of eight bytes, each for a page.
    let table = page * (page / 8);
    if src.next().is_some() || dst.next().is_some() {
        // They may lie anywhere.
        return bytes >= 2 * table;
    }
    let ends = [(src.region(), src.data()), (dst.region(), dst.tail())];
    let apart = |from: usize| from / table != from.saturating_add(bytes - 1) / table;
    bytes >= table / 2 && ends.iter().all(|&(region, from)| region.made() & FAR == 0 || apart(from))
}

fn lie_in<const N: usize>(lists: [Lent; N], kind: u64) -> bool {
    // Whether a buffer was released is found out later, with a line that says so.
    let mut nodes = lists.into_iter().flat_map(|list| list.any().list());
    nodes.any(|node| node.region_if_any().is_some_and(|region| region.made() & kind != 0))
}

/// The element of byte `skip`, counted by `size`, and where in it that byte is.
pub(crate) fn seek(head: &Node, mut skip: u64, size: impl Fn(&Node) -> usize) -> (Option<&Node>, usize) {
    let mut node = Some(head);
    while let Some(n) = node {
        let here = size(n) as u64;
        if skip < here {
            return (node, skip as usize);
        }
        skip -= here;
        node = n.next();
    }
    (None, 0)
}

/// Grows the destination list by `bytes`, element by element in list order. Nothing grows when memory failed meanwhile
/// (see [`fault`]): the task is about to fail.
pub fn commit(dst: &Node, bytes: u64) {
    if fault::is_pending() {
        return;
    }
    let mut left = bytes as usize;
    for node in dst.list() {
        let n = left.min(node.room());
        node.grow(n);
        left -= n;
        if left == 0 {
            return;
        }
    }
}

#[cfg(test)]
#[path = "copy_tests.rs"]
mod tests;
