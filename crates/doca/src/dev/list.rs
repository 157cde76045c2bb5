//! Snapshots of the local devices.
//!
//! C gets an array of pointers and gives only the array back, so the arrays that are out are kept in a table by
//! address: an address that is not in it is no list of ours, or was destroyed, and is refused.
#![expect(unsafe_code, reason = "hands arrays of handles to C")]

use super::call::{enter, invalid};
use super::machine::machine;
use super::object::{DevInfo, RepInfo, Search};
use softdpu_status::{Code, Error, Result};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// The arrays of one kind that are out, by address.
pub(super) struct Lists<T, N>(Mutex<BTreeMap<usize, List<T, N>>>);

/// An array that is out: what C sees, what we put in, and a note for the kind.
struct List<T, N> {
    seen: NonNull<[*mut T]>,
    elements: Vec<NonNull<T>>,
    note: N,
}

// SAFETY: the pointers are owned by the list; whoever takes it out of the table may use them.
unsafe impl<T, N: Send> Send for List<T, N> {}

impl<T, N> Drop for List<T, N> {
    fn drop(&mut self) {
        // SAFETY: it came out of a box in `publish` and goes back once, here.
        drop(unsafe { Box::from_raw(self.seen.as_ptr()) });
    }
}

impl<T, N> Lists<T, N> {
    pub(super) const fn new() -> Lists<T, N> {
        Lists(Mutex::new(BTreeMap::new()))
    }

    /// Makes an array of the elements. A NULL behind the last one stops programs that look for it.
    pub(super) fn publish(&self, elements: Vec<NonNull<T>>, note: N) -> Result<*mut *mut T> {
        let mut seen = Vec::new();
        seen.try_reserve_exact(elements.len() + 1)
            .map_err(|_| Error::new(Code::NoMemory, "no memory for a list"))?;
        seen.extend(elements.iter().map(|element| element.as_ptr()));
        seen.push(std::ptr::null_mut());
        let seen = NonNull::from(Box::leak(seen.into_boxed_slice()));
        let array: *mut *mut T = seen.as_ptr().cast();
        let list = List { seen, elements, note };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(array as usize, list);
        Ok(array)
    }

    /// Takes the array back, after looking that its elements are those that were put in.
    pub(super) fn take(&self, call: &str, array: *mut *mut T) -> Result<(Vec<NonNull<T>>, N)>
    where
        N: Clone,
    {
        if array.is_null() {
            return Err(invalid(call, format_args!("the list is NULL")));
        }
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(list) = lists.get(&(array as usize)) else {
            drop(lists);
            return Err(invalid(call, format_args!("{array:p} is not a list, or was destroyed")));
        };
        // SAFETY: the array lives as long as it is in the table. The program may have written to it, but not
        // during this call.
        let seen = unsafe { list.seen.as_ref() };
        if let Some(at) = list.elements.iter().zip(seen).position(|(put, seen)| put.as_ptr() != *seen) {
            drop(lists);
            log::error!(target: "softdpu::device", "{call}: element {at} of list {array:p} was overwritten");
            return Err(Error::new(Code::InUse, "the list was overwritten"));
        }
        let Some(mut list) = lists.remove(&(array as usize)) else {
            return Err(Error::new(Code::Unexpected, "a list vanished"));
        };
        Ok((std::mem::take(&mut list.elements), list.note.clone()))
    }
}

static LISTS: Lists<DevInfo, Arc<Search>> = Lists::new();

/// Lists the local devices: an array of `nb_devs` records that live until the list is destroyed.
///
/// # Safety
/// Both pointers are NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_create_list(
    dev_list: *mut *mut *mut DevInfo,
    nb_devs: *mut u32,
) -> c_int {
    let call = "doca_devinfo_create_list";
    crate::log::softdpu_log_init();
    enter(call, || {
        if dev_list.is_null() || nb_devs.is_null() {
            return Err(invalid(call, format_args!("an output is NULL")));
        }
        let search = Arc::new(Search::default());
        let functions = machine()?.functions();
        let elements = make_all(
            functions.iter().map(|function| DevInfo::make(Arc::clone(function), Some(Arc::clone(&search)))),
            // SAFETY: made just now and given to nobody.
            |info| unsafe { DevInfo::retire(info) },
        )?;
        let array = LISTS.publish(elements, search)?;
        // SAFETY: not NULL and good for a write by the caller's promise.
        unsafe {
            dev_list.write(array);
            // At most MAX_FUNCTIONS.
            nb_devs.write(functions.len() as u32);
        }
        Ok(())
    })
}

/// Collects what is made one by one; when one cannot be made the others are undone.
pub(super) fn make_all<T>(
    makers: impl Iterator<Item = Result<NonNull<T>>>,
    undo: impl Fn(NonNull<T>),
) -> Result<Vec<NonNull<T>>> {
    let mut made = Vec::new();
    for maker in makers {
        let grown = made.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a list"));
        match maker.and_then(|element| match grown {
            Ok(()) => Ok(element),
            Err(error) => {
                undo(element);
                Err(error)
            }
        }) {
            Ok(element) => made.push(element),
            Err(error) => {
                made.into_iter().for_each(undo);
                return Err(error);
            }
        }
    }
    Ok(made)
}

/// Destroys a list and its records. Opened devices stay open.
///
/// # Safety
/// `dev_list` is any pointer value; during the call no other thread uses the list or its records.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_destroy_list(dev_list: *mut *mut DevInfo) -> c_int {
    let call = "doca_devinfo_destroy_list";
    enter(call, || {
        let (elements, search) = LISTS.take(call, dev_list)?;
        for info in elements {
            // SAFETY: the records belong to the list, which is out of the table now.
            unsafe { DevInfo::retire(info) };
        }
        explain(&search);
        Ok(())
    })
}

/// Says which devices exist when a search through a list found none.
fn explain(search: &Search) {
    let Ok(machine) = machine() else { return };
    let asked = search.asked();
    if asked.matched || asked.opened {
        return;
    }
    if let Some(address) = asked.address
        && let Err(error) = machine.find(&address.to_string())
    {
        log::warn!(target: "softdpu::device", "{error}");
    } else if asked.named {
        let all: Vec<_> = machine.functions().iter().map(ToString::to_string).collect();
        log::info!(
            target: "softdpu::device",
            "names were read from a list and no device was opened; devices that exist: {}",
            all.join(", ")
        );
    }
}

/// The arrays of representors that are out.
pub(super) static REP_LISTS: Lists<RepInfo, ()> = Lists::new();
