//! A task and the slot it flies in are one object of four cache lines; C programs hold it as their task handle.
//!
//! Slots come from a process-wide stock that is never given back to the system, so a stale handle can always be looked
//! at. Which field belongs to whom at which moment is decided by [`Flight`] (program, engine, landing side) and by
//! `phase` (whoever carries the task out, until it says done).
#![expect(unsafe_code, reason = "slots outlive the contexts that use them; jobs are stored in place")]

use crate::context::Core;
use crate::engine::Shape;
use crate::flight::Flight;
use crate::parts::Parts;
use crate::sync::{AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering, ProtocolCell};
use core::mem::MaybeUninit;
use softdpu_memory::handle::{Head, Object, kind};
use softdpu_status::{Code, Error, Result};
use std::alloc::Layout;
use std::sync::Mutex;

/// Bytes an engine's job may take.
pub const JOB_BYTES: usize = 128;

#[repr(C, align(16))]
struct JobBytes(MaybeUninit<[u8; JOB_BYTES]>);

/// A task with its slot.
#[repr(C, align(64))]
pub struct Slot {
    // First line: what submit, carrying out and landing a small task look at.
    head: Head,
    pub(crate) status: AtomicI32,
    pub(crate) core: AtomicPtr<Core>,
    pub(crate) user: AtomicU64,
    /// C: the success callback of its kind.
    success: AtomicPtr<()>,
    /// Who owns it.
    pub(crate) flight: Flight,
    phase: AtomicU8,
    op: AtomicU8,
    /// A step is under way, or somebody looks whether there is one.
    stepping: AtomicU8,
    /// For instruments: the number of the task in its context, 40 bits of it (`gate.rs`).
    number_high: AtomicU8,
    number: AtomicU32,
    job: ProtocolCell<JobBytes>,
    // Last line: the rest.
    /// C: the error callback of its kind.
    failure: AtomicPtr<()>,
    /// C: in a free list the next one; while it is HOOKED, the hook.
    pub(crate) next_free: AtomicPtr<Slot>,
    pub(crate) result: AtomicU64,
    pub(crate) parts: Parts,
    pub(crate) part_bytes: AtomicU32,
    /// First failure among its parts, 0 while there is none.
    pub(crate) part_failed: AtomicI32,
    pub(crate) total: AtomicU64,
    /// What the hook is told while it is HOOKED.
    pub(crate) hook_data: AtomicU64,
}

const _: () = assert!(core::mem::offset_of!(Slot, job) == 64);
const _: () = assert!(size_of::<Slot>() <= 256);

// SAFETY: repr(C), head first.
unsafe impl Object for Slot {
    const KIND: u32 = kind::TASK;
    const NAME: &'static str = "task";
}

// SAFETY: every field but the job is atomic; the job belongs to one party at a time (see `Flight` and `phase`), and jobs
// are Send.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

impl core::fmt::Debug for Slot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Slot({self:p}, {:?})", self.flight)
    }
}

/// Nobody began to carry it out.
pub(crate) const QUEUED: u8 = 0;
/// Carried out: status and result are final.
const READY: u8 = 1;
/// Its parts may be claimed by anybody.
const LARGE: u8 = 2;

impl Slot {
    fn blank() -> Slot {
        Slot {
            head: Head::unborn(),
            flight: Flight::new(),
            core: AtomicPtr::new(core::ptr::null_mut()),
            user: AtomicU64::new(0),
            status: AtomicI32::new(0),
            phase: AtomicU8::new(QUEUED),
            op: AtomicU8::new(0),
            stepping: AtomicU8::new(0),
            number_high: AtomicU8::new(0),
            number: AtomicU32::new(0),
            success: AtomicPtr::new(core::ptr::null_mut()),
            failure: AtomicPtr::new(core::ptr::null_mut()),
            next_free: AtomicPtr::new(core::ptr::null_mut()),
            result: AtomicU64::new(0),
            parts: Parts::new(),
            part_bytes: AtomicU32::new(0),
            part_failed: AtomicI32::new(0),
            total: AtomicU64::new(0),
            hook_data: AtomicU64::new(0),
            job: ProtocolCell::new(JobBytes(MaybeUninit::uninit())),
        }
    }

    /// The word that makes it a live handle.
    #[inline(always)]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The context it belongs to.
    #[inline(always)]
    pub fn context(&self) -> &'static Core {
        // SAFETY: set when the slot was given to a context; contexts are type-stable and outlive the use of their slots.
        unsafe { &*self.core.load(Ordering::Relaxed) }
    }

    /// Landing side: it was carried out by this very thread, and succeeded. (C programs do not see the result itself.)
    #[inline(always)]
    pub(crate) fn succeed(&self) {
        self.status.store(0, Ordering::Relaxed);
    }

    /// C: the callbacks of its kind.
    pub(crate) fn set_calls(&self, success: *mut (), failure: *mut ()) {
        self.success.store(success, Ordering::Relaxed);
        self.failure.store(failure, Ordering::Relaxed);
    }

    /// C: the callback to call.
    #[inline(always)]
    pub(crate) fn call(&self, failed: bool) -> *mut () {
        if failed { self.failure.load(Ordering::Relaxed) } else { self.success.load(Ordering::Relaxed) }
    }

    /// The slot for as long as the process lives.
    #[inline(always)]
    pub fn as_static(&self) -> &'static Slot {
        crate::handle::forever_slot(self)
    }

    /// The context of a slot that may never have had one.
    pub fn context_of_stale(&self) -> *mut Core {
        self.core.load(Ordering::Relaxed)
    }

    /// Which of its engine's task kinds.
    #[inline(always)]
    pub fn op(&self) -> usize {
        usize::from(self.op.load(Ordering::Relaxed))
    }

    /// Program's cookie.
    #[inline(always)]
    pub fn user_data(&self) -> u64 {
        self.user.load(Ordering::Relaxed)
    }

    /// Sets the program's cookie.
    #[inline(always)]
    pub fn set_user_data(&self, data: u64) {
        self.user.store(data, Ordering::Relaxed);
    }

    /// Status of the last completion, as the contract numbers it.
    #[inline(always)]
    pub fn status(&self) -> i32 {
        self.status.load(Ordering::Relaxed)
    }

    /// What `status` says from now on, until it flies again and comes back. For a face that adds a meaning of its own;
    /// the program owns the task, or is just being told of it.
    pub fn set_status(&self, status: i32) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// What the engine reported with success (bytes moved, for example).
    #[inline(always)]
    pub fn output(&self) -> u64 {
        self.result.load(Ordering::Relaxed)
    }

    /// Status and result as Rust has it.
    pub(crate) fn outcome(&self) -> Result<u64> {
        match self.status() {
            0 => Ok(self.output()),
            n => Err(Code::from_number(n).unwrap_or(Code::Unexpected).into()),
        }
    }

    /// How its completion is told (Rust face): the task kind number is free for that there.
    #[inline(always)]
    pub(crate) fn set_op(&self, op: u8) {
        self.op.store(op, Ordering::Relaxed);
    }

    /// What an instrument calls it: its number in its context.
    pub(crate) fn number(&self) -> u64 {
        u64::from(self.number_high.load(Ordering::Relaxed)) << 32
            | u64::from(self.number.load(Ordering::Relaxed))
    }

    /// See [`Slot::number`].
    pub(crate) fn set_number(&self, number: u64) {
        self.number_high.store((number >> 32) as u8, Ordering::Relaxed);
        self.number.store(number as u32, Ordering::Relaxed);
    }

    /// Makes it fly: nobody began to carry it out.
    #[inline(always)]
    pub(crate) fn launch(&self) {
        self.phase.store(QUEUED, Ordering::Relaxed);
        self.flight.set(crate::flight::FLYING);
    }

    /// Lock holder: from now on it is carried out in `count` parts (or steps, or whole) of `size` bytes.
    pub(crate) fn enlarge(&self, shape: Shape, total: u64, size: u64) {
        self.total.store(total, Ordering::Relaxed);
        self.part_bytes.store(size as u32, Ordering::Relaxed);
        self.part_failed.store(0, Ordering::Relaxed);
        self.phase.store(LARGE, Ordering::Release);
        self.parts.open(total.div_ceil(size).max(1) as u16, shape as u8);
    }

    /// How a large task is carried out.
    pub(crate) fn shape(&self) -> Shape {
        match self.parts.kind() {
            m if m == Shape::Steps as u8 => Shape::Steps,
            m if m == Shape::Whole as u8 => Shape::Whole,
            _ => Shape::Parts,
        }
    }

    /// Takes the right to the next step; false while somebody else is at it.
    pub(crate) fn begin_step(&self) -> bool {
        self.stepping.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Gives the right to the next step back.
    pub(crate) fn end_step(&self) {
        self.stepping.store(0, Ordering::Release);
    }

    /// Are its parts being carried out?
    #[inline(always)]
    pub(crate) fn is_large(&self) -> bool {
        self.phase.load(Ordering::Acquire) == LARGE
    }

    /// Was it submitted, and its completion not reported?
    #[inline]
    pub fn is_in_flight(&self) -> bool {
        matches!(self.flight.state(), crate::flight::FLYING | crate::flight::HOOKED)
    }

    /// C: does it fly, and does the program still want it?
    #[inline(always)]
    pub(crate) fn is_flying_here(&self) -> bool {
        self.flight.is_here(crate::flight::FLYING)
    }

    /// Did nobody begin it?
    #[inline(always)]
    pub(crate) fn is_queued(&self) -> bool {
        self.phase.load(Ordering::Acquire) == QUEUED
    }

    /// Is it large, and would a claim by progress find something? `whole`: also what workers carry out whole.
    pub(crate) fn may_be_claimed(&self, whole: bool) -> bool {
        self.is_large()
            && !self.parts.exhausted()
            && match self.shape() {
                Shape::Whole => whole,
                Shape::Steps => self.stepping.load(Ordering::Relaxed) == 0,
                _ => true,
            }
    }

    /// Has it been carried out?
    #[inline(always)]
    pub(crate) fn is_ready(&self) -> bool {
        self.phase.load(Ordering::Acquire) == READY
    }

    /// Whoever carried it out says how it went; nothing of it may be touched afterwards.
    #[inline(always)]
    pub(crate) fn finish(&self, result: Result<u64, Code>) {
        match result {
            Ok(n) => {
                self.status.store(0, Ordering::Relaxed);
                self.result.store(n, Ordering::Relaxed);
            }
            Err(code) => self.status.store(code.number(), Ordering::Relaxed),
        }
        self.phase.store(READY, Ordering::Release);
    }

    /// The place of the job. Writing a job of the context's engine into it, reading it or taking it out is for the party
    /// that owns the task.
    #[inline(always)]
    pub fn job<J>(&self) -> *mut J {
        const { assert!(size_of::<J>() <= JOB_BYTES && align_of::<J>() <= 16, "the job does not fit its slot") };
        self.job.with(|j| j.cast())
    }
}

struct Stock {
    free: Vec<&'static Slot>,
}
static STOCK: Mutex<Stock> = Mutex::new(Stock { free: Vec::new() });

/// Takes `n` slots for `core` out of the stock, all of task kind `op`.
///
/// # Errors
/// NoMemory; nothing is taken then.
pub(crate) fn take(n: usize, core: &'static Core, op: u8, into: &mut Vec<&'static Slot>) -> Result<()> {
    let no_memory = Error::new(Code::NoMemory, "no memory for tasks");
    into.try_reserve(n).map_err(|_| no_memory)?;
    let mut stock = STOCK.lock().unwrap_or_else(|e| e.into_inner());
    let have = stock.free.len();
    if have < n {
        let fresh = (n - have).max(16);
        stock.free.try_reserve(fresh).map_err(|_| no_memory)?;
        let layout = Layout::array::<Slot>(fresh).map_err(|_| no_memory)?;
        // SAFETY: the size is above zero.
        let start = unsafe { std::alloc::alloc(layout) }.cast::<Slot>();
        if start.is_null() {
            log::error!(target: "softdpu::task", "no memory for {n} tasks of {} bytes", size_of::<Slot>());
            return Err(no_memory);
        }
        for i in (0..fresh).rev() {
            // SAFETY: inside the block just allocated, which is never freed; initialised before a reference is made.
            let slot = unsafe {
                start.add(i).write(Slot::blank());
                &*start.add(i)
            };
            stock.free.push(slot);
        }
    }
    for _ in 0..n {
        if let Some(slot) = stock.free.pop() {
            slot.core.store(core::ptr::from_ref(core).cast_mut(), Ordering::Relaxed);
            slot.op.store(op, Ordering::Relaxed);
            slot.set_number(0);
            slot.flight.set(crate::flight::FREE);
            slot.head.kill();
            into.push(slot);
        }
    }
    Ok(())
}

/// Gives slots back to the stock; they keep pointing at their context until they are given out again.
pub(crate) fn give_back(slots: &mut Vec<&'static Slot>) {
    let mut stock = STOCK.lock().unwrap_or_else(|e| e.into_inner());
    for slot in slots.drain(..) {
        slot.head.kill();
        // Room was reserved when they were made or taken; a failure here only loses slots.
        if stock.free.len() < stock.free.capacity() || stock.free.try_reserve(64).is_ok() {
            stock.free.push(slot);
        }
    }
}
