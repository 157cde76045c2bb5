//! A source and a destination of one task, each of this process or of another, in one form.
//!
//! Engines that copy between processes carry their buffers so: two handles and a byte, whichever kinds they are, which
//! keeps the way of a task as short as with one kind. A pair gives back what it was made of, and nothing else.

use crate::buf::Buf;
use crate::node::Owned;
use crate::remote::RemoteBuf;

/// See the module.
#[derive(Debug)]
pub struct Pair {
    src: Owned,
    dst: Owned,
    kind: u8,
}

mod sealed {
    use crate::node::Owned;

    pub trait Side {
        const REMOTE: bool;
        fn into_owned(self) -> Owned;
        fn of(owned: Owned) -> Self;
    }
}

/// A [`Buf`] or a [`RemoteBuf`].
pub trait Side: sealed::Side {}
impl Side for Buf {}
impl Side for RemoteBuf {}

impl sealed::Side for Buf {
    const REMOTE: bool = false;
    #[inline(always)]
    fn into_owned(self) -> Owned {
        self.0
    }
    #[inline(always)]
    fn of(owned: Owned) -> Buf {
        Buf(owned)
    }
}

impl sealed::Side for RemoteBuf {
    const REMOTE: bool = true;
    #[inline(always)]
    fn into_owned(self) -> Owned {
        self.0
    }
    #[inline(always)]
    fn of(owned: Owned) -> RemoteBuf {
        RemoteBuf(owned)
    }
}

/// Which sides are remote.
const fn kind<S: Side, D: Side>() -> u8 {
    S::REMOTE as u8 | (D::REMOTE as u8) << 1
}

impl Pair {
    /// Takes the two.
    #[inline(always)]
    pub fn new<S: Side, D: Side>(src: S, dst: D) -> Pair {
        Pair { src: src.into_owned(), dst: dst.into_owned(), kind: kind::<S, D>() }
    }

    /// Is it made of these kinds?
    #[inline(always)]
    pub fn is<S: Side, D: Side>(&self) -> bool {
        self.kind == kind::<S, D>()
    }

    /// The two; `None` when it was made of other kinds.
    #[inline(always)]
    pub fn into_parts<S: Side, D: Side>(self) -> Option<(S, D)> {
        self.is::<S, D>().then(|| (S::of(self.src), D::of(self.dst)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    #[test]
    fn a_pair_gives_back_what_it_was_made_of() {
        let machine = softdpu_card::Machine::builder().build().unwrap();
        let device = crate::device::Device::open(machine.functions()[0].clone()).unwrap();
        let memory = Memory::heap(4096).register(&[&device]).unwrap();
        let pair = || Pair::new(memory.buf(..64).unwrap(), memory.buf(64..256).unwrap());
        assert!(pair().is::<Buf, Buf>() && !pair().is::<RemoteBuf, Buf>());
        let (src, dst) = pair().into_parts::<Buf, Buf>().unwrap();
        assert_eq!((src.capacity(), dst.capacity()), (64, 192));
        drop((src, dst));
        assert!(pair().into_parts::<Buf, RemoteBuf>().is_none());
        assert!(pair().into_parts::<RemoteBuf, Buf>().is_none());
        assert!(pair().into_parts::<RemoteBuf, RemoteBuf>().is_none());
        // Nothing stayed behind of those that were dropped.
        assert!(memory.buf(..).is_ok());
    }
}
