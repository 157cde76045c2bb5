//! One word of registered memory that several parties change: 64 bits, aligned, through atomic instructions alone.
#![expect(unsafe_code, reason = "a word of an open region as an atomic")]

use crate::node::Node;
use crate::region::{ALIVE, CAN_READ, CAN_WRITE, FAR, GUARDED, Region};
use core::sync::atomic::AtomicU64;
use softdpu_status::{Code, Error, Result};

/// Bytes of a word.
pub const WORD: usize = 8;

/// Is the data of `node` one word that can be changed atomically here?
///
/// # Errors
/// InvalidValue (a list, other than eight bytes, not aligned, map not started), NotPermitted (may not be read and
/// written), NotSupported (the memory is not mapped here), with one log line.
pub fn check_word(node: &Node) -> Result<()> {
    let (region, at) = (node.region(), node.data());
    let refuse = |code, what, line: core::fmt::Arguments<'_>| {
        log::error!(target: "softdpu::buf", "buffer {node:p} as an atomic word: {line}");
        Err(Error::new(code, what))
    };
    let count = node.list().count();
    if count != 1 || node.data_len() != WORD {
        let bytes = node.data_len();
        let line = format_args!("{count} elements with {bytes} bytes of data, needed 1 with {WORD}");
        return refuse(Code::InvalidValue, "not one word of data", line);
    }
    let word = region.word();
    if word & ALIVE == 0 {
        return refuse(
            Code::InvalidValue,
            "memory map is not started",
            format_args!("its map is not started"),
        );
    }
    if word & FAR != 0 {
        let line = format_args!("the memory is not mapped in this process");
        return refuse(Code::NotSupported, "memory of another process that is not mapped here", line);
    }
    if word & (CAN_READ | CAN_WRITE) != CAN_READ | CAN_WRITE {
        let line = format_args!("its map does not let devices read and write");
        return refuse(Code::NotPermitted, "the map grants too little", line);
    }
    if !here(region, at).is_multiple_of(WORD) {
        return refuse(
            Code::InvalidValue,
            "not aligned",
            format_args!("its data at {at:#x} is not aligned to {WORD}"),
        );
    }
    Ok(())
}

fn here(region: &Region, at: usize) -> usize {
    at.wrapping_add_signed(region.delta())
}

/// Runs `act` on the word that [`check_word`] looked at. Keep it short: whoever stops the map waits for it. Any thread.
///
/// # Errors
/// InvalidValue when it is no such word any more, or its map was stopped.
pub fn with_word<R>(node: &Node, act: impl FnOnce(&AtomicU64) -> R) -> Result<R> {
    with_word_at(node.region(), node.data(), act)
}

/// The same for a word at an address of a region, for who holds the region's map or import.
///
/// # Errors
/// As [`with_word`].
pub fn with_word_at<R>(region: &Region, at: usize, act: impl FnOnce(&AtomicU64) -> R) -> Result<R> {
    let gone = Error::new(Code::InvalidValue, "memory map is not started");
    let word = region.word();
    let mark = if word & GUARDED != 0 { region.touch() } else { None };
    if word & ALIVE == 0 || word & GUARDED != 0 && mark.is_none() {
        return Err(gone);
    }
    let place = here(region, at);
    let fits = region.holds(at, WORD) && place.is_multiple_of(WORD) && word & (FAR | CAN_WRITE) == CAN_WRITE;
    // SAFETY: aligned, inside an open region that is mapped here and writable; it stays open meanwhile: a guarded one is
    // marked, the others end by calls of the thread that uses their buffers. Every access to such words is atomic or
    // opaque to the compiler.
    let result = fits.then(|| act(unsafe { AtomicU64::from_ptr(place as *mut u64) }));
    drop(mark);
    result.ok_or(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Store;
    use core::sync::atomic::Ordering::SeqCst;

    fn with_node(word: u64, act: impl FnOnce(&Node, usize, &Region)) {
        let cells = [AtomicU64::new(1), AtomicU64::new(2), AtomicU64::new(3)];
        let region = Region::closed();
        let base = cells.as_ptr() as usize;
        region.open(base, 24, 0, word);
        let store = Store::new();
        store.expand(1).unwrap();
        let node = store.take(&region).unwrap();
        node.aim(base, 24, base + 8, 8);
        act(node, base, &region);
        node.give_back_list();
        store.dissolve();
    }

    #[test]
    fn a_word_is_changed_in_place() {
        with_node(CAN_READ | CAN_WRITE, |node, _, _| {
            check_word(node).unwrap();
            assert_eq!(with_word(node, |w| w.fetch_add(40, SeqCst)), Ok(2));
            assert_eq!(with_word(node, |w| w.load(SeqCst)), Ok(42));
        });
    }

    #[test]
    fn what_is_no_word_is_refused() {
        let code = |node: &Node| check_word(node).unwrap_err().code();
        with_node(CAN_READ | CAN_WRITE, |node, base, region| {
            node.set_data(base + 8, 7).unwrap();
            assert_eq!(code(node), Code::InvalidValue);
            node.set_data(base + 4, 8).unwrap();
            assert_eq!(code(node), Code::InvalidValue);
            assert!(with_word(node, |_| ()).is_err());
            node.set_data(base, 8).unwrap();
            check_word(node).unwrap();
            region.close();
            assert_eq!(code(node), Code::InvalidValue);
            assert!(with_word(node, |_| ()).is_err());
        });
        with_node(CAN_READ, |node, _, _| {
            assert_eq!(code(node), Code::NotPermitted);
            assert!(with_word(node, |_| ()).is_err());
        });
        with_node(CAN_READ | CAN_WRITE | FAR, |node, _, _| assert_eq!(code(node), Code::NotSupported));
    }
}
