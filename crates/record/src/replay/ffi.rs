//! Calls of the library by number, and memory that it and the replay share.
#![expect(unsafe_code, reason = "the library is called with numbers, and calls back")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use super::runner;
use crate::contract::FUNCTIONS;

/// A generated function that makes a call out of numbers.
type Call = unsafe extern "C" fn(*mut c_void, *const u64) -> u64;

unsafe extern "C" {
    /// One for each function of the contract, in its order.
    static softdpu_replay_calls: [Call; FUNCTIONS.len()];
    fn softdpu_replay_open() -> c_int;
    fn softdpu_replay_find(name: *const c_char) -> *mut c_void;
    fn softdpu_replay_stream() -> *mut c_void;
}

/// Loads the library.
pub(super) fn open() -> bool {
    // SAFETY: loads a library, whose beginning is harmless.
    unsafe { softdpu_replay_open() != 0 }
}

/// Where a function of the library is, or of what stands before it.
pub(super) fn find(function: usize) -> Option<usize> {
    let name = CString::new(FUNCTIONS[function].name).ok()?;
    // SAFETY: the name ends with a zero.
    let found = unsafe { softdpu_replay_find(name.as_ptr()) };
    (!found.is_null()).then_some(found as usize)
}

/// Calls a function that [`find`] found.
pub(super) fn call(function: usize, found: usize, words: &[u64]) -> u64 {
    assert_eq!(words.len(), FUNCTIONS[function].parameters.len());
    // SAFETY: the function is the one of this number and takes so many. What it does with them is what it did in the
    // recorded program, whose pointers were replaced by those of objects and memory that are alive here.
    unsafe { softdpu_replay_calls[function](found as *mut c_void, words.as_ptr()) }
}

/// A stream that goes nowhere.
pub(super) fn stream() -> u64 {
    // SAFETY: opens a file.
    (unsafe { softdpu_replay_stream() }) as u64
}

/// A text of the library.
pub(super) fn text(address: u64) -> Option<Vec<u8>> {
    let text = address as *const c_char;
    // SAFETY: the library's functions that give texts give such that end with a zero and stay.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes().to_vec())
}

/// Memory for the program's: zeros.
pub(super) fn memory(len: usize) -> Option<u64> {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the kernel chooses a place that nothing else is at.
    let map = unsafe { mmap_anonymous(std::ptr::null_mut(), len, protection, MapFlags::PRIVATE) };
    map.ok().map(|address| address as u64)
}

fn transfer(address: u64, here: *mut u8, len: usize, write: bool) -> bool {
    let here = libc::iovec { iov_base: here.cast(), iov_len: len };
    let there = libc::iovec { iov_base: address as *mut c_void, iov_len: len };
    let copy = if write { libc::process_vm_writev } else { libc::process_vm_readv };
    // SAFETY: the kernel copies between memory of the caller and an address, and answers for one where nothing is.
    let done = unsafe { copy(libc::getpid(), &here, 1, &there, 1, 0) };
    usize::try_from(done) == Ok(len)
}

/// Bytes at an address, if there are any.
pub(super) fn read(address: u64, len: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    bytes.resize(len, 0);
    transfer(address, bytes.as_mut_ptr(), len, false).then_some(bytes)
}

/// Puts bytes to an address, if there is memory.
pub(super) fn write(address: u64, bytes: &[u8]) -> bool {
    transfer(address, bytes.as_ptr().cast_mut(), bytes.len(), true)
}

/// The library calls a function of the program.
#[unsafe(no_mangle)]
extern "C" fn softdpu_replay_called(kind: u32, function: u64, words: *const u64, count: u32) -> u64 {
    // SAFETY: the generated caller has an array of so many.
    let words = unsafe { std::slice::from_raw_parts(words, count as usize) };
    runner::called(kind as u16, function, words)
}
