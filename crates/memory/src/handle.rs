//! Handles: what a C program holds is the object itself.
//!
//! Every object that a C program can hold begins with a [`Head`]: one word that says what kind of object it is and
//! whether it lives. Objects come from type-stable [`Slab`]s whose memory is never given back to the system, so that
//! looking at the word of a destroyed handle is always a defined read: a wrong-kind, destroyed or NULL handle costs one
//! compare to refuse and can never crash. (A stale handle whose place was given out again looks alive; only checking
//! mode finds that.)
#![expect(unsafe_code, reason = "casts between handles and objects, and memory that outlives its objects")]

mod given;
pub mod kind;

pub use given::{DeviceRecord, MemoryMap, OpenDevice, OpenRep, OpenRepresentor};

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};
use softdpu_status::{Code, Error, Result};
use std::alloc::Layout;
use std::sync::Mutex;

/// The first word of every object: kind while it lives, kind with [`DEAD_BIT`] afterwards.
#[derive(Debug)]
#[repr(C)]
pub struct Head {
    word: AtomicU32,
}

/// In the word of an object that was destroyed.
pub const DEAD_BIT: u32 = 0x8000_0000;

/// The word of a place where no object was yet.
const UNBORN: u32 = DEAD_BIT;

impl Head {
    /// A head that is not alive yet; [`Slab::make`] gives it its kind.
    pub const fn unborn() -> Head {
        Head { word: AtomicU32::new(UNBORN) }
    }

    /// Is the object of this kind, and alive?
    ///
    /// A plain load, which folds into the compare: the word changes only while its object is made or retired, and nobody
    /// may use an object meanwhile.
    #[inline(always)]
    pub fn is(&self, kind: u32) -> bool {
        // SAFETY: a valid, aligned word; see above for why nobody writes it now.
        unsafe { *self.word.as_ptr() == kind }
    }

    /// The word as it stands, for messages.
    pub fn word(&self) -> u32 {
        self.word.load(Ordering::Relaxed)
    }

    /// Marks the object alive as `kind`. Also used for objects that live inside others (tasks, buffers of a pool).
    #[inline(always)]
    pub fn wake(&self, kind: u32) {
        self.word.store(kind, Ordering::Relaxed);
    }

    /// Marks the object dead; its word still tells the kind.
    #[inline(always)]
    pub fn kill(&self) {
        self.word.store(self.word.load(Ordering::Relaxed) | DEAD_BIT, Ordering::Relaxed);
    }
}

/// An object that C programs hold by pointer.
///
/// # Safety
/// The type is `repr(C)` and its first field is a [`Head`].
pub unsafe trait Object {
    /// The word of a live object of this kind; unique in the library.
    const KIND: u32;
    /// What messages call it: "memory map", "progress engine", ...
    const NAME: &'static str;
}

/// The object behind a handle, if the handle is one of ours, of this kind, and alive.
///
/// # Safety
/// `ptr` is NULL or points at readable memory that begins with a head word, which holds for every handle this library
/// ever gave out; the object is not destroyed by another thread while the reference is used (the C contract's rule).
#[inline(always)]
pub unsafe fn live<'a, T: Object>(ptr: *const T) -> Option<&'a T> {
    // SAFETY: per this function's contract a non-NULL pointer is readable for one word; only if that word says that a
    // live `T` stands there is the whole object referred to.
    unsafe {
        if ptr.is_null() || !(*ptr.cast::<Head>()).is(T::KIND) {
            return None;
        }
        Some(&*ptr)
    }
}

/// As [`live`], with the refusal said in one log line that names the call.
///
/// # Errors
/// InvalidValue for NULL, wrong kind and destroyed handles.
///
/// # Safety
/// As [`live`].
pub unsafe fn checked<'a, T: Object>(ptr: *const T, call: &str) -> Result<&'a T> {
    // SAFETY: same contract.
    match unsafe { live(ptr) } {
        Some(object) => Ok(object),
        // SAFETY: same contract.
        None => Err(unsafe { explain(ptr, call) }),
    }
}

/// Says in one log line why a handle was refused.
///
/// # Safety
/// As [`live`].
#[cold]
pub unsafe fn explain<T: Object>(ptr: *const T, call: &str) -> Error {
    let name = T::NAME;
    if ptr.is_null() {
        log::error!(target: "softdpu::handle", "{call}: the {name} is NULL");
        return Error::new(Code::InvalidValue, "handle is NULL");
    }
    // SAFETY: non-NULL handles are readable for one word.
    let word = unsafe { (*ptr.cast::<Head>()).word() };
    match kind::name(word) {
        Some(other) => log::error!(target: "softdpu::handle", "{call}: {ptr:p} is a {other}, not a {name}"),
        None if word & DEAD_BIT != 0 => {
            let what = kind::name(word & !DEAD_BIT).unwrap_or(name);
            log::error!(target: "softdpu::handle", "{call}: {what} {ptr:p} was destroyed (a live {name} is wanted)");
        }
        None => log::error!(target: "softdpu::handle", "{call}: {ptr:p} is not a {name}"),
    }
    Error::new(Code::InvalidValue, "not a live handle of the wanted kind")
}

struct Chunks<T> {
    free: Vec<NonNull<T>>,
    /// Places there are, free or not: the list has room for all of them, so that giving one back never allocates.
    total: usize,
}

// SAFETY: the list holds addresses of places nobody uses; they carry no thread-bound state.
unsafe impl<T> Send for Chunks<T> {}

/// Type-stable storage for objects of one kind. Places are reused, never given back to the system.
pub struct Slab<T> {
    chunks: Mutex<Chunks<T>>,
}

impl<T> core::fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Slab")
    }
}

const CHUNK: usize = 16;

impl<T: Object> Slab<T> {
    /// An empty slab, for a `static`.
    pub const fn new() -> Slab<T> {
        Slab { chunks: Mutex::new(Chunks { free: Vec::new(), total: 0 }) }
    }

    /// Puts an object into a place and brings it to life. Any thread.
    ///
    /// # Errors
    /// NoMemory when the system has none.
    pub fn make(&'static self, value: T) -> Result<NonNull<T>> {
        let place = self.place()?;
        // SAFETY: the place is ours alone until it is handed out; it is large and aligned enough for a `T`.
        unsafe {
            place.write(value);
            place.cast::<Head>().as_ref().wake(T::KIND);
        }
        // Whoever retires it may have nothing but a reference left; see `retire_at`.
        place.as_ptr().expose_provenance();
        Ok(place)
    }

    fn place(&self) -> Result<NonNull<T>> {
        let no_memory = Error::new(Code::NoMemory, "no memory for an object");
        let mut chunks = self.chunks.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(place) = chunks.free.pop() {
            return Ok(place);
        }
        let layout = Layout::array::<T>(CHUNK).map_err(|_| no_memory)?;
        let (total, held) = (chunks.total + CHUNK, chunks.free.len());
        chunks.free.try_reserve(total - held).map_err(|_| no_memory)?;
        // SAFETY: the layout has a size above zero, since every object has a head.
        let start = NonNull::new(unsafe { std::alloc::alloc(layout) }.cast::<T>()).ok_or(no_memory)?;
        for i in 0..CHUNK {
            // SAFETY: within the chunk just allocated.
            let place = unsafe { start.add(i) };
            // SAFETY: a fresh place; giving it a dead head makes stray looks at it defined.
            unsafe { place.cast::<Head>().write(Head::unborn()) };
            if i > 0 {
                chunks.free.push(place);
            }
        }
        chunks.total = total;
        Ok(start)
    }

    /// Destroys the object: its word says dead from here on, its contents are dropped, its place may be reused. Any
    /// thread.
    ///
    /// # Safety
    /// `object` came from [`Slab::make`] of this slab, is alive, and nobody refers to it any more.
    pub unsafe fn retire(&'static self, object: NonNull<T>) {
        // SAFETY: alive and unreferenced by contract. A head has no destructor, so its word stays dead and readable.
        unsafe {
            object.cast::<Head>().as_ref().kill();
            object.drop_in_place();
        }
        let mut chunks = self.chunks.lock().unwrap_or_else(|e| e.into_inner());
        chunks.free.push(object);
    }
}

impl<T: Object> Slab<T> {
    /// As [`Slab::retire`], for who has only a reference: the right to the whole object is the slab's own.
    ///
    /// # Safety
    /// As [`Slab::retire`]; the reference is not used any more.
    pub unsafe fn retire_at(&'static self, object: *const T) {
        if let Some(object) = NonNull::new(core::ptr::with_exposed_provenance_mut::<T>(object.addr())) {
            // SAFETY: the caller's promise; the provenance was exposed by `make`.
            unsafe { self.retire(object) };
        }
    }
}

impl<T: Object> Default for Slab<T> {
    fn default() -> Self {
        Slab::new()
    }
}

// SAFETY: places are handed out one owner at a time; objects cross threads only as the C contract allows.
unsafe impl<T> Sync for Slab<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    struct Thing {
        head: Head,
        text: String,
    }
    // SAFETY: repr(C), head first.
    unsafe impl Object for Thing {
        const KIND: u32 = 0x5D0C_7777;
        const NAME: &'static str = "thing";
    }
    static THINGS: Slab<Thing> = Slab::new();

    #[test]
    fn a_destroyed_handle_is_refused_and_its_place_reused() {
        let a = THINGS.make(Thing { head: Head::unborn(), text: "a".into() }).unwrap();
        // SAFETY: a live handle of this slab.
        unsafe {
            assert_eq!(live(a.as_ptr()).unwrap().text, "a");
            THINGS.retire(a);
            assert!(live(a.as_ptr()).is_none());
            assert_eq!(checked(a.as_ptr(), "test").map(|_| ()).unwrap_err().code(), Code::InvalidValue);
        }
        let b = THINGS.make(Thing { head: Head::unborn(), text: "b".into() }).unwrap();
        assert_eq!(a, b);
        // SAFETY: NULL is allowed.
        assert!(unsafe { live::<Thing>(core::ptr::null()) }.is_none());
        // SAFETY: alive, last use.
        unsafe { THINGS.retire(b) };
    }

    #[test]
    fn many_objects_of_many_chunks_come_and_go() {
        let all: Vec<_> = (0..100)
            .map(|i| THINGS.make(Thing { head: Head::unborn(), text: i.to_string() }).unwrap())
            .collect();
        for (i, h) in all.iter().enumerate() {
            // SAFETY: alive.
            assert_eq!(unsafe { live(h.as_ptr()) }.unwrap().text, i.to_string());
        }
        for h in all {
            // SAFETY: alive, last use.
            unsafe { THINGS.retire(h) };
        }
    }
}
