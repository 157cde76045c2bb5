//! Common heads, casts and cells that the faces rely on: the one place where contexts and progress engines are made,
//! referred to and retired.
//!
//! Both come from type-stable slabs, so `&'static` references to them stay readable for ever; that they are not *used*
//! after they were retired is the callers' rule, written at each function.
#![expect(
    unsafe_code,
    reason = "references into type-stable slabs, and cells that change only while a context is idle"
)]

use crate::context::Core;
use crate::engine::{EngineInfo, Shape, Work};
use crate::pe::Pe;
use crate::slot::Slot;
use crate::sync::{AtomicU8, AtomicU32};
use core::cell::UnsafeCell;
use softdpu_memory::handle::{Object, Slab, checked, kind};
use softdpu_status::{Code, Error, Result};

// SAFETY: repr(C), head first.
unsafe impl Object for Core {
    const KIND: u32 = kind::CTX;
    const NAME: &'static str = "context";
}
// SAFETY: repr(C), head first.
unsafe impl Object for Pe {
    const KIND: u32 = kind::PE;
    const NAME: &'static str = "progress engine";
}

/// The context behind a handle of C, if it is one of this engine.
///
/// # Safety
/// NULL or a handle of this library.
///
/// # Errors
/// InvalidValue, with one log line: NULL, another kind of object, destroyed, or a context of another engine.
pub unsafe fn context_of(core: *const Core, engine: &EngineInfo, call: &str) -> Result<&'static Core> {
    // SAFETY: the caller's promise.
    let found = unsafe { checked(core, call)? };
    if !found.is_of(engine) {
        log::error!(target: "softdpu::handle", "{call}: context {core:p} is a {} context, not a {} context",
            found.info().name, engine.name);
        return Err(Error::new(Code::InvalidValue, "a context of another kind"));
    }
    Ok(found.as_static())
}

/// Stores a result through an out parameter of C; `log` is the log target of the engine.
///
/// # Safety
/// `to` is NULL or good for one write.
///
/// # Errors
/// InvalidValue, with one log line: NULL.
pub unsafe fn put<T>(log: &str, call: &str, name: &str, to: *mut T, value: T) -> Result<()> {
    if to.is_null() {
        return crate::entry::null(log, call, name);
    }
    // SAFETY: not NULL, and the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}

static CORES: Slab<Core> = Slab::new();
static ENGINES: Slab<Pe> = Slab::new();

/// Brings a context to life.
///
/// # Errors
/// NoMemory.
pub(crate) fn make_core(core: Core) -> Result<&'static Core> {
    // SAFETY: slab memory is never given back.
    CORES.make(core).map(|c| unsafe { &*c.as_ptr() })
}

/// Retires a context that is idle, linked nowhere and known to nobody.
pub(crate) fn retire_core(core: &'static Core) {
    core.strip();
    // SAFETY: came from CORES (all contexts do); the caller vouches that nobody uses it any more.
    unsafe { CORES.retire_at(core) };
}

/// Brings a progress engine to life.
///
/// # Errors
/// NoMemory.
pub(crate) fn make_pe(pe: Pe) -> Result<&'static Pe> {
    // SAFETY: slab memory is never given back.
    ENGINES.make(pe).map(|c| unsafe { &*c.as_ptr() })
}

/// Retires a progress engine that no context is connected to.
pub(crate) fn retire_pe(pe: &'static Pe) {
    // SAFETY: came from ENGINES; the caller vouches that nobody uses it any more.
    unsafe { ENGINES.retire_at(pe) };
}

/// Reads a word that only the calling party writes: a plain load, which the compiler may fold into what follows.
#[inline(always)]
pub(crate) fn own32(word: &AtomicU32) -> u32 {
    // SAFETY: no other thread writes it (each caller is the word's one writer), so the read races with nothing.
    unsafe { *word.as_ptr() }
}

/// As [`own32`].
#[inline(always)]
pub(crate) fn own8(byte: &AtomicU8) -> u8 {
    // SAFETY: as for `own32`.
    unsafe { *byte.as_ptr() }
}

/// A slot from a ring cell that was filled before.
#[inline(always)]
pub(crate) fn slot_ref(ptr: *mut Slot) -> &'static Slot {
    debug_assert!(!ptr.is_null());
    // SAFETY: ring cells are read only between counters that say they were filled; slots are never given back.
    unsafe { &*ptr }
}

/// The context a link points at.
#[inline(always)]
pub(crate) fn core_ref(ptr: *mut Core) -> Option<&'static Core> {
    // SAFETY: links hold NULL or contexts, which live in type-stable memory.
    unsafe { ptr.as_ref() }
}

/// The context behind `core` in its engine's ring.
#[inline(always)]
pub(crate) fn ring_next(core: &Core) -> &'static Core {
    // SAFETY: the links of contexts in a ring form a cycle of contexts, which live in type-stable memory.
    unsafe { &**core.next.as_ptr() }
}

/// A context for as long as the process lives: its place is never given back.
#[inline(always)]
pub(crate) fn forever(core: &Core) -> &'static Core {
    // SAFETY: every context was made by `make_core`, in slab memory.
    unsafe { &*core::ptr::from_ref(core) }
}

/// As [`forever`], for progress engines.
#[inline(always)]
pub(crate) fn forever_pe(pe: &Pe) -> &'static Pe {
    // SAFETY: every progress engine was made by `make_pe`, in slab memory.
    unsafe { &*core::ptr::from_ref(pe) }
}

/// As [`forever`], for slots.
#[inline(always)]
pub(crate) fn forever_slot(slot: &Slot) -> &'static Slot {
    // SAFETY: slots come from the stock, which is never given back.
    unsafe { &*core::ptr::from_ref(slot) }
}

/// A task that was just handed to a callback; `None` for NULL.
pub(crate) fn landed(slot: *const Slot) -> Option<&'static Slot> {
    // SAFETY: callbacks get tasks of the stock, which is never given back.
    unsafe { slot.as_ref() }
}

/// The progress engine a link points at.
#[inline(always)]
pub(crate) fn pe_ref(ptr: *mut Pe) -> Option<&'static Pe> {
    // SAFETY: links hold NULL or progress engines, which live in type-stable memory.
    unsafe { ptr.as_ref() }
}

/// Contents that are replaced only while their context is idle and detached from the board, so that nobody reads them
/// then; readable from anywhere otherwise.
#[derive(Debug)]
pub(crate) struct IdleCell<T>(UnsafeCell<T>);

// SAFETY: shared reads of a Sync value; replacement happens only while there are no readers (see above).
unsafe impl<T: Send + Sync> Sync for IdleCell<T> {}

impl<T> IdleCell<T> {
    pub(crate) fn new(value: T) -> IdleCell<T> {
        IdleCell(UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> &T {
        // SAFETY: not replaced while anybody may read.
        unsafe { &*self.0.get() }
    }

    /// Only from `Core::equip` and `Core::strip`, which hold the rule.
    pub(crate) fn replace(&self, value: T) -> T {
        // SAFETY: the context is idle and detached: no reader.
        unsafe { core::mem::replace(&mut *self.0.get(), value) }
    }
}

/// The engine of a context that was never started.
#[derive(Debug)]
pub(crate) struct NoWork;

impl Work for NoWork {
    fn shape(&self, _: &Slot) -> Shape {
        Shape::Small
    }
    fn check(&self, _: &Slot) -> Result<()> {
        Err(Code::BadState.into())
    }
    fn quick(&self, _: &Slot) -> Option<u64> {
        None
    }
    fn run(&self, slot: &Slot) {
        slot.finish(Err(Code::BadState));
    }
    fn open(&self, _: &Slot) -> Result<u64, Code> {
        Err(Code::BadState)
    }
    fn part(&self, _: &Slot, _: u64, _: u64) -> Result<(), Code> {
        Err(Code::BadState)
    }
    fn step(&self, _: &Slot, _: u64, _: u64) -> Result<(), Code> {
        Err(Code::BadState)
    }
    fn close(&self, _: &Slot, _: u64) -> Result<u64, Code> {
        Err(Code::BadState)
    }
    fn discard(&self, _: &Slot) {}
    fn handle(&self, _: &'static Core, _: &'static Slot) {}
}
