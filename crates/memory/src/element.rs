//! One element of a buffer list, borrowed from its [`Buf`](crate::Buf): to be looked at, or to be changed.

use crate::buf::Holder;
use crate::error::{WindowError, ends};
use crate::map;
use crate::memory::Memory;
use crate::node::Node;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Range, RangeBounds};
use softdpu_status::Code;

/// An element of a list, for looking. See [`Buf::elements`](crate::Buf::elements).
///
/// ```
/// # use softdpu_card::Machine;
/// # use softdpu_memory::{Memory, device::Device};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
/// let memory = Memory::heap(64).register(&[&device])?;
/// let mut list = memory.buf(..16)?;
/// list.chain(memory.buf(48..)?);
/// let windows: Vec<_> = list.elements().map(|e| e.range_in_memory()).collect();
/// assert_eq!(windows, [0..16, 48..64]);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct Element<'a>(&'a Node);

/// An element of a list, for changing. See [`Buf::elements_mut`](crate::Buf::elements_mut).
///
/// ```
/// # use softdpu_card::Machine;
/// # use softdpu_memory::{Memory, device::Device};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
/// let memory = Memory::heap(64).register(&[&device])?;
/// let mut list = memory.buf(..16)?;
/// list.chain(memory.buf(48..)?);
/// for mut element in list.elements_mut() {
///     element.push_slice(b"ab")?;
/// }
/// assert_eq!(list.to_vec(), b"abab");
/// # Ok(()) }
/// ```
pub struct ElementMut<'a>(&'a Node, PhantomData<&'a mut Node>);

impl<'a> Element<'a> {
    /// Of a descriptor that a `Buf` owns and that is borrowed from it for `'a`.
    pub(crate) fn new(node: &'a Node) -> Element<'a> {
        Element(node)
    }

    pub(crate) fn node(&self) -> &'a Node {
        self.0
    }

    fn holder(&self) -> &'a Holder {
        let holder = self.0.keeper().and_then(|k| k.downcast_ref());
        holder.expect("a buffer of the Rust face has a holder")
    }

    /// Bytes of the window.
    pub fn capacity(&self) -> usize {
        self.0.len()
    }

    /// Where the data is inside the window.
    pub fn data(&self) -> Range<usize> {
        let start = self.0.data() - self.0.addr();
        start..start + self.0.data_len()
    }

    /// Bytes of data.
    pub fn data_len(&self) -> usize {
        self.0.data_len()
    }

    /// Bytes free behind the data.
    pub fn room(&self) -> usize {
        self.0.room()
    }

    /// Which part of its memory the window is.
    pub fn range_in_memory(&self) -> Range<usize> {
        let start = self.0.addr() - self.0.region().base();
        start..start + self.0.len()
    }

    /// The memory it is a window on.
    pub fn memory(&self) -> &'a Memory {
        self.holder().memory()
    }

    /// Has it its window to itself? False for aliases.
    pub fn is_exclusive(&self) -> bool {
        self.holder().is_exclusive()
    }

    /// As [`Buf::read_at`](crate::Buf::read_at).
    ///
    /// # Errors
    /// InvalidValue when the range leaves the window; nothing is copied then.
    pub fn read_at(&self, at: usize, into: &mut [u8]) -> Result<(), WindowError> {
        self.inside(at, into.len())?;
        map::read(self, at, into);
        Ok(())
    }

    /// As [`Buf::as_slice`](crate::Buf::as_slice).
    pub fn as_slice(&self) -> Option<&'a [u8]> {
        map::view(self, self.data().start, self.data_len())
    }

    /// Copies the whole data; `into` has its length.
    pub(crate) fn read_data(&self, into: &mut [u8]) {
        map::read(self, self.data().start, into);
    }

    fn inside(&self, at: usize, len: usize) -> Result<(), WindowError> {
        if at > self.capacity() || len > self.capacity() - at {
            return Err(self.refuse(
                Code::InvalidValue,
                "range leaves the window",
                (at, at.saturating_add(len)),
            ));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, code: Code, what: &'static str, requested: (usize, usize)) -> WindowError {
        let object = format_args!("buffer {self:?}");
        WindowError::new(code, what, object, requested, (0, self.capacity()))
    }
}

impl<'a> ElementMut<'a> {
    /// Of a descriptor that a `Buf` owns and that is mutably borrowed from it for `'a`; one at a time per descriptor.
    pub(crate) fn new(node: &'a Node) -> ElementMut<'a> {
        ElementMut(node, PhantomData)
    }

    pub(crate) fn node(&self) -> &'a Node {
        self.0
    }

    pub(crate) fn memory(&self) -> &'a Memory {
        Element(self.0).memory()
    }

    /// The same for looking.
    pub fn as_element(&self) -> Element<'_> {
        Element(self.0)
    }

    /// The same for a shorter time.
    fn again(&mut self) -> ElementMut<'_> {
        ElementMut(self.0, PhantomData)
    }

    /// As [`Buf::set_data`](crate::Buf::set_data).
    ///
    /// # Errors
    /// InvalidValue when the range leaves the window; nothing changes then.
    pub fn set_data(&mut self, data: impl RangeBounds<usize>) -> Result<(), WindowError> {
        let (start, end) = ends(data, self.0.len());
        if start > end || end > self.0.len() {
            return Err(Element(self.0).refuse(Code::InvalidValue, "data leaves the window", (start, end)));
        }
        self.place(start, end - start);
        Ok(())
    }

    /// Sets the data to a range that was checked.
    fn place(&mut self, start: usize, len: usize) {
        let set = self.0.set_data(self.0.addr() + start, len);
        debug_assert!(set.is_ok());
    }

    /// Empties this element: its data is the empty range at the start of its window.
    pub fn reset(&mut self) {
        self.place(0, 0);
    }

    /// As [`Buf::write_at`](crate::Buf::write_at).
    ///
    /// # Errors
    /// InvalidValue when the range leaves the window, NotPermitted when the memory is read-only; nothing is copied
    /// then.
    pub fn write_at(&mut self, at: usize, bytes: &[u8]) -> Result<(), WindowError> {
        let element = Element(self.0);
        element.inside(at, bytes.len())?;
        if !self.memory().is_writable() {
            return Err(element.refuse(Code::NotPermitted, "memory is read-only", (at, at + bytes.len())));
        }
        map::write(self.again(), at, bytes);
        Ok(())
    }

    /// As [`Buf::push_slice`](crate::Buf::push_slice).
    ///
    /// # Errors
    /// InvalidValue when there is not so much room, NotPermitted when the memory is read-only; nothing changes then.
    pub fn push_slice(&mut self, bytes: &[u8]) -> Result<(), WindowError> {
        self.write_at(Element(self.0).data().end, bytes)?;
        self.advance(bytes.len())
    }

    /// As [`Buf::advance`](crate::Buf::advance).
    ///
    /// # Errors
    /// InvalidValue when there is not so much room; nothing changes then.
    pub fn advance(&mut self, n: usize) -> Result<(), WindowError> {
        let Range { start, end } = Element(self.0).data();
        if n > self.0.room() {
            let requested = (end, end.saturating_add(n));
            return Err(Element(self.0).refuse(Code::InvalidValue, "no room behind the data", requested));
        }
        self.place(start, end - start + n);
        Ok(())
    }

    /// As [`Buf::as_mut_slice`](crate::Buf::as_mut_slice).
    pub fn as_mut_slice(&mut self) -> Option<&mut [u8]> {
        self.again().into_mut_slice()
    }

    /// As [`Buf::tail_mut`](crate::Buf::tail_mut).
    pub fn tail_mut(&mut self) -> Option<&mut [u8]> {
        self.again().into_tail_mut()
    }

    pub(crate) fn into_mut_slice(self) -> Option<&'a mut [u8]> {
        let Range { start, end } = Element(self.0).data();
        map::view_mut(self, start, end - start)
    }

    pub(crate) fn into_tail_mut(self) -> Option<&'a mut [u8]> {
        let (start, len) = (Element(self.0).data().end, self.0.room());
        map::view_mut(self, start, len)
    }
}

impl fmt::Debug for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_exclusive() { "" } else { ", alias" };
        write!(
            f,
            "{:?} of memory {:#x}, data {:?}{kind}",
            self.range_in_memory(),
            self.0.region().base(),
            self.data()
        )
    }
}

impl fmt::Debug for ElementMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_element().fmt(f)
    }
}
