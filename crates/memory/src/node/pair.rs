//! The source and the destination of one task in one form: of this process or of another, owned or lent.
//!
//! Engines that copy between processes carry their buffers so: three words, whichever kinds they are, which keeps the way
//! of a task as short as with one kind. A pair gives back what it was made of, and nothing else.
#![expect(unsafe_code, reason = "descriptors that were owned are owned again")]

use super::{Lent, Owned};
use crate::buf::Buf;
use crate::remote::RemoteBuf;
use core::mem::ManuallyDrop;

/// See the module.
#[derive(Debug)]
pub struct Pair {
    src: Lent,
    dst: Lent,
    kind: Kind,
}

/// Which sides are remote, or that both stay the program's (C). As wide as the others: a pair is moved word by word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Kind {
    Here,
    Fetch,
    Store,
    Through,
    Lent,
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

const fn kind<S: Side, D: Side>() -> Kind {
    match (S::REMOTE, D::REMOTE) {
        (false, false) => Kind::Here,
        (true, false) => Kind::Fetch,
        (false, true) => Kind::Store,
        (true, true) => Kind::Through,
    }
}

impl Pair {
    /// Takes the two.
    #[inline(always)]
    pub fn new<S: Side, D: Side>(src: S, dst: D) -> Pair {
        let (src, dst) = (ManuallyDrop::new(src.into_owned()), ManuallyDrop::new(dst.into_owned()));
        Pair { src: src.lend(), dst: dst.lend(), kind: kind::<S, D>() }
    }

    /// Two that stay the program's.
    #[inline(always)]
    pub const fn lent(src: Lent, dst: Lent) -> Pair {
        Pair { src, dst, kind: Kind::Lent }
    }

    /// The descriptor of the source.
    #[inline(always)]
    pub fn src(&self) -> Lent {
        self.src
    }

    /// The descriptor of the destination.
    #[inline(always)]
    pub fn dst(&self) -> Lent {
        self.dst
    }

    /// Is it made of these kinds?
    #[inline(always)]
    pub fn is<S: Side, D: Side>(&self) -> bool {
        self.kind == kind::<S, D>()
    }

    /// The two; `None` when it was made of other kinds.
    #[inline(always)]
    pub fn into_parts<S: Side, D: Side>(self) -> Option<(S, D)> {
        if !self.is::<S, D>() {
            return None;
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: both were owned when the pair was made, and this ends the pair.
        let (src, dst) = unsafe { (Owned::again_from(this.src), Owned::again_from(this.dst)) };
        Some((S::of(src), D::of(dst)))
    }
}

impl Drop for Pair {
    #[inline]
    fn drop(&mut self) {
        if self.kind != Kind::Lent {
            // SAFETY: as in `into_parts`.
            drop(unsafe { (Owned::again_from(self.src), Owned::again_from(self.dst)) });
        }
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
        // What is lent stays where it is.
        let kept = memory.buf(64..256).unwrap();
        let lent = Pair::lent(Lent::nobody(), kept.0.lend());
        assert_eq!((lent.src(), lent.dst()), (Lent::nobody(), kept.0.lend()));
        assert!(lent.into_parts::<Buf, Buf>().is_none() && kept.capacity() == 192);
        drop(kept);
        // Nothing stayed behind of those that were dropped.
        assert!(memory.buf(..).is_ok());
    }
}
