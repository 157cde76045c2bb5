//! `doca_buf.h`: what a program sees and changes of a buffer.
//!
//! A `struct doca_buf` is a descriptor of the memory crate. These calls stand on data paths, so they take no lock, do
//! not allocate and have no panic border; a refusal goes through a cold function that writes the log line.
#![expect(unsafe_code, reason = "C entry points")]

use crate::entry::SUCCESS;
use softdpu_memory::handle::{explain, live};
use softdpu_memory::node::Node;
use softdpu_status::Code;
use std::ffi::{c_int, c_void};

/// The log target of this family.
const LOG: &str = "softdpu::buf";

/// The buffer behind a handle, or the number to return.
///
/// # Safety
/// NULL, or a handle this library gave out.
#[inline(always)]
pub(crate) unsafe fn buffer<'a>(buf: *const Node, call: &'static str) -> Result<&'a Node, c_int> {
    // SAFETY: the caller's promise.
    match unsafe { live(buf) } {
        Some(node) => Ok(node),
        // SAFETY: the caller's promise.
        None => Err(unsafe { explain(buf, call) }.code().number()),
    }
}

/// Stores what `f` reads from the buffer.
///
/// # Safety
/// `buf` as in [`buffer`]; `out` is NULL or good for one write.
#[inline(always)]
unsafe fn read<T>(buf: *const Node, out: *mut T, call: &'static str, f: impl FnOnce(&Node) -> T) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { buffer(buf, call) } {
        Err(number) => number,
        Ok(_) if out.is_null() => null(call),
        Ok(node) => {
            // SAFETY: not NULL, and good for a write by the caller's promise.
            unsafe { out.write(f(node)) };
            SUCCESS
        }
    }
}

/// The refusal of a NULL output pointer.
#[cold]
pub(crate) fn null(call: &str) -> c_int {
    log::error!(target: LOG, "{call}: the output pointer is NULL");
    Code::InvalidValue.number()
}

/// A refusal with its line.
#[cold]
fn refuse(code: Code, line: std::fmt::Arguments<'_>) -> c_int {
    log::error!(target: LOG, "{line}");
    code.number()
}

#[cold]
fn not_a_head(node: &Node, call: &str) -> c_int {
    refuse(Code::NotPermitted, format_args!("{call}: buffer {node:p} is a member of a list, not its head"))
}

/// Stores the count when asked for.
///
/// # Safety
/// NULL or good for one write.
#[inline(always)]
unsafe fn tell(out: *mut u16, count: u16) {
    if !out.is_null() {
        // SAFETY: not NULL, and good for a write by the caller's promise.
        unsafe { out.write(count) };
    }
}

/// One reference more.
///
/// # Safety
/// `buf` is NULL or a handle of this library; `refcount` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inc_refcount(buf: *mut Node, refcount: *mut u16) -> c_int {
    // SAFETY: the caller's promise.
    let node = match unsafe { buffer(buf, "doca_buf_inc_refcount") } {
        Ok(node) => node,
        Err(number) => return number,
    };
    if node.is_member() {
        return not_a_head(node, "doca_buf_inc_refcount");
    }
    let count = node.refs();
    let Some(more) = count.checked_add(1) else {
        return refuse(
            Code::TooBig,
            format_args!("buffer {node:p} has {count} references, the most there can be"),
        );
    };
    node.set_refs(more);
    // SAFETY: the caller's promise.
    unsafe { tell(refcount, count) };
    SUCCESS
}

/// One reference less; at 0 the list goes back to where its members came from.
///
/// # Safety
/// As [`doca_buf_inc_refcount`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_dec_refcount(buf: *mut Node, refcount: *mut u16) -> c_int {
    // SAFETY: the caller's promise.
    let node = match unsafe { buffer(buf, "doca_buf_dec_refcount") } {
        Ok(node) => node,
        Err(number) => return number,
    };
    if node.is_member() {
        return not_a_head(node, "doca_buf_dec_refcount");
    }
    let count = node.refs();
    if count > 1 {
        node.set_refs(count - 1);
    } else {
        node.set_refs(0);
        node.give_back_list();
    }
    // SAFETY: the caller's promise.
    unsafe { tell(refcount, count) };
    SUCCESS
}

/// Declares a call that reads one property.
macro_rules! getter {
    ($(#[$doc:meta])* $name:ident: $type:ty = |$node:ident| $value:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `buf` is NULL or a handle of this library; `out` is NULL or good for one write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(buf: *const Node, out: *mut $type) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { read(buf, out, stringify!($name), |$node| $value) }
        }
    };
}

getter! {
    /// References held.
    doca_buf_get_refcount: u16 = |node| node.refs()
}
getter! {
    /// Start of the region.
    doca_buf_get_head: *mut c_void = |node| node.addr() as *mut c_void
}
getter! {
    /// Bytes of the region of this element.
    doca_buf_get_len: usize = |node| node.len()
}
getter! {
    /// Start of the data.
    doca_buf_get_data: *mut c_void = |node| node.data() as *mut c_void
}
getter! {
    /// Bytes of the data of this element.
    doca_buf_get_data_len: usize = |node| node.data_len()
}
getter! {
    /// The element behind this one, or NULL.
    doca_buf_get_next_in_list: *mut Node = |node| handle(node.next())
}
getter! {
    /// The last element reachable from here.
    doca_buf_get_last_in_list: *mut Node = |node| handle(Some(node.last()))
}
getter! {
    /// 1 when nothing follows.
    doca_buf_is_last_in_list: u8 = |node| u8::from(node.next().is_none())
}
getter! {
    /// 1 when nothing precedes.
    doca_buf_is_first_in_list: u8 = |node| u8::from(!node.is_member())
}
getter! {
    /// 1 when there is a neighbour.
    doca_buf_is_in_list: u8 = |node| u8::from(node.is_member() || node.next().is_some())
}

/// What C calls a descriptor.
pub(crate) fn handle(node: Option<&Node>) -> *mut Node {
    node.map_or(core::ptr::null_mut(), |node| core::ptr::from_ref(node).cast_mut())
}

/// Elements of the list that begins here.
///
/// # Safety
/// As [`doca_buf_get_refcount`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_get_list_len(buf: *const Node, num_elements: *mut u32) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { buffer(buf, "doca_buf_get_list_len") } {
        Ok(node) if node.is_member() => not_a_head(node, "doca_buf_get_list_len"),
        // SAFETY: the caller's promise.
        Ok(_) => unsafe {
            read(buf, num_elements, "doca_buf_get_list_len", |node| node.list().count() as u32)
        },
        Err(number) => number,
    }
}

/// Moves the data window inside the region.
///
/// # Safety
/// `buf` is NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_set_data(buf: *mut Node, data: *mut c_void, data_len: usize) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { buffer(buf, "doca_buf_set_data") } {
        Ok(node) => crate::entry::number(node.set_data(data as usize, data_len)),
        Err(number) => number,
    }
}

/// Changes the length of the data.
///
/// # Safety
/// `buf` is NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_set_data_len(buf: *mut Node, data_len: usize) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { buffer(buf, "doca_buf_set_data_len") } {
        Ok(node) => crate::entry::number(node.set_data(node.data(), data_len)),
        Err(number) => number,
    }
}

/// Empties the buffer; the data starts where it did.
///
/// # Safety
/// `buf` is NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_reset_data_len(buf: *mut Node) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { buffer(buf, "doca_buf_reset_data_len") } {
        Ok(node) => crate::entry::number(node.set_data(node.data(), 0)),
        Err(number) => number,
    }
}

/// Appends `list2` to `list1`.
///
/// # Safety
/// NULL or handles of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_chain_list(list1: *mut Node, list2: *mut Node) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { buffer(list1, "doca_buf_chain_list") } {
        // SAFETY: the caller's promise.
        Ok(head) => unsafe { chain(head, head.last(), list2, "doca_buf_chain_list") },
        Err(number) => number,
    }
}

/// Appends `list2` to the list from `list1_head` to `list1_tail`, without walking it.
///
/// # Safety
/// NULL or handles of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_chain_list_tail(
    list1_head: *mut Node,
    list1_tail: *mut Node,
    list2: *mut Node,
) -> c_int {
    const CALL: &str = "doca_buf_chain_list_tail";
    // SAFETY: the caller's promise.
    let (head, tail) = match unsafe { (buffer(list1_head, CALL), buffer(list1_tail, CALL)) } {
        (Ok(head), Ok(tail)) => (head, tail),
        (Err(number), _) | (_, Err(number)) => return number,
    };
    // A tail has nothing behind it, and is the head itself or a member of some list. That it is the list of this head
    // is the caller's word: looking would take as long as the list is.
    let alone = core::ptr::eq(head, tail);
    if tail.next().is_some() || alone == tail.is_member() || (!alone && head.next().is_none()) {
        return refuse(
            Code::NotPermitted,
            format_args!("{CALL}: buffer {tail:p} is not the tail of the list of {head:p}"),
        );
    }
    // SAFETY: the caller's promise.
    unsafe { chain(head, tail, list2, CALL) }
}

/// # Safety
/// `list2` is NULL or a handle of this library.
unsafe fn chain(head: &Node, last: &Node, list2: *mut Node, call: &'static str) -> c_int {
    // SAFETY: the caller's promise.
    let second = match unsafe { buffer(list2, call) } {
        Ok(second) => second,
        Err(number) => return number,
    };
    if head.is_member() {
        return not_a_head(head, call);
    }
    if second.is_member() {
        return not_a_head(second, call);
    }
    if core::ptr::eq(head, second) {
        return refuse(
            Code::InvalidValue,
            format_args!("{call}: buffer {head:p} cannot be chained to itself"),
        );
    }
    if second.refs() != 1 {
        let line = format_args!(
            "{call}: buffer {second:p} has {} references, chaining it needs exactly 1",
            second.refs()
        );
        return refuse(Code::NotPermitted, line);
    }
    Node::link(last, second);
    SUCCESS
}

/// Cuts `list1` before `list2`.
///
/// # Safety
/// NULL or handles of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_unchain_list(list1: *mut Node, list2: *mut Node) -> c_int {
    const CALL: &str = "doca_buf_unchain_list";
    // SAFETY: the caller's promise.
    let (first, second) = match unsafe { (buffer(list1, CALL), buffer(list2, CALL)) } {
        (Ok(first), Ok(second)) => (first, second),
        (Err(number), _) | (_, Err(number)) => return number,
    };
    if !first.list().skip(1).any(|node| core::ptr::eq(node, second)) {
        let line = format_args!("{CALL}: buffer {second:p} is not behind {first:p} in its list");
        return refuse(Code::InvalidValue, line);
    }
    second.cut();
    SUCCESS
}
