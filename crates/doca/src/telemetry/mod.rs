//! Telemetry: `doca_telemetry_exporter_*`. What C programs hold, over `crates/telemetry`, which does the work.
//!
//! - `types`: fields and types under construction;
//! - `schema`, `source`: schemas and their sources;
//! - `metrics`, `logs`: the contexts that hang on a source;
//! - `netflow`: flow records, one exporter per process.
//!
//! One thread at a time per schema with its sources, as the contract says. The locks ([`Held`]) make misuse a wrong answer
//! instead of worse.
#![expect(unsafe_code, reason = "looks at what C handed in")]

mod logs;
mod metrics;
mod netflow;
mod schema;
mod source;
mod types;

pub use logs::*;
pub use metrics::*;
pub use netflow::*;
pub use schema::*;
pub use source::*;
pub use types::*;

use crate::entry::{guard, guard_value, text};
use softdpu_memory::handle::{Object, checked};
use softdpu_room::entry;
use softdpu_status::{Code, Error, Result};
use std::borrow::Cow;
use std::ffi::{c_char, c_int};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Log target of this family.
const LOG: &str = "softdpu::telemetry";

thread_local! {
    /// Its address tells threads apart.
    static HERE: u8 = const { 0 };
}

/// Something that one call at a time changes. A log backend of the program that is called meanwhile, and comes back to the
/// same object, is refused; it would wait for itself.
#[derive(Debug)]
struct Held<T> {
    owner: AtomicUsize,
    value: Mutex<T>,
}

impl<T> Held<T> {
    const fn new(value: T) -> Held<T> {
        Held { owner: AtomicUsize::new(0), value: Mutex::new(value) }
    }

    fn with<R>(&self, f: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        let me = HERE.with(|here| std::ptr::from_ref(here).addr());
        // Only this thread itself can have written its own number.
        if self.owner.load(Ordering::Relaxed) == me {
            return Err(Error::new(Code::BadState, "called from inside another call on the same object"));
        }
        let mut value = self.value.lock().unwrap_or_else(|e| e.into_inner());
        self.owner.store(me, Ordering::Relaxed);
        let _leave = Leave(&self.owner);
        f(&mut value)
    }
}

struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// A refusal with its log line.
#[cold]
fn refuse<T>(code: Code, call: &str, what: std::fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: LOG, "{call}: {what}");
    Err(Error::new(code, "see the log line"))
}

/// A text of the program, copied or read in place.
///
/// # Safety
/// NULL, or a text that ends with a zero byte and lives for `'a`.
unsafe fn words<'a>(pointer: *const c_char, call: &str, name: &str) -> Result<Cow<'a, str>> {
    // SAFETY: the caller's promise.
    match unsafe { text(pointer, "a text is NULL") } {
        Ok(text) => Ok(text.to_string_lossy()),
        Err(_) => refuse(Code::InvalidValue, call, format_args!("{name} is NULL")),
    }
}

/// As many texts as the count says, none of them NULL. NULL is allowed for no texts at all.
///
/// # Safety
/// NULL, or `count` pointers as [`words`] takes them.
unsafe fn many_words<'a>(
    pointers: *const *const c_char,
    count: usize,
    call: &str,
    name: &str,
) -> Result<Vec<Cow<'a, str>>> {
    if count > 0 && pointers.is_null() {
        return refuse(Code::InvalidValue, call, format_args!("{name} is NULL, {count} texts are wanted"));
    }
    // SAFETY: not NULL when there is something to read, and the caller's promise.
    (0..count).map(|i| unsafe { words(pointers.add(i).read(), call, name) }).collect()
}

/// Stores an output.
///
/// # Safety
/// NULL, or good for one write.
unsafe fn put<T>(to: *mut T, value: T, call: &str) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { entry::put(LOG, call, "an output", to, value) }
}

/// A setter without status: what it refuses stands in the log alone.
///
/// # Safety
/// `object` is a handle, or NULL.
unsafe fn set<T: Object>(object: *const T, call: &str, f: impl FnOnce(&T) -> Result<()>) {
    guard_value((), || {
        // SAFETY: the caller's promise.
        if let Ok(object) = unsafe { checked(object, call) } {
            // Said in the log.
            let _ = f(object);
        }
    });
}

/// A call on an object.
///
/// # Safety
/// `object` is a handle, or NULL.
unsafe fn on<T: Object>(object: *const T, call: &str, f: impl FnOnce(&T) -> Result<()>) -> c_int {
    // SAFETY: the caller's promise.
    guard(|| f(unsafe { checked(object, call)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_inside_a_call_is_refused_and_the_next_one_is_not() {
        let held = Held::new(1);
        let inner = held.with(|_| Ok(held.with(|_| Ok(())).unwrap_err().code()));
        assert_eq!(inner, Ok(Code::BadState));
        assert_eq!(held.with(|value| Ok(*value)), Ok(1));
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(held.with(|value| Ok(*value)), Ok(1)));
        });
    }
}
