//! `doca_buf_array.h`: the host part of arrays that device programs index by number.
//!
//! The programs that would use such an array run on a GPU or a data-path accelerator. A software card has neither, so
//! an array can be made, placed and ended, but never gets a target and therefore never starts.
#![expect(unsafe_code, reason = "C entry points")]

use crate::call::{enter, output};
use crate::mmap::Mmap;
use softdpu_memory::handle::{Head, Object, Slab, checked, kind, live};
use softdpu_status::{Code, Error};
use std::cell::Cell;
use std::ffi::c_int;
use std::ptr::NonNull;

/// The log target of this family.
const LOG: &str = "softdpu::buf_array";

/// What C calls `struct doca_buf_arr`. One thread at a time.
#[derive(Debug)]
#[repr(C)]
pub struct BufArray {
    head: Head,
    elements: usize,
    place: Cell<Option<Place>>,
}

/// Where the elements lie.
#[derive(Clone, Copy, Debug)]
struct Place {
    map: *const Mmap,
    size: usize,
    offset: u64,
}

// SAFETY: repr(C), head first.
unsafe impl Object for BufArray {
    const KIND: u32 = kind::BUF_ARRAY;
    const NAME: &'static str = "buffer array";
}

static ARRAYS: Slab<BufArray> = Slab::new();

/// An array of `num_elem` elements, not placed yet.
///
/// # Safety
/// `buf_arr` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_arr_create(num_elem: usize, buf_arr: *mut *mut BufArray) -> c_int {
    const CALL: &str = "doca_buf_arr_create";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let slot = unsafe { output(buf_arr, CALL) }?;
        if num_elem == 0 {
            log::error!(target: LOG, "{CALL}: an array of 0 elements");
            return Err(Error::new(Code::InvalidValue, "an array needs elements"));
        }
        let array = BufArray { head: Head::unborn(), elements: num_elem, place: Cell::new(None) };
        slot.set(ARRAYS.make(array)?.as_ptr());
        Ok(())
    })
}

/// Places the array in a map.
///
/// # Safety
/// NULL or handles of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_arr_set_params(
    buf_arr: *mut BufArray,
    mmap: *mut Mmap,
    elem_size: usize,
    start_offset: u64,
) -> c_int {
    const CALL: &str = "doca_buf_arr_set_params";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (this, map) = unsafe { (checked(buf_arr, CALL)?, checked(mmap, CALL)?) };
        if elem_size == 0 {
            log::error!(target: LOG, "{CALL}: buffer array {this:p}: elements of 0 bytes");
            return Err(Error::new(Code::InvalidValue, "elements without bytes"));
        }
        this.place.set(Some(Place { map, size: elem_size, offset: start_offset }));
        Ok(())
    })
}

/// Refuses, with the first thing that is missing: place, started map, room, target.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_arr_start(buf_arr: *mut BufArray) -> c_int {
    const CALL: &str = "doca_buf_arr_start";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(buf_arr, CALL) }?;
        let refuse = |code, what: &'static str| {
            log::error!(target: LOG, "{CALL}: buffer array {this:p} of {} elements: {what}", this.elements);
            Err(Error::new(code, what))
        };
        let Some(place) = this.place.get() else {
            return refuse(Code::BadState, "it has no place (doca_buf_arr_set_params)");
        };
        // SAFETY: a handle this library gave out; alive or not, its kind word can be read.
        let map = unsafe { live(place.map) };
        let Some(map) = map.filter(|map| map.region().is_open()) else {
            return refuse(Code::BadState, "its memory map is not started");
        };
        let end =
            (place.size as u64).checked_mul(this.elements as u64).and_then(|n| n.checked_add(place.offset));
        if end.is_none_or(|end| end > map.region().len() as u64) {
            return refuse(Code::NoMemory, "its memory map is too small");
        }
        refuse(Code::BadState, "it has no target: a software card has neither GPU nor data-path accelerator")
    })
}

/// Back to configurable, which an array that never starts always is.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_arr_stop(buf_arr: *mut BufArray) -> c_int {
    // SAFETY: the caller's promise.
    enter("doca_buf_arr_stop", || unsafe { checked(buf_arr, "doca_buf_arr_stop") }.map(|_| ()))
}

/// Ends the array.
///
/// # Safety
/// NULL or a handle of this library that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_arr_destroy(buf_arr: *mut BufArray) -> c_int {
    const CALL: &str = "doca_buf_arr_destroy";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(buf_arr, CALL) }?;
        // SAFETY: alive, and by the caller's promise nobody else uses it.
        unsafe { ARRAYS.retire(NonNull::from(this)) };
        Ok(())
    })
}
