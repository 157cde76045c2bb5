//! [`Buf`]: an owned window on memory, with data in it; alone or as a list.

use crate::claim::Claim;
use crate::element::{Element, ElementMut};
use crate::error::WindowError;
use crate::memory::Memory;
use crate::node::{Lent, Node, Owned, Store};
use crate::region::Region;
use core::fmt;
use core::ops::{Range, RangeBounds};
use std::sync::Arc;

/// What a buffer holds on to while it lives: its claim, or the pool it belongs to.
#[derive(Debug)]
pub(crate) struct Holder {
    claim: Claim,
    store: Option<Store>,
}

impl Holder {
    pub(crate) fn pool(claim: Claim, store: Store) -> Holder {
        Holder { claim, store: Some(store) }
    }

    pub(crate) fn memory(&self) -> &Memory {
        self.claim.memory()
    }

    pub(crate) fn region(&self) -> &Region {
        self.claim.region()
    }

    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    pub(crate) fn is_exclusive(&self) -> bool {
        self.claim.is_exclusive()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Every descriptor of the store that was out held this; all are back.
        if let Some(store) = &self.store {
            store.dissolve();
        }
    }
}

/// A window on memory that belongs to whoever holds the value: made by [`Memory::buf`], [`Memory::alias`] or
/// [`BufPool::take`](crate::BufPool::take), moved into a task for a copy, moved back when that is done. Dropping it
/// frees the window for others. One word large.
///
/// A buffer has a *window* (`capacity` bytes) and *data*, a range inside it. As a source it is read where its data is;
/// as a destination it is written behind its data, in its [`room`](Buf::room), and its data grows. Several buffers can
/// be chained into a list that counts as one source or destination. All methods here are about the first element;
/// [`Buf::elements`] and [`Buf::elements_mut`] give the others.
///
/// ```
/// # use softdpu_card::Machine;
/// # use softdpu_memory::{Memory, device::Device};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
/// let memory = Memory::heap(4096).register(&[&device])?;
/// let mut buf = memory.buf(1024..2048)?;
/// buf.push_slice(b"head")?;
/// buf.push_slice(b"tail")?;
/// assert_eq!((buf.data(), buf.room(), buf.capacity()), (0..8, 1016, 1024));
/// buf.set_data(4..8)?;
/// assert_eq!(buf.as_slice(), Some(&b"tail"[..]));
/// assert_eq!(buf.range_in_memory(), 1024..2048);
/// # Ok(()) }
/// ```
///
/// A slice of a buffer ends before the buffer is moved, chained or changed:
///
/// ```compile_fail,E0505
/// # use softdpu_memory::Buf;
/// fn sent_while_looked_at(buf: Buf) {
///     let bytes = buf.as_slice().unwrap();
///     std::thread::spawn(move || drop(buf));
///     println!("{}", bytes[0]);
/// }
/// ```
///
/// A buffer is never duplicated:
///
/// ```compile_fail,E0599
/// # use softdpu_memory::Buf;
/// fn twice(buf: Buf) -> (Buf, Buf) {
///     (buf.clone(), buf)
/// }
/// ```
pub struct Buf(pub(crate) Owned);

impl Buf {
    pub(crate) fn new(claim: Claim) -> Result<Buf, WindowError> {
        let range = (claim.start(), claim.start() + claim.len());
        let at = claim.memory().host_addr() + range.0;
        let len = claim.len();
        let holder = Arc::new(Holder { claim, store: None });
        let node = Owned::new(holder.region(), holder.clone(), at, len);
        node.map(Buf).map_err(|e| WindowError::from_error(e, range, range))
    }

    pub(crate) fn from_owned(node: Owned) -> Buf {
        Buf(node)
    }

    fn first(&self) -> Element<'_> {
        Element::new(self.0.node())
    }

    fn first_mut(&mut self) -> ElementMut<'_> {
        ElementMut::new(self.0.node())
    }

    /// Bytes of the window.
    pub fn capacity(&self) -> usize {
        self.first().capacity()
    }

    /// Where the data is inside the window.
    pub fn data(&self) -> Range<usize> {
        self.first().data()
    }

    /// Bytes of data.
    pub fn data_len(&self) -> usize {
        self.first().data_len()
    }

    /// Bytes free behind the data.
    pub fn room(&self) -> usize {
        self.first().room()
    }

    /// Which part of its memory the window is.
    pub fn range_in_memory(&self) -> Range<usize> {
        self.first().range_in_memory()
    }

    /// The memory it is a window on.
    pub fn memory(&self) -> &Memory {
        self.first().memory()
    }

    /// Has it its window to itself? False for aliases.
    pub fn is_exclusive(&self) -> bool {
        self.first().is_exclusive()
    }

    /// Says where in the window the data is; the bytes stay as they are.
    ///
    /// # Errors
    /// InvalidValue when the range leaves the window; nothing changes then.
    pub fn set_data(&mut self, data: impl RangeBounds<usize>) -> Result<(), WindowError> {
        self.first_mut().set_data(data)
    }

    /// Empties every element of the list: its data is the empty range at the start of its window.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let mut buf = Memory::heap(64).register(&[&device])?.buf(..)?;
    /// buf.push_slice(&[1; 64])?;
    /// buf.reset();
    /// assert_eq!((buf.data(), buf.room()), (0..0, 64));
    /// # Ok(()) }
    /// ```
    pub fn reset(&mut self) {
        self.elements_mut().for_each(|mut e| e.reset());
    }

    /// Copies bytes out of the window, from its byte `at` on, be they data or not.
    ///
    /// # Errors
    /// InvalidValue when the range leaves the window; nothing is copied then.
    pub fn read_at(&self, at: usize, into: &mut [u8]) -> Result<(), WindowError> {
        self.first().read_at(at, into)
    }

    /// Copies bytes into the window, from its byte `at` on. The data range stays as it is.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let mut buf = Memory::heap(64).register(&[&device])?.buf(..)?;
    /// buf.write_at(10, b"abc")?;
    /// let mut back = [0; 5];
    /// buf.read_at(9, &mut back)?;
    /// assert_eq!(&back, b"\0abc\0");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// InvalidValue when the range leaves the window, NotPermitted when the memory is read-only; nothing is copied
    /// then.
    pub fn write_at(&mut self, at: usize, bytes: &[u8]) -> Result<(), WindowError> {
        self.first_mut().write_at(at, bytes)
    }

    /// Copies bytes behind the data and takes them into the data.
    ///
    /// # Errors
    /// InvalidValue when there is not so much [`room`](Buf::room), NotPermitted when the memory is read-only; nothing
    /// changes then.
    pub fn push_slice(&mut self, bytes: &[u8]) -> Result<(), WindowError> {
        self.first_mut().push_slice(bytes)
    }

    /// The data, where it lies. `None` for aliases and shared memory: others may be writing there; use
    /// [`Buf::read_at`].
    pub fn as_slice(&self) -> Option<&[u8]> {
        self.first().as_slice()
    }

    /// The data, where it lies, to be changed. `None` also for read-only memory.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let mut buf = Memory::heap(64).register(&[&device])?.buf(..)?;
    /// buf.push_slice(b"abc")?;
    /// buf.as_mut_slice().unwrap().make_ascii_uppercase();
    /// assert_eq!(buf.as_slice(), Some(&b"ABC"[..]));
    /// # Ok(()) }
    /// ```
    pub fn as_mut_slice(&mut self) -> Option<&mut [u8]> {
        self.first_mut().into_mut_slice()
    }

    /// The room behind the data, to be filled; [`Buf::advance`] then takes it into the data.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let mut buf = Memory::heap(64).register(&[&device])?.buf(..)?;
    /// let mut input = &b"from a reader"[..];
    /// let n = std::io::Read::read(&mut input, buf.tail_mut().unwrap())?;
    /// buf.advance(n)?;
    /// assert_eq!(buf.as_slice(), Some(&b"from a reader"[..]));
    /// # Ok(()) }
    /// ```
    pub fn tail_mut(&mut self) -> Option<&mut [u8]> {
        self.first_mut().into_tail_mut()
    }

    /// Takes `n` bytes behind the data into the data, whatever they are.
    ///
    /// # Errors
    /// InvalidValue when there is not so much [`room`](Buf::room); nothing changes then.
    pub fn advance(&mut self, n: usize) -> Result<(), WindowError> {
        self.first_mut().advance(n)
    }

    /// Appends the list of `tail` to the end of this one.
    ///
    /// ```
    /// # use softdpu_card::Machine;
    /// # use softdpu_memory::{Memory, device::Device};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
    /// let memory = Memory::heap(64).register(&[&device])?;
    /// let (mut list, mut tail) = (memory.buf(..16)?, memory.buf(32..)?);
    /// list.push_slice(b"scattered ")?;
    /// tail.push_slice(b"bytes")?;
    /// list.chain(tail);
    /// assert_eq!((list.elements().count(), list.to_vec().as_slice()), (2, &b"scattered bytes"[..]));
    /// let tail = list.unchain().unwrap();
    /// assert_eq!((list.data_len(), tail.data_len()), (10, 5));
    /// # Ok(()) }
    /// ```
    pub fn chain(&mut self, tail: Buf) {
        self.0.chain(tail.0);
    }

    /// Splits off everything behind the first element.
    pub fn unchain(&mut self) -> Option<Buf> {
        self.0.unchain().map(Buf)
    }

    /// The elements of the list, this one first.
    pub fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        self.0.node().list().map(Element::new)
    }

    /// The elements of the list, to be changed.
    pub fn elements_mut(&mut self) -> impl Iterator<Item = ElementMut<'_>> {
        self.0.node().list().map(ElementMut::new)
    }

    /// Bytes of data in the whole list.
    pub fn total_data_len(&self) -> usize {
        self.elements().map(|e| e.data_len()).sum()
    }

    /// A copy of the data of the whole list.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut all = vec![0; self.total_data_len()];
        let mut rest = &mut all[..];
        for element in self.elements() {
            let (here, behind) = rest.split_at_mut(element.data_len());
            element.read_data(here);
            rest = behind;
        }
        all
    }
}

impl fmt::Debug for Buf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.elements()).finish()
    }
}

/// What engines need of a buffer that belongs to a task: its descriptor. Not part of the Rust face, since whoever has
/// the descriptor can change it behind the buffer's back.
pub trait Lend {
    /// The descriptor, lent for as long as the task that owns the buffer flies.
    fn lend(&self) -> Lent;
    /// The descriptor.
    fn node(&self) -> &Node;
}

impl Lend for Buf {
    #[inline(always)]
    fn lend(&self) -> Lent {
        self.0.lend()
    }

    #[inline(always)]
    fn node(&self) -> &Node {
        self.0.node()
    }
}
