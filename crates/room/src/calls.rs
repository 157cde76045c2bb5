//! The C face of a context: its callbacks, its pools of tasks, and the few calls out of the library.
#![expect(unsafe_code, reason = "callbacks are C function pointers given by the program")]

use crate::context::{Core, State};
use crate::flight;
use crate::gate::Gate;
use crate::slot::Slot;
use crate::sync::{AtomicPtr, Ordering};
use softdpu_memory::handle::kind;
use softdpu_status::{Code, Error, Result};

/// Most task kinds of one engine.
pub const KINDS: usize = 16;

/// A completion callback: task, the task's user data, the context's.
pub type Completion = unsafe extern "C" fn(*const Slot, u64, u64);
/// A state callback: user data, context, previous and next state.
pub type StateChanged = unsafe extern "C" fn(u64, *const Core, u32, u32);

/// Callbacks of one task kind: `[success, error]`, and its free tasks.
#[derive(Debug)]
struct Kind {
    calls: [AtomicPtr<()>; 2],
    free: AtomicPtr<Slot>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Calls {
    kinds: [Kind; KINDS],
    state: AtomicPtr<()>,
}

const NONE: *mut () = core::ptr::null_mut();

impl Calls {
    pub(crate) const fn new() -> Calls {
        Calls {
            kinds: [const {
                Kind {
                    calls: [AtomicPtr::new(NONE), AtomicPtr::new(NONE)],
                    free: AtomicPtr::new(core::ptr::null_mut()),
                }
            }; KINDS],
            state: AtomicPtr::new(NONE),
        }
    }

    /// Spreads fresh slots over the free lists of their kinds, lowest first out.
    pub(crate) fn fill(&self, slots: &[&'static Slot], gated: bool) {
        for kind in &self.kinds {
            kind.free.store(core::ptr::null_mut(), Ordering::Relaxed);
        }
        self.add(slots, gated);
    }

    /// Adds fresh slots to the free lists of their kinds. With a gate, that is told of their callbacks.
    pub(crate) fn add(&self, slots: &[&'static Slot], gated: bool) {
        for slot in slots.iter().rev() {
            let kind = &self.kinds[slot.op() % KINDS];
            let [success, failure] = &kind.calls;
            if gated {
                let [success, failure] = crate::gate::stand_ins();
                slot.set_calls(success as *mut (), failure as *mut ());
            } else {
                slot.set_calls(success.load(Ordering::Relaxed), failure.load(Ordering::Relaxed));
            }
            self.put(slot);
        }
    }

    fn put(&self, slot: &'static Slot) {
        let list = &self.kinds[slot.op() % KINDS].free;
        slot.next_free.store(list.load(Ordering::Relaxed), Ordering::Relaxed);
        list.store(core::ptr::from_ref(slot).cast_mut(), Ordering::Relaxed);
    }

    fn take(&self, op: usize) -> Option<&'static Slot> {
        let list = &self.kinds[op % KINDS].free;
        // SAFETY: free lists link slots of this context, which are never given back to the system.
        let slot = unsafe { list.load(Ordering::Relaxed).as_ref() }?;
        list.store(slot.next_free.load(Ordering::Relaxed), Ordering::Relaxed);
        Some(slot)
    }
}

impl Core {
    /// May tasks be allocated without asking anybody (C)?
    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed) != 0
    }

    /// The state changed.
    pub(crate) fn set_open(&self, running: bool) {
        let open = running && !self.work().gate().is_some_and(Gate::allocates);
        self.open.store(u8::from(open), Ordering::Relaxed);
    }

    /// Sets the callbacks of a task kind.
    pub fn set_callbacks(&self, op: usize, success: Completion, error: Completion) {
        let calls = &self.calls.kinds[op % KINDS].calls;
        calls[0].store(success as *mut (), Ordering::Relaxed);
        calls[1].store(error as *mut (), Ordering::Relaxed);
    }

    /// Sets or clears the state callback.
    pub fn set_state_callback(&self, callback: Option<StateChanged>) {
        self.calls.state.store(callback.map_or(NONE, |f| f as *mut ()), Ordering::Relaxed);
    }

    /// Takes a task from the pool of its kind; the program owns it until it is submitted or freed. `None`: all taken.
    #[inline]
    pub fn allocate(&'static self, op: usize, user: u64) -> Option<&'static Slot> {
        let slot = self.calls.take(op)?;
        self.held.store(self.held.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        slot.user.store(user, Ordering::Relaxed);
        slot.flight.set(flight::HELD);
        slot.head().wake(kind::TASK);
        Some(slot)
    }

    /// As [`Core::allocate`], with the contract's refusals.
    ///
    /// # Errors
    /// BadState unless running, NoMemory when all tasks of the kind are taken.
    #[inline]
    pub fn allocate_checked(&'static self, op: usize, user: u64, call: &str) -> Result<&'static Slot> {
        if !self.is_open() {
            self.require(State::Running, call)?;
            self.ask_gate(op, call)?;
        }
        match self.allocate(op, user) {
            Some(slot) => Ok(slot),
            None => {
                log::debug!(target: "softdpu::task", "{call}: all tasks of context {self:p} are taken; {} of {} in flight",
                    self.in_flight(), self.tasks_held());
                Err(Error::new(Code::NoMemory, "all tasks are taken"))
            }
        }
    }

    /// Instruments may refuse an allocation.
    #[cold]
    #[inline(never)]
    fn ask_gate(&self, op: usize, call: &str) -> Result<()> {
        let asked = self.work().gate().map_or(Ok(()), |gate| gate.may_allocate(op));
        asked.map_err(|code| {
            log::info!(target: "softdpu::task", "{call}: {} context {self:p}: refused by a fault that was asked for",
                self.info().name);
            Error::new(code, "refused by a fault that was asked for")
        })
    }

    /// The program gives a task back. One that flies is disowned: it is flushed or finished, and recycled when it lands.
    #[inline]
    pub fn release(&'static self, slot: &'static Slot) {
        if slot.flight.is_here(flight::HOOKED) {
            return self.refuse_release(slot);
        }
        slot.head().kill();
        if slot.flight.state() == flight::FLYING {
            log::warn!(target: "softdpu::task",
                "{} task {slot:p} freed while in flight: it is recycled when it lands, without a callback", self.info().name);
            slot.flight.set(flight::ORPHAN);
            return;
        }
        self.recycle(slot);
    }

    #[cold]
    fn refuse_release(&self, slot: &Slot) {
        log::error!(target: "softdpu::task",
            "{} task {slot:p} freed while a graph runs it: it stays allocated; free it when the graph is through",
            self.info().name);
    }

    /// A task that nobody owns goes back to its pool.
    #[inline]
    pub(crate) fn recycle(&'static self, slot: &'static Slot) {
        slot.flight.set(flight::FREE);
        self.held.store(self.held.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);
        self.calls.put(slot);
    }

    /// Tasks allocated and not freed.
    pub fn tasks_held(&self) -> u32 {
        self.held.load(Ordering::Relaxed)
    }

    /// Calls the completion callback of a landed task, success or error. The context is not idle, so it outlives the
    /// call.
    #[inline(always)]
    pub(crate) fn call_completion(&self, slot: &'static Slot, failed: bool) {
        let call = slot.call(failed);
        debug_assert!(!call.is_null());
        // SAFETY: filled at start from what `set_callbacks` stored, which the engine's configuration demands.
        let call = unsafe { core::mem::transmute::<*mut (), Completion>(call) };
        // SAFETY: the program promised a callback of this shape; nothing of ours is borrowed or locked here.
        unsafe { call(slot, slot.user_data(), self.user_data()) };
    }

    /// The program's own callback of a task whose gate stands in for it; `user`: data of task and context.
    pub(crate) fn call_program(&self, slot: &'static Slot, failed: bool, user: [u64; 2]) {
        let call = self.calls.kinds[slot.op() % KINDS].calls[usize::from(failed)].load(Ordering::Relaxed);
        debug_assert!(!call.is_null());
        // SAFETY: stored by `set_callbacks`, which the engine's configuration demands.
        let call = unsafe { core::mem::transmute::<*mut (), Completion>(call) };
        // SAFETY: as in `call_completion`.
        unsafe { call(slot, user[0], user[1]) };
    }

    /// Calls the state callback. On IDLE the program may destroy the context in it: touch nothing of it afterwards.
    pub(crate) fn call_state(&self, previous: State, next: State) {
        let call = self.calls.state.load(Ordering::Relaxed);
        if call.is_null() {
            return;
        }
        let user = self.user_data();
        // SAFETY: stored by `set_state_callback` from a function of this type.
        let call = unsafe { core::mem::transmute::<*mut (), StateChanged>(call) };
        // SAFETY: as for completions.
        unsafe { call(user, self, previous as u32, next as u32) };
    }
}
