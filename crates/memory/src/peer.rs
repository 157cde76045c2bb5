//! Buffers over memory of an RDMA peer: copies from and to it, and atomics on it.
//!
//! Such buffers lie in regions that were imported from an RDMA export. Their rights are bits of their own
//! ([`PEER_READ`] and so on), so that no engine but RDMA reaches them. A remote buffer is one element; what is written
//! goes to where its data begins, its data length stays as it is.
#![expect(unsafe_code, reason = "raw copies and atomics on registered ranges")]

use crate::copy::{self, Gate, Marks};
use crate::export::Descriptor;
use crate::node::Node;
use crate::region::{ALIVE, FAR, GUARDED, PEER_ATOMIC, PEER_READ, PEER_WRITE, Region};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use softdpu_status::{Code, Error, Result};

/// What is done with a remote buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Use {
    /// Its data are read.
    Read = PEER_READ,
    /// It is written.
    Write = PEER_WRITE,
    /// Its first 8 bytes are changed in one step.
    Atomic = PEER_ATOMIC,
}

/// A change in one step; the value before is what it gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Adds, modulo 2^64.
    Add(u64),
    /// Stores the second value if the first one is there.
    Swap(u64, u64),
}

impl Change {
    /// Carries it out on a word; gives the value before.
    #[inline]
    pub(crate) fn apply(self, word: &AtomicU64) -> u64 {
        match self {
            Change::Add(n) => word.fetch_add(n, SeqCst),
            Change::Swap(old, new) => {
                word.compare_exchange(old, new, SeqCst, SeqCst).unwrap_or_else(|now| now)
            }
        }
    }
}

/// Bytes between the data pointer and the end of the window: what may be written.
#[inline(always)]
pub fn space(node: &Node) -> u64 {
    (node.addr() + node.len() - node.data()) as u64
}

/// May the remote buffer be used so, by a context on the device with this access-word bit?
///
/// # Errors
/// InvalidValue (not open, another device), NotPermitted (right missing), with one log line.
#[inline]
pub fn admit(node: &Node, what: Use, device: u64) -> Result<()> {
    let need = ALIVE | what as u64 | device;
    let word = node.region().word();
    if word & need == need { Ok(()) } else { Err(refuse(node.region(), what, device)) }
}

#[cold]
#[inline(never)]
fn refuse(region: &Region, what: Use, device: u64) -> Error {
    let (word, base, len) = (region.word(), region.base(), region.len());
    let (code, text) = if word & ALIVE == 0 {
        (Code::InvalidValue, "was stopped, or its exporter is gone")
    } else if word & device == 0 {
        (Code::InvalidValue, "was imported for another device")
    } else if word & (PEER_READ | PEER_WRITE | PEER_ATOMIC) == 0 {
        (Code::NotPermitted, "was not imported from an RDMA export")
    } else {
        (Code::NotPermitted, "lacks the right")
    };
    log::error!(target: "softdpu::task", "remote buffer in [{base:#x}, +{len}), {what:?}: the memory map {text}");
    Error::new(code, "the remote buffer may not be used so")
}

#[cold]
fn invalid(what: &'static str, line: core::fmt::Arguments<'_>) -> Error {
    log::error!(target: "softdpu::task", "{line}");
    Error::new(Code::InvalidValue, what)
}

/// What the remote buffer's memory is called, if it is on another machine.
#[inline]
pub fn on_network(node: &Node) -> Option<Descriptor> {
    let _touch = node.region().touch()?;
    // SAFETY: marked, as long as the result is looked at.
    unsafe { node.region().far() }?.on_network().copied()
}

/// Checks a write of `src`'s data to where `dst` begins. Returns the bytes, which may be 0.
///
/// # Errors
/// InvalidValue, NotPermitted, with one log line that has the numbers.
#[inline]
pub fn check_write(src: &Node, dst: &Node, gate: &Gate, device: u64) -> Result<u64> {
    let bytes = crate::view::check_source(src, gate)?;
    admit(dst, Use::Write, device)?;
    if bytes > space(dst) {
        let line = format_args!("remote buffer {dst:p}: {bytes} bytes to write, space for {}", space(dst));
        return Err(invalid("the remote buffer is too small", line));
    }
    Ok(bytes)
}

/// Checks a read of `src`'s data into the room of the list `dst`. Returns the bytes, which may be 0.
///
/// # Errors
/// As [`check_write`].
#[inline]
pub fn check_read(src: &Node, dst: &Node, gate: &Gate, device: u64) -> Result<u64> {
    let bytes = src.data_len() as u64;
    let room = crate::view::check_room(dst, gate)?;
    admit(src, Use::Read, device)?;
    if bytes > gate.max_bytes() {
        let line =
            format_args!("remote buffer {src:p}: {bytes} bytes, limit of one task {}", gate.max_bytes());
        return Err(invalid("more bytes than one task may move", line));
    }
    if bytes > room {
        let line = format_args!("buffer {dst:p}: {bytes} bytes to read, room for {room} behind its data");
        return Err(invalid("the destination is too small", line));
    }
    Ok(bytes)
}

/// Copies one piece; addresses as the program names them. The memory of a peer may change meanwhile.
///
/// # Safety
/// Both pieces lie inside their regions, which are marked.
#[inline(always)]
unsafe fn piece(src: (&Region, usize), dst: (&Region, usize), n: usize, stream: bool) -> Result<()> {
    let from = src.1.wrapping_add_signed(src.0.delta()) as *const u8;
    let to = dst.1.wrapping_add_signed(dst.0.delta()) as *mut u8;
    // SAFETY: the caller's promise.
    unsafe { copy::move_piece((src.0, from), (dst.0, to), n, stream) }
}

/// Carries out bytes `[from, from + len)` of a checked write.
///
/// # Errors
/// InvalidValue when a map was stopped meanwhile; IoFailed when the peer's memory could not be reached.
#[inline]
pub fn write_part(src: &Node, dst: &Node, from: u64, len: u64, stream: bool) -> Result<()> {
    let _marks = Marks::set(src, dst)?;
    let (mut node, mut at) = copy::seek(src, from, Node::data_len);
    let (mut to, mut left) = (dst.data() + from as usize, len as usize);
    while left > 0
        && let Some(n) = node
    {
        let now = left.min(n.data_len() - at);
        // SAFETY: inside the data of the source and the window of the destination, whose regions were checked and are
        // marked.
        unsafe { piece((n.region(), n.data() + at), (dst.region(), to), now, stream) }?;
        (left, to) = (left - now, to + now);
        (node, at) = (n.next(), 0);
    }
    Ok(())
}

/// Carries out bytes `[from, from + len)` of a checked read. The destination does not grow ([`copy::commit`]).
///
/// # Errors
/// As [`write_part`].
#[inline]
pub fn read_part(src: &Node, dst: &Node, from: u64, len: u64, stream: bool) -> Result<()> {
    let _marks = Marks::set(src, dst)?;
    let (mut node, mut at) = copy::seek(dst, from, Node::room);
    let (mut come, mut left) = (src.data() + from as usize, len as usize);
    while left > 0
        && let Some(n) = node
    {
        let now = left.min(n.room() - at);
        // SAFETY: inside the data of the source and the room of the destination, whose regions were checked and are
        // marked.
        unsafe { piece((src.region(), come), (n.region(), n.tail() + at), now, stream) }?;
        (left, come) = (left - now, come + now);
        (node, at) = (n.next(), 0);
    }
    Ok(())
}

/// The write between two lone buffers of at most `most` bytes with nothing against it: checks, marks and copy in one
/// straight line. `None`, and nothing has happened, where anything speaks against it; [`check_write`] finds out what.
#[inline]
pub fn write_lone(src: &Node, dst: &Node, gate: &Gate, device: u64, most: u64) -> Option<u64> {
    let n = src.data_len() as u64;
    if n > most || !is_lone_write(src, dst, gate, device) {
        return None;
    }
    move_lone((src, src.data()), (dst, dst.data()), n)
}

/// Is it a write of some bytes between two lone buffers with nothing against it? Says no more than that: [`check_write`]
/// does.
#[inline]
pub fn is_lone_write(src: &Node, dst: &Node, gate: &Gate, device: u64) -> bool {
    let (n, need) = (src.data_len() as u64, ALIVE | PEER_WRITE | device);
    src.both_alone(dst)
        && n.wrapping_sub(1) < gate.max_bytes()
        && n <= space(dst)
        && gate.reads(src.region().word())
        && dst.region().word() & (need | FAR) == need
}

/// The same for a read; the destination grows.
#[inline]
pub fn read_lone(src: &Node, dst: &Node, gate: &Gate, device: u64, most: u64) -> Option<u64> {
    let n = src.data_len() as u64;
    if n > most || !is_lone_read(src, dst, gate, device) {
        return None;
    }
    let moved = move_lone((src, src.data()), (dst, dst.tail()), n)?;
    dst.grow(n as usize);
    Some(moved)
}

/// Is it a read of some bytes between two lone buffers with nothing against it? As [`is_lone_write`].
#[inline]
pub fn is_lone_read(src: &Node, dst: &Node, gate: &Gate, device: u64) -> bool {
    let (n, need) = (src.data_len() as u64, ALIVE | PEER_READ | device);
    src.both_alone(dst)
        && n.wrapping_sub(1) < gate.max_bytes()
        && n <= dst.room() as u64
        && gate.writes(dst.region().word())
        && src.region().word() & (need | FAR) == need
}

/// Marks and copies; `None` when one of the maps was closed meanwhile.
#[inline(always)]
fn move_lone(src: (&Node, usize), dst: (&Node, usize), n: u64) -> Option<u64> {
    let (sr, dr) = (src.0.region(), dst.0.region());
    // One after the other, so that they stay in registers.
    let _source = if sr.made() & GUARDED != 0 { Some(sr.touch()?) } else { None };
    let _destination = if dr.made() & GUARDED != 0 { Some(dr.touch()?) } else { None };
    let from = src.1.wrapping_add_signed(sr.delta()) as *const u8;
    let to = dst.1.wrapping_add_signed(dr.delta()) as *mut u8;
    // SAFETY: inside the data of the one and the window of the other, as the callers checked, whose regions are mapped
    // here, open and marked.
    unsafe { copy::move_here((sr, from), (dr, to), n as usize, false) };
    Some(n)
}

/// Copies the data of a lone buffer, in whatever memory is mapped here, to the front of `into`; gives how many bytes that
/// were. `None`, and nothing has happened, where anything speaks against it; the long way finds out what.
#[inline]
pub fn copy_out(src: &Node, gate: &Gate, into: &mut [u8]) -> Option<usize> {
    let (n, region) = (src.data_len(), src.region());
    let fits = n <= into.len() && n as u64 <= gate.max_bytes();
    if !fits || !src.both_alone(src) || !gate.reads(region.word()) {
        return None;
    }
    let _touch = if region.made() & GUARDED != 0 { Some(region.touch()?) } else { None };
    let from = src.data().wrapping_add_signed(region.delta()) as *const u8;
    // SAFETY: the data of a buffer whose region is open, mapped here and marked; `into` is the caller's, and long enough.
    unsafe { copy::copy_shared(from, into.as_mut_ptr(), n) };
    Some(n)
}

/// Copies bytes into the room of a lone buffer, in whatever memory is mapped here; its data grow by them. `None`, and
/// nothing has happened, as above.
#[inline]
pub fn copy_in(dst: &Node, gate: &Gate, bytes: &[u8]) -> Option<()> {
    let region = dst.region();
    if bytes.len() > dst.room() || !dst.both_alone(dst) || !gate.writes(region.word()) {
        return None;
    }
    let _touch = if region.made() & GUARDED != 0 { Some(region.touch()?) } else { None };
    let to = dst.tail().wrapping_add_signed(region.delta()) as *mut u8;
    // SAFETY: the room of a buffer whose region is open, mapped here and marked; the bytes are borrowed.
    unsafe { copy::copy_shared(bytes.as_ptr(), to, bytes.len()) };
    dst.grow(bytes.len());
    Some(())
}

/// Checks an atomic change of the first 8 bytes of `dst`.
///
/// # Errors
/// As [`check_write`]; InvalidValue also when they are not aligned.
pub fn check_change(dst: &Node, device: u64) -> Result<()> {
    admit(dst, Use::Atomic, device)?;
    if !dst.data().is_multiple_of(8) || space(dst) < 8 {
        let line = format_args!(
            "remote buffer {dst:p}: an atomic needs 8 aligned bytes, it has {} at {:#x}",
            space(dst),
            dst.data()
        );
        return Err(invalid("no 8 aligned bytes", line));
    }
    Ok(())
}

/// Carries out a checked change; gives the value before. Where the memory is not mapped here its owner does, and is waited
/// for.
///
/// # Errors
/// InvalidValue when the map was stopped meanwhile; IoFailed when the owner could not be reached.
#[inline]
pub fn change(dst: &Node, change: Change) -> Result<u64> {
    let _marks = Marks::set(dst, dst)?;
    if dst.region().made() & FAR != 0 {
        return change_far(dst.region(), dst.data(), change);
    }
    let at = place(dst)?;
    // SAFETY: 8 bytes inside the window of a region that is marked, aligned; every other access to them is the program's
    // own or goes through the copy routines, which the compiler cannot see through.
    let word = unsafe { AtomicU64::from_ptr(at as *mut u64) };
    Ok(change.apply(word))
}

/// Has the owner change a word of a marked region that is not mapped here.
#[cold]
#[inline(never)]
pub(crate) fn change_far(region: &Region, at: usize, change: Change) -> Result<u64> {
    // SAFETY: marked, as long as the result is used.
    unsafe { region.far() }.map_or_else(|| Err(crate::fault::lost()), |far| far.change(at, change))
}

/// Where in this process the first 8 bytes of a marked remote buffer are.
fn place(dst: &Node) -> Result<usize> {
    let region = dst.region();
    // Not the access word: that of a region which is being closed says nothing of its kind any more.
    if region.made() & FAR != 0 {
        log::error!(target: "softdpu::task",
            "remote buffer {dst:p}: atomics need memory that can be mapped here; share it as memfd or huge pages");
        return Err(Error::new(Code::NotSupported, "atomics on memory that is not mapped here"));
    }
    let at = dst.data().wrapping_add_signed(region.delta());
    if !at.is_multiple_of(8) {
        return Err(invalid("no 8 aligned bytes", format_args!("remote buffer {dst:p}: mapped unaligned")));
    }
    Ok(at)
}

/// Checks that 8 bytes can be stored where the local buffer's data begins.
///
/// # Errors
/// As [`check_write`].
pub fn check_word(result: &Node, gate: &Gate) -> Result<()> {
    copy::admit_destination(result, gate)?;
    if space(result) < 8 {
        let line = format_args!("buffer {result:p}: a result needs 8 bytes, it has {}", space(result));
        return Err(invalid("the result does not fit", line));
    }
    Ok(())
}

/// Stores 8 bytes where the local buffer's data begins; they are data afterwards.
///
/// # Errors
/// InvalidValue when its map was stopped meanwhile.
#[inline]
pub fn store_word(result: &Node, value: u64) -> Result<()> {
    let _marks = Marks::set(result, result)?;
    let bytes = value.to_ne_bytes();
    // As the program would name it.
    let here = (bytes.as_ptr() as usize).wrapping_add_signed(-result.region().delta());
    // SAFETY: inside the window of a buffer whose region was checked and is marked.
    unsafe { piece((result.region(), here), (result.region(), result.data()), 8, false) }?;
    if result.data_len() < 8 {
        result.grow(8 - result.data_len());
    }
    Ok(())
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
