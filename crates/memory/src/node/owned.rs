//! Descriptors as Rust owns them, and as flying tasks borrow them.
#![expect(unsafe_code, reason = "links between descriptors are raw pointers into type-stable memory")]

use super::check_window;
use super::{Node, Store};
use crate::region::Region;
use core::any::Any;
use core::ptr::NonNull;
use softdpu_status::Result;
use std::sync::Arc;

/// The store that buffers of the Rust face come from.
static COMMON: Store = Store::shared();

/// A descriptor owned by value: what the Rust face's buffers are made of. Dropping it gives the whole list back.
#[derive(Debug)]
pub struct Owned(NonNull<Node>);

// SAFETY: the only way to the descriptor (and those linked behind it) is this value; stores and regions behind it are
// made for several threads.
unsafe impl Send for Owned {}
// SAFETY: a shared reference gives only reads of plain cells that nobody writes while it is shared.
unsafe impl Sync for Owned {}

impl Owned {
    /// A descriptor on `region`, kept alive by `keep`, which must own the region.
    ///
    /// # Errors
    /// NoMemory; InvalidValue when the window leaves the region.
    pub(crate) fn new(
        region: &Region,
        keep: Arc<dyn Any + Send + Sync>,
        addr: usize,
        len: usize,
    ) -> Result<Owned> {
        check_window(region, addr, len, addr, 0)?;
        let node = loop {
            if let Some(node) = COMMON.take(region) {
                break node;
            }
            COMMON.expand(64)?;
        };
        // SAFETY: fresh from the store, nobody else looks at it.
        unsafe { *node.keep.get() = Some(keep) };
        node.aim(addr, len, addr, 0);
        Ok(Owned(node.into()))
    }

    /// A descriptor of `store`, which also holds windows that were aimed before: the one that the free descriptor
    /// carries since [`Owned::aim`] is kept, its data is empty. Allocates nothing. `keep` must own region and store.
    pub(crate) fn again(store: &Store, region: &Region, keep: Arc<dyn Any + Send + Sync>) -> Option<Owned> {
        let node = store.take(region)?;
        // SAFETY: fresh from the store, nobody else looks at it.
        unsafe { *node.keep.get() = Some(keep) };
        node.aim(node.addr(), node.len(), node.addr(), 0);
        Some(Owned(node.into()))
    }

    /// Aims a descriptor at a window; it stays aimed there when it goes back to its store.
    ///
    /// # Errors
    /// InvalidValue when the window leaves the region; nothing changes then.
    pub(crate) fn aim(&mut self, addr: usize, len: usize) -> Result<()> {
        self.node().reuse(addr, len, addr, 0)
    }

    /// The descriptor.
    #[inline(always)]
    pub fn node(&self) -> &Node {
        // SAFETY: in use until this value goes.
        unsafe { self.0.as_ref() }
    }

    /// Appends `tail`'s list to this one's end.
    pub fn chain(&mut self, tail: Owned) {
        Node::link(self.node().last(), tail.node());
        core::mem::forget(tail);
    }

    /// Splits off everything behind the first element.
    pub fn unchain(&mut self) -> Option<Owned> {
        let next = self.node().next()?;
        next.cut();
        Some(Owned(next.into()))
    }

    /// Owns again what was lent.
    ///
    /// # Safety
    /// It was lent by a value that was not dropped, and nothing else is made of that.
    #[inline(always)]
    pub(super) unsafe fn again_from(lent: Lent) -> Owned {
        Owned(lent.0)
    }

    /// Lends the descriptor to a flying task. The value itself travels with the task.
    #[inline(always)]
    pub fn lend(&self) -> Lent {
        Lent(self.0)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.node().give_back_list();
    }
}

/// A descriptor lent to a flying task: the program does not touch it until the task is back (in Rust by ownership, in C
/// by contract). It may be stale in C, so every use asks whether it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Lent(NonNull<Node>);

// SAFETY: whoever turns the task has the descriptor to itself while it flies.
unsafe impl Send for Lent {}
// SAFETY: as above; several threads that carry out one task only read it.
unsafe impl Sync for Lent {}

/// Stands where a C program gave no buffer.
struct Nobody(Node);
// SAFETY: never in use, so nobody changes it.
unsafe impl Sync for Nobody {}
static NOBODY: Nobody = Nobody(Node::blank());

impl Lent {
    /// From a C handle. What is no descriptor in use (NULL, released, another kind of object) stands for nobody's
    /// descriptor, which never is.
    ///
    /// # Safety
    /// NULL, or a handle this library gave out (possibly stale).
    #[inline(always)]
    pub unsafe fn from_handle(ptr: *const Node) -> Lent {
        // SAFETY: per this function's contract.
        match unsafe { crate::handle::live(ptr) } {
            Some(node) => Lent(NonNull::from(node)),
            None => Lent(NonNull::from(&NOBODY.0)),
        }
    }

    /// Nobody's descriptor.
    pub fn nobody() -> Lent {
        Lent(NonNull::from(&NOBODY.0))
    }

    /// The handle, NULL for nobody's.
    #[inline(always)]
    pub fn handle(self) -> *const Node {
        if core::ptr::eq(self.0.as_ptr(), &NOBODY.0) { core::ptr::null() } else { self.0.as_ptr() }
    }

    /// The descriptor, in use or not: one that is not in use has no data and no room.
    #[inline(always)]
    pub fn any<'a>(self) -> &'a Node {
        // SAFETY: descriptors are never given back to the system.
        unsafe { &*self.0.as_ptr() }
    }

    /// The descriptor, if it is in use.
    #[inline(always)]
    pub fn node<'a>(self) -> Option<&'a Node> {
        // SAFETY: descriptors are never given back to the system, so looking is always defined.
        let node = unsafe { &*self.0.as_ptr() };
        if node.is_live() { Some(node) } else { None }
    }
}
