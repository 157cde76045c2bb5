//! What a C program lends to the tasks of a send queue: lists of header pieces, and the packets of a batch. They stay the
//! program's, and stand still until the task is back.
#![expect(unsafe_code, reason = "header pieces and packets belong to the C program")]

use softdpu_memory::node::{Lent, Node};

/// `struct doca_gather_list`: a piece of a header, and the next one.
#[derive(Debug)]
#[repr(C)]
pub struct Gather {
    addr: *const u8,
    len: u64,
    next: *const Gather,
}

/// Most pieces of a header; a list that is longer runs in a circle.
const MOST_PIECES: usize = 1024;

/// A list of header pieces, lent.
#[derive(Clone, Copy, Debug)]
pub struct LentHeaders(*const Gather);

// SAFETY: read by whoever carries the task out, while the program lets it alone.
unsafe impl Send for LentHeaders {}
// SAFETY: as above.
unsafe impl Sync for LentHeaders {}

impl LentHeaders {
    /// No header.
    pub const NONE: LentHeaders = LentHeaders(core::ptr::null());

    /// From what a C program gave.
    ///
    /// # Safety
    /// NULL, or a list whose pieces are good for reading until the task is back.
    pub unsafe fn new(list: *const Gather) -> LentHeaders {
        LentHeaders(list)
    }

    /// The list as the program knows it.
    pub fn handle(self) -> *const Gather {
        self.0
    }

    /// Copies the pieces, one behind the other. `None`: there are more bytes than `into` has.
    pub(crate) fn gather(self, into: &mut [u8]) -> Option<usize> {
        let (mut at, mut len) = (self.0, 0usize);
        for _ in 0..MOST_PIECES {
            // SAFETY: NULL or a piece of the list, by the promise of whoever lent it.
            let Some(piece) = (unsafe { at.as_ref() }) else { return Some(len) };
            let n = usize::try_from(piece.len).ok().filter(|&n| n <= into.len() - len)?;
            if n > 0 {
                // SAFETY: as above; the room is ours, and was found large enough.
                unsafe { core::ptr::copy_nonoverlapping(piece.addr, into[len..].as_mut_ptr(), n) };
            }
            len += n;
            at = piece.next;
        }
        None
    }
}

/// A header list in the array of a batch.
pub(crate) fn headers(list: *const Gather) -> LentHeaders {
    LentHeaders(list)
}

/// A packet on its way to the program.
pub(crate) fn lent(node: &Node) -> Lent {
    packet(node)
}

/// A packet in the array of a batch.
pub(crate) fn packet(handle: *const Node) -> Lent {
    // SAFETY: the program filled the array with handles of buffers, or left NULL in it.
    unsafe { Lent::from_handle(handle) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together_up_to_the_room() {
        let bytes = *b"abcdef";
        let third = Gather { addr: bytes[3..].as_ptr(), len: 3, next: core::ptr::null() };
        let empty = Gather { addr: core::ptr::null(), len: 0, next: &third };
        let first = Gather { addr: bytes.as_ptr(), len: 3, next: &empty };
        // SAFETY: a list of pieces that live.
        let lent = unsafe { LentHeaders::new(&first) };
        let mut into = [0; 8];
        assert_eq!((lent.gather(&mut into), &into[..6]), (Some(6), &bytes[..]));
        assert_eq!(lent.gather(&mut into[..5]), None);
        assert_eq!(LentHeaders::NONE.gather(&mut into), Some(0));
    }

    #[test]
    fn a_circle_ends() {
        let byte = [7];
        let mut piece = Gather { addr: byte.as_ptr(), len: 0, next: core::ptr::null() };
        let at: *mut Gather = &mut piece;
        // SAFETY: one piece that is its own next.
        let lent = unsafe {
            (*at).next = at;
            LentHeaders::new(at)
        };
        assert_eq!(lent.gather(&mut [0; 4]), None);
    }
}
