//! The C functions that the bridge calls, found by name in the libraries of the card at run time.
//!
//! One table per library. Every function gets a method of its name. Objects of the libraries are [`Object`]s, which only
//! these functions make; the rules for using them (children before parents, one thread at a time) are the callers' to
//! keep, and the other files of this crate are the only ones.
#![expect(unsafe_code, reason = "loads C libraries and calls them")]

mod tables;

use core::ffi::c_void;
use core::ptr::NonNull;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::OsStr;

/// Something of a library: a device, a map, a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct Object(NonNull<c_void>);

// SAFETY: an address; which thread may use what is behind it is for the users of this module to see to.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

/// Called when a task is through: the task, its number, and the address of where completions are noted.
pub(crate) type Completion = extern "C" fn(Option<Object>, u64, u64);

/// Called when a message comes: the event, the bytes and how many they are, and the connection.
pub(crate) type Received = extern "C" fn(Option<Object>, *const u8, u32, Option<Object>);
/// Called when a client comes or leaves: the event, the connection, and whether that is so.
pub(crate) type Changed = extern "C" fn(Option<Object>, Option<Object>, u8);

/// The state of a context that is at rest.
pub(crate) const IDLE: i32 = 0;
/// Of one that takes tasks.
pub(crate) const RUNNING: i32 = 2;

pub(crate) use tables::*;

/// Declares a table: the library's name, then its functions, whose signatures are those of the contract.
macro_rules! table {
    ($(#[$doc:meta])* $Table:ident in $library:literal {
        $(fn $name:ident($($arg:ident: $type:ty),*) -> $ret:ty;)*
    }) => {
        $(#[$doc])*
        pub(crate) struct $Table {
            $($name: unsafe extern "C" fn($($type),*) -> $ret,)*
        }

        impl core::fmt::Debug for $Table {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str($Table::LIBRARY)
            }
        }

        impl $Table {
            /// The library, as the dynamic linker knows it.
            pub(crate) const LIBRARY: &str = $library;

            /// Loads the library and finds every function.
            ///
            /// # Errors
            /// The linker's words: no such library, or a function it does not have.
            pub(crate) fn load(path: &std::ffi::OsStr) -> Result<$Table, String> {
                let library = $crate::abi::open(path)?;
                let table = $Table {
                    $($name: {
                        // SAFETY: the signature is that of the contract for this name.
                        let found = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                        *found.map_err(|e| e.to_string())?
                    },)*
                };
                // The functions stay where they are until the process ends.
                core::mem::forget(library);
                Ok(table)
            }

            $(
                #[allow(clippy::too_many_arguments, reason = "signatures are the contract's")]
                pub(crate) fn $name(&self, $($arg: $type),*) -> $ret {
                    // SAFETY: objects come from these functions, out-parameters are references, and the callers keep to
                    // the order and the threads that the contract asks for.
                    unsafe { (self.$name)($($arg),*) }
                }
            )*
        }
    };
}

use table;

/// Loads a library.
fn open(path: &OsStr) -> Result<Library, String> {
    // SAFETY: constructors of a library that was installed to be used run.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    library.map_err(|e| e.to_string())
}

/// The entries of a list of devices or representors.
pub(crate) fn entries(list: Object, count: u32) -> Vec<Object> {
    // SAFETY: the call that makes such lists made a list with as many entries, none of them NULL, which is not destroyed yet.
    unsafe { core::slice::from_raw_parts(list.0.cast::<Object>().as_ptr(), count as usize) }.to_vec()
}

/// A copy of bytes that a call has given out.
pub(crate) fn bytes(at: *const u8, len: usize) -> Vec<u8> {
    if at.is_null() {
        return Vec::new();
    }
    // SAFETY: the libraries give out addresses together with lengths, good as long as what they are of stays as it is;
    // nobody has done anything to it since.
    unsafe { core::slice::from_raw_parts(at, len) }.to_vec()
}

/// Where completions of one context are noted, for the thread that progresses it. It stays in its place.
#[derive(Debug, Default)]
pub(crate) struct Landing(core::cell::RefCell<Vec<u64>>);

impl Landing {
    /// For [`Common::doca_ctx_set_user_data`].
    pub(crate) fn address(&self) -> u64 {
        core::ptr::from_ref(self) as u64
    }

    /// The numbers of the tasks that are through since the last call.
    pub(crate) fn take(&self) -> Vec<u64> {
        self.0.take()
    }

    /// What completions call.
    pub(crate) extern "C" fn note(_: Option<Object>, number: u64, landing: u64) {
        // SAFETY: the address is that of the context's landing, which outlives the context; only the thread that
        // progresses the context, and is inside that call now, touches it.
        let landing = unsafe { &*(landing as *const Landing) };
        landing.0.borrow_mut().push(number);
    }
}
